/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/cpu.h"
#include "debug/breakpoints.h"
#include "debug/gdb_packet.h"
#include "debug/guest_symbols.h"
#include "debug/monitor_command.h"
#include "lib/printf.h"
#include "lib/string.h"

#define PHYSICAL_PREFIX "p:"
#define HEX_PREFIX	"0x"

struct guest_paging monitor_paging(const struct monitor_request *request)
{
	return debugger_paging(request->stopped);
}

uint64_t monitor_next_instruction(const struct monitor_request *request)
{
	const struct guest_state *s = &request->stopped->state;

	return s->efer & EFER_LMA ? s->rip : (uint32_t)(s->cs.base + s->rip);
}

/* ---- $register ---- */

static const struct {
	const char *name;
	size_t offset; /* in struct guest_state */
} registers[] = {
	{"ax", offsetof(struct guest_state, regs.rax)},
	{"cx", offsetof(struct guest_state, regs.rcx)},
	{"dx", offsetof(struct guest_state, regs.rdx)},
	{"bx", offsetof(struct guest_state, regs.rbx)},
	{"sp", offsetof(struct guest_state, regs.rsp)},
	{"bp", offsetof(struct guest_state, regs.rbp)},
	{"si", offsetof(struct guest_state, regs.rsi)},
	{"di", offsetof(struct guest_state, regs.rdi)},
	{"8", offsetof(struct guest_state, regs.r8)},
	{"9", offsetof(struct guest_state, regs.r9)},
	{"10", offsetof(struct guest_state, regs.r10)},
	{"11", offsetof(struct guest_state, regs.r11)},
	{"12", offsetof(struct guest_state, regs.r12)},
	{"13", offsetof(struct guest_state, regs.r13)},
	{"14", offsetof(struct guest_state, regs.r14)},
	{"15", offsetof(struct guest_state, regs.r15)},
	{"ip", offsetof(struct guest_state, rip)},
	{"cr2", offsetof(struct guest_state, cr2)},
	{"cr3", offsetof(struct guest_state, cr3)},
};

static bool read_register(const struct guest_state *state, struct word name, uint64_t *value)
{
	if (name.length && (*name.text == 'e' || *name.text == 'r'))
		name = (struct word){name.text + 1, name.length - 1};
	for (unsigned int i = 0; i < ARRAY_SIZE(registers); i++) {
		if (!word_equals(name, registers[i].name))
			continue;
		memcpy(value, (const char *)state + registers[i].offset, sizeof(*value));
		return true;
	}
	return false;
}

/* ---- numbers ---- */

static struct word behind(struct word word, int count)
{
	return (struct word){word.text + count, word.length - count};
}

static bool begins_with(struct word word, const char *text)
{
	int length = (int)strlen(text);

	return word.length >= length && !memcmp(word.text, text, (size_t)length);
}

/* All of the word, in 64 bits. */
static bool parse_hex(struct word word, uint64_t *value)
{
	if (begins_with(word, HEX_PREFIX))
		word = behind(word, 2);
	if (!word.length || word.length > 16)
		return false;
	*value = 0;
	for (int i = 0; i < word.length; i++) {
		int digit = gdb_hex_digit(word.text[i]);

		if (digit < 0)
			return false;
		*value = *value << 4 | (unsigned int)digit;
	}
	return true;
}

static bool parse_decimal(struct word word, uint64_t *value)
{
	if (begins_with(word, HEX_PREFIX))
		return parse_hex(word, value);
	if (!word.length || word.length > 18)
		return false;
	*value = 0;
	for (int i = 0; i < word.length; i++) {
		if (word.text[i] < '0' || word.text[i] > '9')
			return false;
		*value = *value * 10 + (uint64_t)(word.text[i] - '0');
	}
	return true;
}

/* ---- addresses ---- */

/* A register, a number, or a name; numbers come first. */
static bool parse_base(const struct monitor_request *request, struct word word, uint64_t *value)
{
	if (begins_with(word, "$"))
		return read_register(&request->stopped->state, behind(word, 1), value);
	return parse_hex(word, value) || guest_symbol_find(word, value);
}

