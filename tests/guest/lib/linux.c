/* SPDX-License-Identifier: GPL-2.0-only */
#include "linux.h"
#include "apic.h"
#include "guest.h"
#include "pv.h"
#include "processors.h"
#include "second.h"
#include "segments.h"
#include "site.h"

#define FLAG_IF		 0x200u
#define MSR_SYSENTER_CS	 0x174u
#define IRET_POISON	 0x0badbab0u
#define SYSEXIT_POISON	 0xfeedbab0u
#define MMU_PT		 0x01u /* the entry's level; and the call's other flags */
#define MMU_CURRENT_AS	 0x10u
#define PAGE_L1		 0x41u
#define PAGE_PAE	 0x10u
#define FLUSH_TLB	 0x01u
#define LAZY_OFF	 0u
#define LAZY_MMU	 1u
#define LAZY_CPU	 2u
#define LINEAR_PAGES	 (LINEAR_SIZE >> PAGE_SHIFT)
#define PRESENT_WRITABLE 0x07u	/* for the user, too */
#define TABLE_PFN	 0x300u /* pages that are announced as page tables, and are none */
#define PROCESSORS	 2u
#define OWN_PAGES	 (WINDOW_PAGES / PROCESSORS)

/* How vmi.c takes an answer: pointer as it is, a wrapper around it, or a bare routine. */
enum taken { FILL, WRAP, GET };

struct question {
	uint8_t call, taken;
};

#define ASK(name, taken)               \
	{                              \
		VMI_CALL_##name, taken \
	}

/* In this order; what depends on the kernel is asked in between (ask_the_rest()). */
static const struct question questions[] = {
	ASK(CPUID, WRAP),
	ASK(CLTS, FILL),
	ASK(GetDR, FILL),
	ASK(SetDR, FILL),
	ASK(GetCR0, FILL),
	ASK(GetCR2, FILL),
	ASK(GetCR3, FILL),
	ASK(GetCR4, FILL),
	ASK(SetCR0, FILL),
	ASK(SetCR2, FILL),
	ASK(SetCR3, FILL),
	ASK(SetCR4, FILL),
	ASK(GetInterruptMask, FILL),
	ASK(SetInterruptMask, FILL),
	ASK(DisableInterrupts, FILL),
	ASK(EnableInterrupts, FILL),
	ASK(WBINVD, FILL),
	ASK(RDTSC, FILL),
	ASK(SetTR, WRAP),
	ASK(SetLDT, WRAP),
	ASK(SetGDT, FILL),
	ASK(SetIDT, FILL),
	ASK(GetGDT, FILL),
	ASK(GetIDT, FILL),
	ASK(GetTR, FILL),
	ASK(WriteLDTEntry, FILL),
	ASK(WriteGDTEntry, FILL),
	ASK(WriteIDTEntry, FILL),
	ASK(UpdateKernelStack, WRAP),
	ASK(SetIOPLMask, FILL),
	ASK(IODelay, FILL),
};

static struct linux_kernel kernel;
static uint32_t ops[VMI_CALL_COUNT]; /* 0: native */
static uint32_t iret_op = IRET_POISON, sysexit_op = SYSEXIT_POISON;
static struct site enable, disable, restore, save, save_disable, iret, sysexit;
static uint8_t kernel_stack[PROCESSORS][512];
static uint8_t user_stack[PROCESSORS][64];
static void (*second_life)(void);

static void empty(void)
{
}

/* The answers' types that this way of asking can bear: docs/vmi.md's ABI, Linux' vmi.c. */
static void ask(enum vmi_call call, enum taken taken)
{
	struct reloc reloc = pv_reloc(call);

	switch (reloc.type) {
	case VMI_RELOCATION_NONE:
		return;
	case VMI_RELOCATION_NOP:
		EXPECT(taken != GET);
		if (taken == FILL)
			ops[call] = (uint32_t)empty;
		return;
	case VMI_RELOCATION_CALL_REL:
		ops[call] = reloc.routine;
		return;
	default:
		fail(__FILE__, __LINE__, "%s: Linux takes no relocation of type %u",
		     vmi_call_name(call), reloc.type);
	}
}

