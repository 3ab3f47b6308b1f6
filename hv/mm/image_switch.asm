; SPDX-License-Identifier: GPL-2.0-only
;
; void image_switch(void *to, const void *from, uint64_t size, uint64_t root)
;
; In:  RDI = copy's place in the physmap, RSI = the image, RDX = bytes (multiple of 8),
;      RCX = physical address of the new page-table root
; Out: running in the copy. The stack is part of the image: from the copy's first byte
;      to the new CR3 nothing is pushed.

global image_switch

bits 64
section .text

image_switch:
	mov	rax, rcx
	mov	rcx, rdx
	shr	rcx, 3
	rep	movsq
	mov	cr3, rax	; CR4.PGE is off since reset: no old mapping survives this
	ret

section .bss.guard nobits align=4096
global boot_stack_guard, boot_stack_bottom, boot_stack_top
boot_stack_guard:	resb 4096
boot_stack_bottom:	resb 16384
boot_stack_top:
