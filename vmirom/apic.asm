; SPDX-License-Identifier: GPL-2.0-only
;
; Calls 62 to 64, and what time.asm needs of the local APIC: its registers through the
; window, a page behind the ROM that shows the local APIC without an exit; or through MSRs
; where the guest has turned x2APIC on. As long as no processor of the guest has done that, nor
; moved its APIC or switched it off, line.apic_moved is 0, and the two calls do not look.

        bits    32

; 62 SetInitialAPState. In: EAX -> vmi_ap_state, EDX = APIC ID. Out: EAX = 0 or negative.
set_initial_ap_state:
        mov     ecx, eax
        mov     eax, CALL_SET_AP_STATE
.hypercall:
        vmmcall
        ret

; 63 APICWrite. In: EAX = register's offset (or address: its last 12 bits count), EDX = value.
; INIT and STARTUP go through the hypervisor, which may have to catch them. An old kernel makes
; this call for every interrupt: it is nine instructions, but for a value with bit 10.
apic_write_call:
        and     eax, APIC_REGISTER
        test    dh, ICR_MODE_HIGH >> 8
        jnz     .may_be_command
.write:
        call    .here
.here:
        pop     ecx                     ; ROM_BASE's subtraction is in the offsets
        cmp     dword [ecx + DATA_PAGE + line.apic_moved - .here], 0
        jne     .moved
        mov     [ecx + eax + APIC_WINDOW - .here], edx
        ret
.moved:
        push    ebx
        lea     ebx, [ecx - .here]
        mov     ecx, eax
        mov     eax, edx
        call    apic_write
        pop     ebx
        ret
.may_be_command:
        cmp     eax, APIC_ICR
        jne     .write
        mov     ecx, edx
        shr     ecx, ICR_MODE_SHIFT
        and     ecx, ICR_MODE
        sub     ecx, ICR_INIT
        cmp     ecx, 2
        jae     .write
        mov     ecx, eax
        mov     eax, CALL_APIC_WRITE
.hypercall:
        vmmcall
        ret

; 64 APICRead. In: EAX. Out: EAX.
apic_read_call:
        and     eax, APIC_REGISTER
        call    .here
.here:
        pop     ecx
        cmp     dword [ecx + DATA_PAGE + line.apic_moved - .here], 0
        jne     .moved
        mov     eax, [ecx + eax + APIC_WINDOW - .here]
        ret
.moved:
        push    ebx
        lea     ebx, [ecx - .here]
        mov     ecx, eax
        call    apic_read
        pop     ebx
        ret

; How is the local APIC reached?
; In:  EBX = ROM, ECX = register.
; Out: below: not at all. Equal: at EBX + ECX + APIC_WINDOW. Above: by MSR ECX.
; Changes: EAX, EDX, ECX.
apic_locate:
        push    ecx
        mov     ecx, MSR_APIC_BASE
        rdmsr
        pop     ecx
        and     ecx, APIC_REGISTER
        test    ah, APIC_BASE_ENABLE >> 8
        jz      .nowhere
        test    ah, APIC_BASE_X2APIC >> 8
        jnz     .msr
        and     eax, ~0xfff
        cmp     eax, APIC_PAGE          ; where the window leads
        jne     .nowhere
        test    edx, edx
        jnz     .nowhere
        ret
.msr:
        shr     ecx, 4
        or      ecx, MSR_X2APIC         ; not 0, and CF = 0: above
        ret
.nowhere:
        stc                             ; below
        ret

; In:  EBX = ROM, ECX = register. Out: EAX, -1 without an APIC. Changes: EDX, ECX.
apic_read:
        call    apic_locate
        jb      .nowhere
        ja      .msr
        mov     eax, [ebx + ecx + APIC_WINDOW]
        ret
.msr:
        rdmsr
        ret
.nowhere:
        or      eax, -1
        ret

; In:  EBX = ROM, ECX = register, EAX = value. Changes: EAX, EDX, ECX.
apic_write:
        push    eax
        call    apic_locate
        pop     eax
        jb      .nowhere
        ja      .msr
        mov     [ebx + ecx + APIC_WINDOW], eax
        ret
.msr:
        xor     edx, edx
        wrmsr
.nowhere:
        ret

; Sends this processor the interrupt of vector EAX. Changes: EAX, EDX, ECX.
apic_send_self:
        push    eax
        mov     ecx, APIC_ICR
        call    apic_locate
        pop     eax
        jb      .nowhere
        ja      .msr
        or      eax, ICR_SELF
        mov     [ebx + ecx + APIC_WINDOW], eax
        ret
.msr:
        xor     edx, edx
        mov     ecx, MSR_X2APIC_SELF_IPI
        wrmsr
.nowhere:
        ret
