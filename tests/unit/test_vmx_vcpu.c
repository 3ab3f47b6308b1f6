// SPDX-License-Identifier: GPL-2.0-only
/*
 * The VMCS that a guest's processor starts with: what must exit and what must not, the state
 * that it is told, what an exit returns to, and the form of an injected event.
 */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "core/exception.h"
#include "fake_debugger.h"
#include "vm_entry.h"
#include "vmx/vmx.h"

static uint64_t fake_read_cr0(void)
{
	return 0x80010033;
}

static uint64_t fake_read_cr3(void)
{
	return 0x7f801000;
}

static uint64_t fake_read_cr4(void)
{
	return 0x2020;
}

static uint64_t fake_rdmsr(uint32_t msr)
{
	switch (msr) {
	case MSR_EFER:
		return 0xd00;
	case MSR_PAT:
		return 0x1122334455667788;
	default:
		fail_msg("RDMSR %x", msr);
		return 0;
	}
}

#define read_cr0() fake_read_cr0()
#define read_cr3() fake_read_cr3()
#define read_cr4() fake_read_cr4()
static uint64_t dr6;
static unsigned int breakpoints_cleared;

#define rdmsr(msr)	    fake_rdmsr(msr)
#define write_dr6(value)    ((void)(dr6 = (value)))
#define clear_breakpoints() ((void)breakpoints_cleared++)
#include "vmx/vcpu.c"

#define OLD_BYTE 0x5a /* what a VMCS may hold before anything is written */

static struct processor self;
static jmp_buf stopped;
static bool launched_again;
static unsigned int dumps, delayed, windows_closed, flushes;

static uint64_t pdptes_cr3; /* of the last try to load them */
static bool pdptes_are_bad;

static bool caught; /* with shadow paging */
static struct guest_paging started;

/* Flat 32-bit protected mode, as a kernel starts in; what start_state.c makes of it. */
static const struct start_state start = {
	.cr0 = 0x11,
	.rip = 0x100000,
	.rsp = 0x8000,
	.rflags = 2,
	.cs = {0x10, 0xc09b, UINT32_MAX, 0},
	.ds = {0x18, 0xc093, UINT32_MAX, 0},
	.es = {0x18, 0xc093, UINT32_MAX, 0},
	.ss = {0x18, 0xc093, UINT32_MAX, 0},
	.fs = {0x18, 0xc093, UINT32_MAX, 0},
	.gs = {0x18, 0xc093, UINT32_MAX, 0},
	.ldtr = {0, 0x82, 0xffff, 0},
	.tr = {0, 0x8b, 0xffff, 0},
	.gdtr = {.limit = 0x1f, .base = 0x91000},
	.idtr = {.limit = 0x7ff, .base = 0x92000},
};

const uint8_t vmx_exit_entry[1];

/* A processor that can do all that is asked for, and insists on nothing. */
uint32_t vmx_controls(uint32_t msr, uint64_t wanted)
{
	assert_true(msr >= 0x481 && msr <= 0x48b);
	return (uint32_t)wanted;
}

hpa_t vmx_msr_bitmap(void)
{
	return hpa(0x222000);
}

hpa_t vmx_port_bitmap(void)
{
	return hpa(0x111000);
}

uint64_t vmx_ept_pointer(void)
{
	return 0x33301e;
}

uint64_t exception_idt_base(void)
{
	return 0xffffffff80002000;
}

struct processor *processor_current(void)
{
	return &self;
}

uint32_t exit_exceptions(void)
{
	return BIT(VECTOR_DB) | BIT(VECTOR_AC);
}

void vmx_close_windows(void)
{
	windows_closed++;
}

void vmx_flush(void)
{
	flushes++;
}

bool vmx_load_pdptes(uint64_t cr0, uint64_t cr3)
{
	assert_true(cr0 & CR0_PG);
	pdptes_cr3 = cr3;
	return !pdptes_are_bad;
}

