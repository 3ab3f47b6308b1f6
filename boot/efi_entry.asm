; SPDX-License-Identifier: GPL-2.0-only
;
; efi_entry: where UEFI firmware enters vellum.bin.
;
; In:  RCX = image handle, RDX = system table, the firmware's page tables, which map memory
;      where it is; the Microsoft x64 calling convention (UEFI 2.10, 2.3.4)
; Out: to enter_long_mode, once boot services have ended; else back to the firmware with a
;      status, nothing changed
;
; The 32-bit code needs a place below 4 GiB, so all goes to one first. efi_main() is C of
; the image proper and runs at its high address, under the firmware's page tables plus
; two entries: firmware and Vellum can then call each other.

EFI_MAGIC		equ 'VEFI'	; BOOT_MAGIC_EFI
SYSTEM_BOOT_SERVICES	equ 96		; offsets: UEFI 2.10, 4.3 and 4.4
BOOT_ALLOCATE_PAGES	equ 40
BOOT_FREE_PAGES		equ 48
ALLOCATE_MAX_ADDRESS	equ 1
EFI_LOADER_CODE		equ 1
LAST_ADDRESS		equ 0xffffffff

PAGE_PRESENT_WRITE	equ 3
ADDRESS_MASK		equ ~0xfff
ENTRIES			equ 512
LAST_SLOT		equ 511		; IMAGE_SLOT, and of a PML5 the upper half's last
PHYSMAP_SLOT		equ 256
CR4_LA57_BIT		equ 12
CR0_PE_ET		equ 0x11
MSR_EFER		equ 0xc0000080

SHADOW_SPACE		equ 32		; what a callee may use above its return address
LOCAL			equ SHADOW_SPACE
FRAME			equ SHADOW_SPACE + 24	; and the stack aligned to 16 bytes

extern boot_gdt_code32
extern boot_gdt_data32
extern boot_gdt_load
extern boot_pml4
extern boot_start
extern build_page_tables
extern efi_main
extern enter_long_mode
extern linux_entry
extern linux_init_pages
extern linux_zero_size
extern pe_code_size
global efi_entry

section .boot.efi
bits 64

; R12 image handle, R13 system table, R14 way back, R15 the firmware's CR3, RBX the new place
efi_entry:
	push	rbx
	push	rbp
	push	rdi
	push	rsi
	push	r12
	push	r13
	push	r14
	push	r15
	sub	rsp, FRAME
	cld
	mov	r12, rcx
	mov	r13, rdx
	mov	eax, LAST_ADDRESS
	mov	[rsp + LOCAL], rax
	mov	ecx, ALLOCATE_MAX_ADDRESS
	mov	edx, EFI_LOADER_CODE
	mov	r8d, linux_init_pages
	lea	r9, [rsp + LOCAL]
	mov	rax, [r13 + SYSTEM_BOOT_SERVICES]
	call	[rax + BOOT_ALLOCATE_PAGES]
	test	rax, rax
	jnz	.return
	mov	rbx, [rsp + LOCAL]
	lea	rsi, [rel linux_entry]	; the first byte of all
	mov	rdi, rbx
	mov	ecx, pe_code_size
	rep	movsb
	mov	ecx, linux_zero_size
	xor	eax, eax
	rep	stosb
	lea	r14, [rel .back]
	mov	ebp, ebx
	sub	ebp, boot_start		; as enter_long_mode wants it
	lea	rax, [rbp + .moved]
	jmp	rax
.moved:
	call	build_page_tables
	call	extend_page_tables
	mov	rdi, r12
	mov	rsi, r13
	mov	rax, efi_main
	call	rax
	test	rax, rax
	jz	leave_firmware
	mov	cr3, r15
	jmp	r14
.back:
	mov	[rsp + LOCAL], rax	; efi_main's status
	mov	rcx, rbx
	mov	edx, linux_init_pages
	mov	rax, [r13 + SYSTEM_BOOT_SERVICES]
	call	[rax + BOOT_FREE_PAGES]
	mov	rax, [rsp + LOCAL]
.return:
	add	rsp, FRAME
	pop	r15
	pop	r14
	pop	r13
	pop	r12
	pop	rsi
	pop	rdi
	pop	rbp
	pop	rbx
	ret

; A copy of the firmware's root, which may be read-only, with Vellum's upper half. With
; five levels that hangs below the last entry. Clobbers RAX, RCX, RSI, RDI.
extend_page_tables:
	mov	r15, cr3
	mov	rsi, r15
	and	rsi, ADDRESS_MASK
	lea	rdi, [rbp + firmware_root]
	mov	ecx, ENTRIES
	rep	movsq
	mov	rax, cr4
	bt	eax, CR4_LA57_BIT
	jc	.five_levels
	mov	rax, [rbp + boot_pml4 + PHYSMAP_SLOT * 8]
	mov	[rbp + firmware_root + PHYSMAP_SLOT * 8], rax
	mov	rax, [rbp + boot_pml4 + LAST_SLOT * 8]
	jmp	.last
.five_levels:
	lea	rax, [rbp + boot_pml4 + PAGE_PRESENT_WRITE]
.last:	mov	[rbp + firmware_root + LAST_SLOT * 8], rax
	lea	rax, [rbp + firmware_root]
	mov	cr3, rax
	ret

; Boot services are over. To what a Multiboot loader would leave: no paging, CR4 and EFER 0.
leave_firmware:
	cli
	call	boot_gdt_load
	lea	rax, [rbp + .bits32]
	push	boot_gdt_code32
	push	rax
	retfq
bits 32
.bits32:
	mov	eax, CR0_PE_ET
	mov	cr0, eax
	xor	eax, eax
	xor	edx, edx
	mov	cr4, eax
	mov	ecx, MSR_EFER
	wrmsr
	mov	eax, boot_gdt_data32
	mov	ds, eax
	mov	es, eax
	mov	ss, eax
	mov	edi, EFI_MAGIC
	xor	esi, esi
	jmp	enter_long_mode

section .boot.bss nobits align=4096
firmware_root:		resb 4096
