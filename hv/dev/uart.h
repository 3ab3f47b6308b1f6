/* SPDX-License-Identifier: GPL-2.0-only */
/* The 16550 serial port, polled (National PC16550D data sheet, 8.0). */
#ifndef VELLUM_DEV_UART_H
#define VELLUM_DEV_UART_H

#include "lib/types.h"

#define UART_COM1  0x3f8
#define UART_COM2  0x2f8
#define UART_COM3  0x3e8
#define UART_COM4  0x2e8
#define UART_PORTS 8

/* True if a UART answers at these ports: its scratch register keeps what is written. */
bool uart_probe(uint16_t base);

/* The speed of ports that are opened from now on: 115200, unless told, or a part of that. */
void uart_set_speed(unsigned int baud);

/* At that speed, 8N1, FIFOs on, interrupts off. */
void uart_open(uint16_t base);

/* Waits for room, but not for ever: a dead line loses characters, not the machine. */
void uart_put(uint16_t base, char c);

/* The next byte that has come, or -1 if there is none. */
int uart_get(uint16_t base);

/* Waits until all has left the FIFO, so that a reset does not cut a line. */
void uart_flush(uint16_t base);

#endif
