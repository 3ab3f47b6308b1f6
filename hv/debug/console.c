/* SPDX-License-Identifier: GPL-2.0-only */
#include "debug/console.h"
#include "core/lock.h"
#include "debug/console_port.h"
#include "debug/console_ring.h"
#include "dev/pci.h"
#include "dev/uart.h"
#include "lib/printf.h"

#define LINE_SIZE 512
#define PREFIX	  "vellum: "

static uint16_t port;	   /* 0: none */
static bool speed_changed; /* since the port was opened */
static unsigned int level_limit = LOG_INFO;
static console_mirror_t mirror;
static void (*diverted)(const char *text);

static const char *const level_prefix[] = {
	[LOG_ERROR] = "error: ",
	[LOG_WARN] = "warning: ",
	[LOG_INFO] = "",
	[LOG_DEBUG] = "debug: ",
};

static uint16_t choose_port(enum option_console choice)
{
	switch (choice) {
	case CONSOLE_NONE:
		return 0;
	case CONSOLE_COM1:
		return UART_COM1;
	case CONSOLE_COM2:
		return UART_COM2;
	case CONSOLE_COM3:
		return UART_COM3;
	case CONSOLE_COM4:
		return UART_COM4;
	case CONSOLE_PCI:
		return pci_find_uart();
	case CONSOLE_AUTO:
		break;
	}
	if (uart_probe(UART_COM2))
		return UART_COM2;
	return uart_probe(UART_COM1) ? UART_COM1 : 0;
}

void console_set_speed(unsigned int baud)
{
	static unsigned int now = 115200;

	speed_changed = baud != now;
	now = baud;
	uart_set_speed(baud);
}

void console_open(enum option_console choice)
{
	uint16_t chosen = choose_port(choice);

	if (chosen == port && !speed_changed)
		return;
	speed_changed = false;
	port = chosen;
	if (port)
		uart_open(port);
}

bool console_is_on(uint16_t address)
{
	return port == address;
}

void console_reopen(void)
{
	if (!port)
		return;
	uart_flush(port);
	uart_open(port);
}

static void put_text(const char *text)
{
	console_ring_add(text);
	if (diverted) {
		diverted(text);
		return;
	}
	if (!port)
		return;
	for (; *text; text++) {
		if (*text == '\n')
			uart_put(port, '\r');
		uart_put(port, *text);
	}
}

static void put_line(console_mirror_t put, enum log_level level, const char *line)
{
	put(PREFIX);
	put(level_prefix[level]);
	put(line);
	put("\n");
}

void console_print(enum log_level level, const char *format, ...)
{
	char line[LINE_SIZE];
	va_list args;

	if (level > level_limit)
		return;
	va_start(args, format);
	text_vformat(line, sizeof(line), format, args);
	va_end(args);
	lock_take();
	put_line(put_text, level, line);
	if (mirror != NULL && level <= LOG_WARN)
		put_line(mirror, level, line);
	lock_release();
}

void console_set_mirror(console_mirror_t put)
{
	mirror = put;
}

void console_set_level(unsigned int level)
{
	level_limit = level;
}

void console_divert(void (*put)(const char *text))
{
	diverted = put;
}

void console_print_record(const char *line)
{
	lock_take();
	put_text(line);
	put_text("\n");
	if (port)
		uart_flush(port);
	lock_release();
}
