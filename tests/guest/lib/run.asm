; SPDX-License-Identifier: GPL-2.0-only
;
; void run(struct state *state): loads all registers from *state, by IRET.
;
; Comes back when an exception, or INT 80h, ends what was started so; *state then holds
; the registers of that moment. A vector with a handler (run_handlers) doesn't end it:
; run_handled() runs, and the interrupted code goes on.
; The frames of all vectors look alike: vector, error code (or 0), EIP, CS, EFLAGS, and
; from CPL 3 also ESP and SS.

extern run_handlers, run_handled, run_unexpected
global run, run_vectors, run_state, run_esp, run_fault_stack, run_fault_stack_2

%include "tests/guest/lib/processor.inc"

DATA32		equ 0x10
USER_DATA	equ 0x2b
VECTORS		equ 256
STUB_SIZE	equ 16
HAS_ERROR	equ 0x00027d00		; vectors 8, 10 to 14, 17

%define R(n)	(n * 8)
RAX_	equ R(0)
RSP_	equ R(4)
RBP_	equ R(5)
RIP_	equ R(16)
RFLAGS_	equ R(17)
CS_	equ R(18)
SS_	equ R(19)
VECTOR_	equ R(20)
ERROR_	equ R(21)
CR2_	equ R(22)
DR6_	equ R(23)

section .text

run:
	push	ebp
	push	ebx
	push	esi
	push	edi
	PROCESSOR
	mov	[run_esp + eax * 4], esp
	mov	ebp, [esp + 20]
	mov	[run_state + eax * 4], ebp
	xor	eax, eax
	mov	dr6, eax
	test	byte [ebp + CS_], 3
	jnz	.user
	mov	esp, [ebp + RSP_]
	jmp	.frame
.user:
	mov	eax, USER_DATA
	mov	ds, eax
	mov	es, eax
	push	dword [ebp + SS_]
	push	dword [ebp + RSP_]
.frame:
	push	dword [ebp + RFLAGS_]
	push	dword [ebp + CS_]
	push	dword [ebp + RIP_]
	mov	eax, [ebp + RAX_]
	mov	ecx, [ebp + R(1)]
	mov	edx, [ebp + R(2)]
	mov	ebx, [ebp + R(3)]
	mov	esi, [ebp + R(6)]
	mov	edi, [ebp + R(7)]
	mov	ebp, [ebp + RBP_]
	iret

; Each stub: [error code], vector; then all the same.
align 16
run_vectors:
%assign vector 0
%rep VECTORS
  align STUB_SIZE
  %if vector >= 32 || ((HAS_ERROR >> vector) & 1) == 0
	push	dword 0
  %endif
	push	dword vector
	jmp	near arrived
  %assign vector vector + 1
%endrep

arrived:
	pusha				; EDI ESI EBP ESP EBX EDX ECX EAX, upwards
	push	ds
	push	es
	mov	eax, DATA32
	mov	ds, eax
	mov	es, eax
	cld
	mov	ebp, esp		; [ebp + 8]: PUSHA's; [ebp + 40]: the frame
	mov	ecx, [ebp + 40]
	cmp	dword [run_handlers + ecx * 4], 0
	jne	.handle
	PROCESSOR
	mov	ebx, eax
	mov	edi, [run_state + ebx * 4]
	test	edi, edi
	jz	.unexpected		; of the library or a test itself
	call	save
	xor	eax, eax
	mov	[run_state + ebx * 4], eax
	mov	fs, eax
	mov	gs, eax
	mov	eax, DATA32
	mov	ss, eax
	mov	esp, [run_esp + ebx * 4]
	pop	edi
	pop	esi
	pop	ebx
	pop	ebp
	ret
.handle:
	push	ecx
	call	run_handled
	pop	ecx
	pop	es
	pop	ds
	popa
	add	esp, 8
	iret

.unexpected:
	lea	eax, [ebp + 40]
	push	eax
	call	run_unexpected

; The frame at EBP into the state at EDI. Changes EAX, ECX, EDX.
save:
%macro COPY 2
	mov	eax, [ebp + %1]
	mov	[edi + %2], eax
	mov	dword [edi + %2 + 4], 0
%endmacro
	COPY	8 + 28, RAX_
	COPY	8 + 24, R(1)
	COPY	8 + 20, R(2)
	COPY	8 + 16, R(3)
	COPY	8 + 8, RBP_
	COPY	8 + 4, R(6)
	COPY	8 + 0, R(7)
	COPY	40, VECTOR_
	COPY	44, ERROR_
	COPY	48, RIP_
	COPY	52, CS_
	COPY	56, RFLAGS_
	test	byte [ebp + 52], 3
	jz	.same_stack
	COPY	60, RSP_
	jmp	.faults
.same_stack:
	lea	eax, [ebp + 60]
	mov	[edi + RSP_], eax
	mov	dword [edi + RSP_ + 4], 0
.faults:
	mov	eax, cr2
	mov	[edi + CR2_], eax
	mov	eax, dr6
	mov	[edi + DR6_], eax
	ret

section .bss

run_state:	resd PROCESSORS		; 0: no snippet runs
run_esp:	resd PROCESSORS
alignb 16
		resb 8192
run_fault_stack:			; TSS.ESP0, for what comes from CPL 3
		resb 8192
run_fault_stack_2:
