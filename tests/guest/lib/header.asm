; SPDX-License-Identifier: GPL-2.0-only
;
; What makes a guest a bzImage: two sectors of the Linux boot protocol 2.12 that hold
; nothing but the header (Linux's Documentation/x86/boot.rst; names as there). The
; 32-bit image follows; guest.lds puts the two together.

extern image_paragraphs, image_run_size, image_start

LOADED_HIGH	equ 1
COMMAND_LINE	equ 255

section .header

	times 0x1f1 db 0
setup_sects:		db 1
root_flags:		dw 0
syssize:		dd image_paragraphs
ram_size:		dw 0
vid_mode:		dw 0xffff
root_dev:		dw 0
boot_flag:		dw 0xaa55
jump:			db 0xeb, header_end - jump - 2
header:			db "HdrS"
version:		dw 0x020c
realmode_swtch:		dd 0
start_sys_seg:		dw 0
kernel_version:		dw 0
type_of_loader:		db 0
loadflags:		db LOADED_HIGH
setup_move_size:	dw 0
code32_start:		dd image_start
ramdisk_image:		dd 0
ramdisk_size:		dd 0
bootsect_kludge:	dd 0
heap_end_ptr:		dw 0
ext_loader_ver:		db 0
ext_loader_type:	db 0
cmd_line_ptr:		dd 0
initrd_addr_max:	dd 0x7fffffff
kernel_alignment:	dd 0x1000
relocatable_kernel:	db 0
min_alignment:		db 12
xloadflags:		dw 0
cmdline_size:		dd COMMAND_LINE
hardware_subarch:	dd 0
hardware_subarch_data:	dq 0
payload_offset:		dd 0
payload_length:		dd 0
setup_data:		dq 0
pref_address:		dd image_start, 0
init_size:		dd image_run_size
handover_offset:	dd 0
header_end:
