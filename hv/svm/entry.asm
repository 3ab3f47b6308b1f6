; SPDX-License-Identifier: GPL-2.0-only
;
; void svm_run_loop(struct vcpu *vcpu, uint64_t vmcb_physical)
;
; Guest, exit, guest, exit, for ever. In: RDI, RSI as in C, RSP 16-byte aligned but for
; the return address, which is never used. Between VMRUN and the call nothing of the
; host's registers lives but RSP, which #VMEXIT restores, so none is saved.
; The guest's RAX and RSP travel in the VMCB; the rest as in struct guest_registers.
; GIF is 0 whenever the host runs: no interrupt, NMI or INIT arrives here.

RCX_	equ 1 * 8
RDX_	equ 2 * 8
RBX_	equ 3 * 8
RBP_	equ 5 * 8
RSI_	equ 6 * 8
RDI_	equ 7 * 8
%define R(n) (n * 8)

extern svm_exit
global svm_run_loop

bits 64
section .text

%macro EACH_REGISTER 1
	%1 rcx, RCX_
	%1 rdx, RDX_
	%1 rbx, RBX_
	%1 rbp, RBP_
	%1 rsi, RSI_
	%1 r8, R(8)
	%1 r9, R(9)
	%1 r10, R(10)
	%1 r11, R(11)
	%1 r12, R(12)
	%1 r13, R(13)
	%1 r14, R(14)
	%1 r15, R(15)
%endmacro
%macro LOAD 2
	mov	%1, [rdi + %2]
%endmacro
%macro STORE 2
	mov	[rax + %2], %1
%endmacro

svm_run_loop:
	push	rsi
	push	rdi
	sub	rsp, 8			; svm_exit wants RSP aligned at the call
.enter:
	mov	rdi, [rsp + 8]
	mov	rax, [rsp + 16]
	EACH_REGISTER LOAD
	mov	rdi, [rdi + RDI_]
	vmrun
	mov	rax, [rsp + 8]
	EACH_REGISTER STORE
	mov	[rax + RDI_], rdi
	mov	rdi, rax
	call	svm_exit
	jmp	.enter
