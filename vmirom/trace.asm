; SPDX-License-Identifier: GPL-2.0-only
;
; For `vmi=trace`, which has get_reloc answer with these: each tells the hypervisor which call
; it is, and goes on to the routine with the stack, all registers and all flags as they were.
; Memory is touched through SS alone, as calls 29 to 34 demand.

        bits    32

%macro  trace_stub 3-4                  ; type, hint, routine[, traced routine]
%%start:
        push    byte (%%start - trace_stubs) / TRACE_STUB_SIZE
        call    trace
        jmp     strict near %{-1:-1}    ; the last
%endmacro

trace_stubs:
        EACH_CALL trace_stub
        times -(($ - trace_stubs) != VMI_CALL_COUNT * TRACE_STUB_SIZE) db 0

; In: [esp] = back to the stub, [esp + 4] = number of the call. Drops both.
trace:
        push    eax
        mov     eax, [esp + 8]
        lea     eax, [eax + HYPERCALL_TRACE]
.hypercall:
        vmmcall
        pop     eax
        ret     4
