; SPDX-License-Identifier: GPL-2.0-only
;
; get_reloc's answers, one for each call of VMI 3.0 (struct vmi_rom_answer). The file has
; those for nested paging; docs/vmi.md gives the reason for each. The hypervisor may
; change them in its copy of the ROM.

%macro  none 0                          ; the guest's native code is best
        dw      0
        db      RELOCATION_NONE, 0
%endmacro

%macro  nothing 0                       ; there is nothing to do: NOPs at the site
        dw      0
        db      RELOCATION_NOP, 0
%endmacro

%macro  routine 1                       ; routine LABEL: called, but does what native code does
        dw      %1
        db      RELOCATION_CALL_REL, HINT_NATIVE
%endmacro

        align   16, db 0
answers:
        none                            ;  0 CPUID
        none                            ;  1 WRMSR
        none                            ;  2 RDMSR
        none                            ;  3 SetGDT
        none                            ;  4 SetLDT
        none                            ;  5 SetIDT
        none                            ;  6 SetTR
        none                            ;  7 GetGDT
        none                            ;  8 GetLDT
        none                            ;  9 GetIDT
        none                            ; 10 GetTR
        none                            ; 11 WriteGDTEntry
        none                            ; 12 WriteLDTEntry
        none                            ; 13 WriteIDTEntry
        none                            ; 14 UpdateKernelStack
        none                            ; 15 SetCR0
        none                            ; 16 SetCR2
        none                            ; 17 SetCR3
        none                            ; 18 SetCR4
        none                            ; 19 GetCR0
        none                            ; 20 GetCR2
        none                            ; 21 GetCR3
        none                            ; 22 GetCR4
        none                            ; 23 WBINVD
        none                            ; 24 SetDR
        none                            ; 25 GetDR
        none                            ; 26 RDPMC
        none                            ; 27 RDTSC
        none                            ; 28 CLTS
        routine enable_interrupts       ; 29 EnableInterrupts
        routine disable_interrupts      ; 30 DisableInterrupts
        routine get_interrupt_mask      ; 31 GetInterruptMask
        routine set_interrupt_mask      ; 32 SetInterruptMask
        routine iret_to_frame           ; 33 IRET
        routine sysexit_with_interrupts ; 34 SYSEXIT
        none                            ; 35 Halt
        none                            ; 36 Reboot
        none                            ; 37 Shutdown
        none                            ; 38 SetPxE
        none                            ; 39 SetPxELong
        none                            ; 40 UpdatePxE
        none                            ; 41 UpdatePxELong
        none                            ; 42 MachineToPhysical
        none                            ; 43 PhysicalToMachine
        none                            ; 44 AllocatePage
        none                            ; 45 ReleasePage
        none                            ; 46 InvalPage
        none                            ; 47 FlushTLB
        none                            ; 48 SetLinearMapping
        none                            ; 49 INL
        none                            ; 50 INB
        none                            ; 51 INW
        none                            ; 52 INSL
        none                            ; 53 INSB
        none                            ; 54 INSW
        none                            ; 55 OUTL
        none                            ; 56 OUTB
        none                            ; 57 OUTW
        none                            ; 58 OUTSL
        none                            ; 59 OUTSB
        none                            ; 60 OUTSW
        none                            ; 61 SetIOPLMask
        none                            ; 62 SetInitialAPState
        none                            ; 63 APICWrite
        none                            ; 64 APICRead
        nothing                         ; 65 IODelay
        none                            ; 66 GetCycleFrequency
        none                            ; 67 GetCycleCounter
        none                            ; 68 SetAlarm
        none                            ; 69 CancelAlarm
        none                            ; 70 GetWallclockTime
        none                            ; 71 WallclockUpdated
        none                            ; 72 SetCallbacks
        none                            ; 73 SetLazyMode

; fails to assemble if a line is missing or there is one too many
        times -(($ - answers) != VMI_CALL_COUNT * ANSWER_SIZE) db 0
