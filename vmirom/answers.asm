; SPDX-License-Identifier: GPL-2.0-only
;
; get_reloc's answers, one for each call (struct vmi_rom_answer). The hypervisor may change
; them in its copy of the ROM.

        bits    32

%macro  answer 3-4                      ; type, hint, routine[, traced routine]
        dw      %3
        db      %1, %2
%endmacro

        align   16, db 0
answers:
        EACH_CALL answer

; fails to assemble if a line is missing or there is one too many
        times -(($ - answers) != VMI_CALL_COUNT * ANSWER_SIZE) db 0
