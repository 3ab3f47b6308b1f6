// SPDX-License-Identifier: GPL-2.0-only
#include "guest/option_rom.h"

#include "debug/console.h"
#include "lib/errno.h"
#include "lib/string.h"

static uint8_t byte_sum(const uint8_t *bytes, size_t size)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < size; i++)
		sum += bytes[i];
	return (uint8_t)sum;
}

static uint16_t read_u16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] | bytes[1] << 8);
}

/* ---- where the ROM goes ---- */

#define AREA_PAGES (OPTION_ROM_AREA_SIZE / PAGE_SIZE)

/* What is taken in the option ROM area. */
struct rom_area {
	bool used[AREA_PAGES];	  /* a ROM lies there, or something that is not empty */
	unsigned int behind_roms; /* the first page behind the last ROM */
};

/* Bytes that a ROM at offset says it has, 0 if there is none. */
static size_t rom_length_at(const uint8_t *area, size_t offset)
{
	const uint8_t *rom = area + offset;

	if (read_u16(rom) != OPTION_ROM_SIGNATURE)
		return 0;
	return rom[offsetof(struct vmi_rom_header, rom_length)] * (size_t)OPTION_ROM_LENGTH_UNIT;
}

static bool rom_is_sound(const uint8_t *area, size_t offset, size_t length)
{
	return length != 0 && length <= OPTION_ROM_AREA_SIZE - offset &&
	       byte_sum(area + offset, length) == 0;
}

static void use_pages(struct rom_area *taken, size_t offset, size_t length)
{
	for (size_t page = offset / PAGE_SIZE; page * PAGE_SIZE < offset + length; page++)
		taken->used[page] = true;
}

/*
 * A length is only believed under a right checksum. But ROMs that change themselves at
 * power-on and never sum up again are common, so a wrong one still moves behind_roms.
 */
static void find_roms(const uint8_t *area, struct rom_area *taken)
{
	size_t offset = 0, end = 0;

	while (offset < OPTION_ROM_AREA_SIZE) {
		size_t length = rom_length_at(area, offset);
		bool sound = rom_is_sound(area, offset, length);

		if (length != 0)
			end = max_u64(end, offset + length);
		if (sound)
			use_pages(taken, offset, length);
		offset += sound ? align_up(length, VMI_ROM_ALIGN) : VMI_ROM_ALIGN;
	}
	taken->behind_roms = (unsigned int)(align_up(end, PAGE_SIZE) / PAGE_SIZE);
}

/* Memory that nobody uses reads as 0; where there is none, the bus reads as all ones. */
static bool page_is_empty(const uint8_t *page)
{
	if (page[0] != 0x00 && page[0] != 0xff)
		return false;
	return memcmp(page, page + 1, PAGE_SIZE - 1) == 0;
}

static void find_used_pages(const uint8_t *area, struct rom_area *taken)
{
	for (unsigned int page = 0; page < AREA_PAGES; page++)
		if (!page_is_empty(area + page * PAGE_SIZE))
			taken->used[page] = true;
}

/* The lowest run of unused pages from page first on; AREA_PAGES if there is none. */
static unsigned int find_run(const struct rom_area *taken, unsigned int first, unsigned int pages)
{
	unsigned int run = 0;

	for (unsigned int page = first; page < AREA_PAGES; page++) {
		run = taken->used[page] ? 0 : run + 1;
		if (run == pages)
			return page + 1 - pages;
	}
	return AREA_PAGES;
}

/*
 * Behind the last ROM first, as the firmware itself would do it; a gap between ROMs is
 * second choice, for a ROM of doubtful length may reach into it.
 */
