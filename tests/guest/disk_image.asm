; SPDX-License-Identifier: GPL-2.0-only
;
; A disk that holds a bare guest: this boot sector, then the guest's bzImage, disk.bin. What
; the boot sector has found (struct boot_facts of disk.c) and what the BIOS says of memory
; (boot_params) are left for the guest, which is entered as by any loader.

FACTS		equ 0x8000	; struct boot_facts
PARAMS		equ 0x6000	; struct linux_boot_params, 4 KiB
E820_ENTRIES	equ 0x1e8
E820_TABLE	equ 0x2d0
E820_SIZE	equ 20
CMD_LINE_PTR	equ 0x228
BUFFER		equ 0x10000
IMAGE_START	equ 0x100000
HEADER_SECTORS	equ 2		; of the bzImage; not loaded
CHUNK		equ 16		; sectors read at a time
SECTOR		equ 512
CYLINDER	equ 16 * 63 * SECTOR
SMAP		equ 0x534d4150
CODE32		equ 8
DATA32		equ 16

org 0x7c00
bits 16

	mov	[cs:FACTS + 0], dx
	mov	[cs:FACTS + 2], sp
	mov	[cs:FACTS + 4], ds
	mov	[cs:FACTS + 6], es
	mov	[cs:FACTS + 8], ss
	mov	[cs:FACTS + 10], cs
	pushf
	pop	word [cs:FACTS + 12]
	xor	ax, ax
	mov	ds, ax
	mov	es, ax
	mov	[drive], dl
	cld
	mov	di, PARAMS
	mov	cx, 0x1000
	rep stosb
	mov	dword [PARAMS + CMD_LINE_PTR], no_words

	int	0x12
	mov	[FACTS + 14], ax
	mov	ax, 0xe801
	int	0x15
	mov	[FACTS + 16], ax
	mov	[FACTS + 18], bx
	mov	[FACTS + 20], cx
	mov	[FACTS + 22], dx
	mov	ah, 0x88
	int	0x15
	mov	[FACTS + 24], ax
	mov	ax, 0xe881
	int	0x15
	sbb	al, al			; FFh: the carry flag says "not supported"
	mov	[FACTS + 26], ax
	mov	di, PARAMS + E820_TABLE
	xor	ebx, ebx
.range:	mov	eax, 0xe820
	mov	edx, SMAP
	mov	ecx, E820_SIZE
	int	0x15
	jc	.ranges
	cmp	eax, SMAP
	jne	.ranges
	inc	byte [PARAMS + E820_ENTRIES]
	add	di, E820_SIZE
	test	ebx, ebx
	jnz	.range
.ranges:

.read:	mov	si, packet
	mov	ah, 0x42
	mov	dl, [drive]
	int	0x13
	jc	.failed
	add	word [packet.segment], CHUNK * SECTOR / 16
	add	dword [packet.sector], CHUNK
	cmp	dword [packet.sector], guest_sectors + 1
	jb	.read

	cli
	lgdt	[gdt_pointer]
	mov	eax, cr0
	or	al, 1
	mov	cr0, eax
	jmp	CODE32:protected
.failed:
	mov	al, '!'
	mov	dx, 0x3f8
	out	dx, al
	hlt

bits 32
protected:
	mov	eax, DATA32
	mov	ds, eax
	mov	es, eax
	mov	ss, eax
	mov	esi, BUFFER
	mov	edi, IMAGE_START
	mov	ecx, guest_sectors * SECTOR
	rep movsb
	mov	esi, PARAMS
	mov	eax, IMAGE_START
	jmp	eax

align 4
gdt:	dq	0, 0x00cf9b000000ffff, 0x00cf93000000ffff
gdt_pointer:
	dw	$ - gdt - 1
	dd	gdt
packet:	db	16, 0
	dw	CHUNK
	dw	0
.segment:
	dw	BUFFER / 16
.sector:
	dq	1 + HEADER_SECTORS
drive:	db	0
no_words:
	db	0

	times	SECTOR - 2 - ($ - $$) db 0
	dw	0xaa55

guest:	incbin	"disk.bin"
	align	SECTOR, db 0
guest_sectors	equ ($ - guest) / SECTOR
	times	CYLINDER - ($ - $$) db 0
