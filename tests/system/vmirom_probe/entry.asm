; SPDX-License-Identifier: GPL-2.0-only
;
; The machine level of the VMI ROM's probe: a Multiboot kernel that maps the first 4 MiB
; at 0xC0000000 as Linux does, and calls ROM code with every register known before and
; kept after. No interrupt can come: both PICs are masked before IF is ever set.

MULTIBOOT_MAGIC         equ 0x1badb002
KERNEL_CODE             equ 0x08        ; SYSENTER and SYSEXIT want these four in this order
KERNEL_DATA             equ 0x10
USER_CODE               equ 0x18 | 3
USER_DATA               equ 0x20 | 3
LINEAR_MAP              equ 0xc0000000
PDE_FLAGS               equ 0x87        ; present, writable, user, 4 MiB
CR4_PSE                 equ 1 << 4
CR0_PG                  equ 1 << 31
MSR_SYSENTER_CS         equ 0x174
MSR_SYSENTER_ESP        equ 0x175
MSR_SYSENTER_EIP        equ 0x176
HYPERCALL_SIZE          equ 3
VECTOR_UD               equ 6

; struct registers of probe.c
struc   registers
.eax:       resd 1
.ebx:       resd 1
.ecx:       resd 1
.edx:       resd 1
.esi:       resd 1
.edi:       resd 1
.ebp:       resd 1
.eflags:    resd 1
.segments:  resd 1
.esp_moved: resd 1
endstruc

        bits    32
        global  start, probe_call, via_iret, via_sysexit, routine, user_landing
        global  hypercall_eax, hypercall_edx, hypercall_result
        extern  probe_main

        section .text
        align   4
        dd      MULTIBOOT_MAGIC, 0, -MULTIBOOT_MAGIC

start:
        mov     esp, stack_top
        lgdt    [gdt_pointer]
        jmp     KERNEL_CODE:.flat
.flat:
        mov     eax, KERNEL_DATA
        mov     ds, eax
        mov     es, eax
        mov     ss, eax

        mov     al, 0xff                ; both PICs: all lines masked
        out     0x21, al
        out     0xa1, al

        mov     dword [page_directory], PDE_FLAGS
        mov     dword [page_directory + (LINEAR_MAP >> 22) * 4], PDE_FLAGS
        mov     eax, page_directory
        mov     cr3, eax
        mov     eax, cr4
        or      eax, CR4_PSE
        mov     cr4, eax
        mov     eax, cr0
        or      eax, CR0_PG
        mov     cr0, eax

        mov     eax, fake_hypervisor
        mov     word [idt + VECTOR_UD * 8], ax
        shr     eax, 16
        mov     word [idt + VECTOR_UD * 8 + 6], ax
        lidt    [idt_pointer]

        xor     edx, edx
        mov     ecx, MSR_SYSENTER_CS
        mov     eax, KERNEL_CODE
        wrmsr
        mov     ecx, MSR_SYSENTER_ESP
        mov     eax, stack_top          ; unused: back_from_user takes kernel_esp
        wrmsr
        mov     ecx, MSR_SYSENTER_EIP
        mov     eax, back_from_user
        wrmsr
        call    probe_main
.stop:
        cli
        hlt
        jmp     .stop

; void probe_call(struct registers *registers, uint32_t function)
; Calls function with the registers given, and puts those that it left in their place.
; DS and ES are `segments`; with NOWHERE, an access through either is a triple fault.
probe_call:
        push    ebx
        push    esi
        push    edi
        push    ebp
        mov     eax, [esp + 20]
        mov     [current], eax
        mov     edx, [esp + 24]
        mov     [function], edx
        push    dword [eax + registers.segments]
        push    dword [eax + registers.eflags]
        mov     ebx, [eax + registers.ebx]
        mov     ecx, [eax + registers.ecx]
        mov     edx, [eax + registers.edx]
        mov     esi, [eax + registers.esi]
        mov     edi, [eax + registers.edi]
        mov     ebp, [eax + registers.ebp]
        mov     eax, [eax + registers.eax]
        popfd
        pop     ds
        push    ds
        pop     es
        mov     [ss:esp_before], esp
        call    [ss:function]

        mov     [ss:eax_after], eax
        mov     [ss:esp_after], esp
        mov     esp, [ss:esp_before]    ; whatever happened
        pushfd
        cli
        cld
        mov     eax, KERNEL_DATA
        mov     ds, eax
        mov     es, eax
        mov     eax, [current]
        pop     dword [eax + registers.eflags]
        mov     [eax + registers.ebx], ebx
        mov     [eax + registers.ecx], ecx
        mov     [eax + registers.edx], edx
        mov     [eax + registers.esi], esi
        mov     [eax + registers.edi], edi
        mov     [eax + registers.ebp], ebp
        mov     ecx, [eax_after]
        mov     [eax + registers.eax], ecx
        mov     ecx, [esp_after]
        sub     ecx, esp
        mov     [eax + registers.esp_moved], ecx
        pop     ebp
        pop     edi
        pop     esi
        pop     ebx
        ret

; For probe_call: reach `routine` as a patched IRET site does, with a frame that leads
; back to probe_call's caller side, IF and CF set. Changes no register.
via_iret:
        pop     dword [ss:back]
        push    dword 0x203
        push    cs
        push    dword [ss:back]
        call    [ss:routine]

; For probe_call: reach `routine` as a patched SYSEXIT site does. EDX = user_landing.
via_sysexit:
        pop     dword [ss:back]
        mov     [ss:kernel_esp], esp
        call    [ss:routine]

; User mode: EAX = CS, EBX = EFLAGS, ESI = ESP, then into the kernel again.
user_landing:
        mov     esi, esp
        mov     eax, cs
        pushfd
        pop     ebx
        sysenter
back_from_user:
        mov     esp, [ss:kernel_esp]
        jmp     [ss:back]

; #UD, which a hypercall is without a hypervisor: note it, answer hypercall_result.
fake_hypervisor:
        mov     [hypercall_eax], eax
        mov     [hypercall_edx], edx
        mov     eax, [hypercall_result]
        add     dword [esp], HYPERCALL_SIZE
        iretd

        section .data
        align   8
gdt:
        dq      0
        dq      0x00cf9b000000ffff      ; flat code, CPL 0
        dq      0x00cf93000000ffff      ; flat data
        dq      0x00cffb000000ffff      ; flat code, CPL 3
        dq      0x00cff3000000ffff      ; flat data
        dq      0x8040930000000000      ; NOWHERE: base 0x80000000, not mapped. QEMU would
                                        ; let an access through a null segment pass
gdt_pointer:
        dw      $ - gdt - 1
        dd      gdt
idt:
        times VECTOR_UD dq 0
        dw      0, KERNEL_CODE, 0x8e00, 0       ; interrupt gate
idt_pointer:
        dw      $ - idt - 1
        dd      idt

        section .bss
        alignb  4096
page_directory: resb 4096
stack:          resb 8192
stack_top:
current:        resd 1
function:       resd 1
routine:        resd 1
back:           resd 1
kernel_esp:     resd 1
esp_before:     resd 1
esp_after:      resd 1
eax_after:      resd 1
hypercall_eax:  resd 1
hypercall_edx:  resd 1
hypercall_result: resd 1

        section .note.GNU-stack noalloc noexec nowrite progbits
