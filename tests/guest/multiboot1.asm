; SPDX-License-Identifier: GPL-2.0-only

MAGIC	equ 0x1badb002
FLAGS	equ 3			; modules on pages, memory information

section .multiboot
	dd	MAGIC, FLAGS, -(MAGIC + FLAGS)

%include "tests/guest/multiboot.inc"