void vmx_catch_paging(void)
{
	caught = true;
}

void paging_start(struct vcpu *v, const struct guest_paging *guest)
{
	assert_ptr_equal(v, &self.vcpu);
	assert_int_equal(flushes, 1);
	started = *guest;
}

void vmx_delay_interrupt(struct vcpu *v, unsigned int vector)
{
	assert_ptr_equal(v, &self.vcpu);
	delayed = vector;
}

_Noreturn void exit_triple_fault(struct vcpu *v)
{
	assert_ptr_equal(v, &self.vcpu);
	longjmp(stopped, 1);
}

_Noreturn void vmx_run_loop(struct vcpu *v)
{
	assert_ptr_equal(v, &self.vcpu);
	vmx_entry_failed(v);
	launched_again = true;
	longjmp(stopped, 1);
}

void vmx_dump(const struct vcpu *v)
{
	assert_ptr_equal(v, &self.vcpu);
	dumps++;
}

_Noreturn void panic(const char *format, ...)
{
	va_list args;
	char text[300];

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	console_print(LOG_ERROR, "%s", text);
	longjmp(stopped, 1);
}

static int make_vmcs(void **state)
{
	(void)state;
	console_clear();
	memset(vmcs, OLD_BYTE, sizeof(vmcs)); /* SDM volume 3C, 25.11.3 */
	memset(&self, 0, sizeof(self));
	dumps = delayed = windows_closed = breakpoints_cleared = flushes = 0;
	dr6 = pdptes_cr3 = 0;
	pdptes_are_bad = launched_again = caught = false;
	init_fields(&self.vcpu);
	vmx_set_state(&self.vcpu, &start);
	return 0;
}

/* Interrupts, NMI, HLT, RDTSC, CR3 and CR8 accesses, INVLPG, #PF: none of them exits. */
static void exactly_the_guarded_events_exit(void **state)
{
	(void)state;
	assert_int_equal(vmcs[0x4000], 0);
	assert_int_equal(vmcs[0x4002], 1u << 25 | 1u << 28 | 1u << 31);
	/* EPT, RDTSCP, VPID, unrestricted, INVPCID, XSAVES, TPAUSE */
	assert_int_equal(vmcs[0x401e],
			 1u << 1 | 1u << 3 | 1u << 5 | 1u << 7 | 1u << 12 | 1u << 20 | 1u << 26);
	assert_int_equal(vmcs[0x4004], 1u << 1 | 1u << 17);
	assert_int_equal(vmcs[0x202c], 0);
	assert_int_equal(vmcs[0x6000], 1u << 5);
	assert_int_equal(vmcs[0x6002], 1u << 13 | 1u << 14 | BIT(32));
}

static void debug_pat_and_efer_are_switched(void **state)
{
	(void)state;
	/* save debug, host 64-bit, save and load PAT and EFER */
	assert_int_equal(vmcs[0x400c], 1u << 2 | 1u << 9 | 15u << 18);
	assert_int_equal(vmcs[0x4012], 1u << 2 | 1u << 14 | 1u << 15);
}

static void the_tables_are_where_they_are(void **state)
{
	(void)state;
	assert_int_equal(vmcs[0x2000], 0x111000);
	assert_int_equal(vmcs[0x2002], 0x112000);
	assert_int_equal(vmcs[0x2004], 0x222000);
	assert_int_equal(vmcs[0x201a], 0x33301e);
	assert_int_equal(vmcs[0x2800], UINT64_MAX);
	assert_int_not_equal(vmcs[0x0000], 0); /* the host's VPID */
}

/* SDM volume 3C, 27.2.2 and 27.2.3: CS and TR not 0, RPL and TI 0 */
static void an_exit_returns_to_vellum(void **state)
{
	(void)state;
	assert_int_equal(vmcs[0x6c00], 0x80010033);
	assert_int_equal(vmcs[0x6c02], 0x7f801000);
	assert_int_equal(vmcs[0x6c04], 0x2020);
	assert_int_equal(vmcs[0x2c00], 0x1122334455667788);
	assert_int_equal(vmcs[0x2c02], 0xd00);
	assert_int_equal(vmcs[0x0c02], CODE64_SELECTOR);
	assert_int_equal(vmcs[0x0c0c], TSS_SELECTOR);
	assert_int_equal((CODE64_SELECTOR | TSS_SELECTOR) & 7, 0);
	assert_int_equal(vmcs[0x6c0a], (uintptr_t)self.tables.tss);
	assert_int_equal(vmcs[0x6c0c], (uintptr_t)self.tables.gdt);
	assert_int_equal(vmcs[0x6c0e], 0xffffffff80002000);
	assert_int_equal(vmcs[0x6c16], (uintptr_t)vmx_exit_entry);
}

static void the_guest_starts_in_flat_32_bit_protected_mode(void **state)
{
	(void)state;
	assert_can_enter();
	assert_int_equal(vmcs[VMCS_GUEST_RIP], 0x100000);
	assert_int_equal(vmcs[VMCS_GUEST_RFLAGS], 2);
	assert_int_equal(vmcs[VMCS_GUEST_DR7], 0x400);
	assert_int_equal(vmcs[VMCS_GUEST_PAT], 0x0007040600070406);
	assert_int_equal(vmcs[VMCS_GUEST_GDTR_BASE], 0x91000);
	assert_int_equal(vmcs[VMCS_GUEST_GDTR_LIMIT], 0x1f);
	assert_int_equal(vmcs[VMCS_GUEST_IDTR_BASE], 0x92000);
	assert_int_equal(vmcs[VMCS_GUEST_IDTR_LIMIT], 0x7ff);
	assert_int_equal(vmcs[VMCS_GUEST_RSP], 0x8000);
	for (enum vmcs_segment segment = SEGMENT_ES; segment <= SEGMENT_GS; segment++) {
		bool code = segment == SEGMENT_CS;

		assert_int_equal(*vmcs_segment(0x800, segment), code ? 0x10 : 0x18);
		assert_int_equal(*vmcs_segment(0x4800, segment), UINT32_MAX);
		assert_int_equal(*vmcs_segment(0x4814, segment), code ? 0xc09b : 0xc093);
		assert_int_equal(*vmcs_segment(0x6806, segment), 0);
	}
	assert_int_equal(vmx_read_cr0(&self.vcpu), CR0_PE | CR0_ET);
	assert_int_equal(vmx_read_cr4(&self.vcpu), 0);
	assert_int_equal(vmx_privilege_level(&self.vcpu), 0);
}

/* Real mode, where STARTUP leads; no two segments are alike. */
static const struct start_state startup = {
	.cr0 = 0x10,
	.rflags = 2,
	.cs = {0x9a00, 0x9b, 0xffff, 0x9a000},
	.ds = {0x1000, 0x93, 0xffff, 0x10000},
	.es = {0x2000, 0x93, 0xffff, 0x20000},
	.ss = {0x3000, 0x93, 0xffff, 0x30000},
	.fs = {0x4000, 0x93, 0xffff, 0x40000},
	.gs = {0x5000, 0x93, 0xffff, 0x50000},
	.ldtr = {0x28, 0x82, 0x6fff, 0x40000000},
	.tr = {0x30, 0x8b, 0x67, 0x48000000},
	.gdtr = {.limit = 0xffff},
	.idtr = {.limit = 0xffff},
};

static void assert_segment(enum vmcs_segment segment, const struct guest_segment *expected)
{
	assert_int_equal(*vmcs_segment(0x0800, segment), expected->selector);
	assert_int_equal(*vmcs_segment(0x4800, segment), expected->limit);
	assert_int_equal(*vmcs_segment(0x4814, segment), expected->access);
	assert_int_equal(*vmcs_segment(0x6806, segment), expected->base);
}

