/* SPDX-License-Identifier: GPL-2.0-only */
#include "debug/gdb_registers.h"
#include "lib/printf.h"
#include "lib/string.h"

#define REGISTER_BYTES_MAX 16
#define XML_SIZE	   8192

/* In the FXSAVE image: APM volume 2, figure 11-8 */
#define FX_STATUS      2
#define FX_TAGS	       4
#define FX_ST	       32
#define FX_XMM	       160
#define FX_STEP	       16
#define ST_TOP(status) ((status) >> 11 & 7)
#define TAG_EMPTY      3u

struct gdb_register {
	const char *name, *type;
	uint8_t bits;	/* as gdb sees it; the upper ones are 0 if there are more than stored */
	uint8_t stored; /* bytes in struct guest_state; 0: the tags, which are made */
	bool writable;
	uint16_t offset; /* in struct guest_state */
};

struct feature {
	const char *name;
	const struct gdb_register *registers;
	unsigned int count;
};

#define STORED(member) sizeof(((struct guest_state *)0)->member)
#define FIELD(name, type, bits, member, writable)                                                \
	{                                                                                        \
		name, type, bits, STORED(member), writable, offsetof(struct guest_state, member) \
	}
#define GENERAL(name, bits, member)	  FIELD(name, "int" #bits, bits, member, true)
#define POINTER(name, type, bits, member) FIELD(name, type, bits, member, true)
#define SELECTOR(name)			  FIELD(#name, "int32", 32, name.selector, false)
#define SYSTEM(name, bits, member)	  FIELD(name, "int" #bits, bits, member, false)
#define IN_FPU(name, type, bits, stored, at)                                             \
	{                                                                                \
		name, type, bits, stored, true, offsetof(struct guest_state, fpu) + (at) \
	}
#define ST(n)  IN_FPU("st" #n, "i387_ext", 80, 10, FX_ST + FX_STEP * n)
#define XMM(n) IN_FPU("xmm" #n, "vec128", 128, 16, FX_XMM + FX_STEP * n)

#define SELECTORS SELECTOR(cs), SELECTOR(ss), SELECTOR(ds), SELECTOR(es), SELECTOR(fs), SELECTOR(gs)

#define X87                                                                                       \
	ST(0), ST(1), ST(2), ST(3), ST(4), ST(5), ST(6), ST(7), IN_FPU("fctrl", "int", 32, 2, 0), \
		IN_FPU("fstat", "int", 32, 2, FX_STATUS), IN_FPU("ftag", "int", 32, 0, FX_TAGS),  \
		IN_FPU("fiseg", "int", 32, 2, 12), IN_FPU("fioff", "int", 32, 4, 8),              \
		IN_FPU("foseg", "int", 32, 2, 20), IN_FPU("fooff", "int", 32, 4, 16),             \
		IN_FPU("fop", "int", 32, 2, 6)

#define MXCSR IN_FPU("mxcsr", "int", 32, 4, 24)

#define SYSTEM_REGISTERS(bits)                                                                  \
	SYSTEM("cr0", bits, cr0), SYSTEM("cr2", bits, cr2), SYSTEM("cr3", bits, cr3),           \
		SYSTEM("cr4", bits, cr4), SYSTEM("efer", bits, efer), SYSTEM("dr6", bits, dr6), \
		SYSTEM("dr7", bits, dr7), SYSTEM("gdt_base", bits, gdtr.base),                  \
		SYSTEM("gdt_limit", 32, gdtr.limit), SYSTEM("idt_base", bits, idtr.base),       \
		SYSTEM("idt_limit", 32, idtr.limit), SYSTEM("tr", 32, tr.selector),             \
		SYSTEM("tr_base", bits, tr.base), SYSTEM("ldtr", 32, ldtr.selector)

static const struct gdb_register core_32[] = {
	GENERAL("eax", 32, regs.rax),
	GENERAL("ecx", 32, regs.rcx),
	GENERAL("edx", 32, regs.rdx),
	GENERAL("ebx", 32, regs.rbx),
	POINTER("esp", "data_ptr", 32, regs.rsp),
	POINTER("ebp", "data_ptr", 32, regs.rbp),
	GENERAL("esi", 32, regs.rsi),
	GENERAL("edi", 32, regs.rdi),
	POINTER("eip", "code_ptr", 32, rip),
	POINTER("eflags", "i386_eflags", 32, rflags),
	SELECTORS,
	X87,
};

static const struct gdb_register sse_32[] = {
	XMM(0), XMM(1), XMM(2), XMM(3), XMM(4), XMM(5), XMM(6), XMM(7), MXCSR,
};

static const struct gdb_register system_32[] = {
	SYSTEM("fs_base", 32, fs.base),
	SYSTEM("gs_base", 32, gs.base),
	SYSTEM_REGISTERS(32),
};

