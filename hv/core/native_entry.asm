; SPDX-License-Identifier: GPL-2.0-only
;
; native_trampoline: out of long mode and into a guest kernel.
;
; Runs in a page that is mapped where it physically is, so that it goes on when paging
; is switched off; position independent. In: RDI = struct native_handover right behind it,
; RSI = a 32-bit code selector of Vellum's GDT, interrupts off. The jump to the guest takes
; its target from the handover's first bytes, so that no register is needed for it. Those
; that the guest gets nothing in are 0: Linux' 32-bit boot protocol asks for some of that.

DATA_SELECTOR	equ 6
GDT_POINTER	equ 8
IDT_POINTER	equ 14
ENTRY_EAX	equ 20
ENTRY_EBX	equ 24
ENTRY_ESI	equ 28

JMP_FAR		equ 0xea	; to the 16:32 pointer that follows

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
	mov	eax, [edi + ENTRY_EAX]
	mov	ebx, [edi + ENTRY_EBX]
	mov	esi, [edi + ENTRY_ESI]
	xor	ecx, ecx
	xor	edi, edi
	xor	ebp, ebp
	db	JMP_FAR
native_trampoline_end:
