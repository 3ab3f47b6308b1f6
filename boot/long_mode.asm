; SPDX-License-Identifier: GPL-2.0-only
;
; enter_long_mode: from a boot loader's 32-bit world to C in long mode.
;
; In:  EDI = magic (boot.h), ESI = physical address of the loader's information,
;      EBP = how far all of this lies from where it was linked (0 for vellum.elf),
;      32-bit protected mode, flat segments, paging off, interrupts off; what is
;      behind the file's end, boot.bss and .bss, is zero
; Out: vellum_main(EDI, ESI), long mode, on the boot stack
;
; The page tables made here serve until the image has moved: the first 4 GiB of
; physical memory, both where they are and at PHYSMAP_BASE, and the image at
; IMAGE_BASE.

CPUID_EXT_MAX		equ 0x80000000
CPUID_EXT_FEATURES	equ 0x80000001
CPUID_LONG_MODE_BIT	equ 29		; EDX of leaf 80000001h
CPUID_NX_BIT		equ 20		; the same

CR0_PE			equ 1 << 0
CR0_WP			equ 1 << 16
CR0_PG			equ 1 << 31
CR4_PAE			equ 1 << 5
CR4_MCE			equ 1 << 6	; a machine check is dumped like any exception
MSR_EFER		equ 0xc0000080
EFER_LME		equ 1 << 8
EFER_NXE		equ 1 << 11

PAGE_PRESENT_WRITE	equ 3
PAGE_LARGE		equ 1 << 7
PAGE_SIZE		equ 4096
LARGE_PAGE_SIZE		equ 1 << 21
ENTRIES			equ 512
PHYSMAP_GIGABYTES	equ 4
PHYSMAP_SLOT		equ 256		; PML4 entry of PHYSMAP_BASE
IMAGE_SLOT		equ 511		; PML4 entry of IMAGE_BASE
IMAGE_PDPT_SLOT		equ 510
IMAGE_PAGES		equ ENTRIES	; what one page table maps: 2 MiB

COM1			equ 0x3f8
VGA_TEXT		equ 0xb8000

extern vellum_main
extern boot_start
extern boot_stack_top
extern image_load_address
extern image_loaded_at
global boot_gdt_code32, boot_gdt_data32, boot_gdt_load
global boot_pml4, build_page_tables
global enter_long_mode

section .boot.text
bits 32

enter_long_mode:
	cld
	lea	esp, [ebp + boot_call_stack_top]
	call	require_long_mode
	call	build_page_tables
	call	enable_long_mode
	call	boot_gdt_load
	lea	eax, [ebp + .long_mode]
	push	CODE64
	push	eax
	retf
bits 64
.long_mode:
	add	ebp, boot_start
	mov	rax, image_loaded_at
	mov	[rax], rbp		; no segment is needed to store it
	xor	eax, eax
	mov	ds, eax
	mov	es, eax
	mov	ss, eax
	mov	fs, eax
	mov	gs, eax
	mov	rsp, boot_stack_top
	xor	ebp, ebp		; the backtrace ends here
	mov	rax, vellum_main
	call	rax
	ud2				; vellum_main does not return
bits 32

; Does not return if the processor can't run 64-bit code, or has no no-execute pages.
; Clobbers EAX, EBX, ECX, EDX.
require_long_mode:
	mov	eax, CPUID_EXT_MAX
	cpuid
	cmp	eax, CPUID_EXT_FEATURES
	jb	.absent
	mov	eax, CPUID_EXT_FEATURES
	cpuid
	bt	edx, CPUID_LONG_MODE_BIT
	jnc	.absent
	bt	edx, CPUID_NX_BIT
	jnc	.no_nx
	ret
.absent:
	lea	esi, [ebp + no_long_mode_text]
	jmp	.refuse
.no_nx:	lea	esi, [ebp + no_nx_text]
.refuse:
	call	print_early
.stop:	cli
	hlt
	jmp	.stop

; ESI: text with a NUL. To the first serial port, at whatever speed it has, and a text screen.
print_early:
	mov	edi, VGA_TEXT
.next:	lodsb
	test	al, al
	jz	.done
	mov	dx, COM1
	out	dx, al
	mov	ah, 0x07		; grey on black
	stosw
	jmp	.next
