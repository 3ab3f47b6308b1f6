# SPDX-License-Identifier: GPL-2.0-only
#
# Vellum's one entry. "make" lists what it does; docs/ has the rest.

VERSION := 0.1

# ---- what a user may set -------------------------------------------------------

CPU     ?= amd
EMU     ?= auto
MODE    ?= hv
VMI     ?= on
PAGING  ?= nested
CPUS    ?= 1
MEM     ?= 1024
ICOUNT  ?= 1
PAE     ?= 0
KERNEL  ?=
INITRD  ?=
APPEND  ?=
VELLUM  ?=
BOOT    ?= kernel
FIRMWARE ?= bios
TIMEOUT ?= 5
BOARD   ?= all
SCALE   ?= quick
REPEAT  ?= 1
FRESH   ?= 0
A       ?=
B       ?= build/results/micro.json
STRICT  ?= 0
PORT    ?= 1234
LOG     ?=
V       ?= 0

BOARDS  := micro exit-cost kernel-compile cpu

# ---- the tools -----------------------------------------------------------------

BUILD   ?= build
CC      := gcc
HOSTCC  ?= gcc
LD      := ld
NASM    ?= nasm
PYTHON  ?= /usr/bin/python3
PYTEST  := $(PYTHON) -m pytest -p no:cacheprovider -rs

ifeq ($(V),0)
QUIET_CC = @echo "  CC   $<";
QUIET_AS = @echo "  AS   $<";
QUIET_LD = @echo "  LD   $@";
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup all kernels emulator run bench bench-compare $(BOARDS:%=bench-%) boot debug trace pack iso usb pxe test test-system \
	test-soak \
	unit-programs clean distclean FORCE

help:
	@echo "Vellum $(VERSION): a thin hypervisor that speaks VMI 3.0. Targets:"
	@echo
	@echo "  make setup      install the packages that are missing (apt; sudo when not root)"
	@echo "  make run        the main job: boot the test guest in every column, print the board"
	@echo "  make bench      the boards (BOARD=): $(BOARDS)"
	@echo "  make bench-compare A=FILE B=FILE   two results: ratios, exits that changed, what is worse"
	@echo "  make boot       boot one guest in one mode, its serial console on this terminal"
	@echo "  make debug      the same, paused at the guest's first instruction, gdb's stub on PORT"
	@echo "  make trace      a table and build/results/trace.json of the trace in a console's log (LOG=)"
	@echo "  make test       every test: unit, guest, system"
	@echo "  make test-unit, test-guest, test-system    one layer (after make setup)"
	@echo "  make fuzz       libFuzzer on gdb's packets, by hand (FUZZ_SECONDS=600; wants clang)"
	@echo "  make test-soak  the soak of two processors for an hour of the guest's time (SOAK=)"
	@echo "  make pack, iso, usb, pxe    the guest and Vellum in what real machines boot from:"
	@echo "                  an archive for vellum.bin, an image for CD and USB stick, a TFTP folder"
	@echo "  make all        build the hypervisor only: $(BUILD)/vellum.elf and vellum.bin"
	@echo "  make bench-root make the root file systems of the boards that run Debian's programs"
	@echo "  make kernels    build the guest kernels only (cached outside the clone)"
	@echo "  make clean      remove $(BUILD)/"
	@echo "  make distclean  remove the cached guest kernels and files, too"
	@echo
	@echo "Variables (now):"
	@echo "  MODE=$(MODE)           hv: virtualize; native: only load the guest, for comparison"
	@echo "  VMI=$(VMI)            on, off: show the guest the VMI ROM; calls: ROM without hints;"
	@echo "                   trace: every VMI call made and counted"
	@echo "  PAGING=$(PAGING)     nested; shadow: shadow page tables (one processor)"
	@echo "  CPU=$(CPU)           amd: AMD-V; intel: VT-x"
	@echo "  CPUS=$(CPUS)             processors of the machine, and of the guest"
	@echo "  MEM=$(MEM)           MiB of RAM"
	@echo "  EMU=$(EMU)          auto, qemu, bochs, kvm: what runs the machine (docs/emulators.md)"
	@echo "  ICOUNT=$(ICOUNT)           1: make run repeats exactly; QEMU then counts instructions"
	@echo "  PAE=$(PAE)              1: guest kernels with three-level page tables"
	@echo "  BOOT=$(BOOT)     make boot by: kernel (the emulator's own loader), iso, usb, pxe"
	@echo "  FIRMWARE=$(FIRMWARE)   bios, uefi: of the machine that make boot boots"
	@echo "  TIMEOUT=$(TIMEOUT)       seconds that the menus of make iso and make pxe wait"
	@echo "  KERNEL= INITRD= APPEND=   your own guest: bzImage, initrd, more words"
	@echo "  VELLUM=          more words for the hypervisor's command line (docs/command-line.md)"
	@echo "  PORT=$(PORT)         TCP port of make debug"
	@echo "  BOARD=$(BOARD)        for make bench: all, $(BOARDS)"
	@echo "  SCALE=$(SCALE)      quick, full: how much a board compiles or computes"
	@echo "  REPEAT=$(REPEAT)         runs of each column; FRESH=1: run finished ones again, too"
	@echo "  A= B=            results for make bench-compare; STRICT=1: what is worse is an error"
	@echo "  V=$(V)              1: show the commands"