static void ask_times(enum vmi_call call, enum taken taken, unsigned int times)
{
	while (times--)
		ask(call, taken);
}

static void ask_mmu(void)
{
	bool pae = kernel.paging == PAGING_PAE;

	ask_times(VMI_CALL_SetLazyMode, WRAP, kernel.lazy_wrapped ? 4 : 1);
	ask_times(VMI_CALL_FlushTLB, WRAP, 2);
	ask(VMI_CALL_InvalPage, FILL);
	ask(pae ? VMI_CALL_SetPxELong : VMI_CALL_SetPxE, GET);
	ask(pae ? VMI_CALL_UpdatePxELong : VMI_CALL_UpdatePxE, GET);
	ask(VMI_CALL_AllocatePage, WRAP);
	ask(VMI_CALL_ReleasePage, WRAP);
	ask(VMI_CALL_SetLinearMapping, WRAP);
}

static void ask_time(void)
{
	ask(VMI_CALL_GetCycleFrequency, GET);
	if (!ops[VMI_CALL_GetCycleFrequency])
		return;
	for (unsigned int call = VMI_CALL_GetCycleCounter; call <= VMI_CALL_WallclockUpdated;
	     call++)
		ask(call, GET);
}

static void ask_all(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(questions); i++)
		ask(questions[i].call, questions[i].taken);
	ask_mmu();
	ask(VMI_CALL_SetInitialAPState, WRAP);
	ask(VMI_CALL_APICRead, FILL);
	ask_times(VMI_CALL_APICWrite, FILL, kernel.apic_write_atomic ? 2 : 1);
	ask_time();
	ask(VMI_CALL_Halt, FILL);
}

static void expect_together(enum vmi_call first, enum vmi_call second)
{
	if (!ops[first] != !ops[second])
		fail(__FILE__, __LINE__, "%s and %s come together or not at all",
		     vmi_call_name(first), vmi_call_name(second));
}

/* Pointers that some kernel calls because it has got another one. */
static void check_pairs(void)
{
	expect_together(VMI_CALL_SetPxE, VMI_CALL_UpdatePxE);
	expect_together(VMI_CALL_SetPxELong, VMI_CALL_UpdatePxELong);
	expect_together(VMI_CALL_WriteGDTEntry, VMI_CALL_WriteLDTEntry);
	expect_together(VMI_CALL_WriteGDTEntry, VMI_CALL_WriteIDTEntry);
	for (unsigned int call = VMI_CALL_GetCycleCounter; call <= VMI_CALL_GetWallclockTime;
	     call++)
		expect_together(VMI_CALL_GetCycleFrequency, call);
}

static void patch_irq_site(struct site *site, enum vmi_call call)
{
	site_make(site, kernel.callee_save ? SITE_CALLEE_SAVE : SITE_SAVING, &ops[call], NULL);
	site_patch(site, call);
}

static void apply_paravirt(void)
{
	patch_irq_site(&disable, VMI_CALL_DisableInterrupts);
	patch_irq_site(&enable, VMI_CALL_EnableInterrupts);
	patch_irq_site(&restore, VMI_CALL_SetInterruptMask);
	patch_irq_site(&save, VMI_CALL_GetInterruptMask);
	site_make(&iret, SITE_JUMP, &iret_op, NULL);
	site_patch(&iret, VMI_CALL_IRET);
	site_make(&sysexit, SITE_JUMP, &sysexit_op, NULL);
	site_patch(&sysexit, VMI_CALL_SYSEXIT);
	if (kernel.save_disable) {
		site_make(&save_disable, SITE_SAVE_DISABLE, &ops[VMI_CALL_GetInterruptMask],
			  &ops[VMI_CALL_DisableInterrupts]);
		site_patch_save_disable(&save_disable);
	}
}

struct irq_result {
	uint32_t mask;	/* bit 9 of EAX */
	uint32_t flags; /* bit 9 of EFLAGS */
};

/* C code that runs one of its irq sites, with interrupts off or on. */
static struct irq_result run_irq_op(const struct site *site, uint32_t eax, bool interrupts)
{
	struct call call = pv_canaries();

