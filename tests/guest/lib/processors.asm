; SPDX-License-Identifier: GPL-2.0-only
;
; What a processor runs first: notes what it finds (struct arrival, in the segment ARRIVALS,
; by its APIC id), then halts, or goes to 32-bit code and calls what is named behind those.
; Copied to pages below 1 MiB; works in any of them.

ARRIVALS	equ 0x700		; segment
CODE32		equ 0x08
DATA32		equ 0x10
CR0_PE		equ 1

COUNT		equ 0			; of struct arrival
CS_		equ 4
EDX_		equ 8
CR0_		equ 12
DS_SS		equ 16
ARRIVAL_SHIFT	equ 5

ENTRY		equ 0x200		; in the same segment: struct orders of processors.c
GDT		equ 0x204
IDT		equ 0x20a

extern processors_stacks
global processors_low, processors_low_end

section .text
bits 16

processors_low:
	cli
	mov	ebp, edx
	mov	ecx, ds
	mov	eax, es
	or	ecx, eax
	mov	eax, ss
	or	ecx, eax
	mov	esi, ecx
	mov	ax, ARRIVALS
	mov	ds, ax
	mov	eax, 1
	cpuid
	shr	ebx, 24
	mov	edi, ebx
	shl	bx, ARRIVAL_SHIFT
	mov	[bx + EDX_], ebp
	mov	[bx + DS_SS], esi
	xor	eax, eax
	mov	ax, cs
	mov	[bx + CS_], eax
	mov	eax, cr0
	mov	[bx + CR0_], eax
	lock inc dword [bx + COUNT]
	cmp	dword [ENTRY], 0
	jne	.protected
.halt:
	hlt
	jmp	.halt
.protected:
	mov	esi, [ENTRY]
	o32 lgdt [GDT]
	o32 lidt [IDT]
	mov	eax, cr0
	or	eax, CR0_PE
	mov	cr0, eax
	jmp	dword CODE32:in_32_bits
processors_low_end:

bits 32
in_32_bits:
	mov	eax, DATA32
	mov	ds, eax
	mov	es, eax
	mov	ss, eax
	mov	esp, edi
	inc	esp
	shl	esp, 12			; a page each
	add	esp, processors_stacks
	push	edi
	call	esi
.halt:
	hlt
	jmp	.halt
