; SPDX-License-Identifier: GPL-2.0-only

MAGIC	equ 0xe85250d6

section .multiboot
header:	dd	MAGIC, 0, header_end - header, -(MAGIC + header_end - header)
	dw	1, 0			; request: command line, modules, map, sections
	dd	24, 1, 3, 6, 9
	dw	6, 0			; modules on pages
	dd	8
	dw	99, 1			; unknown, but optional
	dd	8
	dw	3, 0			; entry, which differs from the ELF header's
	dd	12, multiboot_tag_start
	dd	0
	dw	0, 0
	dd	8
header_end:

section .text
multiboot_tag_start:
	jmp	multiboot_start

%include "tests/guest/multiboot.inc"
