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
