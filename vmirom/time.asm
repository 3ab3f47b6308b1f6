; SPDX-License-Identifier: GPL-2.0-only
;
; Calls 66 to 71: cycle counters, wall clock and alarms, without an exit. The counter is the
; TSC. An alarm is the local APIC's timer, or the PIT where it is wired to IRQ 0, so the guest
; gets it like any interrupt of these. docs/vmi.md tells what this can and cannot do. All may
; change EAX, ECX, EDX and the arithmetic flags; IF stays.

        bits    32

; What the hypervisor has measured: struct vmi_rom_time.
        align   8, db 0
time_data:
.tsc_hz:        dq      0
.wall_at_0:     dq      0               ; nanoseconds since 1970 when the TSC was 0
.wall_mult:     dd      0               ; nanoseconds a cycle, times 2 ** WALL_SHIFT
.ticks:                                 ; a cycle, times 2 ** TICKS_SHIFT, of
        dd      0                       ; the PIT
        dd      0                       ; the local APIC's timer, undivided
        dd      0
.longest:                               ; cycles that fit into one turn of
        dq      0                       ; the PIT
        dq      0                       ; the local APIC's timer

; The data page: a line of its own, then one for each processor that has set an alarm. The two
; timers and the two alarms (by counter) of a processor are told apart by an index.
struc   line
.pending:                               ; first line: timers, of all processors, to look after
.owner:         resd    1               ; others: APIC ID register + 1, 0 if free
.apic_moved:                            ; first line: the hypervisor's, not 0 if some processor's
                                        ; APIC is not where the window leads
.alarm:         resb    2               ; others: ALARM_*
.timer:         resb    2               ; TIMER_*
.expiry:        resq    2               ; of the alarms
.period:        resq    2
.due:           resq    2               ; TSC at which the timer's interrupt is there
.count:         resd    2               ; from which the timer counts down
endstruc

        times -(line_size != LINE_SIZE) db 0

ALARM_ARMED     equ 1
ALARM_PERIODIC  equ 2
ALARM_TIMER_SHIFT equ 2                 ; on which timer

TIMER_MODE      equ 3
TIMER_IDLE      equ 0
TIMER_ONE_SHOT  equ 1
TIMER_PERIODIC  equ 2                   ; its period is not the alarm's
TIMER_LOCKED    equ 3                   ; but here it is
TIMER_FIRE      equ 1 << 6              ; an alarm is due that had no interrupt
TIMER_PENDING   equ 1 << 7              ; to be looked after when it is due

; 66 GetCycleFrequency. Out: EDX:EAX = Hz.
get_cycle_frequency:
        ROM_BASE ecx
        mov     eax, [ecx + time_data.tsc_hz]
        mov     edx, [ecx + time_data.tsc_hz + 4]
        ret

; 67 GetCycleCounter. In: EAX = counter. Out: EDX:EAX. The guest's processor always runs, so
; AVAILABLE is REAL, and STOLEN is 0.
get_cycle_counter:
        cmp     eax, CYCLES_AVAILABLE
        ja      .zero
        ROM_BASE ecx
        cmp     dword [ecx + DATA_PAGE + line.pending], 0
        jne     .look_after
        rdtsc
        ret
.look_after:
        call    look_after_timers
        rdtsc
        ret
.zero:
        xor     eax, eax
        xor     edx, edx
        ret

; 70 GetWallclockTime. Out: EDX:EAX = nanoseconds since 1970, UTC.
get_wallclock_time:
        push    ebx
        push    esi
        ROM_BASE ebx
        xor     eax, eax
        call    get_cycle_counter
        mov     ecx, [ebx + time_data.wall_mult]
        mov     esi, edx
        mul     ecx                     ; the product's 96 bits are ...
        xchg    eax, esi
        push    edx
        mul     ecx
        pop     ecx
        add     eax, ecx
        adc     edx, 0                  ; ... EDX:EAX:ESI
        shrd    esi, eax, WALL_SHIFT
        shrd    eax, edx, WALL_SHIFT
        mov     edx, eax
        mov     eax, esi
        add     eax, [ebx + time_data.wall_at_0]
        adc     edx, [ebx + time_data.wall_at_0 + 4]
        pop     esi
        pop     ebx
        ret

