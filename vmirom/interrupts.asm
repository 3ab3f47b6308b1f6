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
; Changes: what IRET does, which loads the flags from the frame; IF = 0 until then, as it
;      already is where a kernel returns.
; A frame that users have made bad makes IRET fault, and the kernel knows what to do if that
; is at the site. So IRET has to run there: a single byte makes one of the CALL, and then it
; is one for ever. docs/tricks.md tells why that is safe. A guest that has come by another
; way than a CALL of this routine gets its IRET here.
        align   16, db 0x90
iret_at_site:
        cli
        push    eax
        push    ecx
        push    edx
        mov     eax, [esp + 12]         ; behind the CALL
        call    .here
.here:
        pop     edx
        sub     edx, .here - iret_at_site
        sub     edx, eax                ; what the CALL has to add
        cmp     byte [ss:eax - CALL_SIZE], CALL_OPCODE
        jne     .no_call
        cmp     [ss:eax - CALL_SIZE + 1], edx
        jne     .no_call
        mov     edx, cr0
        mov     ecx, edx
        and     ecx, ~CR0_WP            ; the kernel's code may be read-only
        mov     cr0, ecx
        mov     byte [ss:eax - CALL_SIZE], IRET_OPCODE
        mov     cr0, edx
        sub     dword [esp + 12], CALL_SIZE
        pop     edx
        pop     ecx
        pop     eax
        ret
.no_call:
        pop     edx
        pop     ecx
        pop     eax

; With vmi=trace each IRET has to come by, so it stays a CALL. If it faults, the hypervisor
; finds the site in the slot below the frame, and lets the fault be there.
iret_to_frame:
        add     esp, 4
.iret:
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
