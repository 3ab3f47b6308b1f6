; SPDX-License-Identifier: GPL-2.0-only
;
; void svm_vmrun(struct guest_registers *regs, uint64_t vmcb_physical)
;
; In:  RDI = the guest's registers (core/vcpu.h; RAX and RSP travel in the VMCB),
;      RSI = physical address of the VMCB
; Out: the guest's registers at its exit; GIF is 0, so neither interrupts nor NMIs
;      arrive until the next VMRUN

RCX_ equ 1 * 8
RDX_ equ 2 * 8
RBX_ equ 3 * 8
RBP_ equ 5 * 8
RSI_ equ 6 * 8
RDI_ equ 7 * 8
%define R(n) (n * 8)

global svm_vmrun

bits 64
section .text

svm_vmrun:
	push	rbx
	push	rbp
	push	r12
	push	r13
	push	r14
	push	r15
	push	rdi
	mov	rax, rsi
%macro LOAD 2-*
  %rep %0 / 2
	mov	%1, [rdi + %2]
    %rotate 2
  %endrep
%endmacro
	LOAD rcx, RCX_, rdx, RDX_, rbx, RBX_, rbp, RBP_, rsi, RSI_, r8, R(8), r9, R(9)
	LOAD r10, R(10), r11, R(11), r12, R(12), r13, R(13), r14, R(14), r15, R(15), rdi, RDI_
	vmrun
	pop	rax
%macro STORE 2-*
  %rep %0 / 2
	mov	[rax + %2], %1
    %rotate 2
  %endrep
%endmacro
	STORE rcx, RCX_, rdx, RDX_, rbx, RBX_, rbp, RBP_, rsi, RSI_, rdi, RDI_, r8, R(8)
	STORE r9, R(9), r10, R(10), r11, R(11), r12, R(12), r13, R(13), r14, R(14), r15, R(15)
	pop	r15
	pop	r14
	pop	r13
	pop	r12
	pop	rbp
	pop	rbx
	ret
