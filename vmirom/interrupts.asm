; SPDX-License-Identifier: GPL-2.0-only
;
; Calls 29 to 35: the interrupt flag, and the two ways back to user mode.
;
; Linux calls 29 to 32 at places where every register holds something and DS and ES are
; the user's, so these change nothing but flags and what they return, and touch memory
; through SS alone.

        bits    32

; 29 EnableInterrupts: sets IF.
; Changes: flags. The shadow of STI covers the RET: the first interrupt comes in the caller.
        align   16, db 0x90
enable_interrupts:
        sti
        ret

; 30 DisableInterrupts: clears IF.
; Changes: flags.
        align   16, db 0x90
disable_interrupts:
        cli
        ret

; 31 GetInterruptMask.
; Out: EAX = EFLAGS. VMI promises bit 9 (IF), guests look at nothing else.
; Changes: EAX. Stack: 4 bytes below the return address.
        align   16, db 0x90
get_interrupt_mask:
        pushfd
        pop     eax
        ret

; 32 SetInterruptMask.
; In:  EAX: bit 9 is the IF to set; the rest may be anything (Linux passes a bare 0x200 or
;      0 as well), so this is no POPF.
; Changes: flags.
        align   16, db 0x90
set_interrupt_mask:
        test    ah, EFLAGS_IF >> 8
        jz      disable_interrupts
        sti
        ret

; 33 IRET.
; In:  return address of the CALL, then an IRET frame. All registers are already the
;      interrupted code's.
; Changes: what IRET does. ADD changes flags, but IRET loads them from the frame.
; A CALL and not a JMP, because the slot below the frame then tells which site it was, if
; the frame is bad and IRET faults here instead of there.
        align   16, db 0x90
iret_to_frame:
        add     esp, 4
        iretd

; 34 SYSEXIT.
; In:  EDX = user EIP, ECX = user ESP, IF = 0.
; Changes: what SYSEXIT does; IF = 1. The shadow of STI covers SYSEXIT: the first interrupt
;      comes in user mode, not on the stack that is being left.
; The return address stays where it is: SYSEXIT takes ESP from ECX, and the next entry
; starts at the top of the kernel stack again.
        align   16, db 0x90
sysexit_with_interrupts:
        sti
        sysexit

; 35 Halt: sets IF and halts until an interrupt has been handled.
; Changes: flags. The shadow of STI covers HLT, so no interrupt comes in between and is slept
; over.
        align   16, db 0x90
halt:
        sti
        hlt
        ret
