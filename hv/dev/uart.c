/* SPDX-License-Identifier: GPL-2.0-only */
#include "dev/uart.h"
#include "core/cpu.h"

/* Registers, as offsets from the base port */
#define UART_DATA    0 /* divisor latch low while LCR.DLAB is set */
#define UART_IER     1 /* divisor latch high while LCR.DLAB is set */
#define UART_FCR     2
#define UART_LCR     3
#define UART_MCR     4
#define UART_LSR     5
#define UART_SCRATCH 7

#define LCR_DLAB	 0x80
#define LCR_8N1		 0x03
#define FCR_ENABLE_CLEAR 0x07
#define MCR_DTR_RTS	 0x03
#define LSR_DATA_READY	 0x01
#define LSR_THR_EMPTY	 0x20
#define LSR_IDLE	 0x40

#define BAUD_MAX 115200 /* of divisor 1 */

/* A character takes 87 us at 115200 baud; a port read about 1 us. */
#define WAIT_LIMIT 100000 /* also for 9600 baud */

bool uart_probe(uint16_t base)
{
	static const uint8_t patterns[] = {0x5a, 0xa5};

	for (unsigned int i = 0; i < ARRAY_SIZE(patterns); i++) {
		outb(base + UART_SCRATCH, patterns[i]);
		if (inb(base + UART_SCRATCH) != patterns[i])
			return false;
	}
	return true;
}

static unsigned int divisor = 1;

void uart_set_speed(unsigned int baud)
{
	divisor = BAUD_MAX / baud;
}

void uart_open(uint16_t base)
{
	outb(base + UART_IER, 0);
	outb(base + UART_LCR, LCR_DLAB);
	outb(base + UART_DATA, (uint8_t)divisor);
	outb(base + UART_IER, (uint8_t)(divisor >> 8));
	outb(base + UART_LCR, LCR_8N1);
	outb(base + UART_FCR, FCR_ENABLE_CLEAR);
	outb(base + UART_MCR, MCR_DTR_RTS);
}

static void wait_for(uint16_t base, uint8_t status)
{
	for (int i = 0; i < WAIT_LIMIT; i++) {
		if (inb(base + UART_LSR) & status)
			return;
		cpu_relax();
	}
}

void uart_put(uint16_t base, char c)
{
	wait_for(base, LSR_THR_EMPTY);
	outb(base + UART_DATA, (uint8_t)c);
}

/* FFh is no status that a port could have: there is none. */
int uart_get(uint16_t base)
{
	uint8_t status = inb(base + UART_LSR);

	if (status == 0xff || !(status & LSR_DATA_READY))
		return -1;
	return inb(base + UART_DATA);
}

void uart_flush(uint16_t base)
{
	wait_for(base, LSR_IDLE);
}
