; SPDX-License-Identifier: GPL-2.0-only
;
; Calls 49 to 60: I/O ports. In: EDX = port; EAX = value; ECX = count, EDI or ESI -> memory.
; The string calls leave ECX, EDI and ESI as the instructions do; DF is the guest's. Flags
; stay.

        bits    32

; 49 INL, 50 INB, 51 INW. Out: EAX, its upper part 0.
in_long:
        in      eax, dx
        ret
in_byte:
        mov     eax, 0                  ; XOR would change flags
        in      al, dx
        ret
in_word:
        mov     eax, 0
        in      ax, dx
        ret

; 52 INSL, 53 INSB, 54 INSW.
in_longs:
        rep insd
        ret
in_bytes:
        rep insb
        ret
in_words:
        rep insw
        ret

; 55 OUTL, 56 OUTB, 57 OUTW.
out_long:
        out     dx, eax
        ret
out_byte:
        out     dx, al
        ret
out_word:
        out     dx, ax
        ret

; 58 OUTSL, 59 OUTSB, 60 OUTSW.
out_longs:
        rep outsd
        ret
out_bytes:
        rep outsb
        ret
out_words:
        rep outsw
        ret
