/* SPDX-License-Identifier: GPL-2.0-only */
/* PCI's configuration space, as far as a serial card has to be found in it. */
#ifndef VELLUM_DEV_PCI_H
#define VELLUM_DEV_PCI_H

#include "lib/types.h"

/*
 * The I/O ports of the first 16550 on a PCI card (class 07h, subclass 00h), switched on; 0: there
 * is none, or it has no ports. Before the guest runs: the configuration address is not restored.
 */
uint16_t pci_find_uart(void);

#endif
