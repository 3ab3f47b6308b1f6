/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hunts: a bad IRET frame, which any user can make by sigreturn, whose fault shows the ROM's
 * address: no entry of Linux' exception table has that, and the kernel dies. Also a fault
 * moved by mistake: one that is not the ROM's.
 * Manual: docs/vmi.md, call 33; SDM volume 2A, IRET: which fault, which error code; volume
 * 3A, 7.5 (a fault leaves the registers as they were before the instruction).
 * Vendors: the exits of #GP, #NP and #SS are named differently; what comes of them is not.
 * Cannot tell apart: an NMI between the ROM's two instructions from a debugger's trap there;
 * both overwrite the slot below the frame, and only the second can be made at will.
 */
#include "guest.h"
#include "pv.h"
#include "segments.h"
#include "site.h"

const char guest_name[] = "vmi_iret_bad";

#define IRETD	      0xcf
#define NOP	      0x90
#define VECTOR_NP     11 /* #SS is 12 */
#define FRAME_WORDS   5
#define SAME_FLAGS    (~0x8d5u)		    /* the ROM's ADD may change the arithmetic ones */
#define SMALL_CS      0xf3		    /* user code that ends at 4 KiB */
#define SEGMENT_SMALL 0x0040fb0000000fffull /* its descriptor */

static const uint8_t landing[] = {NOP, INT_DONE};
static struct site rom_site, native_site, jump_site;
static uint32_t no_op = 0x0badbab0;
static uint8_t stack[512], user_stack[64];

struct frame {
	const char *what;
	uint32_t cs, ss;
};

static const struct frame frames[] = {
	{"CS null", 0x0000, LINUX_USER_DS},
	{"CS null, RPL 3", 0x0003, LINUX_USER_DS},
	{"CS beyond the GDT", LINUX_BEYOND, LINUX_USER_DS},
	{"CS at 64 KiB", 0xffff, LINUX_USER_DS},
	{"CS is data", LINUX_USER_DS, LINUX_USER_DS},
	{"CS is a TSS", LINUX_TSS | 3, LINUX_USER_DS},
	{"CS of the kernel, RPL 3", LINUX_KERNEL_CS | 3, LINUX_USER_DS},
	{"CS of the user, RPL 0", LINUX_USER_CS & ~3u, LINUX_USER_DS},
	{"CS of no LDT", 0x000f, LINUX_USER_DS},
	{"CS not present", LINUX_ABSENT_CS, LINUX_USER_DS},
	{"SS null", LINUX_USER_CS, 0x0000},
	{"SS null, RPL 3", LINUX_USER_CS, 0x0003},
	{"SS beyond the GDT", LINUX_USER_CS, LINUX_BEYOND},
	{"SS is code", LINUX_USER_CS, LINUX_USER_CS},
	{"SS of the kernel", LINUX_USER_CS, LINUX_KERNEL_DS},
	{"SS of the kernel, RPL 3", LINUX_USER_CS, LINUX_KERNEL_DS | 3},
	{"SS not present", LINUX_USER_CS, LINUX_ABSENT_DS},
	{"SS of no LDT", LINUX_USER_CS, 0x000f},
	{"EIP beyond CS", SMALL_CS, LINUX_USER_DS},
};

static struct state run_site(const struct site *site, const struct frame *frame, uint64_t flags)
{
	uint32_t words[FRAME_WORDS] = {(uint32_t)landing, frame->cs, 0x202,
				       (uint32_t)user_stack + sizeof(user_stack), frame->ss};
	uint8_t *top = stack + sizeof(stack) - 64;
	struct state state = state_for(site->bytes);

	memcpy(top, words, sizeof(words));
	state.cs = LINUX_KERNEL_CS;
	state.rsp = (uint32_t)top;
	state.rflags |= flags;
	state.rax = 0xa0a0a0a0;
	state.rcx = 0xc0c0c0c0;
	state.rdx = 0xd0d0d0d0;
	state.rbx = 0xb0b0b0b0;
	state.rbp = 0xb9b9b9b9;
	state.rsi = 0x51515151;
	state.rdi = 0xd1d1d1d1;
	run(&state);
	return state;
}

static void expect(const struct frame *frame, const char *what, uint64_t found, uint64_t wanted)
{
	if (found != wanted)
		fail(__FILE__, __LINE__, "%s: %s %llx, expected %llx", frame->what, what, found,
		     wanted);
}

/* A fault of the ROM's IRET is one of an IRET that stands at the site. */
static void expect_same(const struct frame *frame, const struct state *rom,
			const struct state *native)
{
	expect(frame, "vector", rom->vector, native->vector);
	expect(frame, "error code", rom->error, native->error);
	expect(frame, "EIP", rom->rip - (uint32_t)rom_site.bytes,
	       native->rip - (uint32_t)native_site.bytes);
	expect(frame, "CS", rom->cs, native->cs);
	expect(frame, "ESP", rom->rsp, native->rsp);
	expect(frame, "EFLAGS", rom->rflags & SAME_FLAGS, native->rflags & SAME_FLAGS);
	expect(frame, "EAX", rom->rax, native->rax);
	expect(frame, "ECX", rom->rcx, native->rcx);
	expect(frame, "EDX", rom->rdx, native->rdx);
	expect(frame, "EBX", rom->rbx, native->rbx);
	expect(frame, "EBP", rom->rbp, native->rbp);
	expect(frame, "ESI", rom->rsi, native->rsi);
	expect(frame, "EDI", rom->rdi, native->rdi);
}

static void check_frame(const struct frame *frame)
{
	struct state native = run_site(&native_site, frame, 0);
	struct state rom = run_site(&rom_site, frame, 0);

	if (native.vector == DONE && frame->cs == SMALL_CS)
		return; /* QEMU looks at no limit */
	EXPECT(native.vector >= VECTOR_NP && native.vector <= VECTOR_GP);
	expect_same(frame, &rom, &native);
}

/* The trap behind the ROM's ADD writes over the slot that tells the site. */
static void step(void)
{
}

static void check_stepped(const struct frame *frame)
{
	struct state native = run_site(&native_site, frame, RFLAGS_TF);
	struct state rom;

	run_set_handler(VECTOR_DB, step);
	rom = run_site(&rom_site, frame, RFLAGS_TF);
	expect_same(frame, &rom, &native);
}

/* Nothing calls the routine here, so there is no site: alive is all that is asked for. */
static void check_jumped(const struct frame *frame)
{
	struct state state = run_site(&jump_site, frame, 0);

	EXPECT(state.vector < 32);
}

void guest_main(void)
{
	pv_start(told("pae") ? PAGING_PAE : PAGING_4K);
	segments_set_descriptor(SMALL_CS, SEGMENT_SMALL);
	site_make(&rom_site, SITE_JUMP, &no_op, NULL);
	site_patch(&rom_site, VMI_CALL_IRET);
	native_site.bytes[0] = IRETD;
	no_op = pv_reloc(VMI_CALL_IRET).routine;
	site_make(&jump_site, SITE_JUMP, &no_op, NULL);
	for (unsigned int i = 0; i < ARRAY_SIZE(frames); i++)
		check_frame(&frames[i]);
	check_stepped(&frames[0]);
	check_stepped(&frames[16]);
	run_set_handler(VECTOR_DB, NULL);
	for (unsigned int i = 0; i < ARRAY_SIZE(frames); i++) {
		check_jumped(&frames[i]);
		check_frame(&frames[i]);
	}
}
