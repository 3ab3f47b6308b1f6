; SPDX-License-Identifier: GPL-2.0-only
;
; void run64_enter(struct state *state, uint32_t pml4): run_enter() in 64-bit mode.
;
; Turns long mode on and, when the snippet has ended, off again. Interrupts stay off.

extern run_state, run_esp
global run64_enter, run64_vectors

CODE32		equ 0x08
DATA32		equ 0x10
CODE64		equ 0x18
VECTORS		equ 256
STUB_SIZE	equ 16
HAS_ERROR	equ 0x00027d00
CR0_PG		equ 1 << 31
CR4_PAE		equ 1 << 5
MSR_EFER	equ 0xc0000080
EFER_LME	equ 1 << 8

%define R(n)	(n * 8)

%macro OTHERS 1				; all but RAX, RSP, RDI
	%1 rcx, 1
	%1 rdx, 2
	%1 rbx, 3
	%1 rbp, 5
	%1 rsi, 6
	%1 r8, 8
	%1 r9, 9
	%1 r10, 10
	%1 r11, 11
	%1 r12, 12
	%1 r13, 13
	%1 r14, 14
	%1 r15, 15
%endmacro
%macro LOAD 2
	mov	%1, [rdi + R(%2)]
%endmacro
%macro STORE 2
	mov	[rdi + R(%2)], %1
%endmacro

section .text
bits 32

run64_enter:
	push	ebp
	push	ebx
	push	esi
	push	edi
	mov	[run_esp], esp
	mov	edi, [esp + 20]
	mov	[run_state], edi
	mov	eax, [esp + 24]
	mov	cr3, eax
	xor	eax, eax
	mov	dr6, eax
	mov	eax, cr4
	or	eax, CR4_PAE
	mov	cr4, eax
	mov	ecx, MSR_EFER
	rdmsr
	or	eax, EFER_LME
	wrmsr
	sidt	[idt32]
	mov	eax, cr0
	or	eax, CR0_PG
	mov	cr0, eax
	jmp	CODE64:.in_long_mode
bits 64
.in_long_mode:
	lidt	[abs idt64]
	mov	edi, edi
	mov	rsp, [rdi + R(4)]
	mov	rax, rsp
	push	qword DATA32
	push	rax
	push	qword [rdi + R(17)]
	push	qword [rdi + R(18)]
	push	qword [rdi + R(16)]
	OTHERS LOAD
	mov	rax, [rdi]
	mov	rdi, [rdi + R(7)]
	iretq

align 16
run64_vectors:
%assign vector 0
%rep VECTORS
  align STUB_SIZE
  %if vector >= 32 || ((HAS_ERROR >> vector) & 1) == 0
	push	qword 0
  %endif
	push	qword vector
	jmp	near arrived
  %assign vector vector + 1
%endrep

; The frame above: RDI (pushed here), vector, error code, RIP, CS, RFLAGS, RSP, SS
arrived:
	push	rdi
	mov	edi, [abs run_state]
	mov	[rdi], rax
	OTHERS STORE
%macro COPY 2
	mov	rax, [rsp + 8 * %1]
	mov	[rdi + R(%2)], rax
%endmacro
	COPY	0, 7
	COPY	1, 20
	COPY	2, 21
	COPY	3, 16
	COPY	4, 18
	COPY	5, 17
	COPY	6, 4
	mov	rax, cr2
	mov	[rdi + R(22)], rax
	mov	rax, dr6
	mov	[rdi + R(23)], rax
	mov	esp, [abs run_esp]
	lea	rax, [abs .compatibility]
	sub	rsp, 16
	mov	[rsp], rax
	mov	qword [rsp + 8], CODE32
	retfq
bits 32
.compatibility:
	mov	eax, DATA32
	mov	ds, eax
	mov	es, eax
	mov	ss, eax
	mov	eax, cr0
	and	eax, ~CR0_PG
	mov	cr0, eax
	mov	ecx, MSR_EFER
	rdmsr
	and	eax, ~EFER_LME
	wrmsr
	mov	eax, cr4
	and	eax, ~CR4_PAE
	mov	cr4, eax
	lidt	[idt32]
	cld
	mov	dword [run_state], 0
	mov	esp, [run_esp]
	pop	edi
	pop	esi
	pop	ebx
	pop	ebp
	ret

section .data
global idt64
idt64:
	dw	VECTORS * 16 - 1
	dq	0			; run_init() says where
idt32:
	dw	0
	dd	0
