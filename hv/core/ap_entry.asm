; SPDX-License-Identifier: GPL-2.0-only
;
; ap_trampoline: from a processor's first instruction, in real mode, to C in long mode.
;
; A copy of it lies in a page below 1 MiB, which Vellum's page tables map where it is.
; A STARTUP interrupt names that page, so CS is the page's segment and IP is 0. Ends in
;   void smp_main(struct processor *processor)
; on that processor's own stack. One processor comes at a time: smp.c fills in struct
; ap_handover, behind the code, for each.

CR0_PE		equ 1 << 0
CR0_WP		equ 1 << 16
CR0_PG		equ 1 << 31
CR4_PAE		equ 1 << 5
CR4_MCE		equ 1 << 6	; as multiboot_entry.asm has it
MSR_EFER	equ 0xc0000080
EFER_LME	equ 1 << 8
EFER_NXE	equ 1 << 11

STACK_TOP	equ 8		; of struct processor

extern smp_main
global ap_trampoline, ap_handover, ap_trampoline_end

section .rodata
align 16
bits 16

ap_trampoline:
	cli
	cld
	mov	ax, cs
	mov	ds, ax
	o32 lgdt [ap_handover.gdtr - ap_trampoline]
	mov	eax, CR4_PAE | CR4_MCE
	mov	cr4, eax
	mov	eax, [ap_handover.root - ap_trampoline]
	mov	cr3, eax
	mov	ecx, MSR_EFER
	rdmsr
	or	eax, EFER_LME | EFER_NXE
	wrmsr
	mov	eax, cr0
	and	eax, ~(3 << 29)		; CD and NW, set since power-on
	or	eax, CR0_PG | CR0_WP | CR0_PE
	mov	cr0, eax
	jmp	far dword [ap_handover.entry - ap_trampoline]
bits 64
.long_mode:
	xor	eax, eax
	mov	ds, eax
	mov	es, eax
	mov	ss, eax
	mov	fs, eax
	mov	gs, eax
	mov	rdi, [rel ap_handover.processor]
	mov	rsp, [rdi + STACK_TOP]
	xor	ebp, ebp		; the backtrace ends here
	mov	rax, smp_main
	call	rax
	ud2				; smp_main does not return

; struct ap_handover
align 8
ap_handover:
.processor:
	dq	0
.root:
	dd	0
.entry:					; 16:32
	dd	.entry_offset
	dw	CODE64
.gdtr:
	dw	.gdt_end - .gdt - 1
	dd	.gdt - ap_trampoline	; smp.c adds where the page is, here and above
.entry_offset	equ ap_trampoline.long_mode - ap_trampoline
align 8
.gdt:
	dq	0
CODE64	equ $ - .gdt
	dq	0x00209b0000000000	; 64-bit code, CPL 0, accessed: the page is not writable
.gdt_end:
ap_trampoline_end:
