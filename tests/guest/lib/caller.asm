; SPDX-License-Identifier: GPL-2.0-only
;
; void caller_run(struct call *call): loads all registers from *call, calls its target, and
; puts into *call what the target has left in them. After the loads DS and ES may be
; anything: all data is reached through SS.

global caller_run

DATA32		equ 0x10

EAX_		equ 0
ECX_		equ 4
EDX_		equ 8
EBX_		equ 12
EBP_		equ 16
ESI_		equ 20
EDI_		equ 24
EFLAGS_		equ 28
DS_		equ 32
ES_		equ 36
FS_		equ 40
GS_		equ 44
TARGET_		equ 48
SKEW_		equ 52
POPPED_		equ 56
STACK_		equ 60
STACK_WORDS	equ 4
EFLAGS_PLAIN	equ 2

section .text

caller_run:
	pushad
	mov	ebp, [esp + 36]
	mov	[caller_esp], esp
	mov	[caller_call], ebp
	sub	esp, [ebp + SKEW_]
%assign word STACK_WORDS
%rep STACK_WORDS
  %assign word word - 1
	push	dword [ebp + STACK_ + word * 4]
%endrep
	mov	[caller_start], esp
	push	dword [ebp + EFLAGS_]
	push	dword [ebp + EBP_]
	mov	gs, [ebp + GS_]
	mov	fs, [ebp + FS_]
	mov	es, [ebp + ES_]
	mov	ds, [ebp + DS_]
	mov	eax, [ebp + TARGET_]
	mov	[ss:caller_target], eax
	mov	eax, [ebp + EAX_]
	mov	ecx, [ebp + ECX_]
	mov	edx, [ebp + EDX_]
	mov	ebx, [ebp + EBX_]
	mov	esi, [ebp + ESI_]
	mov	edi, [ebp + EDI_]
	pop	ebp
	popfd
	call	[ss:caller_target]
	mov	[ss:caller_end], esp
	mov	esp, [ss:caller_start]	; whatever the target has popped
	pushfd
	push	ebp
	mov	ebp, [ss:caller_call]
	mov	[ebp + EAX_], eax
	mov	[ebp + ECX_], ecx
	mov	[ebp + EDX_], edx
	mov	[ebp + EBX_], ebx
	mov	[ebp + ESI_], esi
	mov	[ebp + EDI_], edi
	pop	dword [ebp + EBP_]
	pop	dword [ebp + EFLAGS_]
	push	dword EFLAGS_PLAIN
	popfd
	mov	[ebp + DS_], ds
	mov	[ebp + ES_], es
	mov	[ebp + FS_], fs
	mov	[ebp + GS_], gs
	mov	eax, DATA32
	mov	ds, eax
	mov	es, eax
	xor	eax, eax
	mov	fs, eax
	mov	gs, eax
	mov	eax, [caller_end]
	sub	eax, [caller_start]
	mov	[ebp + POPPED_], eax
	mov	esp, [caller_esp]
	popad
	ret

section .bss

caller_esp:	resd 1
caller_call:	resd 1
caller_target:	resd 1
caller_start:	resd 1			; ESP at the call, and behind it
caller_end:	resd 1
