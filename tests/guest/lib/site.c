/* SPDX-License-Identifier: GPL-2.0-only */
#include "site.h"
#include "guest.h"
#include "pv.h"

#define PUSH_EAX 0x50
#define PUSH_ECX 0x51
#define PUSH_EDX 0x52
#define POP_EAX	 0x58
#define POP_ECX	 0x59
#define POP_EDX	 0x5a
#define CALL_REL 0xe8
#define JMP_REL	 0xe9
#define RET	 0xc3
#define NOP	 0x90
#define REL_SIZE 5

static void put(struct site *site, uint8_t byte)
{
	site->bytes[site->size++] = byte;
}

static void put_pointer(struct site *site, const uint32_t *pointer)
{
	memcpy(site->bytes + site->size, &pointer, sizeof(pointer));
	site->size += sizeof(pointer);
}

static void put_call(struct site *site, const uint32_t *op)
{
	put(site, 0xff); /* CALL [disp32] */
	put(site, 0x15);
	put_pointer(site, op);
}

static void put_jump(struct site *site, const uint32_t *op)
{
	put(site, 0x2e); /* JMP CS:[disp32] */
	put(site, 0xff);
	put(site, 0x25);
	put_pointer(site, op);
}

static void put_two_calls(struct site *site, const uint32_t *op, const uint32_t *second)
{
	put_call(site, op);
	put(site, PUSH_EAX);
	put_call(site, second);
	put(site, POP_EAX);
}

void site_make(struct site *site, enum site_shape shape, const uint32_t *op, const uint32_t *second)
{
	bool saves = shape == SITE_SAVING || shape == SITE_ASSEMBLY || shape == SITE_SAVE_DISABLE;

	memset(site->lead, NOP, sizeof(site->lead));
	site->size = 0;
	if (shape == SITE_ASSEMBLY)
		put(site, PUSH_EAX);
	if (saves) {
		put(site, PUSH_ECX);
		put(site, PUSH_EDX);
	}
	if (shape == SITE_JUMP)
		put_jump(site, op);
	else if (shape == SITE_SAVE_DISABLE)
		put_two_calls(site, op, second);
	else
		put_call(site, op);
	if (saves) {
		put(site, POP_EDX);
		put(site, POP_ECX);
	}
	if (shape == SITE_ASSEMBLY)
		put(site, POP_EAX);
	site->bytes[site->size] = RET;
}

static void put_relative(uint8_t *at, uint8_t opcode, uint32_t target)
{
	uint32_t distance = target - ((uint32_t)at + REL_SIZE);

	at[0] = opcode;
	memcpy(at + 1, &distance, sizeof(distance));
}

/* How many of the site's bytes are used; Linux fills the rest with NOPs. */
static unsigned int patch(uint8_t *at, unsigned int size, enum vmi_call call)
{
	struct reloc reloc = pv_reloc(call);

	switch (reloc.type) {
	case VMI_RELOCATION_NONE:
		return size;
	case VMI_RELOCATION_NOP:
		return 0;
	case VMI_RELOCATION_CALL_REL:
	case VMI_RELOCATION_JUMP_REL:
		EXPECT(size >= REL_SIZE);
		put_relative(at, reloc.type == VMI_RELOCATION_CALL_REL ? CALL_REL : JMP_REL,
			     reloc.routine);
		return REL_SIZE;
	default:
		fail(__FILE__, __LINE__, "%s: relocation type %u", vmi_call_name(call), reloc.type);
	}
}

void site_patch(struct site *site, enum vmi_call call)
{
	unsigned int used = patch(site->bytes, site->size, call);

	memset(site->bytes + used, NOP, site->size - used);
}

void site_patch_save_disable(struct site *site)
{
	patch(site->bytes, REL_SIZE, VMI_CALL_GetInterruptMask);
	patch(site->bytes + REL_SIZE, REL_SIZE, VMI_CALL_DisableInterrupts);
	memset(site->bytes + 2 * REL_SIZE, NOP, site->size - 2 * REL_SIZE);
}