int option_rom_find_slot(const uint8_t *area, size_t rom_size, gpa_t *slot)
{
	unsigned int pages = (unsigned int)(align_up(rom_size, PAGE_SIZE) / PAGE_SIZE);
	struct rom_area taken = {0};
	unsigned int page;

	find_roms(area, &taken);
	find_used_pages(area, &taken);
	page = find_run(&taken, taken.behind_roms, pages);
	if (page == AREA_PAGES)
		page = find_run(&taken, 0, pages);
	if (page == AREA_PAGES)
		return -ENOMEM;
	*slot = gpa(OPTION_ROM_AREA_BASE + page * PAGE_SIZE);
	return 0;
}

/* ---- making a copy of the ROM fit ---- */

/* How the hypercall instruction comes from the assembler: VMMCALL (vmirom/entry.asm). */
static const uint8_t assembled_hypercall[VMI_HYPERCALL_INSTRUCTION_SIZE] = {0x0f, 0x01, 0xd9};

struct rom_image {
	uint8_t *bytes;
	size_t size;
	struct vmi_rom_header header;
	struct vmi_rom_private private;
};

static int damaged(const char *what, size_t where)
{
	pr_error("VMI ROM image is damaged: %s, at offset %#zx", what, where);
	return -ENOEXEC;
}

/* Tables and code lie behind the header. */
static bool is_inside(const struct rom_image *rom, size_t offset, size_t size)
{
	return offset >= sizeof(rom->header) && offset <= rom->size && size <= rom->size - offset;
}

static struct vmi_rom_answer read_answer(const struct rom_image *rom, unsigned int call)
{
	struct vmi_rom_answer answer;

	memcpy(&answer, rom->bytes + rom->private.answers + call * sizeof(answer), sizeof(answer));
	return answer;
}

static void write_answer(struct rom_image *rom, unsigned int call, struct vmi_rom_answer answer)
{
	memcpy(rom->bytes + rom->private.answers + call * sizeof(answer), &answer, sizeof(answer));
}

/* Offset of the list's entry for hypercall instruction number site. */
static size_t hypercall_entry(const struct rom_image *rom, unsigned int site)
{
	return rom->private.hypercalls + site * sizeof(uint16_t);
}

static size_t hypercall_site(const struct rom_image *rom, unsigned int site)
{
	return read_u16(rom->bytes + hypercall_entry(rom, site));
}

static int read_header(struct rom_image *rom)
{
	struct vmi_rom_header *header = &rom->header;

	if (rom->size < sizeof(*header))
		return damaged("ends inside the header", rom->size);
	memcpy(header, rom->bytes, sizeof(*header));
	if (header->rom_signature != OPTION_ROM_SIGNATURE)
		return damaged("no option ROM signature", 0);
	if (header->rom_length * (size_t)OPTION_ROM_LENGTH_UNIT != rom->size)
		return damaged("length is not that of the image",
			       offsetof(struct vmi_rom_header, rom_length));
	if (header->vmi_signature != VMI_ROM_SIGNATURE)
		return damaged("no VMI signature", offsetof(struct vmi_rom_header, vmi_signature));
	if (header->api_major != VMI_API_MAJOR)
		return damaged("not VMI 3", offsetof(struct vmi_rom_header, api_major));
	if (byte_sum(rom->bytes, rom->size) != 0)
		return damaged("wrong checksum", offsetof(struct vmi_rom_header, checksum));
	return 0;
}

static int read_private_header(struct rom_image *rom)
{
	struct vmi_rom_private *private = &rom->private;

	memcpy(private, rom->bytes + VMI_ROM_PRIVATE_OFFSET, sizeof(*private));
	if (private->magic != VMI_ROM_PRIVATE_MAGIC || private->version != VMI_ROM_PRIVATE_VERSION)
		return damaged("no private header of this version", VMI_ROM_PRIVATE_OFFSET);
	if (private->answer_count != VMI_CALL_COUNT)
		return damaged("wrong number of answers",
			       VMI_ROM_PRIVATE_OFFSET +
				       offsetof(struct vmi_rom_private, answer_count));
	if (!is_inside(rom, private->answers, VMI_CALL_COUNT * sizeof(struct vmi_rom_answer)))
		return damaged("answers are outside", private->answers);
	if (!is_inside(rom, private->hypercalls, private->hypercall_count * sizeof(uint16_t)))
		return damaged("list of hypercalls is outside", private->hypercalls);
	if (!is_inside(rom, private->time, sizeof(struct vmi_rom_time)))
		return damaged("figures of the time are outside", private->time);
	return 0;
}