static const struct gdb_register core_64[] = {
	GENERAL("rax", 64, regs.rax),
	GENERAL("rbx", 64, regs.rbx),
	GENERAL("rcx", 64, regs.rcx),
	GENERAL("rdx", 64, regs.rdx),
	GENERAL("rsi", 64, regs.rsi),
	GENERAL("rdi", 64, regs.rdi),
	POINTER("rbp", "data_ptr", 64, regs.rbp),
	POINTER("rsp", "data_ptr", 64, regs.rsp),
	GENERAL("r8", 64, regs.r8),
	GENERAL("r9", 64, regs.r9),
	GENERAL("r10", 64, regs.r10),
	GENERAL("r11", 64, regs.r11),
	GENERAL("r12", 64, regs.r12),
	GENERAL("r13", 64, regs.r13),
	GENERAL("r14", 64, regs.r14),
	GENERAL("r15", 64, regs.r15),
	POINTER("rip", "code_ptr", 64, rip),
	POINTER("eflags", "i386_eflags", 32, rflags),
	SELECTORS,
	X87,
};

static const struct gdb_register sse_64[] = {
	XMM(0), XMM(1),	 XMM(2),  XMM(3),  XMM(4),  XMM(5),  XMM(6),  XMM(7), XMM(8),
	XMM(9), XMM(10), XMM(11), XMM(12), XMM(13), XMM(14), XMM(15), MXCSR,
};

static const struct gdb_register segments_64[] = {
	SYSTEM("fs_base", 64, fs.base),
	SYSTEM("gs_base", 64, gs.base),
};

static const struct gdb_register system_64[] = {SYSTEM_REGISTERS(64)};

static const struct feature features_32[] = {
	{"org.gnu.gdb.i386.core", core_32, ARRAY_SIZE(core_32)},
	{"org.gnu.gdb.i386.sse", sse_32, ARRAY_SIZE(sse_32)},
	{"org.vellum.system", system_32, ARRAY_SIZE(system_32)},
	{0},
};

static const struct feature features_64[] = {
	{"org.gnu.gdb.i386.core", core_64, ARRAY_SIZE(core_64)},
	{"org.gnu.gdb.i386.sse", sse_64, ARRAY_SIZE(sse_64)},
	{"org.gnu.gdb.i386.segments", segments_64, ARRAY_SIZE(segments_64)},
	{"org.vellum.system", system_64, ARRAY_SIZE(system_64)},
	{0},
};

static const struct feature *features(bool wide)
{
	return wide ? features_64 : features_32;
}

static const struct gdb_register *find(bool wide, uint64_t number)
{
	for (const struct feature *f = features(wide); f->name; f++) {
		if (number < f->count)
			return &f->registers[number];
		number -= f->count;
	}
	return NULL;
}

/* ---- the description ---- */

static char xml[XML_SIZE];
static size_t xml_length;

__attribute__((format(printf, 1, 2))) static void add_xml(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	xml_length +=
		(size_t)text_vformat(xml + xml_length, sizeof(xml) - xml_length, format, args);
	va_end(args);
	xml_length = min_u64(xml_length, sizeof(xml) - 1);
}

/* APM volume 1, figure 3-5 */
static void add_flags(void)
{
	static const struct {
		const char *name;
		unsigned int bit;
	} flags[] = {
		{"CF", 0},  {"", 1},	{"PF", 2},   {"AF", 4},	  {"ZF", 6},  {"SF", 7},
		{"TF", 8},  {"IF", 9},	{"DF", 10},  {"OF", 11},  {"NT", 14}, {"RF", 16},
		{"VM", 17}, {"AC", 18}, {"VIF", 19}, {"VIP", 20}, {"ID", 21},
	};

	add_xml("<flags id=\"i386_eflags\" size=\"4\">");
	for (unsigned int i = 0; i < ARRAY_SIZE(flags); i++)
		add_xml("<field name=\"%s\" start=\"%u\" end=\"%u\"/>", flags[i].name, flags[i].bit,
			flags[i].bit);
	add_xml("</flags>");
}

/* So that $xmm0.v4_int32 works, as with gdb's own description. */
static void add_vectors(void)
{
	static const struct {
		const char *id, *name, *type;
		unsigned int count;
	} views[] = {
		{"v4f", "v4_float", "ieee_single", 4}, {"v2d", "v2_double", "ieee_double", 2},
		{"v16i8", "v16_int8", "int8", 16},     {"v8i16", "v8_int16", "int16", 8},
		{"v4i32", "v4_int32", "int32", 4},     {"v2i64", "v2_int64", "int64", 2},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(views); i++)
		add_xml("<vector id=\"%s\" type=\"%s\" count=\"%u\"/>", views[i].id, views[i].type,
			views[i].count);
	add_xml("<union id=\"vec128\">");
	for (unsigned int i = 0; i < ARRAY_SIZE(views); i++)
		add_xml("<field name=\"%s\" type=\"%s\"/>", views[i].name, views[i].id);
	add_xml("<field name=\"uint128\" type=\"uint128\"/></union>");
}

