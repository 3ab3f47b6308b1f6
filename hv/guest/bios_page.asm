; SPDX-License-Identifier: GPL-2.0-only
;
; bios_page .. bios_page_end: what stands between a guest and its BIOS (bios_page.c).
;
; int15 answers for the BIOS how much memory there is. The first byte is the entry of a
; guest from disk, in 32-bit protected mode as of every guest, with ESI = the page: down to
; real mode, the boot sector to 7C00h, and there. Real mode sees the page at CS:0, struct
; bios_page_data behind the code.

CODE16		equ 0x18
DATA16		equ 0x20
CR0_PE		equ 1

BIOS_INT15	equ 40		; struct bios_page_data
EXTENDED_KIB	equ 44
BELOW_16M_KIB	equ 46
ABOVE_16M_64K	equ 48
RANGE_COUNT	equ 50
DRIVE		equ 52
RANGES		equ 56
RANGE_SIZE	equ 20

BOOT_SECTOR	equ 0x7c00
BOOT_SIGNATURE	equ 0xaa55
TRIES		equ 3		; a floppy's motor takes its time
SMAP		equ 0x534d4150
UNSUPPORTED	equ 0x86	; in AH, with the carry flag: as the BIOS says it
CARRY		equ 1

COM1		equ 0x3f8
COM_STATUS	equ 5
COM_ROOM	equ 0x20
PATIENCE	equ 0xffff

%define AT(label)	(label - bios_page)
%define DATA(field)	cs:AT(bios_page_end) + field

global bios_page, bios_page_end, bios_int15_offset

section .rodata align=16

bios_int15_offset:
	dw	AT(int15)

align 16
bios_page:
bits 32
	jmp	CODE16:AT(protected)
bits 16
protected:
	mov	eax, DATA16
	mov	ds, eax
	mov	es, eax
	mov	ss, eax
	mov	fs, eax
	mov	gs, eax
	o32 lidt [cs:AT(real_idt)]
	mov	eax, cr0
	and	al, ~CR0_PE
	mov	cr0, eax
	shr	esi, 4			; the page's segment
	mov	sp, BOOT_SECTOR
	push	si
	push	AT(real)
	retf
real:
	xor	ax, ax
	mov	ds, ax
	mov	es, ax
	mov	ss, ax
	mov	sp, BOOT_SECTOR
	mov	fs, ax
	mov	gs, ax
	cld
	sti
	mov	bp, TRIES
.read:
	mov	ax, 0x0201		; one sector
	mov	bx, BOOT_SECTOR
	mov	cx, 1			; cylinder 0, sector 1
	mov	dl, [DATA(DRIVE)]
	mov	dh, 0
	int	0x13
	jnc	.have
	mov	ah, 0			; reset, and once more
	mov	dl, [DATA(DRIVE)]
	int	0x13
	dec	bp
	jnz	.read
	mov	si, AT(unreadable_text)
	jmp	refuse
.have:
	mov	si, AT(unsigned_text)
	cmp	word [BOOT_SECTOR + 510], BOOT_SIGNATURE
	jne	refuse
	xor	eax, eax
	xor	ebx, ebx
	xor	ecx, ecx
	xor	edx, edx
	xor	esi, esi
	xor	edi, edi
	xor	ebp, ebp
	mov	dl, [DATA(DRIVE)]
	jmp	0:BOOT_SECTOR

; SI: text with a NUL. On the screen and, at whatever speed it has, COM1.
refuse:
	mov	al, [cs:si]
	inc	si
	test	al, al
	jz	.stop
	mov	ah, 0x0e
	mov	bx, 7
	push	si
	push	ax
	int	0x10
	pop	ax
	pop	si
	mov	ah, al
	mov	cx, PATIENCE
	mov	dx, COM1 + COM_STATUS
.full:
	in	al, dx
	test	al, COM_ROOM
	loopz	.full
	mov	al, ah
	mov	dx, COM1
	out	dx, al
	jmp	refuse
.stop:	cli
	hlt
	jmp	.stop

; INT 15h of the guest: what tells how much memory there is, from struct bios_page_data.
int15:
	cmp	ax, 0xe820
	je	.e820
	cmp	ax, 0xe801
	je	.e801
	cmp	ah, 0x88
	je	.88
	cmp	ax, 0xe881		; rare calls for the same, that guests can do without
	je	.unsupported
	cmp	ax, 0xda88
	je	.unsupported
	cmp	ah, 0x8a
	je	.unsupported
	cmp	ah, 0xc7
	je	.unsupported
	jmp	far [DATA(BIOS_INT15)]
.e820:
	cmp	edx, SMAP
	jne	.unsupported
	cmp	ecx, RANGE_SIZE
	jb	.unsupported
	cmp	bx, [DATA(RANGE_COUNT)]	; how far the caller is
	jae	.unsupported
	push	ds
	push	si
	push	di
	imul	si, bx, RANGE_SIZE
	add	si, AT(bios_page_end) + RANGES
	push	cs
	pop	ds
	mov	cx, RANGE_SIZE
	cld
	rep	movsb
	pop	di
	pop	si
	pop	ds
	mov	eax, SMAP
	mov	ecx, RANGE_SIZE
	inc	ebx
	cmp	bx, [DATA(RANGE_COUNT)]
	jb	.done
	xor	ebx, ebx
	jmp	.done
.e801:
	mov	ax, [DATA(BELOW_16M_KIB)]
	mov	bx, [DATA(ABOVE_16M_64K)]
	mov	cx, ax
	mov	dx, bx
	jmp	.done
.88:
	mov	ax, [DATA(EXTENDED_KIB)]
.done:
	push	bp
	mov	bp, sp
	and	word [bp + 6], ~CARRY	; of the caller's flags
	pop	bp
	iret
.unsupported:
	mov	ah, UNSUPPORTED
	push	bp
	mov	bp, sp
	or	word [bp + 6], CARRY
	pop	bp
	iret

real_idt:
	dw	0x3ff
	dd	0

unreadable_text:
	db	13, 10, "vellum: guest=disk: the BIOS cannot read the disk (disk= names another)"
	db	13, 10, 0
unsigned_text:
	db	13, 10, "vellum: guest=disk: the disk has no boot sector (no 55AAh at its end)"
	db	13, 10, 0

align 8
bios_page_end:

section .note.GNU-stack noalloc noexec nowrite progbits
