# SPDX-License-Identifier: GPL-2.0-only
#
# The hypervisor: build/vellum.elf, for Multiboot loaders, and build/vellum.bin, for those of
# Linux kernels and for UEFI. Both have the same objects.

HV_OBJ := $(BUILD)/obj
HV_C := $(wildcard hv/*/*.c) $(wildcard boot/*.c)
HV_ASM := $(wildcard boot/*.asm) $(wildcard hv/*/*.asm)
HV_OBJECTS := $(HV_C:%=$(HV_OBJ)/%.o) $(HV_ASM:%=$(HV_OBJ)/%.o)

HV_CFLAGS := -std=c17 -fasm -ffreestanding -O2 -g -Wall -Wextra -Werror -Wno-unused-parameter \
	-mcmodel=kernel -mno-red-zone -mgeneral-regs-only -fno-pic -fno-pie -fno-stack-protector \
	-fno-asynchronous-unwind-tables -fno-omit-frame-pointer -momit-leaf-frame-pointer \
	-fno-strict-aliasing -fcf-protection=none -fno-tree-loop-distribute-patterns \
	-Ihv -I. -DVELLUM_VERSION='"$(VERSION)"' -MMD -MP
# What every exit runs through does without frame pointers: a tenth of a CPUID exit.
HV_HOT := hv/svm/quick_exit.c hv/vmx/quick_exit.c hv/vmi/hypercall.c
$(HV_HOT:%=$(HV_OBJ)/%.o): HV_CFLAGS += -fomit-frame-pointer

HV_LDFLAGS := -nostdlib -static -no-pie -z noexecstack -z max-page-size=4096 \
	--build-id=none --no-warn-rwx-segments

$(HV_OBJ)/%.c.o: %.c
	@mkdir -p $(@D)
	$(QUIET_CC)$(CC) $(HV_CFLAGS) -c -o $@ $<

$(HV_OBJ)/%.asm.o: %.asm
	@mkdir -p $(@D)
	$(QUIET_AS)$(NASM) -f elf64 -g -F dwarf -I . -I $(BUILD)/ $(NASMFLAGS_$(basename $(notdir $@))) -MD $(@:.o=.d) -o $@ $<

NASMFLAGS_linux_header.asm := '-DVELLUM_VERSION="$(VERSION)"'

$(HV_OBJ)/hv/guest/option_rom_image.asm.o: $(BUILD)/vmirom.bin

# Linked twice: the first link's addresses make the symbol table of the second.
$(HV_OBJ)/symbols-empty.asm: hv/debug/symbols.awk
	@mkdir -p $(@D)
	@awk -f $< </dev/null >$@

$(HV_OBJ)/symbols.asm: $(HV_OBJ)/vellum-first.elf hv/debug/symbols.awk
	@nm -n $< | awk -f hv/debug/symbols.awk >$@

$(HV_OBJ)/symbols%.o: $(HV_OBJ)/symbols%.asm
	@$(NASM) -f elf64 -o $@ $<

$(HV_OBJ)/symbols.o: $(HV_OBJ)/symbols.asm
	@$(NASM) -f elf64 -o $@ $<

$(HV_OBJ)/vellum-first.elf: $(HV_OBJECTS) $(HV_OBJ)/symbols-empty.o hv/vellum.lds hv/image.lds
	@$(LD) $(HV_LDFLAGS) -T hv/vellum.lds -o $@ $(filter %.o,$^)

# vellum64.elf is for gdb; QEMU's -kernel and old loaders want a 32-bit ELF.
$(BUILD)/vellum64.elf: $(HV_OBJECTS) $(HV_OBJ)/symbols.o hv/vellum.lds hv/image.lds
	$(QUIET_LD)$(LD) $(HV_LDFLAGS) -T hv/vellum.lds -o $@ $(filter %.o,$^)

$(BUILD)/vellum.elf: $(BUILD)/vellum64.elf
	@objcopy -O elf32-i386 --strip-all $< $@

# Its image is linked where vellum64.elf's is, so the symbols are right for both.
$(HV_OBJ)/vellum-bin.elf: $(HV_OBJECTS) $(HV_OBJ)/symbols.o hv/vellum-bin.lds hv/image.lds
	@$(LD) $(HV_LDFLAGS) -T hv/vellum-bin.lds -o $@ $(filter %.o,$^)

$(BUILD)/vellum.bin: $(HV_OBJ)/vellum-bin.elf
	$(QUIET_LD)objcopy -O binary $< $@

-include $(HV_OBJECTS:.o=.d)
