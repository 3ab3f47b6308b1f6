# SPDX-License-Identifier: GPL-2.0-only
#
# Bare guests: every tests/guest/NAME.c (with NAME.asm, if there is one) and the library
# become the bzImage $(BUILD)/guest/NAME.bin. Included by the top Makefile.

GUEST := $(BUILD)/guest
GUEST_NAMES := $(patsubst tests/guest/%.c,%,$(sort $(wildcard tests/guest/*.c)))
GUEST_LIB := $(patsubst %,$(GUEST)/%.o,$(wildcard tests/guest/lib/*.c tests/guest/lib/*.asm)) \
	$(GUEST)/hv/lib/printf.c.o $(GUEST)/hv/vmi/names.c.o

GUEST_CFLAGS := -m32 -march=i686 -std=c17 -fasm -ffreestanding -O2 -g -Wall -Wextra -Werror \
	-mgeneral-regs-only -fno-pic -fno-pie -fno-stack-protector -fno-strict-aliasing \
	-fno-asynchronous-unwind-tables -fcf-protection=none -fno-tree-loop-distribute-patterns \
	-Itests/guest/lib -Ihv -I. -MMD -MP

.PHONY: guests test-guest
guests: $(GUEST_NAMES:%=$(GUEST)/%.bin) $(GUEST)/disk.img

$(GUEST)/%.c.o: %.c
	@mkdir -p $(@D)
	$(QUIET_CC)$(HOSTCC) $(GUEST_CFLAGS) -c -o $@ $<

$(GUEST)/%.asm.o: %.asm
	@mkdir -p $(@D)
	$(QUIET_AS)$(NASM) -f elf32 -o $@ $<

$(GUEST)/tests/guest/lib/caller.asm.o $(GUEST)/tests/guest/lib/run.asm.o: \
	tests/guest/lib/processor.inc

define guest_rule
$(GUEST)/$(1).elf: $(patsubst %,$(GUEST)/%.o,$(wildcard tests/guest/$(1).c tests/guest/$(1).asm)) \
	$(GUEST_LIB)
endef
$(foreach name,$(GUEST_NAMES),$(eval $(call guest_rule,$(name))))

$(GUEST)/%.elf: tests/guest/guest.lds
	@$(LD) -m elf_i386 -nostdlib -static --build-id=none -z noexecstack \
		--no-warn-rwx-segments -T tests/guest/guest.lds -o $@ $(filter %.o,$^)

# Those that are Multiboot kernels stay ELF files, of which the second one is an ELF64. With
# -n no page is left empty in front of the header.
$(GUEST)/multiboot%.elf: tests/guest/multiboot.lds
	@$(LD) -m elf_i386 -nostdlib -static -n --build-id=none -z noexecstack \
		--no-warn-rwx-segments -T tests/guest/multiboot.lds -o $@ $(filter %.o,$^)

$(GUEST)/multiboot1.bin: $(GUEST)/multiboot1.elf
	$(QUIET_LD)objcopy --strip-debug $< $@

$(GUEST)/multiboot2.bin: $(GUEST)/multiboot2.elf
	$(QUIET_LD)objcopy --strip-debug -O elf64-x86-64 $< $@

$(GUEST)/%.bin: $(GUEST)/%.elf
	$(QUIET_LD)objcopy -O binary $< $@

# A disk with the guest "disk" on it
$(GUEST)/disk.img: tests/guest/disk_image.asm $(GUEST)/disk.bin
	$(QUIET_AS)$(NASM) -f bin -I $(GUEST)/ -o $@ $<

# make test-guest ONLY=cpuid runs those with "cpuid" in their name; "cpuid and intel" works, too.
ONLY ?=
test-guest: all guests
	@BUILD=$(BUILD) $(PYTEST) -q tests/guest $(if $(ONLY),-k "$(ONLY)")

-include $(shell find $(GUEST) -name '*.d' 2>/dev/null)
