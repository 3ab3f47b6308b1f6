; SPDX-License-Identifier: GPL-2.0-only
;
; The other task of task_switch.c. It notes what it was started with and goes back: by IRET
; if it is nested, else by a jump to the first task's TSS. Started again, it goes on behind
; that. Registers are those of its TSS; what it does to EBP, the first task must not see.

global task_entry, task_seen
extern task_window, task_eip, task_skip

FIRST_TSS	equ 0x48
FLAG_NT		equ 1 << 14

section .text

task_entry:
	pushfd
	pop	dword [task_seen + 0]
	mov	[task_seen + 4], esp
	mov	eax, [esp]
	mov	[task_seen + 8], eax
	str	eax
	mov	[task_seen + 12], eax
	sldt	eax
	mov	[task_seen + 16], eax
	mov	eax, cr0
	mov	[task_seen + 20], eax
	mov	eax, cr3
	mov	[task_seen + 24], eax
	mov	[task_seen + 28], ebx
	mov	eax, fs
	mov	[task_seen + 32], eax
	xor	eax, eax
	test	dword [task_seen + 32], 0xfffc
	jz	.no_fs
	mov	eax, [fs:0]
.no_fs:
	mov	[task_seen + 36], eax
	mov	eax, [task_window]
	mov	eax, [eax]
	mov	[task_seen + 40], eax
	mov	eax, [task_eip]
	mov	ecx, [task_skip]
	add	[eax], ecx
	mov	ebp, 0xdead
	clts
	test	dword [task_seen + 0], FLAG_NT
	jz	.jump
	iretd
	jmp	task_entry
.jump:
	jmp	FIRST_TSS:0
	jmp	task_entry

section .bss

task_seen:	resd 11