setup:
	@boot/setup

# ---- what is built -------------------------------------------------------------

include hv/hv.mk
include vmirom/vmirom.mk
include tests/unit/unit.mk
include tests/unit/vmirom.mk
-include tests/unit/hv.mk
include tests/fuzz/fuzz.mk
include tests/guest/guest.mk
include tests/bench/bench.mk
include tests/system/linux/linux.mk

all: $(BUILD)/vellum.elf $(BUILD)/vellum.bin

# Links into the cache; build-kernel checks what is there and builds what is not.
KERNEL_KIND := $(if $(filter 1,$(PAE)),-pae)

kernels: $(BUILD)/kernel-plain$(KERNEL_KIND) $(BUILD)/kernel-vmi$(KERNEL_KIND)

$(BUILD)/kernel-%: FORCE
	@mkdir -p $(@D)
	@path=$$(guest-patches/build-kernel $*) && ln -sfn "$$path" $@

FORCE:

# ---- what is run ---------------------------------------------------------------

HV_WORDS = mode=$(MODE) vmi=$(VMI) paging=$(PAGING) $(VELLUM)

BOARD_MACHINE = --cpu $(CPU) --emu $(EMU) --icount $(ICOUNT) --memory $(MEM)

# Kernels take minutes to build; that there is nothing to run them is said before.
emulator: setup
	@tests/bench/board --check --cpus $(CPUS) $(BOARD_MACHINE)

# For one column of a board of commands, on a busy computer
BENCH_SECONDS_quick = 3600
BENCH_SECONDS_full = 36000

BOARD_WORDS = --append "$(APPEND)" --vellum-words "$(VELLUM)"

run bench-micro: setup emulator all kernels $(INITRAMFS)
	@tests/bench/board --board micro --paging $(PAGING) --cpus $(CPUS) --pae $(PAE) \
		--repeat $(REPEAT) \
		$(if $(filter 1,$(FRESH)),--fresh) $(BOARD_MACHINE) $(BOARD_WORDS)

$(COMMAND_BOARDS:%=bench-%): bench-%: setup emulator all kernels $(BUILD)/bench-root-%.cpio
	@tests/bench/board --board $* --scale $(SCALE) --paging $(PAGING) --cpus $(CPUS) \
		--pae $(PAE) --repeat $(REPEAT) --timeout $(BENCH_SECONDS_$(SCALE)) \
		$(if $(filter 1,$(FRESH)),--fresh) $(BOARD_MACHINE) $(BOARD_WORDS)

bench-exit-cost: setup emulator all kernels exit-cost-files
	@tests/bench/exit-cost $(BOARD_MACHINE) $(BOARD_WORDS)

# One after the other, so that their texts don't mix.
bench:
	$(if $(filter-out all $(BOARDS),$(BOARD)),$(error BOARD=$(BOARD): want all, or some of $(BOARDS)))
	@for board in $(if $(filter all,$(BOARD)),$(BOARDS),$(BOARD)); do \
		$(MAKE) --no-print-directory bench-$$board || exit; done

# Words that end in .json would be targets to make, so they are variables.
bench-compare:
	@tests/bench/compare $(if $(filter 1,$(STRICT)),--strict) \
		"$(or $(A),$(error want A=FILE and B=FILE, results of one board))" "$(B)"

ifeq ($(KERNEL),)
BOOT_KERNEL := $(BUILD)/kernel-vmi$(KERNEL_KIND)/bzImage
BOOT_INITRD := $(INITRAMFS)
BOOT_WORDS  := console=ttyS0 vellum.run=shell
BOOT_FILES  := all $(BUILD)/kernel-vmi$(KERNEL_KIND) $(INITRAMFS)
else
BOOT_KERNEL := $(KERNEL)
BOOT_INITRD := $(INITRD)
BOOT_WORDS  := console=ttyS0
BOOT_FILES  := all
endif

