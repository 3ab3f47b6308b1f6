; SPDX-License-Identifier: GPL-2.0-only
;
; void caller_run(struct call *call): loads all registers from *call, calls its target, and
; puts into *call what the target has left in them. After the loads DS and ES may be
; anything: all data is reached through SS. Two processors may do so at a time.

global caller_run

%include "tests/guest/lib/processor.inc"

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

; What a processor keeps of its call
struc	frame
.esp:	resd 1
.call:	resd 1
.start:	resd 1				; ESP at the call, and behind it
.end:	resd 1
endstruc

section .text

; EAX = this processor's frame. Changes: flags.
%macro FRAME 0
	PROCESSOR
	shl	eax, 4
	add	eax, frames
%endmacro

caller_run:
	pushad
	FRAME
	mov	ebp, [esp + 36]
	mov	[eax + frame.esp], esp
	mov	[eax + frame.call], ebp
	sub	esp, [ebp + SKEW_]
%assign word STACK_WORDS
%rep STACK_WORDS
  %assign word word - 1
	push	dword [ebp + STACK_ + word * 4]
%endrep
	mov	[eax + frame.start], esp
	push	dword .back		; as a CALL of the target does
	push	dword [ebp + TARGET_]
	push	dword [ebp + EFLAGS_]
	push	dword [ebp + EBP_]
	mov	gs, [ebp + GS_]
	mov	fs, [ebp + FS_]
	mov	es, [ebp + ES_]
	mov	ds, [ebp + DS_]
	mov	eax, [ebp + EAX_]
	mov	ecx, [ebp + ECX_]
	mov	edx, [ebp + EDX_]
	mov	ebx, [ebp + EBX_]
	mov	esi, [ebp + ESI_]
	mov	edi, [ebp + EDI_]
	pop	ebp
	popfd
	ret
.back:
	push	eax
	pushfd
	FRAME
	push	ebp
	mov	ebp, [ss:eax + frame.call]
	pop	dword [ebp + EBP_]
	pop	dword [ebp + EFLAGS_]
	pop	dword [ebp + EAX_]
	mov	[ss:eax + frame.end], esp
	mov	[ebp + ECX_], ecx
	mov	[ebp + EDX_], edx
	mov	[ebp + EBX_], ebx
	mov	[ebp + ESI_], esi
	mov	[ebp + EDI_], edi
	mov	esp, [ss:eax + frame.start]	; whatever the target has popped
	push	dword EFLAGS_PLAIN
	popfd
	mov	[ebp + DS_], ds
	mov	[ebp + ES_], es
	mov	[ebp + FS_], fs
	mov	[ebp + GS_], gs
	mov	ecx, DATA32
	mov	ds, ecx
	mov	es, ecx
	xor	ecx, ecx
	mov	fs, ecx
	mov	gs, ecx
	mov	ecx, [eax + frame.end]
	sub	ecx, [eax + frame.start]
	mov	[ebp + POPPED_], ecx
	mov	esp, [eax + frame.esp]
	popad
	ret

section .bss

frames:		resb PROCESSORS * frame_size
