; SPDX-License-Identifier: GPL-2.0-only
;
; The first 4 KiB of vellum.bin, which make it a Linux kernel for boot loaders and a PE
; file for UEFI, and the 16-bit code that BIOS loaders enter.
;
; In:  CS:IP = 20h paragraphs behind the first byte, DS = ES = SS = the segment of the
;      first byte, a stack, the fields of the setup header that a loader fills (Linux's
;      Documentation/x86/boot.rst)
; Out: linux_entry, as from a loader that knows the 32-bit protocol
;
; The linker script sets the sizes. Its addresses are those in the file, and so UEFI's.

SETUP_SECTORS		equ 7		; with the first one, 4 KiB
SECTOR_SIZE		equ 512
LINUX_PROTOCOL		equ 0x020c
LOADED_HIGH		equ 1 << 0
LOAD_ADDRESS		equ 0x100000
INITRD_ADDRESS_MAX	equ 0x7fffffff
COMMAND_LINE_MAX	equ 2047
PAGE_SHIFT		equ 12
PAGE_SIZE		equ 1 << PAGE_SHIFT
NO_FLAGS		equ 0		; xloadflags: no 64-bit entry, nothing above 4 GiB
VIDEO_MODE_ASIS		equ 0xffff

PE_MACHINE_X86_64	equ 0x8664
PE_EXECUTABLE		equ 0x22e	; executable, large addresses, no debug information
PE_OPTIONAL_PE32_PLUS	equ 0x20b
PE_SUBSYSTEM_EFI	equ 10
PE_CODE_READ_EXECUTE	equ 0x60000020
PE_DIRECTORIES		equ 6		; the fifth is a signature's
EFI_STUB_VERSION	equ 1		; takes its initrd from LoadFile2, if that is offered

; Where boot_params is built: behind this code, in the 32 KiB that it may use.
PARAMS			equ PAGE_SIZE
PARAMS_E820_COUNT	equ PARAMS + 0x1e8
PARAMS_HEADER		equ PARAMS + 0x1f1
PARAMS_E820		equ PARAMS + 0x2d0
E820_MAX		equ 128
E820_ENTRY_SIZE		equ 20
E820_SIGNATURE		equ 'PAMS'	; "SMAP", the first letter on top

BIOS_A20_ON		equ 0x2401	; INT 15h
PORT_A			equ 0x92	; of the system control chip
PORT_A_RESET		equ 1 << 0
PORT_A_A20		equ 1 << 1

CR0_PE			equ 1 << 0
BOOT_CS			equ 0x10	; what the 32-bit protocol asks for
BOOT_DS			equ 0x18

extern boot_start
extern efi_entry
extern linux_init_size
extern linux_paragraphs
extern pe_code_size
extern pe_image_size

section .boot.setup align=4096
bits 16

first_byte:
	db 'MZ'				; also "dec bp; pop dx"
	jmp	0x07c0:boot_sector	; started as a boot sector, which it is not

	times 0x3c - ($ - first_byte) db 0
	dd pe_header

boot_sector:
	mov	ax, cs
	mov	ds, ax
	mov	si, boot_sector_text
.next:	lodsb
	test	al, al
	jz	.stop
	mov	ah, 0x0e		; BIOS: teletype
	xor	bx, bx
	int	0x10
	jmp	.next
.stop:	hlt
	jmp	.stop

align 8
pe_header:
	db 'PE', 0, 0
	dw PE_MACHINE_X86_64
	dw 1				; section
	dd 0, 0, 0
	dw pe_sections - pe_optional
	dw PE_EXECUTABLE
pe_optional:
	dw PE_OPTIONAL_PE32_PLUS
	db 0, 0				; linker
	dd pe_code_size
	dd 0, 0				; data
	dd efi_entry
	dd boot_start
	dq 0				; image base
	dd PAGE_SIZE			; alignment in memory
	dd SECTOR_SIZE			; and in the file
	dw 0, 0				; operating system
	dw EFI_STUB_VERSION, 0
	dw 0, 0				; subsystem
	dd 0
	dd pe_image_size
	dd boot_start			; the headers' size
	dd 0				; checksum
	dw PE_SUBSYSTEM_EFI
	dw 0
	dq 0, 0, 0, 0			; stack and heap
	dd 0
	dd PE_DIRECTORIES
	times PE_DIRECTORIES dq 0
pe_sections:
	db '.text', 0, 0, 0
	dd pe_code_size
	dd boot_start
	dd pe_code_size
	dd boot_start
	dd 0, 0, 0
	dd PE_CODE_READ_EXECUTE