static void add_feature(const struct feature *feature)
{
	add_xml("<feature name=\"%s\">", feature->name);
	if (feature->registers == core_32 || feature->registers == core_64)
		add_flags();
	if (feature->registers == sse_32 || feature->registers == sse_64)
		add_vectors();
	for (unsigned int i = 0; i < feature->count; i++) {
		const struct gdb_register *r = &feature->registers[i];

		add_xml("<reg name=\"%s\" bitsize=\"%u\" type=\"%s\"/>", r->name, r->bits, r->type);
	}
	add_xml("</feature>");
}

static void make_xml(bool wide)
{
	xml_length = 0;
	add_xml("<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target>"
		"<architecture>i386%s</architecture>",
		wide ? ":x86-64" : "");
	for (const struct feature *f = features(wide); f->name; f++)
		add_feature(f);
	add_xml("</target>");
}

void gdb_registers_describe(struct gdb_reply *reply, bool wide, uint64_t offset, uint64_t size)
{
	make_xml(wide);
	offset = min_u64(offset, xml_length);
	size = min_u64(size, min_u64(xml_length - offset, sizeof(reply->data) - 2));
	gdb_reply_add(reply, "%c%.*s", offset + size == xml_length ? 'l' : 'm', (int)size,
		      xml + offset);
}

/* ---- the values ---- */

/*
 * FXSAVE keeps one bit a register (not empty), in physical order. "Valid" stands for zero
 * and special values, too.
 */
static uint16_t full_tags(const uint8_t *fpu)
{
	uint16_t tags = 0;

	for (unsigned int i = 0; i < 8; i++)
		if (!(fpu[FX_TAGS] & BIT(i)))
			tags |= (uint16_t)(TAG_EMPTY << 2 * i);
	return tags;
}

/* The other way. */
static uint8_t short_tags(uint16_t full)
{
	uint8_t tags = 0;

	for (unsigned int i = 0; i < 8; i++)
		if (((unsigned int)full >> 2 * i & TAG_EMPTY) != TAG_EMPTY)
			tags |= (uint8_t)BIT(i);
	return tags;
}

static void add_value(struct gdb_reply *reply, const struct gdb_register *r,
		      const struct guest_state *state)
{
	uint8_t bytes[REGISTER_BYTES_MAX] = {0};
	uint16_t tags = full_tags(state->fpu);

	if (r->stored)
		memcpy(bytes, (const uint8_t *)state + r->offset, min_u64(r->stored, r->bits / 8));
	else
		memcpy(bytes, &tags, sizeof(tags));
	gdb_reply_add_hex(reply, bytes, r->bits / 8);
}

void gdb_registers_add_all(struct gdb_reply *reply, bool wide, const struct guest_state *state)
{
	for (const struct feature *f = features(wide); f->name; f++)
		for (unsigned int i = 0; i < f->count; i++)
			add_value(reply, &f->registers[i], state);
}

bool gdb_registers_add(struct gdb_reply *reply, bool wide, uint64_t number,
		       const struct guest_state *state)
{
	const struct gdb_register *r = find(wide, number);

	if (r)
		add_value(reply, r, state);
	return r;
}

/* A 32-bit register's upper half becomes 0, as a 32-bit instruction leaves it. */
static void store(struct guest_state *state, const struct gdb_register *r, const uint8_t *bytes)
{
	uint8_t value[REGISTER_BYTES_MAX] = {0};

	memcpy(value, bytes, r->bits / 8);
	if (r->stored)
		memcpy((uint8_t *)state + r->offset, value, r->stored);
	else
		state->fpu[FX_TAGS] = short_tags((uint16_t)(value[0] | value[1] << 8));
}

bool gdb_registers_set(struct guest_state *state, bool wide, uint64_t number, const char **cursor)
{
	const struct gdb_register *r = find(wide, number);
	uint8_t bytes[REGISTER_BYTES_MAX];

	if (!r || !r->writable || !gdb_parse_bytes(cursor, bytes, r->bits / 8))
		return false;
	store(state, r, bytes);
	return true;
}

bool gdb_registers_set_all(struct guest_state *state, bool wide, const char *cursor)
{
	const struct gdb_register *r;
	uint8_t bytes[REGISTER_BYTES_MAX];

	for (uint64_t number = 0; *cursor && (r = find(wide, number)); number++) {
		if (!gdb_parse_bytes(&cursor, bytes, r->bits / 8))
			return false;
		if (r->writable)
			store(state, r, bytes);
	}
	return !*cursor;
}
