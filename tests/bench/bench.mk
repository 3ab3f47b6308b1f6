# SPDX-License-Identifier: GPL-2.0-only
# The workloads of the micro board and the test guest's initramfs.
# Included by the top Makefile; uses its BUILD, HOSTCC, NASM, LD and QUIET_*, and BUSYBOX if set.

BENCH_SOURCES  := $(sort $(wildcard tests/bench/workloads/*.c))
BENCH_HEADERS  := $(wildcard tests/bench/workloads/*.h)
BENCH_PROGRAMS := $(BUILD)/bench/vellum-bench $(BUILD)/bench/exit-only
INITRAMFS      := $(BUILD)/initramfs.cpio

# The kernel's headers for i386 are those for x86-64; gcc -m32 does not look there by itself.
BENCH_CFLAGS = -m32 -static -no-pie -fno-pie -O2 -std=gnu17 -Wall -Wextra -Werror -s \
	       -idirafter /usr/include/$(shell $(HOSTCC) -print-multiarch)

$(BUILD)/bench/vellum-bench: $(BENCH_SOURCES) $(BENCH_HEADERS)
	@mkdir -p $(@D)
	$(QUIET_CC)$(HOSTCC) $(BENCH_CFLAGS) -o $@ $(BENCH_SOURCES)

$(BUILD)/bench/exit-only: tests/bench/workloads/exit-only.asm
	@mkdir -p $(@D)
	$(QUIET_AS)$(NASM) -f elf32 -o $@.o $<
	$(QUIET_LD)$(LD) -m elf_i386 -s -o $@ $@.o

# Not compressed: the loader copies it at no cost, and unpacking would cost every boot.
$(INITRAMFS): $(BENCH_PROGRAMS) tests/bench/initramfs $(wildcard tests/bench/guest_image/*.py) \
	      tests/bench/guest_image/init
	tests/bench/initramfs --output $@ $(addprefix --busybox ,$(BUSYBOX)) $(BENCH_PROGRAMS)

# The exit-cost board: a bare guest, and programs whose exec is measured in an initramfs of
# their own, the dynamic one with the libc that it was linked with.

EXIT_COST           := $(BUILD)/bench/exit-cost
EXIT_COST_GUEST     := $(GUEST)/exit_cost.bin
EXIT_COST_INITRAMFS := $(BUILD)/exit-cost.cpio
EXIT_COST_PROGRAMS  := $(addprefix $(EXIT_COST)/,exec-exits empty-static empty-dynamic)
EXIT_COST_LIBRARIES  = lib/ld-linux.so.2=$(shell $(HOSTCC) -m32 -print-file-name=ld-linux.so.2) \
		       lib/libc.so.6=$(shell $(HOSTCC) -m32 -print-file-name=libc.so.6)

$(GUEST)/exit_cost.elf: $(GUEST)/tests/bench/exit_cost/instructions.c.o $(GUEST_LIB)

$(EXIT_COST)/exec-exits: tests/bench/exit_cost/exec.c $(addprefix tests/bench/workloads/, \
			 bench.c exits.c processors.c) $(BENCH_HEADERS)
	@mkdir -p $(@D)
	$(QUIET_CC)$(HOSTCC) $(BENCH_CFLAGS) -Itests/bench/workloads -o $@ $(filter %.c,$^)

$(EXIT_COST)/empty-static: tests/bench/exit_cost/empty.c
	@mkdir -p $(@D)
	$(QUIET_CC)$(HOSTCC) $(BENCH_CFLAGS) -o $@ $<

$(EXIT_COST)/empty-dynamic: tests/bench/exit_cost/empty.c
	@mkdir -p $(@D)
	$(QUIET_CC)$(HOSTCC) $(filter-out -static,$(BENCH_CFLAGS)) -Wl,-rpath=/lib -o $@ $<

$(EXIT_COST_INITRAMFS): $(BENCH_PROGRAMS) $(EXIT_COST_PROGRAMS) tests/bench/initramfs \
			$(wildcard tests/bench/guest_image/*.py) tests/bench/guest_image/init
	tests/bench/initramfs --output $@ $(addprefix --busybox ,$(BUSYBOX)) \
		$(addprefix --file ,$(EXIT_COST_LIBRARIES)) $(BENCH_PROGRAMS) $(EXIT_COST_PROGRAMS)

exit-cost-files: $(EXIT_COST_GUEST) $(EXIT_COST_INITRAMFS)
.PHONY: exit-cost-files

# The boards whose rows are commands: a root file system of Debian's programs, from the cache
# (tests/bench/bench-root makes it, which takes minutes and a network), with the runner.

COMMAND_BOARDS     := kernel-compile cpu
COMMANDS_RUNNER    := $(BUILD)/bench/vellum-commands
COMMANDS_INITRAMFS := $(BUILD)/commands.cpio
COMMAND_ROOTS      := $(COMMAND_BOARDS:%=$(BUILD)/bench-root-%.cpio)

$(COMMANDS_RUNNER): tests/bench/commands/commands.c \
		    $(addprefix tests/bench/workloads/,exits.c processors.c) $(BENCH_HEADERS)
	@mkdir -p $(@D)
	$(QUIET_CC)$(HOSTCC) $(BENCH_CFLAGS) -Itests/bench/workloads -o $@ $(filter %.c,$^)

$(COMMANDS_INITRAMFS): $(BENCH_PROGRAMS) $(COMMANDS_RUNNER) tests/bench/initramfs \
			$(wildcard tests/bench/guest_image/*.py) tests/bench/guest_image/init
	tests/bench/initramfs --output $@ $(addprefix --busybox ,$(BUSYBOX)) \
		$(BENCH_PROGRAMS) $(COMMANDS_RUNNER)

$(COMMAND_ROOTS): $(BUILD)/bench-root-%.cpio: $(COMMANDS_INITRAMFS) tests/bench/bench-root \
		  $(wildcard tests/bench/bench_root/*.py) tests/bench/scoreboard/commands.toml \
		  $(wildcard tests/bench/commands/*)
	tests/bench/bench-root --initramfs $< --output $@ $*

bench-root: $(COMMAND_ROOTS)
.PHONY: bench-root
