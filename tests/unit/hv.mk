# SPDX-License-Identifier: GPL-2.0-only
#
# What the tests of the hypervisor proper (hv/mm, hv/core, hv/svm, hv/debug) need beyond
# unit.mk. The order in which the two are included does not matter.
#
# A test that replaces an instruction (CPUID, RDMSR) includes the module's source after
# it has defined the replacement, so such a module isn't in the library.

$(BUILD)/unit/libpure.a: $(addprefix $(BUILD)/unit/hv/, \
	core/event.o core/policy.o core/store.o core/vcpu.o debug/breakpoints.o debug/console_ring.o \
	debug/gdb_command.o debug/gdb_packet.o debug/gdb_registers.o debug/guest_backtrace.o \
	debug/guest_symbols.o debug/line_editor.o debug/monitor.o debug/monitor_argument.o \
	debug/monitor_backtrace.o debug/monitor_exits.o debug/monitor_machine.o \
	debug/monitor_memory.o debug/monitor_registers.o debug/monitor_run.o \
	debug/monitor_walk.o debug/monitor_trace.o debug/symbols.o debug/trace.o \
	debug/trace_text.o debug/walk.o \
	mm/frames.o mm/guest_memory.o mm/guest_tables.o mm/mtrr.o mm/page_table.o \
	mm/announced.o mm/shadow.o mm/shadow_pool.o \
	svm/bitmaps.o svm/instruction.o vmx/errors.o)

# A library holds one object of a name: the vendors' twins of core's stay out of it
$(BUILD)/unit/test_svm_debug: $(BUILD)/unit/hv/svm/operand.o
$(BUILD)/unit/test_svm_exit: $(BUILD)/unit/hv/svm/exit.o $(BUILD)/unit/hv/debug/trace.o

# bios_page.c copies code, and has to know how much
$(BUILD)/unit/libpure.a: $(BUILD)/unit/hv/guest/bios_page_code.o

$(BUILD)/unit/hv/guest/bios_page_code.o: hv/guest/bios_page.asm
	@mkdir -p $(@D)
	@$(NASM) -f elf64 -o $@ $<

# core/cpu.h has asm statements
$(BUILD)/unit/hv/%.o: UNIT_CFLAGS += -fasm
$(BUILD)/unit/tests/unit/%.o: UNIT_TEST_CFLAGS += -fasm

# Each includes its module, which is compiled as it is for the hypervisor in this
$(BUILD)/unit/tests/unit/test_vmx_%.o: UNIT_TEST_CFLAGS += -Wno-unused-parameter

# The table of symbols, made as the hypervisor's is
$(BUILD)/unit/symbols.asm: tests/unit/symbols.nm hv/debug/symbols.awk
	@mkdir -p $(@D)
	@awk -f hv/debug/symbols.awk $< >$@
	@echo 'section .note.GNU-stack noalloc noexec nowrite progbits' >>$@

$(BUILD)/unit/symbols.o: $(BUILD)/unit/symbols.asm
	@$(NASM) -f elf64 -o $@ $<

$(BUILD)/unit/test_symbols: $(BUILD)/unit/symbols.o
