; SPDX-License-Identifier: GPL-2.0-only
;
; What a guest calls at +0x80 and +0x88. Both are C functions to it: EAX, ECX, EDX and
; the arithmetic flags may change, all other registers are kept.

        bits    32
        align   16, db 0x90

; Is a hypervisor there that stands behind this ROM? If so, tell it that the guest is.
; In:  nothing.
; Out: EAX = 0: yes. -1, or what the hypercall said: the guest stays native.
; The check comes first, as on a machine without Vellum the hypercall is #UD.
vmi_init:
        push    ebx                     ; CPUID changes it
        mov     eax, CPUID_FEATURES
        cpuid
        bt      ecx, CPUID_ECX_HYPERVISOR
        jnc     .absent
        mov     eax, CPUID_HYPERVISOR
        cpuid
        cmp     ebx, 'Vell'
        jne     .absent
        cmp     ecx, 'umVe'
        jne     .absent
        cmp     edx, 'llum'
        jne     .absent

        call    .here
.here:
        pop     edx
        sub     edx, .here - rom_start
        mov     eax, HYPERCALL_INIT
.hypercall:
        vmmcall                         ; the hypervisor makes it VMCALL on Intel
        pop     ebx
        ret
.absent:
        or      eax, -1
        pop     ebx
        ret

; What shall the guest put at its call sites? Lasts as long as the kernel: it asks again
; for each module that it loads.
; In:  EAX = call number.
; Out: EAX = linear address of the routine or 0, DL = relocation type, DH = hint, upper
;      half of EDX = 0. A number that is no call of VMI 3.0 gives NONE: EAX = EDX = 0.
get_reloc:
        cmp     eax, VMI_CALL_COUNT
        jae     .unknown                ; unsigned, so negative numbers come here, too
        call    .here
.here:
        pop     ecx
        sub     ecx, .here - rom_start
        mov     edx, [ecx + answers + eax * ANSWER_SIZE]
        movzx   eax, dx                 ; offset of the routine
        shr     edx, 16                 ; type and hint
        add     eax, ecx
        cmp     dl, RELOCATION_CALL_REL
        je      .done
        xor     eax, eax                ; NONE and NOP lead to none
.done:
        ret
.unknown:
        xor     eax, eax
        xor     edx, edx
        ret
