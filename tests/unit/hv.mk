# SPDX-License-Identifier: GPL-2.0-only
#
# What the tests of the hypervisor proper (hv/mm, hv/core, hv/svm, hv/debug) need beyond
# unit.mk. The order in which the two are included does not matter.
#
# A test that replaces an instruction (CPUID, RDMSR) includes the module's source after
# it has defined the replacement, so such a module isn't in the library.

$(BUILD)/unit/libpure.a: $(addprefix $(BUILD)/unit/hv/, \
	core/policy.o core/vcpu.o debug/symbols.o \
	mm/frames.o mm/guest_memory.o mm/mtrr.o mm/page_table.o \
	svm/bitmaps.o svm/exit.o svm/instruction.o)

# core/cpu.h has asm statements
$(BUILD)/unit/hv/%.o: UNIT_CFLAGS += -fasm
$(BUILD)/unit/tests/unit/%.o: UNIT_TEST_CFLAGS += -fasm