static bool answer_is_sound(const struct rom_image *rom, struct vmi_rom_answer answer)
{
	switch (answer.type) {
	case VMI_RELOCATION_NONE:
	case VMI_RELOCATION_NOP:
		return answer.routine == 0 || is_inside(rom, answer.routine, 1);
	case VMI_RELOCATION_CALL_REL:
	case VMI_RELOCATION_JUMP_REL:
		return is_inside(rom, answer.routine, 1);
	default:
		return false;
	}
}

static int check_answers(const struct rom_image *rom)
{
	for (unsigned int call = 0; call < VMI_CALL_COUNT; call++)
		if (!answer_is_sound(rom, read_answer(rom, call)))
			return damaged(vmi_call_name(call),
				       rom->private.answers + call * sizeof(struct vmi_rom_answer));
	return 0;
}

static int check_trace_stubs(const struct rom_image *rom)
{
	const struct vmi_rom_private *private = &rom->private;
	size_t size = (size_t) private->trace_stub_size * VMI_CALL_COUNT;

	if (!private->trace_stub_size || !is_inside(rom, private->trace_stubs, size))
		return damaged("trace stubs are outside", private->trace_stubs);
	return 0;
}

/* With shadow page tables, in the order of the ROM's list. All or none. */
static const uint8_t shadow_calls[] = {
	VMI_CALL_SetPxE,    VMI_CALL_UpdatePxE, VMI_CALL_AllocatePage,	   VMI_CALL_ReleasePage,
	VMI_CALL_InvalPage, VMI_CALL_FlushTLB,	VMI_CALL_SetLinearMapping,
};

static int check_shadow_routines(const struct rom_image *rom)
{
	size_t list = rom->private.shadow_routines;

	if (!is_inside(rom, list, ARRAY_SIZE(shadow_calls) * sizeof(uint16_t)))
		return damaged("list of routines is outside", list);
	for (size_t at = list; at < list + ARRAY_SIZE(shadow_calls) * sizeof(uint16_t); at += 2)
		if (!is_inside(rom, read_u16(rom->bytes + at), 1))
			return damaged("routine is outside", at);
	return 0;
}

static int check_hypercalls(const struct rom_image *rom)
{
	for (unsigned int i = 0; i < rom->private.hypercall_count; i++) {
		size_t site = hypercall_site(rom, i);

		if (!is_inside(rom, site, sizeof(assembled_hypercall)))
			return damaged("hypercall is outside", hypercall_entry(rom, i));
		if (memcmp(rom->bytes + site, assembled_hypercall, sizeof(assembled_hypercall)))
			return damaged("no hypercall instruction", site);
	}
	return 0;
}

static int check_image(struct rom_image *rom)
{
	int error = read_header(rom);

	if (!error)
		error = read_private_header(rom);
	if (!error)
		error = check_answers(rom);
	if (!error)
		error = check_trace_stubs(rom);
	if (!error)
		error = check_shadow_routines(rom);
	if (!error)
		error = check_hypercalls(rom);
	return error;
}

static void patch_hypercalls(struct rom_image *rom, const uint8_t *hypercall)
{
	for (unsigned int i = 0; i < rom->private.hypercall_count; i++)
		memcpy(rom->bytes + hypercall_site(rom, i), hypercall,
		       VMI_HYPERCALL_INSTRUCTION_SIZE);
}

/* For VMI_CALLS: a guest that knows the hints then calls the routines as well. */
static struct vmi_rom_answer without_hint(struct vmi_rom_answer answer)
{
	answer.hint = 0;
	return answer;
}

