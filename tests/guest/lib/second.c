/* SPDX-License-Identifier: GPL-2.0-only */
#include "second.h"
#include "apic.h"
#include "guest.h"
#include "irq.h"
#include "processors.h"
#include "pv.h"
#include "segments.h"

#define CR0_LINUX  0x80050023u
#define STACK_SIZE 4096u
#define PATIENCE   100000000u

static void (*volatile job)(void);
static volatile uint32_t jobs, done;
static uint8_t stack[STACK_SIZE] __attribute__((aligned(16)));

struct table_register {
	uint16_t limit;
	uint32_t base;
} __attribute__((packed));

/* First of all TR: by that the library knows the processor. */
static _Noreturn void secondary(void)
{
	asm volatile("ltr %w0" ::"r"(TSS_2));
	irq_init_apic();
	for (uint32_t number = 1;; number++) {
		while (jobs < number)
			cpu_relax();
		job();
		done = number;
	}
}

static struct vmi_ap_state initial_state(void)
{
	struct table_register gdt, idt;
	uint32_t cr3;

	asm volatile("sgdt %0; sidt %1; mov %%cr3, %2" : "=m"(gdt), "=m"(idt), "=r"(cr3));
	return (struct vmi_ap_state){
		.cr0 = CR0_LINUX,
		.cr3 = cr3,
		.cr4 = cr4_read(),
		.eip = (uint32_t)secondary,
		.esp = (uint32_t)(stack + sizeof(stack) - 4),
		.cs = LINUX_KERNEL_CS,
		.ss = LINUX_KERNEL_DS,
		.ds = LINUX_USER_DS,
		.es = LINUX_USER_DS,
		.fs = LINUX_PERCPU,
		.gdtr_limit = gdt.limit,
		.gdtr_base = gdt.base,
		.idtr_limit = idt.limit,
		.idtr_base = idt.base,
	};
}

static void nothing(void)
{
}

void second_start(void (*send)(uint32_t apic_id, uint32_t command))
{
	struct vmi_ap_state state = initial_state();
	uint32_t apic_id = 1 - own_apic_id();

	processors_init();
	send(apic_id, ICR_INIT_LEVEL);
	send(apic_id, ICR_INIT_RELEASE);
	EXPECT_EQ("SetInitialAPState", (uint32_t)VMI(SetInitialAPState, (uint32_t)&state, apic_id),
		  0);
	send(apic_id, ICR_STARTUP | START_PAGE);
	second_begin(nothing);
	second_await("STARTUP");
}

void second_begin(void (*what)(void))
{
	job = what;
	jobs++;
}

void second_await(const char *what)
{
	for (unsigned int i = 0; i < PATIENCE && done != jobs; i++)
		cpu_relax();
	if (done != jobs)
		fail(__FILE__, __LINE__, "%s: the other processor does not come back", what);
}