# What the images' menus start by themselves
BOOT_ENTRY := $(if $(filter native,$(MODE)),native,$(if $(filter off,$(VMI)),hv,vmi))

IMAGE = boot/images $(1) $(2) --build $(BUILD) --kernel "$(BOOT_KERNEL)" \
	$(if $(BOOT_INITRD),--initrd "$(BOOT_INITRD)") --append "$(BOOT_WORDS) $(APPEND)" \
	--words "$(strip $(IMAGE_WORDS) $(VELLUM))" --default $(BOOT_ENTRY) --timeout $(TIMEOUT)

pack: setup $(BOOT_FILES)
	@$(call IMAGE,pack,$(BUILD)/guest.cpio)
	@echo "$(BUILD)/guest.cpio: give it to a loader as initrd of $(BUILD)/vellum.bin"

iso: setup $(BOOT_FILES)
	@$(call IMAGE,iso,$(BUILD)/vellum.iso)
	@echo "$(BUILD)/vellum.iso: for BIOS and UEFI, a CD or a USB stick"

usb: iso
	@echo "on a stick:  sudo dd if=$(BUILD)/vellum.iso of=/dev/sdX bs=4M conv=fsync"

pxe: setup $(BOOT_FILES)
	@$(call IMAGE,pxe,$(BUILD)/pxe)
	@echo "$(BUILD)/pxe: for a TFTP or HTTP server; boot.ipxe is its menu (docs/booting.md)"

# One terminal is enough for both.
boot: IMAGE_WORDS := console=com1
boot: setup $(BOOT_FILES) $(filter-out kernel,$(BOOT)) $(if $(filter kernel-uefi,$(BOOT)-$(FIRMWARE)),pack)
	@boot/emulators/run --interactive --emu $(EMU) --cpu $(CPU) --memory $(MEM) --cpus $(CPUS) \
		--firmware $(FIRMWARE) --name boot $(BOOT_BY_$(BOOT))

BOOT_BY_iso = --cdrom $(BUILD)/vellum.iso
BOOT_BY_usb = --usb $(BUILD)/vellum.iso
BOOT_BY_pxe = --netboot $(BUILD)/pxe --boot-file boot.ipxe
BOOT_BY_kernel = $(BOOT_BY_kernel_$(FIRMWARE))
BOOT_BY_kernel_bios = --image $(BUILD)/vellum.elf --append "console=com1 $(HV_WORDS)" \
	--module "$(BOOT_KERNEL) $(BOOT_WORDS) $(APPEND)" \
	$(if $(BOOT_INITRD),--module "$(BOOT_INITRD)")
BOOT_BY_kernel_uefi = --image $(BUILD)/vellum.bin --append "console=com1 $(HV_WORDS)" \
	--module $(BUILD)/guest.cpio

# With KASLR on, the addresses of vmlinux would not be those of the guest.
debug: setup $(BOOT_FILES)
	@echo "The guest waits for gdb. In another terminal (docs/debugging.md):"
	@echo "  gdb $(if $(KERNEL),VMLINUX,$(BUILD)/kernel-vmi$(KERNEL_KIND)/vmlinux) -ex 'target remote localhost:$(PORT)'"
	@boot/emulators/run --interactive --emu $(EMU) --cpu $(CPU) --memory $(MEM) --cpus $(CPUS) \
		--name debug --com2-port $(PORT) --image $(BUILD)/vellum.elf \
		--append "console=com1 gdb=com2 $(HV_WORDS)" \
		--module "$(BOOT_KERNEL) $(BOOT_WORDS) nokaslr $(APPEND)" \
		$(if $(BOOT_INITRD),--module "$(BOOT_INITRD)")

# LOG: what Vellum's serial line said, with trace=end or the monitor's "trace json"
trace:
	$(if $(LOG),,$(error LOG=FILE: a log of Vellum's console is wanted))
	@boot/trace $(LOG) --output $(BUILD)/results/trace.json

# ---- what is tested ------------------------------------------------------------

TEST_FILES = all kernels guests $(INITRAMFS) $(COMMANDS_INITRAMFS) exit-cost-files \
	linux-tests-files unit-programs $(BUILD)/vmirom_probe/probe.elf

unit-programs: $(UNIT_TESTS)

test: setup $(TEST_FILES)
	@$(PYTEST) tests/unit tests/guest tests/system

test-system: $(TEST_FILES)
	@$(PYTEST) tests/system

test-soak: SOAK ?= 3600
test-soak: setup all kernels linux-tests-files
	@SOAK=$(SOAK) $(PYTEST) tests/system/test_linux_soak.py

clean:
	rm -rf $(BUILD)

distclean: clean
	rm -rf "$${VELLUM_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/vellum}"
