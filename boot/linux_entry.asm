; SPDX-License-Identifier: GPL-2.0-only
;
; linux_entry: where loaders of Linux kernels jump, by the 32-bit boot protocol. It is the
; first byte of vellum.bin's part above 1 MiB.
;
; In:  ESI = physical address of boot_params, 32-bit protected mode, flat segments,
;      paging off, interrupts off (Linux's Documentation/x86/boot.rst, 32-bit boot protocol)
; Out: to enter_long_mode

LINUX_MAGIC		equ 'HdrS'	; LINUX_HEADER_MAGIC
PARAMS_SCRATCH_END	equ 0x1e8	; boot_params has four bytes for whoever has no stack yet

extern enter_long_mode
extern file_end
extern linux_zero_size
global linux_entry

section .boot.linux
bits 32

linux_entry:
	cld
	lea	esp, [esi + PARAMS_SCRATCH_END]
	call	.here
.here:	pop	ebp
	sub	ebp, .here
	lea	edi, [ebp + file_end]
	mov	ecx, linux_zero_size
	shr	ecx, 2
	xor	eax, eax
	rep	stosd
	mov	edi, LINUX_MAGIC
	jmp	enter_long_mode