/* For VMI_TRACE: whatever has a routine is called, by way of its stub. */
static struct vmi_rom_answer traced(const struct rom_image *rom, unsigned int call,
				    struct vmi_rom_answer answer)
{
	size_t stub = rom->private.trace_stubs + call * (size_t)rom->private.trace_stub_size;

	if (!answer.routine)
		return answer;
	return (struct vmi_rom_answer){(uint16_t)stub, VMI_RELOCATION_CALL_REL, 0};
}

#define JUMP_OFFSET_SIZE 4 /* at a trace stub's end */

/* The call's trace stub goes on to routine. */
static void lead_stub(struct rom_image *rom, unsigned int call, uint16_t routine)
{
	size_t end = rom->private.trace_stubs + (call + 1) * (size_t)rom->private.trace_stub_size;
	uint32_t distance = (uint32_t)(routine - end);

	memcpy(rom->bytes + end - JUMP_OFFSET_SIZE, &distance, JUMP_OFFSET_SIZE);
}

static void set_shadow_routines(struct rom_image *rom)
{
	const uint8_t *list = rom->bytes + rom->private.shadow_routines;

	for (unsigned int i = 0; i < ARRAY_SIZE(shadow_calls); i++) {
		uint16_t routine = read_u16(list + i * sizeof(uint16_t));

		write_answer(rom, shadow_calls[i],
			     (struct vmi_rom_answer){routine, VMI_RELOCATION_CALL_REL, 0});
		lead_stub(rom, shadow_calls[i], routine);
	}
}

static bool needs_pages(unsigned int call)
{
	return call == VMI_CALL_APICWrite || call == VMI_CALL_APICRead;
}

/* All or none, as a kernel that has the first does not ask whether there are the others. */
static bool needs_time(unsigned int call)
{
	return call >= VMI_CALL_GetCycleFrequency && call <= VMI_CALL_WallclockUpdated;
}

static bool can_be_done(const struct option_rom_setup *setup, unsigned int call)
{
	if (needs_time(call))
		return setup->time && setup->has_pages;
	return setup->has_pages || !needs_pages(call);
}

/* Of the APIC only writes are caught, and of these only two have to be. */
static struct vmi_rom_answer called_for_commands(struct vmi_rom_answer answer)
{
	answer.type = VMI_RELOCATION_CALL_REL;
	answer.hint = VMI_HINT_COMMANDS;
	return answer;
}

static void set_answers(struct rom_image *rom, const struct option_rom_setup *setup)
{
	for (unsigned int call = 0; call < VMI_CALL_COUNT; call++) {
		struct vmi_rom_answer answer = read_answer(rom, call);

		if (call == VMI_CALL_APICWrite && setup->apic_is_caught)
			answer = called_for_commands(answer);
		if (!can_be_done(setup, call))
			answer = (struct vmi_rom_answer){.type = VMI_RELOCATION_NONE};
		else if (setup->vmi == VMI_CALLS)
			answer = without_hint(answer);
		else if (setup->vmi == VMI_TRACE)
			answer = traced(rom, call, answer);
		write_answer(rom, call, answer);
	}
}

static void set_checksum(struct rom_image *rom)
{
	uint8_t *checksum = rom->bytes + offsetof(struct vmi_rom_header, checksum);

	*checksum = (uint8_t)(*checksum - byte_sum(rom->bytes, rom->size));
}

int option_rom_prepare(uint8_t *rom, size_t size, const struct option_rom_setup *setup)
{
	struct rom_image image = {.bytes = rom, .size = size};
	int error;

	if (setup->vmi == VMI_OFF) {
		pr_error("no VMI ROM to prepare: vmi=off");
		return -EINVAL;
	}
	error = check_image(&image);
	if (error)
		return error;
	patch_hypercalls(&image, setup->hypercall);
	if (setup->has_queue)
		set_shadow_routines(&image);
	set_answers(&image, setup);
	if (setup->time)
		memcpy(rom + image.private.time, setup->time, sizeof(*setup->time));
	set_checksum(&image);
	return 0;
}
