; SPDX-License-Identifier: GPL-2.0-only
;
; What Multiboot loaders look for in vellum.elf, and where they jump.
;
; In:  EAX = 2BADB002h (Multiboot 1) or 36D76289h (2), EBX = physical address of the
;      information, 32-bit protected mode, paging off, interrupts off (Multiboot
;      0.6.96, 3.2; Multiboot 2.0, 3.3)
; Out: to enter_long_mode

MULTIBOOT_MAGIC		equ 0x1badb002
MULTIBOOT_PAGE_ALIGN	equ 1 << 0	; modules start on page boundaries
MULTIBOOT_MEMORY_INFO	equ 1 << 1	; a memory map, please
MULTIBOOT_FLAGS		equ MULTIBOOT_PAGE_ALIGN | MULTIBOOT_MEMORY_INFO

MULTIBOOT2_MAGIC	equ 0xe85250d6
MULTIBOOT2_I386		equ 0		; protected mode
MULTIBOOT2_TAG_END	equ 0
MULTIBOOT2_TAG_ALIGN	equ 6		; modules start on page boundaries

extern enter_long_mode
global multiboot_entry

section .boot.header align=8

	dd MULTIBOOT_MAGIC
	dd MULTIBOOT_FLAGS
	dd -(MULTIBOOT_MAGIC + MULTIBOOT_FLAGS)

align 8
multiboot2_header:
	dd MULTIBOOT2_MAGIC
	dd MULTIBOOT2_I386
	dd .end - multiboot2_header
	dd -(MULTIBOOT2_MAGIC + MULTIBOOT2_I386 + (.end - multiboot2_header)) & 0xffffffff
	dw MULTIBOOT2_TAG_ALIGN, 0
	dd 8
	dw MULTIBOOT2_TAG_END, 0
	dd 8
.end:

section .boot.text
bits 32

multiboot_entry:
	mov	edi, eax
	mov	esi, ebx
	xor	ebp, ebp		; an ELF file is loaded where it was linked
	jmp	enter_long_mode