static void a_state_in_real_mode_can_be_entered(void **state)
{
	(void)state;
	vmx_set_state(&self.vcpu, &startup);
	assert_can_enter();
	assert_segment(SEGMENT_CS, &startup.cs);
	assert_segment(SEGMENT_DS, &startup.ds);
	assert_segment(SEGMENT_ES, &startup.es);
	assert_segment(SEGMENT_SS, &startup.ss);
	assert_segment(SEGMENT_FS, &startup.fs);
	assert_segment(SEGMENT_GS, &startup.gs);
	assert_segment(SEGMENT_LDTR, &startup.ldtr);
	assert_segment(SEGMENT_TR, &startup.tr);
	assert_int_equal(vmx_read_cr0(&self.vcpu), CR0_ET);
}

/* SDM volume 3C, 25.4.1: bit 16 */
static void a_segment_without_rights_is_unusable(void **state)
{
	struct start_state null_es = start;

	(void)state;
	null_es.es = (struct guest_segment){.selector = 3};
	vmx_set_state(&self.vcpu, &null_es);
	assert_int_equal(*vmcs_segment(0x4814, SEGMENT_ES), 0x10000);
	assert_int_equal(*vmcs_segment(0x0800, SEGMENT_ES), 3);
	assert_can_enter();
}

static void paging_is_on_from_the_start_if_the_state_says_so(void **state)
{
	struct start_state paging = start;

	(void)state;
	paging.cr0 |= CR0_PG | CR0_NE;
	paging.cr3 = 0x1234000;
	paging.efer = EFER_NXE;
	vmx_set_state(&self.vcpu, &paging);
	assert_can_enter();
	assert_int_equal(vmcs[VMCS_GUEST_CR3], 0x1234000);
	assert_int_equal(vmcs[VMCS_GUEST_EFER], EFER_NXE);
	assert_int_equal(vmx_read_cr0(&self.vcpu), CR0_PG | CR0_NE | CR0_ET | CR0_PE);
	assert_int_equal(pdptes_cr3, 0); /* 32-bit paging has none */
	paging.cr4 = CR4_PAE;
	vmx_set_state(&self.vcpu, &paging);
	assert_int_equal(vmx_read_cr4(&self.vcpu), CR4_PAE);
	assert_int_equal(pdptes_cr3, 0x1234000);
	assert_console_quiet();
	pdptes_are_bad = true;
	vmx_set_state(&self.vcpu, &paging);
	assert_can_enter(); /* the fake loads none: they are 0 */
	assert_console(LOG_WARN, "PDPTEs at 1234000 are not valid");
}

static void assert_quiet(void)
{
	static const uint16_t fields[] = {0x4016, 0x4824, 0x4826, 0x6822, 0x2802};

	for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++)
		assert_int_equal(vmcs[fields[i]], 0);
	assert_false(self.vcpu.pending.nmi || self.vcpu.pending.machine_check ||
		     self.vcpu.pending.interrupt);
}