.done:	ret

; %1: physical address of a table or page, before it is moved; %2: where its entry goes. Clobbers EAX.
%macro	map 2
	lea	eax, [ebp + %1 + PAGE_PRESENT_WRITE]
	mov	[ebp + %2], eax
%endmacro

; Everything from here to the end of boot_gdt_load means the same in 64-bit code, where
; efi_entry calls it: no INC, whose opcode is a prefix there. Clobbers EAX, ECX.
build_page_tables:
	map	boot_pdpt_low, boot_pml4
	map	boot_pdpt_low, boot_pml4 + PHYSMAP_SLOT * 8
	map	boot_pdpt_image, boot_pml4 + IMAGE_SLOT * 8
	map	boot_pd_image, boot_pdpt_image + IMAGE_PDPT_SLOT * 8
	map	boot_pt_image, boot_pd_image

	lea	eax, [ebp + boot_pd_low + PAGE_PRESENT_WRITE]
	xor	ecx, ecx
.pdpt:	mov	[ebp + boot_pdpt_low + ecx * 8], eax
	add	eax, PAGE_SIZE
	add	ecx, 1
	cmp	ecx, PHYSMAP_GIGABYTES
	jb	.pdpt

	mov	eax, PAGE_PRESENT_WRITE | PAGE_LARGE
	xor	ecx, ecx
.pd:	mov	[ebp + boot_pd_low + ecx * 8], eax
	add	eax, LARGE_PAGE_SIZE
	add	ecx, 1
	cmp	ecx, PHYSMAP_GIGABYTES * ENTRIES
	jb	.pd

	lea	eax, [ebp + image_load_address + PAGE_PRESENT_WRITE]
	xor	ecx, ecx
.pt:	mov	[ebp + boot_pt_image + ecx * 8], eax
	add	eax, PAGE_SIZE
	add	ecx, 1
	cmp	ecx, IMAGE_PAGES
	jb	.pt
	ret

; Clobbers EAX. LGDT in 64-bit code reads four bytes more of the address: zeros.
boot_gdt_load:
	lea	eax, [ebp + boot_gdt]
	mov	[ebp + boot_gdt_pointer + 2], eax
	lgdt	[ebp + boot_gdt_pointer]
	ret

; Leaves the processor in compatibility mode. Clobbers EAX, ECX, EDX.
enable_long_mode:
	mov	eax, cr4
	or	eax, CR4_PAE | CR4_MCE
	mov	cr4, eax
	lea	eax, [ebp + boot_pml4]
	mov	cr3, eax
	mov	ecx, MSR_EFER
	rdmsr
	or	eax, EFER_LME | EFER_NXE
	wrmsr
	mov	eax, cr0
	or	eax, CR0_PG | CR0_WP | CR0_PE
	mov	cr0, eax
	ret

align 8
boot_gdt:
	dq 0
CODE64	equ $ - boot_gdt
	dq 0x00209a0000000000		; 64-bit code, CPL 0
boot_gdt_code32 equ $ - boot_gdt
	dq 0x00cf9a000000ffff		; 32-bit code, 4 GiB, CPL 0
boot_gdt_data32 equ $ - boot_gdt
	dq 0x00cf92000000ffff		; data, the same
boot_gdt_pointer:
	dw $ - boot_gdt - 1
	dq 0				; its address, once it is known

no_long_mode_text:
	db "vellum: error: this processor has no 64-bit mode (CPUID 80000001h EDX bit 29);"
	db " boot the guest kernel without Vellum", 13, 10, 0

no_nx_text:
	db "vellum: error: this processor does not offer no-execute pages (CPUID 80000001h EDX"
	db " bit 20): look for Execute Disable in the firmware's setup", 13, 10, 0

section .boot.bss nobits align=4096
boot_pml4:		resb PAGE_SIZE
boot_pdpt_low:		resb PAGE_SIZE
boot_pdpt_image:	resb PAGE_SIZE
boot_pd_image:		resb PAGE_SIZE
boot_pt_image:		resb PAGE_SIZE
boot_pd_low:		resb PAGE_SIZE * PHYSMAP_GIGABYTES
boot_call_stack:	resb 64
boot_call_stack_top:
