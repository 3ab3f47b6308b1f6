# SPDX-License-Identifier: GPL-2.0-only
#
# What the tests of the VMI ROM need beyond unit.mk. The order in which the two are
# included does not matter.

# The hypervisor's side of the ROM, and the ROM as the hypervisor embeds it
$(BUILD)/unit/libpure.a: $(addprefix $(BUILD)/unit/hv/,guest/option_rom.o vmi/hypercall.o \
	vmi/iret.o vmi/mmu.o vmi/names.o vmi/power.o vmi/smp.o vmi/time.o)

$(BUILD)/unit/test_option_rom: $(BUILD)/unit/option_rom_image.o

$(BUILD)/unit/option_rom_image.o: hv/guest/option_rom_image.asm $(BUILD)/vmirom.bin
	@mkdir -p $(@D)
	@$(NASM) -f elf64 -I $(BUILD)/ -o $@ $<

UNIT_CFLAGS_test_vmirom := -DVMIROM='"$(BUILD)/vmirom.bin"'
$(BUILD)/unit/tests/unit/test_vmirom.o: $(BUILD)/vmirom.bin

# The kernel that runs the ROM's code on QEMU, for tests/system/test_option_rom_bios.py.
# Freestanding, so that -m32 needs no 32-bit libraries.
PROBE := $(BUILD)/vmirom_probe
PROBE_CFLAGS := -m32 -std=c17 -O1 -ffreestanding -fno-pic -fno-pie -fno-stack-protector \
	-mgeneral-regs-only -Wall -Wextra -Werror

$(PROBE)/probe.elf: $(PROBE)/entry.o $(PROBE)/probe.o
	@ld -m elf_i386 -Ttext 0x100000 -e start -o $@ $^

$(PROBE)/entry.o: tests/system/vmirom_probe/entry.asm
	@mkdir -p $(@D)
	@$(NASM) -f elf32 -o $@ $<

$(PROBE)/probe.o: tests/system/vmirom_probe/probe.c
	@mkdir -p $(@D)
	@$(HOSTCC) $(PROBE_CFLAGS) -c -o $@ $<

test-system: $(BUILD)/vmirom.bin $(PROBE)/probe.elf
