; SPDX-License-Identifier: GPL-2.0-only
;
; native_trampoline: out of long mode and into a guest kernel.
;
; Runs in a page that is mapped where it physically is, so that it goes on when paging
; is switched off; position independent. In: RDI = struct native_handover in the same
; page, RSI = a 32-bit code selector of Vellum's GDT, interrupts off. The guest gets
; what the 32-bit boot protocol of Linux asks for: EBX = EBP = EDI = 0.

FAR_POINTER	equ 0	; 16:32
DATA_SELECTOR	equ 6
GDT_POINTER	equ 8
IDT_POINTER	equ 14
ENTRY_ESI	equ 20

CR0_PE_ET	equ 0x11
MSR_EFER	equ 0xc0000080

global native_trampoline, native_trampoline_end

bits 64
section .rodata

native_trampoline:
	lea	rcx, [rel .compatibility_mode]
	push	rsi
	push	rcx
	retfq
bits 32
.compatibility_mode:
	mov	eax, CR0_PE_ET		; paging off, and with it long mode
	mov	cr0, eax
	xor	eax, eax
	xor	edx, edx
	mov	cr4, eax
	mov	cr3, eax
	mov	ecx, MSR_EFER
	wrmsr
	lgdt	[cs:edi + GDT_POINTER]
	lidt	[cs:edi + IDT_POINTER]
	mov	ax, [cs:edi + DATA_SELECTOR]
	mov	ds, eax
	mov	es, eax
	mov	ss, eax
	mov	fs, eax
	mov	gs, eax
	mov	esi, [edi + ENTRY_ESI]
	mov	eax, edi
	xor	ebx, ebx
	xor	ecx, ecx
	xor	edi, edi
	xor	ebp, ebp
	jmp	far [eax + FAR_POINTER]
native_trampoline_end:
