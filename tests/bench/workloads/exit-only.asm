; SPDX-License-Identifier: GPL-2.0-only
; The shortest program there is: exec'ing it costs what exec costs, and no libc.
bits 32

SYS_exit equ 1

global _start
section .text
_start:
	mov	eax, SYS_exit
	xor	ebx, ebx
	int	0x80

; Without this, Linux believes that the program wants an executable stack, and says so.
section .note.GNU-stack noalloc noexec nowrite progbits