	call.target = (uint32_t)site->bytes;
	call.eax = eax;
	call.eflags = interrupts ? call.eflags | FLAG_IF : call.eflags & ~FLAG_IF;
	pv_run("an irq op", &call, PV_EAX | PV_IF);
	return (struct irq_result){call.eax & FLAG_IF, call.eflags & FLAG_IF};
}

bool linux_has(enum vmi_call call)
{
	return ops[call] && ops[call] != (uint32_t)empty;
}

uint64_t linux_op(enum vmi_call number, const uint32_t arguments[5])
{
	EXPECT(linux_has(number));
	return pv_call(number, arguments);
}

static void vmi_bringup(void)
{
	if (linux_has(VMI_CALL_SetLinearMapping))
		LINUX_OP(SetLinearMapping, 0, PAGE_OFFSET, LINEAR_PAGES, 0);
}

static void vmi_activate(void)
{
	ask_all();
	check_pairs();
	apply_paravirt();
	vmi_bringup();
	/* local_irq_restore() of what was saved natively: a bare 0 or IF */
	EXPECT_EQ("restored", run_irq_op(&restore, 0, false).flags, 0);
}

/* Between vmi_init() and its activation a 2.6.28 runs natively, with tables of its own. */
static void early_setup(void)
{
	EXPECT(under_vellum());
	paging_off();
	paging_on(kernel.paging);
}

static void enable_sysexit(void)
{
	EXPECT_EQ("SYSENTER_CS", msr_write(MSR_SYSENTER_CS, LINUX_KERNEL_CS), DONE);
}

void linux_boot(const struct linux_kernel *wanted)
{
	kernel = *wanted;
	pv_start(kernel.paging);
	if (kernel.early_init)
		early_setup();
	vmi_activate();
	enable_sysexit();
}

static void live_interrupts(void)
{
	EXPECT_EQ("IF, saved", run_irq_op(&save, 0, true).mask, FLAG_IF);
	EXPECT_EQ("IF, off", run_irq_op(&disable, 0, true).flags, 0);
	EXPECT_EQ("IF, saved off", run_irq_op(&save, 0, false).mask, 0);
	EXPECT_EQ("IF, restored off", run_irq_op(&restore, 0, true).flags, 0);
	EXPECT_EQ("IF, restored on", run_irq_op(&restore, FLAG_IF, false).flags, FLAG_IF);
	EXPECT_EQ("IF, on", run_irq_op(&enable, 0, false).flags, FLAG_IF);
}

static void live_save_disable(void)
{
	struct irq_result result = run_irq_op(&save_disable, 0, true);

	EXPECT_EQ("IF, saved before it went off", result.mask, FLAG_IF);
	EXPECT_EQ("IF, saved and off", result.flags, 0);
}

static uint32_t user_esp(void)
{
	return (uint32_t)(user_stack[run_processor()] + sizeof(user_stack[0]));
}

/* The user makes a system call at once: INT 80h. */
static void run_user(struct state *state)
{
	state->cs = LINUX_KERNEL_CS;
	run(state);
	EXPECT_EQ("system call", state->vector, DONE);
	EXPECT_EQ("user CS", state->cs, LINUX_USER_CS);
	EXPECT_EQ("user ESP", state->rsp, user_esp());
	EXPECT_EQ("user IF", state->rflags & FLAG_IF, FLAG_IF);
}

static void live_user(void)
{
	static const uint8_t program[] = {INT_DONE};
	uint32_t frame[] = {(uint32_t)program, LINUX_USER_CS, FLAG_IF | 2, user_esp(),
			    LINUX_USER_DS};
	struct state state = state_for(iret.bytes);
	uint8_t *top = kernel_stack[run_processor()] + sizeof(kernel_stack[0]) - sizeof(frame);

	memcpy(top, frame, sizeof(frame));
	state.rsp = (uint32_t)top;
	run_user(&state);
	state = state_for(sysexit.bytes);
	state.rdx = (uint32_t)program;
	state.rcx = user_esp();
	run_user(&state);
}

static void set_lazy(uint32_t mode)
{
	if (linux_has(VMI_CALL_SetLazyMode))
		LINUX_OP(SetLazyMode, mode);
}

