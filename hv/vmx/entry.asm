; SPDX-License-Identifier: GPL-2.0-only
;
; int vmx_run_loop(struct vcpu *vcpu)
;
; Guest, exit, guest, exit, for ever. In: RDI as in C, the VMCS current, RSP 16-byte
; aligned but for the return address. Between entry and the call nothing of the host's
; registers lives but RSP, which each exit restores from the VMCS, so none is saved.
; The guest's RSP travels in the VMCS; the rest as in struct guest_registers.
; Returns only if an entry fails before the guest's state is loaded (VM-fail).

VMCS_HOST_RSP	equ 0x6c14

RAX_	equ 0 * 8
RCX_	equ 1 * 8
RDX_	equ 2 * 8
RBX_	equ 3 * 8
RBP_	equ 5 * 8
RSI_	equ 6 * 8
RDI_	equ 7 * 8
%define R(n) (n * 8)

extern vmx_exit
global vmx_run_loop, vmx_exit_entry

bits 64
section .text

%macro EACH_REGISTER 1
	%1 rax, RAX_
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
	mov	[rdi + %2], %1
%endmacro

vmx_run_loop:
	push	rdi
	mov	eax, VMCS_HOST_RSP
	vmwrite	rax, rsp		; each exit finds the vcpu on top of the stack
	EACH_REGISTER LOAD
	mov	rdi, [rdi + RDI_]
	vmlaunch
	jmp	entry_failed
vmx_exit_entry:				; VMCS_HOST_RIP
	push	rdi
	mov	rdi, [rsp + 8]
	EACH_REGISTER STORE
	pop	qword [rdi + RDI_]
	call	vmx_exit
	mov	rdi, [rsp]
	EACH_REGISTER LOAD
	mov	rdi, [rdi + RDI_]
	vmresume
entry_failed:
	add	rsp, 8
	ret