/* From 64-bit code in the middle of everything, as INIT may find it. */
static void init_ends_what_was_under_way(void **state)
{
	(void)state;
	vmcs[0x4012] |= 1u << 9; /* IA-32e mode guest */
	vmcs[0x4016] = 0x80000b0e;
	vmcs[0x4824] = 1 | 8;
	vmcs[0x4826] = 1;
	vmcs[0x6822] = BIT(14);
	vmcs[0x681a] = 0x455;
	vmcs[0x2802] = 2;
	vmcs[0x2804] = 0x0605040302010006; /* PAT: INIT leaves it */
	vmcs[0x6824] = 0xc0105000;	   /* SYSENTER_ESP: the same */
	for (unsigned int i = 0; i < 4; i++)
		vmcs[0x280a + 2 * i] = 0x1001;
	self.vcpu.pending.nmi = self.vcpu.pending.machine_check = true;
	self.vcpu.pending.interrupt = 0xef;
	windows_closed = breakpoints_cleared = flushes = 0;
	dr6 = 0;
	vmx_set_state(&self.vcpu, &startup);
	assert_can_enter();
	assert_quiet();
	assert_int_equal(vmcs[0x4012], 1u << 2 | 1u << 14 | 1u << 15);
	assert_int_equal(vmcs[0x681a], 0x400);
	assert_int_equal(dr6, 0xffff0ff0);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(vmcs[0x280a + 2 * i], 0);
	assert_int_equal(windows_closed, 1);
	assert_int_equal(breakpoints_cleared, 1);
	assert_int_equal(flushes, 1);
	assert_int_equal(vmcs[0x2804], 0x0605040302010006);
	assert_int_equal(vmcs[0x6824], 0xc0105000);
}

/* SDM volume 3C, 25.4.2: 1 is HLT, 3 waits for STARTUP */
static void it_waits_in_the_state_that_the_signal_ends(void **state)
{
	(void)state;
	vmx_await_init(&self.vcpu);
	assert_int_equal(vmcs[0x4826], 1);
	assert_int_equal(vmcs[0x4824], 8); /* NMIs wait, too */
	vmx_set_state(&self.vcpu, &startup);
	assert_int_equal(vmcs[0x4824], 0);
	vmx_await_startup(&self.vcpu);
	assert_int_equal(vmcs[0x4826], 3);
	vmx_set_state(&self.vcpu, &startup);
	assert_int_equal(vmcs[0x4826], 0);
}

static void the_guest_sees_its_own_ne_and_vmxe(void **state)
{
	(void)state;
	vmcs[VMCS_CR0_SHADOW] = CR0_NE | CR0_CD; /* CD is not Vellum's: the shadow has no say */
	assert_int_equal(vmx_read_cr0(&self.vcpu), CR0_PE | CR0_ET | CR0_NE);
	vmcs[VMCS_GUEST_CR4] |= CR4_PAE;
	assert_int_equal(vmx_read_cr4(&self.vcpu), CR4_PAE);
}

static void with_shadow_paging_the_guests_registers_are_kept_apart(void **state)
{
	struct shadow_context shadow = {.guest = {.cr3 = 0x7000, .efer = EFER_NXE}};
	struct guest_paging paging;

	(void)state;
	assert_false(caught);
	self.vcpu.shadow = &shadow;
	init_fields(&self.vcpu);
	assert_true(caught);
	flushes = 0;
	vmx_set_state(&self.vcpu, &start);
	assert_int_equal(started.cr0, start.cr0);
	vmcs[VMCS_GUEST_CR3] = 0x1234000;
	vmcs[VMCS_GUEST_EFER] = EFER_LME;
	paging = vmx_guest_paging(&self.vcpu);
	assert_int_equal(paging.cr3, 0x7000);
	assert_int_equal(paging.efer, EFER_NXE);
	self.vcpu.shadow = NULL;
	assert_int_equal(vmx_guest_paging(&self.vcpu).cr3, 0x1234000);
}

static void cpl_is_the_dpl_of_ss(void **state)
{
	(void)state;
	*vmcs_segment(0x4814, SEGMENT_SS) = 0xc0f3;
	assert_int_equal(vmx_privilege_level(&self.vcpu), 3);
}

/*
 * What entries and exits look at with the controls above: SDM volume 3C, 25.4 to 25.8. But
 * HOST_RSP (6c14h), which entry.asm writes, and the four shapes of segment fields.
 */