static void switch_space(void)
{
	uint32_t cr3;

	asm volatile("mov %%cr3, %0" : "=r"(cr3));
	set_lazy(LAZY_CPU);
	if (linux_has(VMI_CALL_UpdateKernelStack))
		LINUX_OP(UpdateKernelStack, LINUX_KERNEL_DS, (uint32_t)run_fault_stack);
	if (linux_has(VMI_CALL_SetCR3))
		LINUX_OP(SetCR3, cr3);
	else
		asm volatile("mov %0, %%cr3" ::"r"(cr3) : "memory");
	set_lazy(LAZY_OFF);
}

/* set_pte_at() */
static void set_entry(unsigned int page, uint64_t value)
{
	uint32_t entry = PAGE_OFFSET + (uint32_t)paging_window_entry(kernel.paging, page);
	uint32_t va = WINDOW + page * (uint32_t)PAGE_SIZE, flags = MMU_PT | MMU_CURRENT_AS | va;

	if (linux_has(VMI_CALL_SetPxE))
		LINUX_OP(SetPxE, (uint32_t)value, entry, flags);
	else if (linux_has(VMI_CALL_SetPxELong))
		LINUX_OP(SetPxELong, (uint32_t)value, (uint32_t)(value >> 32), entry, flags);
	else
		memcpy((void *)entry, &value, kernel.paging == PAGING_PAE ? 8 : 4);
	if (linux_has(VMI_CALL_InvalPage))
		LINUX_OP(InvalPage, va);
	else
		asm volatile("invlpg (%0)" ::"r"(va) : "memory");
}

static void live_pages(unsigned int page)
{
	static volatile uint32_t pages[PROCESSORS][2 * 1024] __attribute__((aligned(4096)));
	volatile uint32_t *cells = pages[run_processor()];
	uint32_t table = TABLE_PFN + run_processor();
	volatile uint32_t *window = (uint32_t *)(WINDOW + page * (uint32_t)PAGE_SIZE);
	uint32_t flags = kernel.paging == PAGING_PAE ? PAGE_PAE : 0;

	cells[0] = page;
	cells[1024] = ~page;
	if (linux_has(VMI_CALL_AllocatePage))
		LINUX_OP(AllocatePage, table, flags | PAGE_L1, 0, 0, 0);
	set_lazy(LAZY_MMU);
	set_entry(page, (uint32_t)&cells[0] | PRESENT_WRITABLE);
	set_lazy(LAZY_OFF);
	EXPECT_EQ("a page", *window, page);
	set_entry(page, (uint32_t)&cells[1024] | PRESENT_WRITABLE);
	EXPECT_EQ("a page, changed", *window, ~page);
	if (linux_has(VMI_CALL_FlushTLB))
		LINUX_OP(FlushTLB, FLUSH_TLB);
	if (linux_has(VMI_CALL_ReleasePage))
		LINUX_OP(ReleasePage, table, flags | PAGE_L1);
}

void linux_live(unsigned int rounds)
{
	for (unsigned int i = 0; i < rounds; i++) {
		live_interrupts();
		if (kernel.save_disable)
			live_save_disable();
		live_user();
		switch_space();
		live_pages(run_processor() * OWN_PAGES + i % OWN_PAGES);
		if (linux_has(VMI_CALL_IODelay))
			LINUX_OP(IODelay);
	}
}

void linux_idle(void)
{
	if (linux_has(VMI_CALL_Halt))
		LINUX_OP(Halt);
	else
		asm volatile("sti; hlt; cli" ::: "memory");
}

/* apic_write() */
static void send_command(uint32_t apic_id, uint32_t command)
{
	if (!linux_has(VMI_CALL_APICWrite)) {
		send_to(apic_id, command);
		return;
	}
	LINUX_OP(APICWrite, APIC_ICR_HIGH & 0xfff, apic_id << 24);
	LINUX_OP(APICWrite, APIC_ICR & 0xfff, command);
	while (*apic_register(APIC_ICR) & ICR_PENDING)
		cpu_relax();
}

static void live_as_second(void)
{
	enable_sysexit();
	second_life();
}

void linux_live_on_two(void (*life)(void))
{
	second_life = life;
	second_start(send_command);
	second_begin(live_as_second);
	life();
	second_await("its life");
}
