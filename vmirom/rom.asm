; SPDX-License-Identifier: GPL-2.0-only
;
; The VMI 3.0 option ROM. A 32-bit guest kernel finds it between 0xC0000 and 0xE0000,
; asks it at vmi_init whether a hypervisor is behind it, and at get_reloc, call by call,
; what to put in place of its own privileged instructions.
;
; The guest runs the ROM in place, at CPL 0, through its own linear mapping of the first
; megabyte. So the code works at any address, and nothing here is written after the
; hypervisor has prepared its copy. Behind the ROM there may be two more pages: one for data
; and a window to the local APIC. Offsets are equal to assembler addresses.

%include "vmi.inc"

        org     0

rom_start:
%include "header.asm"
%include "entry.asm"
%include "interrupts.asm"
%include "cpu.asm"
%include "mmu.asm"
%include "shadow.asm"
%include "ports.asm"
%include "apic.asm"
%include "time.asm"
%include "calls.asm"
%include "answers.asm"
%include "trace.asm"

        times ROM_SIZE - ($ - rom_start) db 0   ; fails to assemble if the ROM is too long
