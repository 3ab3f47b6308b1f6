; SPDX-License-Identifier: GPL-2.0-only
;
; efi_entry: where UEFI firmware enters vellum.bin. It goes back, EFI_UNSUPPORTED.

EFI_UNSUPPORTED		equ 0x8000000000000003

global efi_entry

section .boot.efi
bits 64

efi_entry:
	mov	rax, EFI_UNSUPPORTED
	ret
