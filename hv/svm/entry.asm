; SPDX-License-Identifier: GPL-2.0-only
;
; void svm_run_loop(struct vcpu *vcpu, uint64_t vmcb_physical)
;
; Guest, exit, guest, exit, for ever. In: RDI, RSI as in C, RSP 16-byte aligned but for
; the return address, which is never used. Between VMRUN and the call nothing of the
; host's registers lives but RSP, which #VMEXIT restores, so none is saved.
; The guest's RAX and RSP travel in the VMCB; the rest as in struct guest_registers.
; GIF is 0 whenever the host runs: no interrupt, NMI or INIT arrives here.
;
; void svm_exit_with_all_registers(struct vcpu *vcpu)
;
; What svm_quick_exit() goes on to, as its last call, when the exit takes more than it has.

%include "hv/core/guest_registers.inc"

extern svm_quick_exit, svm_exit
global svm_run_loop, svm_exit_with_all_registers

bits 64
section .text

%macro STORE_AT_RAX 2
	mov	[rax + %2], %1
%endmacro

svm_run_loop:
	push	rsi
	push	rdi
	sub	rsp, 8			; C wants RSP aligned at the call
	EACH_KEPT_REGISTER LOAD
.enter:
	mov	rdi, [rsp + 8]
	mov	rax, [rsp + 16]
	EACH_SCRATCH_REGISTER LOAD
	mov	rdi, [rdi + RDI_]
	vmrun
	mov	rax, [rsp + 8]
	EACH_SCRATCH_REGISTER STORE_AT_RAX
	mov	[rax + RDI_], rdi
	mov	rdi, rax
	call	svm_quick_exit
	jmp	.enter

svm_exit_with_all_registers:
	EACH_KEPT_REGISTER STORE
	push	rdi
	call	svm_exit
	pop	rdi
	EACH_KEPT_REGISTER LOAD
	ret
