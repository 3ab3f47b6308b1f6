; SPDX-License-Identifier: GPL-2.0-only
;
; void vmx_run_loop(struct vcpu *vcpu)
;
; Guest, exit, guest, exit, for ever. In: RDI as in C, the VMCS current, RSP 16-byte
; aligned but for the return address. Between entry and the call nothing of the host's
; registers lives but RSP, which each exit restores from the VMCS, so none is saved.
; The guest's RSP travels in the VMCS; the rest as in struct guest_registers.
; An NMI or a machine check between vmx_enter and vmx_enter_end, or at the first entry
; between vmx_launch and vmx_launch_end, starts that part again (nmi.c), so that none is
; overlooked after the look at what is pending.
; An entry that fails before the guest's state is loaded (VM-fail) leaves the guest's
; registers in place of the host's, and leads to vmx_entry_failed().
;
; void vmx_exit_with_all_registers(struct vcpu *vcpu)
;
; What vmx_quick_exit() goes on to, as its last call, when the exit takes more than it has.

VMCS_HOST_RSP	equ 0x6c14
PENDING		equ 16 * 8	; of struct vcpu

%include "hv/core/guest_registers.inc"

extern vmx_quick_exit, vmx_exit, vmx_entry_failed, vmx_pass_on
global vmx_run_loop, vmx_exit_entry, vmx_launch, vmx_launch_end, vmx_enter, vmx_enter_end
global vmx_exit_with_all_registers

bits 64
section .text

; VMLAUNCH or VMRESUME, unless there is something to pass on first
%macro ENTER 2
	mov	rdi, [rsp]
	cmp	word [rdi + PENDING], 0
	jne	%2
	LOAD	rax, RAX_
	EACH_SCRATCH_REGISTER LOAD
	mov	rdi, [rdi + RDI_]
	%1
%endmacro

vmx_run_loop:
	push	rdi
	mov	eax, VMCS_HOST_RSP
	vmwrite	rax, rsp		; each exit finds the vcpu on top of the stack
	EACH_KEPT_REGISTER LOAD
vmx_launch:
	ENTER	vmlaunch, pass_on_and_launch
vmx_launch_end:
	jmp	entry_failed
vmx_exit_entry:				; VMCS_HOST_RIP
	push	rdi
	mov	rdi, [rsp + 8]
	STORE	rax, RAX_
	EACH_SCRATCH_REGISTER STORE
	pop	qword [rdi + RDI_]
	call	vmx_quick_exit
vmx_enter:
	ENTER	vmresume, pass_on_and_enter
vmx_enter_end:
entry_failed:
	mov	rdi, [rsp]
	EACH_KEPT_REGISTER STORE
	call	vmx_entry_failed	; returns if it has to be launched again
	jmp	vmx_launch
pass_on_and_launch:
	EACH_KEPT_REGISTER STORE
	call	vmx_pass_on
	jmp	vmx_launch
pass_on_and_enter:
	EACH_KEPT_REGISTER STORE
	call	vmx_pass_on
	jmp	vmx_enter

vmx_exit_with_all_registers:
	EACH_KEPT_REGISTER STORE
	push	rdi
	call	vmx_exit
	pop	rdi
	EACH_KEPT_REGISTER LOAD
	ret
