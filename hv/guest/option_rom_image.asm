; SPDX-License-Identifier: GPL-2.0-only
;
; The VMI ROM as vmirom/ builds it, inside the hypervisor: const uint8_t vmirom_start[],
; vmirom_end[] (option_rom.h).

        bits    64
        default rel

        global  vmirom_start
        global  vmirom_end

        section .rodata align=16

vmirom_start:
        incbin  "vmirom.bin"
vmirom_end:

        section .note.GNU-stack noalloc noexec nowrite progbits
