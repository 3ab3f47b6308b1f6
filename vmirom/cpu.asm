; SPDX-License-Identifier: GPL-2.0-only
;
; Calls 0 to 10, 14 to 28, 61: registers and tables of the processor; and 36, 37. The
; processor is the guest's own, so each is the instruction, with VMI's registers. These may
; change EAX, ECX, EDX and the arithmetic flags, if nothing else is said; IF stays.

        bits    32

; 0 CPUID. In and out: as the instruction.
execute_cpuid:
        cpuid
        ret

; 1 WRMSR. In: ECX = register, EDX:EAX = value.
write_msr:
        wrmsr
        ret

; 2 RDMSR. In: ECX = register. Out: EDX:EAX.
read_msr:
        rdmsr
        ret

; 3 SetGDT. In: EAX -> limit (2 bytes), base (4).
; The specification reloads the segment registers, too. Linux calls this before the selectors
; that it still has are valid in the new table, and natively they stay: so do they here.
set_gdt:
        lgdt    [eax]
        ret

; 4 SetLDT. In: AX = selector.
set_ldt:
        lldt    ax
        ret

; 5 SetIDT. In: EAX -> limit, base.
set_idt:
        lidt    [eax]
        ret

; 6 SetTR. In: AX = selector.
set_tr:
        ltr     ax
        ret

; 7 GetGDT. In: EAX -> 6 bytes for limit and base.
get_gdt:
        sgdt    [eax]
        ret

; 8 GetLDT. Out: EAX = selector.
get_ldt:
        xor     eax, eax
        sldt    ax
        ret

; 9 GetIDT. In: EAX -> 6 bytes for limit and base.
get_idt:
        sidt    [eax]
        ret

; 10 GetTR. Out: EAX = selector.
get_tr:
        xor     eax, eax
        str     ax
        ret

; 15 to 18 SetCR0, SetCR2, SetCR3, SetCR4. In: EAX.
set_cr0:
        mov     cr0, eax
        ret
set_cr2:
        mov     cr2, eax
        ret
set_cr3:
        mov     cr3, eax
        ret
set_cr4:
        mov     cr4, eax
        ret

; 19 to 22 GetCR0, GetCR2, GetCR3, GetCR4. Out: EAX.
get_cr0:
        mov     eax, cr0
        ret
get_cr2:
        mov     eax, cr2
        ret
get_cr3:
        mov     eax, cr3
        ret
get_cr4:
        mov     eax, cr4
        ret

; 23 WBINVD.
write_back_caches:
        wbinvd
        ret

; 24 SetDR. In: EAX = 0 to 7, EDX = value. 4 and 5 are other names of 6 and 7 and #UD with
; CR4.DE; a number that is no register's changes nothing.
set_dr:
        cmp     eax, DEBUG_REGISTERS
        jae     do_nothing
        call    .here
.here:
        pop     ecx
        lea     ecx, [ecx + eax * DR_MOVE_SIZE + .moves - .here]
        jmp     ecx
.moves:
%assign n 0
%rep    DEBUG_REGISTERS
        mov     dr %+ n, edx
        ret
%assign n n + 1
%endrep
        times -(($ - .moves) != DEBUG_REGISTERS * DR_MOVE_SIZE) db 0

; 25 GetDR. In: EAX = 0 to 7. Out: EAX; 0 for a number that is no register's.
get_dr:
        cmp     eax, DEBUG_REGISTERS
        jae     return_zero
        call    .here
.here:
        pop     ecx
        lea     ecx, [ecx + eax * DR_MOVE_SIZE + .moves - .here]
        jmp     ecx
.moves:
%assign n 0
%rep    DEBUG_REGISTERS
        mov     eax, dr %+ n
        ret
%assign n n + 1
%endrep
        times -(($ - .moves) != DEBUG_REGISTERS * DR_MOVE_SIZE) db 0

; 26 RDPMC. In: ECX = counter. Out: EDX:EAX. Changes nothing else.
read_pmc:
        rdpmc
        ret

; 27 RDTSC. Out: EDX:EAX.
read_tsc:
        rdtsc
        ret

; 28 CLTS.
clear_ts:
        clts
        ret

; 61 SetIOPLMask. In: EAX = IOPL, at its place in EFLAGS; no other bit counts.
set_iopl_mask:
        pushfd
        and     dword [esp], ~EFLAGS_IOPL
        and     eax, EFLAGS_IOPL
        or      [esp], eax
        popfd
        ret

; 36 Reboot. In: EAX = 0 soft, 1 hard; a PC has one way. Does not return.
reboot:
        mov     eax, CALL_REBOOT
.hypercall:
        vmmcall
        ret

; 37 Shutdown: switches the machine off. Does not return.
shutdown:
        mov     eax, CALL_SHUTDOWN
.hypercall:
        vmmcall
        ret

; Calls that nested paging makes unnecessary: UpdateKernelStack (14; the TSS in memory, which
; the guest has written, is the processor's own), IODelay (65; no device of a PC with PCI
; needs it) and, in mmu.asm, those that keep shadow page tables in step.
do_nothing:
        ret

; 71 WallclockUpdated: no, nothing has changed the clock behind the guest's back.
; 72 SetCallbacks: not documented, takes none.
return_zero:
        xor     eax, eax
        ret
