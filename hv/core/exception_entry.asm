; SPDX-License-Identifier: GPL-2.0-only
;
; Exceptions in the hypervisor itself, and the register accesses that may fault.

extern exception_handle

global exception_entry_table

bits 64
section .text

; Each stub makes the frame of struct exception_frame (exception.h): the error code
; is 0 where the processor pushes none (APM volume 2, 8.2: vectors 8, 10-14, 17, 21,
; 29 and 30 have one).
%macro EXCEPTION_STUB 1
exception_stub_%1:
  %if !(%1 == 8 || (%1 >= 10 && %1 <= 14) || %1 == 17 || %1 == 21 || %1 == 29 || %1 == 30)
	push	0
  %endif
	push	%1
	jmp	exception_common
%endmacro

%assign vector 0
%rep 32
	EXCEPTION_STUB vector
  %assign vector vector + 1
%endrep

; In: the frame's vector and error code above what the processor pushed.
exception_common:
	push	rax
	push	rcx
	push	rdx
	push	rbx
	push	rbp
	push	rsi
	push	rdi
	push	r8
	push	r9
	push	r10
	push	r11
	push	r12
	push	r13
	push	r14
	push	r15
	cld
	mov	rdi, rsp
	mov	rbx, rsp
	and	rsp, -16
	call	exception_handle	; returns only if a fixup changed the frame's RIP
	mov	rsp, rbx
	pop	r15
	pop	r14
	pop	r13
	pop	r12
	pop	r11
	pop	r10
	pop	r9
	pop	r8
	pop	rdi
	pop	rsi
	pop	rbp
	pop	rbx
	pop	rdx
	pop	rcx
	pop	rax
	add	rsp, 16			; vector, error code
	iretq

; int rdmsr_checked(uint32_t msr, uint64_t *value)
global rdmsr_checked
rdmsr_checked:
	mov	ecx, edi
.access:
	rdmsr
	shl	rdx, 32
	or	rax, rdx
	mov	[rsi], rax
	xor	eax, eax
	ret

; int wrmsr_checked(uint32_t msr, uint64_t value)
global wrmsr_checked
wrmsr_checked:
	mov	ecx, edi
	mov	eax, esi
	mov	rdx, rsi
	shr	rdx, 32
.access:
	wrmsr
	xor	eax, eax
	ret

; int write_cr4_checked(uint64_t value)
global write_cr4_checked
write_cr4_checked:
.access:
	mov	cr4, rdi
	xor	eax, eax
	ret

; int xsetbv_checked(uint32_t index, uint64_t value)
global xsetbv_checked
xsetbv_checked:
	mov	ecx, edi
	mov	eax, esi
	mov	rdx, rsi
	shr	rdx, 32
.access:
	xsetbv
	xor	eax, eax
	ret

access_faulted:
	mov	eax, -EINVAL
	ret

EINVAL equ 22

; struct fault_fixup: where a #GP is expected, where to go on
section .fault_fixups alloc noexec nowrite align=8
	dq rdmsr_checked.access, access_faulted
	dq wrmsr_checked.access, access_faulted
	dq write_cr4_checked.access, access_faulted
	dq xsetbv_checked.access, access_faulted

section .rodata
align 8
exception_entry_table:
%assign vector 0
%rep 32
	dq exception_stub_ %+ vector
  %assign vector vector + 1
%endrep
