/* SPDX-License-Identifier: GPL-2.0-only */
/* regs, cpus, cpu */
#include "core/cpu.h"
#include "core/processor.h"
#include "debug/monitor_command.h"

struct flag {
	const char *name;
	unsigned int bit;
};

static const struct flag rflags_names[] = {{"CF", 0},  {"PF", 2},  {"AF", 4},  {"ZF", 6},
					   {"SF", 7},  {"TF", 8},  {"IF", 9},  {"DF", 10},
					   {"OF", 11}, {"NT", 14}, {"RF", 16}, {"VM", 17},
					   {"AC", 18}, {"ID", 21}, {0}};

static const struct flag cr0_names[] = {{"PE", 0},  {"MP", 1},	{"EM", 2},  {"TS", 3},
					{"ET", 4},  {"NE", 5},	{"WP", 16}, {"AM", 18},
					{"NW", 29}, {"CD", 30}, {"PG", 31}, {0}};

static const struct flag cr4_names[] = {
	{"VME", 0},	    {"PVI", 1},	  {"TSD", 2},	{"DE", 3},	  {"PSE", 4},
	{"PAE", 5},	    {"MCE", 6},	  {"PGE", 7},	{"PCE", 8},	  {"OSFXSR", 9},
	{"OSXMMEXCPT", 10}, {"UMIP", 11}, {"LA57", 12}, {"FSGSBASE", 16}, {"PCIDE", 17},
	{"OSXSAVE", 18},    {"SMEP", 20}, {"SMAP", 21}, {"PKE", 22},	  {0}};

static const struct flag efer_names[] = {{"SCE", 0}, {"LME", 8}, {"LMA", 10}, {"NXE", 11}, {0}};

/* Types of system segments: APM volume 2, table 4-6 */
static const char *const system_types[16] = {
	[1] = "free 16-bit TSS", [2] = "LDT",	    [3] = "busy 16-bit TSS",
	[9] = "free TSS",	 [11] = "busy TSS",
};

#define ACCESS_TYPE(access)  ((access)&0xf)
#define ACCESS_CODE	     BIT(3)
#define ACCESS_DOWN_OR_CONF  BIT(2)
#define ACCESS_WRITE_OR_READ BIT(1)
#define ACCESS_NOT_SYSTEM    BIT(4)
#define ACCESS_DPL(access)   ((access) >> 5 & 3)
#define ACCESS_PRESENT	     BIT(7)
#define ACCESS_LONG	     BIT(13)
#define ACCESS_BIG	     BIT(14)

static void print_flags(const char *name, uint64_t value, const struct flag *flags)
{
	monitor_print("%-5s%016lx ", name, value);
	for (; flags->name; flags++) {
		if (!(value & BIT(flags->bit)))
			continue;
		monitor_print(" %s", flags->name);
	}
	monitor_print("\n");
}

static void print_code_or_data(uint16_t access)
{
	bool code = access & ACCESS_CODE;

	monitor_print("%s %s",
		      access & ACCESS_LONG  ? "64-bit"
		      : access & ACCESS_BIG ? "32-bit"
					    : "16-bit",
		      code ? "code" : "data");
	if (access & ACCESS_WRITE_OR_READ)
		monitor_print(code ? ", readable" : ", writable");
	if (access & ACCESS_DOWN_OR_CONF)
		monitor_print(code ? ", conforming" : ", expands down");
}

static void print_access(uint16_t access)
{
	const char *type = system_types[ACCESS_TYPE(access)];

	if (!access) {
		monitor_print("not usable\n");
		return;
	}
	if (access & ACCESS_NOT_SYSTEM)
		print_code_or_data(access);
	else
		monitor_print("%s", type ? type : "no known type");
	monitor_print(", DPL %u%s\n", ACCESS_DPL(access),
		      access & ACCESS_PRESENT ? "" : ", not present");
}

static void print_segment(const char *name, const struct guest_segment *segment)
{
	monitor_print("%-5s%04x  %016lx  %08x  ", name, segment->selector, segment->base,
		      segment->limit);
	print_access(segment->access);
}

static void print_segments(const struct guest_state *s)
{
	monitor_print("seg  sel   base              limit     access\n");
	print_segment("cs", &s->cs);
	print_segment("ss", &s->ss);
	print_segment("ds", &s->ds);
	print_segment("es", &s->es);
	print_segment("fs", &s->fs);
	print_segment("gs", &s->gs);
	print_segment("tr", &s->tr);
	print_segment("ldtr", &s->ldtr);
	monitor_print("gdtr       %016lx  %08x\n", s->gdtr.base, s->gdtr.limit);
	monitor_print("idtr       %016lx  %08x\n", s->idtr.base, s->idtr.limit);
}