static const uint16_t used_fields[] = {
	0x0000, 0x0c00, 0x0c02, 0x0c04, 0x0c06, 0x0c08, 0x0c0a, 0x0c0c, 0x2000, 0x2002, 0x2004,
	0x2010, 0x201a, 0x202c, 0x2800, 0x2802, 0x2804, 0x2806, 0x280a, 0x280c, 0x280e, 0x2810,
	0x2c00, 0x2c02, 0x4000, 0x4002, 0x4004, 0x4006, 0x4008, 0x400a, 0x400c, 0x400e, 0x4010,
	0x4012, 0x4014, 0x4016, 0x4018, 0x401a, 0x401e, 0x4810, 0x4812, 0x4824, 0x4826, 0x482a,
	0x4c00, 0x6000, 0x6002, 0x6004, 0x6006, 0x6800, 0x6802, 0x6804, 0x6816, 0x6818, 0x681a,
	0x681c, 0x681e, 0x6820, 0x6822, 0x6824, 0x6826, 0x6c00, 0x6c02, 0x6c04, 0x6c06, 0x6c08,
	0x6c0a, 0x6c0c, 0x6c0e, 0x6c10, 0x6c12, 0x6c16,
};

static void assert_written(uint32_t field)
{
	uint64_t old;

	memset(&old, OLD_BYTE, sizeof(old));
	if (vmcs[field] == old)
		fail_msg("VMCS field %04x is what it was", field);
}

static void no_field_is_left_as_it_was(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(used_fields); i++)
		assert_written(used_fields[i]);
	for (enum vmcs_segment segment = SEGMENT_ES; segment <= SEGMENT_TR; segment++) {
		assert_written(segment_field(0x0800, segment));
		assert_written(segment_field(0x4800, segment));
		assert_written(segment_field(0x4814, segment));
		assert_written(segment_field(0x6806, segment));
	}
}

/* Lists of MSRs, CR3 targets, #PF exits, an event, blocking, a state other than active */
static void what_is_not_used_is_off(void **state)
{
	static const uint16_t fields[] = {0x2010, 0x4006, 0x4008, 0x400a, 0x400e, 0x4010,
					  0x4014, 0x4016, 0x4824, 0x4826, 0x6822};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++)
		assert_int_equal(vmcs[fields[i]], 0);
}

/* SDM volume 3C, 27.2.3: RPL and TI 0, no SS in 64-bit mode, canonical bases */
static void the_host_has_no_other_segments(void **state)
{
	static const uint16_t fields[] = {0x0c00, 0x0c04, 0x0c06, 0x0c08, 0x0c0a,
					  0x4c00, 0x6c06, 0x6c08, 0x6c10, 0x6c12};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++)
		assert_int_equal(vmcs[fields[i]], 0);
}

/* ---- events ---- */

static void an_exception_has_the_manuals_form(void **state)
{
	(void)state;
	vmx_inject_exception(&self.vcpu, VECTOR_UD, NO_ERROR_CODE);
	assert_int_equal(vmcs[0x4016], 0x80000306);
	assert_can_enter();
	vmcs[0x4016] = 0;
	vmx_inject_exception(&self.vcpu, VECTOR_GP, 0x1234);
	assert_int_equal(vmcs[0x4016], 0x80000b0d);
	assert_int_equal(vmcs[0x4018], 0x1234);
	assert_can_enter();
}

/* SDM volume 3C, 27.2.1.3: an entry with an error code fails there. */
static void in_real_mode_there_are_no_error_codes(void **state)
{
	(void)state;
	vmcs[VMCS_GUEST_CR0] &= ~CR0_PE;
	vmx_inject_exception(&self.vcpu, VECTOR_GP, 0);
	assert_int_equal(vmcs[0x4016], 0x8000030d);
	assert_can_enter();
	vmcs[0x4016] = 0;
	vmx_inject_exception(&self.vcpu, VECTOR_UD, NO_ERROR_CODE);
	assert_int_equal(vmcs[0x4016], 0x80000306);
}

/* ---- an exception upon an event ---- */

