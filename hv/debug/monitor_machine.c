/* SPDX-License-Identifier: GPL-2.0-only */
/* log, nmi, reset, power-off */
#include "core/power.h"
#include "core/processor.h"
#include "debug/console_ring.h"
#include "debug/monitor_command.h"
#include "debug/record.h"
#include "dev/lapic.h"

#define LOG_LINES     20
#define LOG_LINES_MAX 4096
#define COMMAND_NMI   ((uint32_t)ICR_NMI << 8 | (uint32_t)ICR_ASSERT)

static void print_piece(const char *text)
{
	monitor_print("%s", text);
}

void monitor_log(struct monitor_request *request)
{
	uint64_t lines;

	if (monitor_take_number(request, &lines, LOG_LINES, LOG_LINES_MAX) &&
	    monitor_is_at_end(request))
		console_ring_show(lines, print_piece);
}

/* From the machine's own APIC, so it comes as any other does, when the guest runs again. */
void monitor_nmi(struct monitor_request *request)
{
	if (!monitor_is_at_end(request))
		return;
	lapic_send(processor_at(request->vcpu->id)->apic_id, COMMAND_NMI);
	monitor_print("processor %u gets an NMI as soon as it runs\n", request->vcpu->id);
}

void monitor_reset(struct monitor_request *request)
{
	if (!monitor_is_at_end(request))
		return;
	monitor_print("resetting the machine\n");
	record_end("reset");
	power_reset();
}

void monitor_power_off(struct monitor_request *request)
{
	if (!monitor_is_at_end(request))
		return;
	record_end("poweroff");
	power_off();
	monitor_print("the machine has no ACPI power-off that works\n");
}