static void print_general(const struct guest_state *s)
{
	const struct guest_registers *r = &s->regs;

	monitor_print("rax %016lx  rbx %016lx  rcx %016lx  rdx %016lx\n", r->rax, r->rbx, r->rcx,
		      r->rdx);
	monitor_print("rsi %016lx  rdi %016lx  rbp %016lx  rsp %016lx\n", r->rsi, r->rdi, r->rbp,
		      r->rsp);
	monitor_print("r8  %016lx  r9  %016lx  r10 %016lx  r11 %016lx\n", r->r8, r->r9, r->r10,
		      r->r11);
	monitor_print("r12 %016lx  r13 %016lx  r14 %016lx  r15 %016lx\n", r->r12, r->r13, r->r14,
		      r->r15);
}

static const char *mode_name(const struct guest_state *s)
{
	if (!(s->cr0 & CR0_PE))
		return "real mode";
	if (s->rflags & RFLAGS_VM)
		return "virtual 8086 mode";
	if (s->efer & EFER_LMA)
		return s->cs.access & ACCESS_LONG ? "64-bit mode" : "compatibility mode";
	return s->cr0 & CR0_PG ? "protected mode, paging" : "protected mode, no paging";
}

void monitor_registers(struct monitor_request *request)
{
	const struct guest_state *s = &request->stopped->state;
	char name[GUEST_SYMBOL_TEXT_SIZE];

	if (!monitor_is_at_end(request))
		return;
	monitor_print("processor %u, CPL %u, %s\n", request->vcpu->id,
		      s->ss.access ? ACCESS_DPL(s->ss.access) : s->cs.selector & 3, mode_name(s));
	print_general(s);
	monitor_print("rip %016lx%s\n", s->rip, guest_symbol_text(s->rip, name));
	print_flags("rfl", s->rflags, rflags_names);
	print_flags("cr0", s->cr0, cr0_names);
	monitor_print("cr2 %016lx  cr3 %016lx  dr6 %08lx  dr7 %08lx\n", s->cr2, s->cr3, s->dr6,
		      s->dr7);
	print_flags("cr4", s->cr4, cr4_names);
	print_flags("efer", s->efer, efer_names);
	print_segments(s);
}

/* ---- processors ---- */

static void print_processor(const struct monitor_request *request, unsigned int number)
{
	const struct stopped *stopped = debugger_vcpu(number);
	const struct guest_state *s = &stopped->state;
	char name[GUEST_SYMBOL_TEXT_SIZE];

	monitor_print("%c %u  APIC id %-3u ", number == request->vcpu->id ? '*' : ' ', number,
		      processor_at(number)->apic_id);
	if (!stopped->is_there)
		monitor_print("not stopped: waits for INIT or STARTUP, or makes no exit\n");
	else
		monitor_print("%016lx%s%s%s\n", s->rip, guest_symbol_text(s->rip, name),
			      processor_at(number)->vcpu.halted ? "  (in HLT)" : "",
			      s->rflags & RFLAGS_IF ? "" : "  (interrupts off)");
}

void monitor_processors(struct monitor_request *request)
{
	if (!monitor_is_at_end(request))
		return;
	for (unsigned int i = 0; i < processor_count(); i++)
		print_processor(request, i);
}

/* Numbers start at 0, which monitor_take_number() does not take. */
void monitor_processor(struct monitor_request *request)
{
	struct word word = word_next(&request->rest);
	unsigned int number = 0;

	for (int i = 0; i < word.length && number < processor_count(); i++)
		number = word.text[i] >= '0' && word.text[i] <= '9'
				 ? number * 10 + (unsigned int)(word.text[i] - '0')
				 : processor_count();
	if (!word.length || number >= processor_count()) {
		monitor_print("cpu takes a processor's number, 0 to %u\n", processor_count() - 1);
		return;
	}
	if (!debugger_vcpu(number)->is_there) {
		monitor_print("processor %u is not stopped, so its registers are not known\n",
			      number);
		return;
	}
	request->vcpu = &processor_at(number)->vcpu;
	request->stopped = debugger_vcpu(number);
	print_processor(request, number);
}