static void upon(uint64_t event, unsigned int vector, uint64_t expected)
{
	vmcs[0x4016] = event;
	vmx_inject_exception(&self.vcpu, vector,
			     vector < 10 || vector == 17 ? NO_ERROR_CODE : 0x50);
	assert_int_equal(vmcs[0x4016], expected);
	if (expected & 0x800)
		assert_int_equal(vmcs[0x4018], vector == (expected & 0xff) ? 0x50 : 0);
}

static void exceptions_combine_to_a_double_fault(void **state)
{
	(void)state;
	upon(0x80000306, 13, 0x80000b0d);
	upon(0x80000b0d, 10, 0x80000b08);
	upon(0x80000b0e, 13, 0x80000b08);
	upon(0x80000b0d, 1, 0x80000301);
	upon(0x80000b08, 6, 0x80000306);
	upon(0x00000b0d, 10, 0x80000b0a); /* an old event */
	assert_int_equal(delayed, 0);
	assert_false(self.vcpu.pending.nmi);
}

static void upon_a_double_fault_it_is_a_shutdown(void **state)
{
	(void)state;
	if (setjmp(stopped))
		return;
	upon(0x80000b08, 13, 0);
	fail();
}

static void what_the_machine_sent_waits(void **state)
{
	(void)state;
	upon(0x800000ef, 1, 0x80000301);
	assert_int_equal(delayed, 0xef);
	assert_false(self.vcpu.pending.nmi);
	upon(0x80000202, 1, 0x80000301);
	assert_true(self.vcpu.pending.nmi);
}

static void software_interrupts_come_again_by_themselves(void **state)
{
	(void)state;
	upon(0x80000480, 10, 0x80000b0a);
	upon(0x80000603, 10, 0x80000b0a);
	upon(0x80000501, 10, 0x80000b0a);
	assert_int_equal(delayed, 0);
	assert_false(self.vcpu.pending.nmi);
}

static void a_refused_entry_is_explained_and_dumped(void **state)
{
	(void)state;
	vmcs[0x4400] = 7;
	if (setjmp(stopped) == 0)
		vmx_run(&self.vcpu);
	assert_int_equal(dumps, 1);
	assert_console(LOG_ERROR, "VM entry with invalid control fields");
	assert_console(LOG_ERROR, "error 7");
	assert_false(launched_again);
}

/* As a machine check in the midst of VMLAUNCH leaves it. */
static void what_is_not_launched_is_launched_again(void **state)
{
	(void)state;
	vmcs[0x4400] = 5;
	if (setjmp(stopped) == 0)
		vmx_run(&self.vcpu);
	assert_true(launched_again);
	assert_int_equal(dumps, 0);
	assert_console_quiet();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, make_vmcs)
		T(exactly_the_guarded_events_exit),
		T(debug_pat_and_efer_are_switched),
		T(the_tables_are_where_they_are),
		T(an_exit_returns_to_vellum),
		T(the_guest_starts_in_flat_32_bit_protected_mode),
		T(a_state_in_real_mode_can_be_entered),
		T(a_segment_without_rights_is_unusable),
		T(paging_is_on_from_the_start_if_the_state_says_so),
		T(init_ends_what_was_under_way),
		T(it_waits_in_the_state_that_the_signal_ends),
		T(the_guest_sees_its_own_ne_and_vmxe),
		T(with_shadow_paging_the_guests_registers_are_kept_apart),
		T(cpl_is_the_dpl_of_ss),
		T(no_field_is_left_as_it_was),
		T(what_is_not_used_is_off),
		T(the_host_has_no_other_segments),
		T(an_exception_has_the_manuals_form),
		T(in_real_mode_there_are_no_error_codes),
		T(exceptions_combine_to_a_double_fault),
		T(upon_a_double_fault_it_is_a_shutdown),
		T(what_the_machine_sent_waits),
		T(software_interrupts_come_again_by_themselves),
		T(a_refused_entry_is_explained_and_dumped),
		T(what_is_not_launched_is_launched_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
