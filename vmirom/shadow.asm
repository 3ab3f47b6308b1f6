; SPDX-License-Identifier: GPL-2.0-only
;
; What calls 38, 40 and 44 to 48 do with shadow page tables of a guest with two levels. The
; hypervisor's copies of entries stay as they are, like what a TLB holds, until it learns from
; the queue that these entries have changed: so the queue is emptied when the guest flushes, and
; at each exit that has to do with page tables. The routines change EAX, ECX, EDX and the
; arithmetic flags; IF stays.

        bits    32

; 38 SetPxE. In: EAX = entry, EDX -> where it goes. There can be a copy of the old entry only if
; that was present and accessed. Of the entry for which the guest has had its last page fault
; there is none, but it will be used now: the hypervisor makes one, which saves the fault that
; would ask for it.
shadow_set_pxe:
        xchg    [edx], eax
        xchg    eax, edx
        call    .here
.here:
        pop     ecx
        cmp     eax, [ecx + QUEUE_WANTED - .here]
        je      .wanted
        and     dl, ENTRY_CACHED
        cmp     dl, ENTRY_CACHED
        je      shadow_queue
        ret
.wanted:
        push    byte CALL_SET_PXE
        pop     eax
        jmp     shadow_hypercall

; 44 AllocatePage. In: EAX = frame number, EDX = flags. With PAE there are no calls for entries.
shadow_allocate_page:
        test    dl, PAGE_PAE
        jnz     do_nothing
        shl     eax, PAGE_SHIFT
        or      al, ITEM_ALLOCATED
        jmp     shadow_queue

; 45 ReleasePage. In: EAX = frame number.
shadow_release_page:
        shl     eax, PAGE_SHIFT
        or      al, ITEM_RELEASED

; 40 UpdatePxE. In: EAX -> an entry that has changed.
; An interrupt must not come between the two stores. The first one is to the same page as the
; second, which therefore does not fault: an exit there would empty the queue.
shadow_queue:
        call    .here
.here:
        pop     ecx
        cmp     eax, [ecx + QUEUE_WANTED - .here]
        je      shadow_done
        push    byte 1
        pop     edx
        pushfd
        cli
        xadd    [ecx + QUEUE_COUNT - .here], edx
        mov     [ecx + edx * 4 + QUEUE_ITEMS - .here], eax
        popfd
        cmp     edx, QUEUE_LAST
        jb      shadow_done
        push    byte CALL_FLUSH_TLB
        pop     eax
shadow_hypercall:
        vmmcall
shadow_done:
        ret

; 46 InvalPage. In: EAX = linear address.
shadow_inval_page:
        push    byte CALL_INVAL_PAGE
        jmp     shadow_flush

; 47 FlushTLB. With nothing in the queue the processor has nothing that the tables don't say.
shadow_flush_tlb:
        push    byte CALL_FLUSH_TLB
shadow_flush:
        call    .here
.here:
        pop     edx
        mov     ecx, [edx + QUEUE_COUNT - .here]
        or      ecx, [edx + QUEUE_UNTOLD - .here]
        xchg    eax, ecx                ; ECX = argument
        pop     edx
        jz      shadow_done
        xchg    eax, edx
        jmp     shadow_hypercall

; 48 SetLinearMapping. In: EAX = slot, EDX = linear address, ECX = pages, [esp + 4] = frame number.
; Page tables are in the first one.
shadow_set_linear_mapping:
        test    eax, eax
        jnz     shadow_done
        call    .here
.here:
        pop     eax
        add     eax, QUEUE_LINEAR - .here
        mov     [eax], edx
        mov     [eax + 4], ecx
        mov     edx, [esp + 4]
        mov     [eax + 8], edx
        ret

; The calls that have another routine with shadow page tables, by number
shadow_routines:
        dw      shadow_set_pxe, shadow_queue, shadow_allocate_page, shadow_release_page
        dw      shadow_inval_page, shadow_flush_tlb, shadow_set_linear_mapping