; 68 SetAlarm. In: EAX = flags, ECX:EDX = expiry, [esp + 4] = period, 64 bits.
set_alarm:
        cmp     al, CYCLES_AVAILABLE
        ja      .no_such_alarm
        pushfd
        cli
        push    ebx
        push    esi
        push    edi
        push    ebp
        push    ecx                     ; [esp + 8] = expiry's upper half
        push    edx
        push    eax                     ; [esp] = flags
        ROM_BASE ebx
        call    find_line
        jc      .done
        movzx   esi, byte [esp]
        call    disarm

        mov     edi, [esp]
        shr     edi, ALARM_WIRED_SHIFT
        and     edi, 1
        call    settle                  ; the other alarm, if it is on the same timer
        mov     eax, [esp + 4]
        mov     edx, [esp + 8]
        mov     [ebp + line.expiry + esi * 8], eax
        mov     [ebp + line.expiry + esi * 8 + 4], edx
        mov     eax, [esp + 8 + 4 * 7]  ; behind 3 + 4 registers, flags, return address
        mov     edx, [esp + 8 + 4 * 8]
        mov     [ebp + line.period + esi * 8], eax
        mov     [ebp + line.period + esi * 8 + 4], edx
        or      eax, edx
        mov     cl, ALARM_ARMED
        jz      .one_shot
        test    byte [esp + 1], ALARM_IS_PERIODIC >> 8
        jz      .one_shot
        or      cl, ALARM_PERIODIC
.one_shot:
        mov     eax, edi
        shl     eax, ALARM_TIMER_SHIFT
        or      cl, al
        mov     [ebp + line.alarm + esi], cl
        call    start
.done:
        add     esp, 12
        pop     ebp
        pop     edi
        pop     esi
        pop     ebx
        popfd
.no_such_alarm:
        ret

; 69 CancelAlarm. In: EAX = flags. Out: EAX = 1 if the alarm was armed, else 0.
cancel_alarm:
        cmp     al, CYCLES_AVAILABLE
        ja      return_zero
        pushfd
        cli
        push    ebx
        push    esi
        push    edi
        push    ebp
        movzx   esi, al
        ROM_BASE ebx
        call    find_line
        mov     eax, 0
        jc      .done
        call    disarm
.done:
        pop     ebp
        pop     edi
        pop     esi
        pop     ebx
        popfd
        ret

; The first call after a timer's interrupt starts the timer for what comes next.
look_after_timers:
        pushfd
        cli
        push    ebx
        push    esi
        push    edi
        push    ebp
        ROM_BASE ebx
        call    find_line
        jc      .done
        xor     edi, edi
.next:
        test    byte [ebp + line.timer + edi], TIMER_PENDING
        jz      .leave
        rdtsc
        sub     eax, [ebp + line.due + edi * 8]
        sbb     edx, [ebp + line.due + edi * 8 + 4]
        jb      .leave
        mov     al, [ebp + line.timer + edi]
        and     al, TIMER_MODE
        cmp     al, TIMER_LOCKED
        je      .locked
        call    has_fired
        jnc     .leave
.start_again:
        call    settle
        call    start
        jmp     .leave
.locked:
        call    is_still_periodic       ; Linux writes LVTT after its first alarm of an AP
        jz      .start_again
        and     byte [ebp + line.timer + edi], ~TIMER_PENDING
        lock dec dword [ebx + DATA_PAGE + line.pending]
.leave:
        inc     edi
        cmp     edi, 2
        jb      .next
.done:
        pop     ebp
        pop     edi
        pop     esi
        pop     ebx
        popfd
        ret

; ZF = 1 if timer EDI is the local APIC's and the guest has made it a one-shot timer.
is_still_periodic:
        test    edi, edi
        jz      .pit
        mov     ecx, APIC_LVTT
        call    apic_read
        test    eax, LVTT_PERIODIC
        ret
.pit:
        or      al, 1
        ret