/* Where "+12" or "-12" starts; the word's length if nothing does. */
static int find_offset(struct word word)
{
	int i = 1;

	while (i < word.length && word.text[i] != '+' && word.text[i] != '-')
		i++;
	return i < word.length ? i : word.length;
}

static bool parse_address(const struct monitor_request *request, struct word word,
			  struct monitor_address *address)
{
	struct word base;
	uint64_t offset = 0;

	address->physical = begins_with(word, PHYSICAL_PREFIX);
	if (address->physical)
		word = behind(word, 2);
	base = (struct word){word.text, find_offset(word)};
	if (!word.length || !parse_base(request, base, &address->value))
		return false;
	if (base.length < word.length && !parse_hex(behind(word, base.length + 1), &offset))
		return false;
	if (base.length < word.length && word.text[base.length] == '-')
		offset = -offset;
	address->value += offset;
	if (!(request->stopped->state.efer & EFER_LMA) && !address->physical)
		address->value &= UINT32_MAX;
	return true;
}

bool monitor_take_address(struct monitor_request *request, struct monitor_address *address,
			  const uint64_t *otherwise)
{
	struct word word = word_next(&request->rest);

	*address = (struct monitor_address){otherwise ? *otherwise : 0, false};
	if (!word.length && otherwise)
		return true;
	if (word.length && parse_address(request, word, address))
		return true;
	monitor_print("%.*s%san address is wanted: c1000000, p:1000, $esp+8, or a name of the "
		      "guest's System.map\n",
		      WORD_ARGS(word), word.length ? ": " : "");
	return false;
}

bool monitor_take_number(struct monitor_request *request, uint64_t *number, uint64_t otherwise,
			 uint64_t max)
{
	struct word word = word_next(&request->rest);

	*number = otherwise;
	if (!word.length)
		return true;
	if (parse_decimal(word, number) && *number && *number <= max)
		return true;
	monitor_print("%.*s: a number of 1 to %lu is wanted\n", WORD_ARGS(word), max);
	return false;
}

static unsigned int take_quoted(const char *text, uint8_t *bytes, unsigned int max)
{
	unsigned int count = 0;

	while (text[count] && text[count] != '"' && count < max) {
		bytes[count] = (uint8_t)text[count];
		count++;
	}
	return text[count] == '"' ? count : 0;
}

static unsigned int take_hex_bytes(const char *rest, uint8_t *bytes, unsigned int max)
{
	unsigned int count = 0;
	struct word word;
	uint64_t value;

	while ((word = word_next(&rest)).length) {
		if (count == max || !parse_hex(word, &value) || value > UINT8_MAX)
			return 0;
		bytes[count++] = (uint8_t)value;
	}
	return count;
}

unsigned int monitor_take_bytes(struct monitor_request *request, uint8_t *bytes, unsigned int max)
{
	const char *rest = request->rest;
	unsigned int count;

	while (*rest == ' ')
		rest++;
	count = *rest == '"' ? take_quoted(rest + 1, bytes, max) : take_hex_bytes(rest, bytes, max);
	if (!count)
		monitor_print("1 to %u bytes are wanted, like 90 0f 05, or \"text\"\n", max);
	return count;
}

bool monitor_is_at_end(struct monitor_request *request)
{
	struct word word = word_next(&request->rest);

	if (word.length)
		monitor_print("%.*s: too much; \"help\" has the arguments\n", WORD_ARGS(word));
	return !word.length;
}

/* ---- memory, names ---- */

static uint64_t read_physical(uint64_t address, uint8_t *out, uint64_t size)
{
	for (uint64_t i = 0; i < size; i++) {
		const uint8_t *byte = guest_memory_find(gpa(address + i), 1);

		if (!byte)
			return i;
		out[i] = *byte;
	}
	return size;
}

uint64_t monitor_read(const struct monitor_request *request, struct monitor_address address,
		      void *out, uint64_t size)
{
	struct guest_paging paging = monitor_paging(request);

	return address.physical ? read_physical(address.value, out, size)
				: breakpoints_read(&paging, address.value, out, size);
}
