; SPDX-License-Identifier: GPL-2.0-only
;
; Calls 11 to 13 and 38 to 48, 73: descriptors and page tables, which are in the guest's own
; memory, and the TLB. There are no shadow page tables to be kept in step, so UpdatePxE,
; AllocatePage, ReleasePage, SetLinearMapping and SetLazyMode have nothing to do
; (do_nothing). These may change EAX, ECX, EDX and the arithmetic flags; IF stays.

        bits    32

; 11 WriteGDTEntry, 12 WriteLDTEntry, 13 WriteIDTEntry.
; In:  EAX = table, EDX = index, ECX = low dword, [esp + 4] = high dword.
; Another processor, or an interrupt, never finds half a descriptor.
write_descriptor:
        lea     edx, [eax + edx * 8]
        mov     eax, ecx
        mov     ecx, edx
        mov     edx, [esp + 4]
        jmp     store_quad

; 38 SetPxE. In: EAX = entry, EDX -> where it goes, ECX = flags, which are hints.
set_pxe:
        mov     [edx], eax
        ret

; 39 SetPxELong. In: EDX:EAX = entry, ECX -> where it goes, [esp + 4] = flags.
; In one piece, so that no half of an old and half of a new entry is ever present.
set_pxe_long:
store_quad:                             ; EDX:EAX to [ECX]
        push    ebx
        push    edi
        mov     edi, ecx
        mov     ebx, eax
        mov     ecx, edx
        mov     eax, [edi]
        mov     edx, [edi + 4]
.again:
        lock cmpxchg8b [edi]            ; loads EDX:EAX if it was something else
        jne     .again
        pop     edi
        pop     ebx
        ret

; 42 MachineToPhysical, 43 PhysicalToMachine: what the guest calls physical is the machine's.
; In and out: EAX.
same_address:
        ret

; 46 InvalPage. In: EAX = linear address.
inval_page:
        invlpg  [eax]
        ret

; 47 FlushTLB. In: EAX = FLUSH_TLB, FLUSH_GLOBAL: all but global pages, or these as well.
flush_tlb:
        test    al, FLUSH_GLOBAL
        jnz     .global
        test    al, FLUSH_TLB
        jz      .done
.reload_cr3:
        mov     eax, cr3
        mov     cr3, eax
.done:
        ret
.global:
        mov     eax, cr4
        mov     edx, eax
        and     edx, ~CR4_PGE
        cmp     eax, edx
        je      .reload_cr3             ; there are no global pages
        pushfd
        cli                             ; or another change of CR4 could be undone
        mov     eax, cr4
        mov     edx, eax
        and     edx, ~CR4_PGE
        mov     cr4, edx                ; a change of PGE flushes everything
        mov     cr4, eax
        popfd
        ret