; From here on EBX is the ROM, EBP the processor's line, EDI a timer (0 PIT, 1 local APIC),
; ESI an alarm; EAX, ECX, EDX may change, and IF is 0.

; Out: EBP; CF = 1 if all lines have other owners.
find_line:
        mov     ecx, APIC_ID
        call    apic_read
        add     eax, 1
        adc     eax, 0                  ; no APIC: as if its ID was 0
        lea     ebp, [ebx + DATA_PAGE]
        mov     ecx, PAGE_SIZE / LINE_SIZE - 1
.next:
        add     ebp, LINE_SIZE
        cmp     [ebp + line.owner], eax
        je      .found                  ; and CF = 0
        mov     edx, eax
        xor     eax, eax
        lock cmpxchg [ebp + line.owner], edx    ; free? then it is this processor's now
        mov     eax, edx
        je      .found
        loop    .next
        stc
        ret
.found:
        clc
        ret

; Takes alarm ESI away and lets its timer do what is left. Out: EAX = 1 if it was armed.
disarm:
        xor     eax, eax
        test    byte [ebp + line.alarm + esi], ALARM_ARMED
        jz      .done
        mov     al, [ebp + line.alarm + esi]
        shr     al, ALARM_TIMER_SHIFT
        mov     edi, eax
        call    settle                  ; it may have fired
        xor     eax, eax
        xchg    al, [ebp + line.alarm + esi]
        and     al, ALARM_ARMED
        push    eax
        call    start
        pop     eax
.done:
        ret

; Alarms of timer EDI that are due: those that have had their interrupt are done with, for the
; others TIMER_FIRE is set. A periodic one goes on at the first multiple that is still to come.
settle:
        push    esi
        call    has_fired
        sbb     ecx, ecx                ; -1 if it has
        jecxz   .running
        mov     al, [ebp + line.timer + edi]
        and     al, TIMER_MODE
        cmp     al, TIMER_ONE_SHOT
        jne     .running
        and     byte [ebp + line.timer + edi], ~TIMER_MODE      ; there is nothing to stop
.running:
        xor     esi, esi
.next:
        push    ecx
        call    is_on_timer
        jne     .not_due
        rdtsc
        sub     eax, [ebp + line.expiry + esi * 8]
        sbb     edx, [ebp + line.expiry + esi * 8 + 4]
        jb      .not_due
        call    settle_alarm
.not_due:
        pop     ecx
        inc     esi
        cmp     esi, 2
        jb      .next
        pop     esi
        ret

; In: ECX = 0: the timer has not fired; EDX:EAX = cycles by which alarm ESI is late.
settle_alarm:
        push    edx
        push    eax
        jecxz   .fire
        mov     cl, [ebp + line.timer + edi]
        and     cl, TIMER_MODE
        cmp     cl, TIMER_LOCKED
        je      .had_it
        mov     eax, [ebp + line.due + edi * 8]
        mov     edx, [ebp + line.due + edi * 8 + 4]
        sub     eax, [ebp + line.expiry + esi * 8]
        sbb     edx, [ebp + line.expiry + esi * 8 + 4]
        jnb     .had_it
.fire:
        or      byte [ebp + line.timer + edi], TIMER_FIRE
.had_it:
        pop     eax
        pop     edx
        test    byte [ebp + line.alarm + esi], ALARM_PERIODIC
        jz      .one_shot
        push    edx
        push    eax
        call    modulo_period
        pop     ecx
        sub     ecx, eax
        pop     eax
        sbb     eax, edx                ; EAX:ECX = whole periods that have gone by
        add     [ebp + line.expiry + esi * 8], ecx
        adc     [ebp + line.expiry + esi * 8 + 4], eax
        mov     eax, [ebp + line.period + esi * 8]
        mov     edx, [ebp + line.period + esi * 8 + 4]
        add     [ebp + line.expiry + esi * 8], eax
        adc     [ebp + line.expiry + esi * 8 + 4], edx
        ret
.one_shot:
        mov     byte [ebp + line.alarm + esi], 0
        ret

