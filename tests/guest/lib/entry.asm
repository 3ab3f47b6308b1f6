; SPDX-License-Identifier: GPL-2.0-only
;
; Where the loader jumps to: 32-bit protected mode, flat segments, interrupts off,
; ESI = boot_params. The loader clears no memory, so .bss is cleared here.

extern guest_start, bss_start, bss_end

section .text.start

	cld
	mov	esp, stack_top
	mov	edi, bss_start
	mov	ecx, bss_end
	sub	ecx, edi
	shr	ecx, 2
	xor	eax, eax
	rep stosd
	push	esi
	call	guest_start

section .bss

alignb 16
	resb 32768
stack_top:
