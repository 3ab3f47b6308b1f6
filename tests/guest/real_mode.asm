; SPDX-License-Identifier: GPL-2.0-only
;
; void real_mode_run(uint32_t map): to real mode, asks the BIOS for its memory map (into
; map, a flat address below 64 KiB, 24 bytes an entry) and CPUID for the hypervisor, and
; back. real_mode_entries and real_mode_signature hold the results.
;
; The 16-bit part is copied to LOW_CODE first: real mode reaches only the first MiB.

global real_mode_run, real_mode_entries, real_mode_signature

CODE32		equ 0x08
DATA32		equ 0x10
CODE16		equ 0x30
DATA16		equ 0x38
LOW_CODE	equ 0x8000
LOW_STACK	equ 0x7000
CR0_PE		equ 1
SMAP		equ 0x534d4150
ENTRY_SIZE	equ 24
SIGNATURE_LEAF	equ 0x40000000

%define LOW(label) (LOW_CODE + label - low)

section .text
bits 32

real_mode_run:
	push	ebp
	push	ebx
	push	esi
	push	edi
	mov	esi, low
	mov	edi, LOW_CODE
	mov	ecx, low_end - low
	rep movsb
	mov	edi, [esp + 20]
	sidt	[saved_idt]
	mov	[saved_esp], esp
	jmp	CODE16:LOW(low)

back:
	mov	eax, DATA32
	mov	ds, eax
	mov	es, eax
	mov	ss, eax
	mov	esp, [saved_esp]
	lidt	[saved_idt]
	movzx	ecx, word [LOW(entries)]
	mov	[real_mode_entries], ecx
	mov	esi, LOW(signature)
	mov	edi, real_mode_signature
	mov	ecx, 3
	rep movsd
	pop	edi
	pop	esi
	pop	ebx
	pop	ebp
	ret

bits 16
low:
	mov	ax, DATA16
	mov	ds, ax
	mov	es, ax
	mov	ss, ax
	lidt	[LOW(real_idt)]
	mov	eax, cr0
	and	al, ~CR0_PE
	mov	cr0, eax
	jmp	LOW_CODE >> 4:.real - low	; a base that is not 0
.real:
	xor	ax, ax
	mov	ds, ax
	mov	es, ax
	mov	ss, ax
	mov	sp, LOW_STACK
	xor	ebx, ebx
.next:
	mov	eax, 0xe820
	mov	edx, SMAP
	mov	ecx, ENTRY_SIZE
	int	0x15
	jc	.all
	inc	word [LOW(entries)]
	add	di, ENTRY_SIZE
	test	ebx, ebx
	jnz	.next
.all:
	mov	eax, SIGNATURE_LEAF
	db	0x3e			; with a prefix, so that its length has to be found
	cpuid
	mov	[LOW(signature)], ebx
	mov	[LOW(signature) + 4], ecx
	mov	[LOW(signature) + 8], edx
	cli
	mov	eax, cr0
	or	al, CR0_PE
	mov	cr0, eax
	jmp	dword CODE32:back
align 4
real_idt:	dw 0x3ff, 0, 0
entries:	dw 0
signature:	dd 0, 0, 0
low_end:

section .bss
saved_esp:		resd 1
saved_idt:		resb 6
alignb 4
real_mode_entries:	resd 1
real_mode_signature:	resd 3