; EDX:EAX modulo alarm ESI's period, by shift and subtract: DIV is too narrow.
modulo_period:
        push    edi
        push    ebx
        mov     ebx, [ebp + line.period + esi * 8]
        mov     edi, [ebp + line.period + esi * 8 + 4]
        xor     ecx, ecx                ; by how much EDI:EBX is shifted
.align:
        test    edi, edi
        js      .subtract
        cmp     edi, edx
        ja      .subtract
        inc     ecx
        shld    edi, ebx, 1
        shl     ebx, 1
        jmp     .align
.subtract:
        cmp     edx, edi
        jb      .smaller
        ja      .larger
        cmp     eax, ebx
        jb      .smaller
.larger:
        sub     eax, ebx
        sbb     edx, edi
.smaller:
        shr     edi, 1
        rcr     ebx, 1
        dec     ecx
        jns     .subtract
        pop     ebx
        pop     edi
        ret

; ZF = 1 if alarm ESI is armed and on timer EDI. Changes: EAX, EDX.
is_on_timer:
        mov     edx, edi
        shl     edx, ALARM_TIMER_SHIFT
        or      edx, ALARM_ARMED
        mov     al, [ebp + line.alarm + esi]
        and     al, ~ALARM_PERIODIC
        cmp     al, dl
        ret

; Has timer EDI's interrupt come since it was started? Out: CF = 1 if so; 0 if it is idle.
; A count that has begun anew is in its upper half when the first call after the interrupt
; comes; that of the turn before was all but over.
has_fired:
        mov     cl, [ebp + line.timer + edi]
        and     cl, TIMER_MODE
        jz      .no
        cmp     cl, TIMER_LOCKED
        je      .yes
        rdtsc
        sub     eax, [ebp + line.due + edi * 8]
        sbb     edx, [ebp + line.due + edi * 8 + 4]
        jb      .no
        cmp     cl, TIMER_PERIODIC
        je      .periodic
        test    edi, edi
        jz      .pit
        call    read_timer
        cmp     eax, 1                  ; CF = 1 if the count is 0
        ret
.periodic:
        call    read_timer
        cmp     eax, 1
        jb      .yes                    ; it stays at 0 if the guest made it a one-shot timer
        mov     ecx, [ebp + line.count + edi * 4]
        shr     ecx, 1
        cmp     ecx, eax                ; CF = 1 if the count is above the half
        ret
.pit:                                   ; its count goes on through 0
        test    edx, edx
        jnz     .yes
        mov     ecx, [ebx + time_data.longest]
        shr     ecx, 4
        cmp     ecx, eax
        jb      .yes                    ; long ago: the count means nothing any more
        call    read_timer
        cmp     eax, 1
        jb      .yes                    ; the interrupt comes as it becomes 0
        cmp     [ebp + line.count], eax ; CF = 1 if it is above what it began from
        ret
.yes:
        stc
        ret
.no:
        clc
        ret

; Out: EAX = count of timer EDI.
read_timer:
        mov     ecx, APIC_TMCCT
        test    edi, edi
        jnz     apic_read
pit_read:
        mov     al, PIT_LATCH
        out     PIT_COMMAND, al
        in      al, PIT_COUNT
        movzx   edx, al
        in      al, PIT_COUNT
        movzx   eax, al
        shl     eax, 8
        or      eax, edx
        ret

; Starts timer EDI for what is armed on it, after an interrupt at once if one is overdue.
start:
        push    esi
        movzx   eax, byte [ebp + line.timer + edi]
        push    eax
        test    al, TIMER_PENDING
        jz      .not_pending
        lock dec dword [ebx + DATA_PAGE + line.pending]
.not_pending:
        and     byte [ebp + line.timer + edi], TIMER_FIRE
        call    settle                  ; of an idle timer: what is due had no interrupt

        mov     esi, 1
        call    is_on_timer
        mov     esi, 0
        jne     .at_most_one
        call    is_on_timer
        mov     ecx, TIMER_ONE_SHOT | TIMER_PENDING
        jne     .other
        mov     eax, [ebp + line.expiry]
        mov     edx, [ebp + line.expiry + 4]
        sub     eax, [ebp + line.expiry + 8]
        sbb     edx, [ebp + line.expiry + 12]
        jb      .chosen
        inc     esi
        jmp     .chosen