boot_sector_text:
	db "vellum.bin wants a boot loader: GRUB, iPXE, PXELINUX", 13, 10, 0

	times 0x1f1 - ($ - first_byte) db 0
setup_header:
	db SETUP_SECTORS
	dw 0				; root_flags
	dd linux_paragraphs		; syssize
	dw 0				; ram_size
	dw VIDEO_MODE_ASIS
	dw 0				; root_dev
	dw 0xaa55
	jmp	short setup_entry
	db 'HdrS'
	dw LINUX_PROTOCOL
	dd 0				; realmode_swtch
	dw 0				; start_sys_seg
	dw kernel_version - SECTOR_SIZE
	db 0				; type_of_loader
	db LOADED_HIGH
	dw 0				; setup_move_size
code32_start:
	dd LOAD_ADDRESS
	dd 0, 0				; ramdisk_image, ramdisk_size
	dd 0				; bootsect_kludge
	dw 0				; heap_end_ptr
	db 0, 0				; ext_loader_ver, ext_loader_type
	dd 0				; cmd_line_ptr
	dd INITRD_ADDRESS_MAX
	dd PAGE_SIZE			; kernel_alignment
	db 1				; relocatable_kernel
	db PAGE_SHIFT			; min_alignment
	dw NO_FLAGS
	dd COMMAND_LINE_MAX
	dd 0				; hardware_subarch
	dq 0				; hardware_subarch_data
	dd 0, 0				; payload_offset, payload_length
	dq 0				; setup_data
	dq LOAD_ADDRESS			; pref_address
	dd linux_init_size
	dd 0				; handover_offset
setup_header_end:

kernel_version:
	db "Vellum ", VELLUM_VERSION, 0

setup_entry:
	cld
	call	clear_params
	call	read_memory_map
	call	enable_a20
	jmp	enter_protected_mode

; boot_params: all zero, but for the header as the loader has left it.
clear_params:
	xor	eax, eax
	mov	di, PARAMS
	mov	cx, PAGE_SIZE / 4
	rep	stosd
	mov	si, setup_header
	mov	di, PARAMS_HEADER
	mov	cx, setup_header_end - setup_header
	rep	movsb
	ret

; BIOS call INT 15h AX=E820h (ACPI 6.4, 15.1). Without it the map stays empty.
read_memory_map:
	xor	ebx, ebx
	mov	di, PARAMS_E820
.next:	mov	eax, 0xe820
	mov	edx, E820_SIGNATURE
	mov	ecx, E820_ENTRY_SIZE
	int	0x15
	jc	.done
	cmp	eax, E820_SIGNATURE
	jne	.done
	add	di, E820_ENTRY_SIZE
	inc	byte [PARAMS_E820_COUNT]
	cmp	byte [PARAMS_E820_COUNT], E820_MAX
	jae	.done
	test	ebx, ebx
	jnz	.next
.done:	ret

; The image is above 1 MiB, so the loader had it on; some switch it off again.
enable_a20:
	mov	ax, BIOS_A20_ON
	int	0x15
	in	al, PORT_A
	test	al, PORT_A_A20
	jnz	.done
	or	al, PORT_A_A20
	and	al, ~PORT_A_RESET
	out	PORT_A, al
.done:	ret

enter_protected_mode:
	cli
	xor	ebp, ebp
	mov	bp, ds
	shl	ebp, 4
	lea	eax, [ebp + setup_gdt]
	mov	[setup_gdt_pointer + 2], eax
	lea	esi, [ebp + PARAMS]
	push	dword BOOT_CS
	push	dword [code32_start]
	movzx	esp, sp
	add	esp, ebp
	lgdt	[setup_gdt_pointer]
	mov	eax, cr0
	or	al, CR0_PE
	mov	cr0, eax
	mov	ax, BOOT_DS
	mov	ds, ax
	mov	es, ax
	mov	fs, ax
	mov	gs, ax
	mov	ss, ax			; flat now, as ESP is
	xor	ebx, ebx
	xor	edi, edi
	xor	ebp, ebp
	o32 retf

align 8
setup_gdt:
	dq 0, 0
	dq 0x00cf9b000000ffff		; 32-bit code, 4 GiB, CPL 0
	dq 0x00cf93000000ffff		; data, the same
setup_gdt_pointer:
	dw $ - setup_gdt - 1
	dd 0				; its address, once it is known
