; SPDX-License-Identifier: GPL-2.0-only
;
; All calls of VMI 3.0, in order: get_reloc's answer with nested paging, and the routine,
; which `vmi=trace` has called even where the answer is NONE. docs/vmi.md gives the reason
; for each. EACH_CALL X makes `X answer, routine` of every line. Where there is a second
; routine, `vmi=trace` leads to that one.
;
;   NONE    the guest's native code is best
;   NOP     there is nothing to do: NOPs at the site
;   NATIVE  called, but the guest's native instruction does the same
;   CALL    called, and only the routine does it

%define NONE    RELOCATION_NONE, 0
%define NOP     RELOCATION_NOP, 0
%define NATIVE  RELOCATION_CALL_REL, HINT_NATIVE
%define CALL    RELOCATION_CALL_REL, 0

%macro  EACH_CALL 1
        %1      NONE, execute_cpuid             ;  0 CPUID
        %1      NONE, write_msr                 ;  1 WRMSR
        %1      NONE, read_msr                  ;  2 RDMSR
        %1      NONE, set_gdt                   ;  3 SetGDT
        %1      NONE, set_ldt                   ;  4 SetLDT
        %1      NONE, set_idt                   ;  5 SetIDT
        %1      NONE, set_tr                    ;  6 SetTR
        %1      NONE, get_gdt                   ;  7 GetGDT
        %1      NONE, get_ldt                   ;  8 GetLDT
        %1      NONE, get_idt                   ;  9 GetIDT
        %1      NONE, get_tr                    ; 10 GetTR
        %1      NONE, write_descriptor          ; 11 WriteGDTEntry
        %1      NONE, write_descriptor          ; 12 WriteLDTEntry
        %1      NONE, write_descriptor          ; 13 WriteIDTEntry
        %1      NONE, do_nothing                ; 14 UpdateKernelStack
        %1      NONE, set_cr0                   ; 15 SetCR0
        %1      NONE, set_cr2                   ; 16 SetCR2
        %1      NONE, set_cr3                   ; 17 SetCR3
        %1      NONE, set_cr4                   ; 18 SetCR4
        %1      NONE, get_cr0                   ; 19 GetCR0
        %1      NONE, get_cr2                   ; 20 GetCR2
        %1      NONE, get_cr3                   ; 21 GetCR3
        %1      NONE, get_cr4                   ; 22 GetCR4
        %1      NONE, write_back_caches         ; 23 WBINVD
        %1      NONE, set_dr                    ; 24 SetDR
        %1      NONE, get_dr                    ; 25 GetDR
        %1      NONE, read_pmc                  ; 26 RDPMC
        %1      NONE, read_tsc                  ; 27 RDTSC
        %1      NONE, clear_ts                  ; 28 CLTS
        %1      NATIVE, enable_interrupts       ; 29 EnableInterrupts
        %1      NATIVE, disable_interrupts      ; 30 DisableInterrupts
        %1      NATIVE, get_interrupt_mask      ; 31 GetInterruptMask
        %1      NATIVE, set_interrupt_mask      ; 32 SetInterruptMask
        %1      NATIVE, iret_at_site, iret_to_frame     ; 33 IRET
        %1      NATIVE, sysexit_with_interrupts ; 34 SYSEXIT
        %1      NONE, halt                      ; 35 Halt
        %1      CALL, reboot                    ; 36 Reboot
        %1      CALL, shutdown                  ; 37 Shutdown
        %1      NONE, set_pxe                   ; 38 SetPxE
        %1      NONE, set_pxe_long              ; 39 SetPxELong
        %1      NONE, do_nothing                ; 40 UpdatePxE
        %1      NONE, do_nothing                ; 41 UpdatePxELong
        %1      NONE, same_address              ; 42 MachineToPhysical
        %1      NONE, same_address              ; 43 PhysicalToMachine
        %1      NONE, do_nothing                ; 44 AllocatePage
        %1      NONE, do_nothing                ; 45 ReleasePage
        %1      NONE, inval_page                ; 46 InvalPage
        %1      NONE, flush_tlb                 ; 47 FlushTLB
        %1      NONE, do_nothing                ; 48 SetLinearMapping
        %1      NONE, in_long                   ; 49 INL
        %1      NONE, in_byte                   ; 50 INB
        %1      NONE, in_word                   ; 51 INW
        %1      NONE, in_longs                  ; 52 INSL
        %1      NONE, in_bytes                  ; 53 INSB
        %1      NONE, in_words                  ; 54 INSW
        %1      NONE, out_long                  ; 55 OUTL
        %1      NONE, out_byte                  ; 56 OUTB
        %1      NONE, out_word                  ; 57 OUTW
        %1      NONE, out_longs                 ; 58 OUTSL
        %1      NONE, out_bytes                 ; 59 OUTSB
        %1      NONE, out_words                 ; 60 OUTSW
        %1      NONE, set_iopl_mask             ; 61 SetIOPLMask
        %1      CALL, set_initial_ap_state      ; 62 SetInitialAPState
        %1      NONE, apic_write_call           ; 63 APICWrite
        %1      NONE, apic_read_call            ; 64 APICRead
        %1      NOP, do_nothing                 ; 65 IODelay
        %1      NATIVE, get_cycle_frequency     ; 66 GetCycleFrequency
        %1      NATIVE, get_cycle_counter       ; 67 GetCycleCounter
        %1      NATIVE, set_alarm               ; 68 SetAlarm
        %1      NATIVE, cancel_alarm            ; 69 CancelAlarm
        %1      NATIVE, get_wallclock_time      ; 70 GetWallclockTime
        %1      NATIVE, return_zero             ; 71 WallclockUpdated
        %1      NONE, return_zero               ; 72 SetCallbacks
        %1      NONE, do_nothing                ; 73 SetLazyMode
%endmacro
