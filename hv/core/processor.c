/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/processor.h"
#include "debug/console.h"
#include "mm/frames.h"
#include "mm/image.h"
#include "mm/physmap.h"

#define STACK_FRAMES 4

extern const char boot_stack_bottom[], boot_stack_top[];

static struct processor boot_processor = {
	.stack_bottom = (uintptr_t)boot_stack_bottom,
	.stack_top = (uintptr_t)boot_stack_top,
};

static struct processor *processors[PROCESSORS_MAX] = {&boot_processor};
static unsigned int count = 1;

_Static_assert(sizeof(struct processor) <= PAGE_SIZE, "processor_add() takes one frame");

struct processor *processor_boot(void)
{
	return &boot_processor;
}

static bool runs_on(const struct processor *processor, uintptr_t stack)
{
	return stack > processor->stack_bottom && stack <= processor->stack_top;
}

/* No register holds it: FS and GS are the guest's on AMD-V. It is not asked for often. */
struct processor *processor_current(void)
{
	uintptr_t stack = (uintptr_t)__builtin_frame_address(0);

	for (unsigned int i = 1; i < count; i++)
		if (runs_on(processors[i], stack))
			return processors[i];
	return &boot_processor;
}

/* Below the stack is a page that is not mapped, as below the boot processor's. */
static bool make_stack(struct processor *processor)
{
	hpa_t frames;

	if (frames_allocate(1 + STACK_FRAMES, 1, &frames))
		return false;
	if (image_unmap(frames))
		return false;
	processor->stack_bottom = (uintptr_t)phys_to_virt(hpa(frames.raw + PAGE_SIZE));
	processor->stack_top = processor->stack_bottom + STACK_FRAMES * PAGE_SIZE;
	return true;
}

struct processor *processor_add(uint32_t apic_id)
{
	struct processor *processor;

	if (count == PROCESSORS_MAX) {
		pr_warn("processor with APIC id %x is one too many: Vellum knows %u", apic_id,
			PROCESSORS_MAX);
		return NULL;
	}
	processor = frame_allocate();
	if (!processor || !make_stack(processor))
		return NULL;
	processor->apic_id = apic_id;
	processor->vcpu.id = count;
	processors[count++] = processor;
	return processor;
}

unsigned int processor_count(void)
{
	return count;
}

struct processor *processor_at(unsigned int number)
{
	return processors[number];
}

struct processor *processor_find(uint32_t apic_id)
{
	for (unsigned int i = 0; i < count; i++)
		if (processors[i]->apic_id == apic_id)
			return processors[i];
	return NULL;
}