.other:
        inc     esi
        mov     ecx, TIMER_ONE_SHOT
        jmp     .chosen
.at_most_one:
        call    is_on_timer
        mov     ecx, TIMER_ONE_SHOT
        je      .chosen

        test    byte [esp], TIMER_MODE
        jz      .nothing_runs
        call    stop
.nothing_runs:
        btr     dword [ebp + line.timer + edi], 6
        jnc     .done
        call    fire
        jmp     .done
.chosen:
        push    ecx
        btr     dword [ebp + line.timer + edi], 6
        jnc     .no_fire
        call    fire
        call    await_pit
.no_fire:
        pop     ecx
        call    start_for_alarm
.done:
        pop     eax
        pop     esi
        ret

; Starts timer EDI for alarm ESI. In: CL = TIMER_ONE_SHOT, TIMER_PENDING too if there is
; another alarm that comes later.
start_for_alarm:
        rdtsc
        push    edx
        push    eax                     ; now
        mov     eax, [ebp + line.expiry + esi * 8]
        mov     edx, [ebp + line.expiry + esi * 8 + 4]
        sub     eax, [esp]
        sbb     edx, [esp + 4]
        jnb     .to_come
        xor     eax, eax
        xor     edx, edx
.to_come:
        test    byte [ebp + line.alarm + esi], ALARM_PERIODIC
        jz      .within_range
        call    choose_period
.within_range:
        cmp     edx, [ebx + edi * 8 + time_data.longest + 4]
        jb      .fits
        ja      .too_long
        cmp     eax, [ebx + edi * 8 + time_data.longest]
        jbe     .fits
.too_long:
        mov     eax, [ebx + edi * 8 + time_data.longest]
        mov     edx, [ebx + edi * 8 + time_data.longest + 4]
        mov     cl, TIMER_PERIODIC | TIMER_PENDING
.fits:
        mov     [ebp + line.timer + edi], cl
        pop     esi                     ; the caller has its own copy
        add     esi, eax
        mov     [ebp + line.due + edi * 8], esi
        pop     esi
        adc     esi, edx
        mov     [ebp + line.due + edi * 8 + 4], esi
        test    cl, TIMER_PENDING
        jz      start_timer
        lock inc dword [ebx + DATA_PAGE + line.pending]
        jmp     start_timer

; For a periodic alarm. In: EDX:EAX = cycles until it comes, CL. Out: EDX:EAX = for how long
; the timer is to run, CL = its mode. The timer's period is the alarm's if the alarm is then
; late by less than a 64th of it; else the call that follows the interrupt starts it again.
choose_period:
        push    edi
        push    esi
        mov     edi, [ebp + line.period + esi * 8 + 4]
        mov     esi, [ebp + line.period + esi * 8]
        push    edi
        push    esi
        shrd    esi, edi, 6
        shr     edi, 6                  ; EDI:ESI = the 64th
        test    cl, TIMER_PENDING       ; never its own period where two alarms share it
        jnz     .not_own
        cmp     edx, [esp + 4]
        ja      .not_own                ; it comes later than in a period
        jb      .sooner
        cmp     eax, [esp]
        ja      .not_own
        je      .own
.sooner:
        push    edx
        push    eax
        sub     eax, [esp + 8]
        sbb     edx, [esp + 12]
        add     eax, esi
        adc     edx, edi                ; CF = 1 if it is sooner by no more than the 64th
        pop     eax
        pop     edx
        jnc     .not_own
.own:
        mov     eax, [esp]
        mov     edx, [esp + 4]
        mov     cl, TIMER_LOCKED | TIMER_PENDING
        jmp     .done
.not_own:
        mov     cl, TIMER_PERIODIC | TIMER_PENDING
        cmp     edx, edi
        ja      .done
        jb      .too_soon
        cmp     eax, esi
        jae     .done
.too_soon:
        mov     eax, esi
        mov     edx, edi
.done:
        add     esp, 8
        pop     esi
        pop     edi
        ret

; Starts timer EDI to run for EDX:EAX cycles, which it can, in mode CL.
start_timer:
        push    ecx
        mov     ecx, [ebx + edi * 4 + time_data.ticks]
        call    scale
        pop     ecx
        test    edi, edi
        jnz     apic_timer_start

; In: EAX = ticks, up to 65535, CL = mode.
pit_start:
        mov     ch, PIT_ONE_SHOT
        and     cl, TIMER_MODE
        cmp     cl, TIMER_ONE_SHOT
        je      .write
        mov     ch, PIT_PERIODIC
        cmp     eax, PIT_PERIOD_MIN
        jae     .write
        mov     eax, PIT_PERIOD_MIN
.write:
        mov     [ebp + line.count], eax
        xchg    al, ch
        out     PIT_COMMAND, al
        mov     al, ch
        out     PIT_COUNT, al
        mov     al, ah
        out     PIT_COUNT, al
        ret

; In: EDX:EAX = ticks, up to 2 ** 39, CL = mode.
apic_timer_start:
        push    ecx
        push    eax
        push    edx
        call    stop                    ; no old count meets the new mode
        pop     edx
        pop     eax
        mov     ecx, APIC_DIVIDE_BY_1
        test    edx, edx
        jz      .divided
        shrd    eax, edx, APIC_DIVIDE_SHIFT
        inc     eax                     ; rounds up
        mov     ecx, APIC_DIVIDE_BY_128
.divided:
        mov     [ebp + line.count + 4], eax
        mov     eax, ecx
        mov     ecx, APIC_TDCR
        call    apic_write
        mov     ecx, APIC_LVTT
        call    apic_read
        and     eax, ~LVTT_MODE         ; vector and mask are the guest's
        pop     ecx
        and     cl, TIMER_MODE
        cmp     cl, TIMER_ONE_SHOT
        je      .write
        or      eax, LVTT_PERIODIC
.write:
        mov     ecx, APIC_LVTT
        call    apic_write
        mov     ecx, APIC_TMICT
        mov     eax, [ebp + line.count + 4]
        jmp     apic_write

; Stops timer EDI. QEMU's PIT runs on through a change of mode to the end of its count: so that
; gets a long way off first.
stop:
        test    edi, edi
        jnz     .apic
        mov     eax, PIT_TICKS_MAX
        mov     cl, TIMER_ONE_SHOT
        call    pit_start
        mov     al, PIT_STOPPED
        out     PIT_COMMAND, al
        ret
.apic:
        mov     ecx, APIC_TMICT
        xor     eax, eax
        jmp     apic_write

; Makes the interrupt of timer EDI come now. The PIT is busy with that for a moment.
fire:
        test    edi, edi
        jnz     .apic
        mov     eax, 1
        mov     cl, TIMER_ONE_SHOT
        jmp     pit_start
.apic:
        mov     ecx, APIC_LVTT
        call    apic_read
        test    eax, LVTT_MASKED
        jnz     .done
        movzx   eax, al
        cmp     al, APIC_VECTOR_MIN
        jb      .done
        jmp     apic_send_self
.done:
        ret

; If timer EDI is the PIT: returns when its single turn is over, and the interrupt with it.
await_pit:
        test    edi, edi
        jnz     .done
        mov     ecx, PIT_PATIENCE
.wait:
        call    pit_read
        cmp     [ebp + line.count], eax
        jb      .done                   ; through 0
        loop    .wait
.done:
        ret

; EDX:EAX * ECX / 2 ** TICKS_SHIFT, rounded up: cycles to ticks. Changes: ECX.
scale:
        push    esi
        mov     esi, edx
        mul     ecx                     ; EDX:EAX = lower half of the cycles
        xchg    eax, esi
        push    edx
        mul     ecx
        pop     ecx
        add     eax, ecx
        adc     edx, 0                  ; EDX:EAX:ESI, 96 bits
        add     esi, esi
        adc     eax, eax
        adc     edx, edx
        add     eax, 1
        adc     edx, 0
        pop     esi
        ret
