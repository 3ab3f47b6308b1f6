; SPDX-License-Identifier: GPL-2.0-only
;
; The first 0x90 bytes: Linux' struct vrom_header (asm/vmi.h), which is an option ROM
; header with VMI's fields in the gaps. `field_at` fails to assemble if what comes
; before a field has outgrown its place.

%macro  field_at 1                      ; field_at OFFSET
        times %1 - ($ - rom_start) db 0
%endmacro

        bits    16

        dw      OPTION_ROM_SIGNATURE
        db      ROM_SIZE / OPTION_ROM_LENGTH_UNIT

; The BIOS calls this far, at power-on, if the ROM was loaded like any other.
; In:  nothing of use.
; Out: AX = 0: no device to boot from, no interrupt hooked (PnP BIOS 1.0a, section 3.3).
;      All other registers are unchanged.
bios_init:
        xor     ax, ax
        retf

        bits    32

field_at 0x07
        db      0                       ; checksum, see seal.py
        dd      VMI_SIGNATURE
        db      VMI_API_MINOR
        db      VMI_API_MAJOR
        db      0                       ; jump slots, nobody reads it
        db      0
        dd      0                       ; virtual_top: no part of the guest's addresses is taken
        dw      0
        dw      license
        dw      pci_header
        dw      pnp_header
        dd      0

; PCI data structure (PCI Firmware 3.0, section 5.1.2). Linux wants it to be there and
; warns if the IDs are not VMware's; nobody looks for such a device on the bus.
field_at 0x20
pci_header:
        db      'PCIR'
        dw      0x15ad                  ; VMware
        dw      0x0801                  ; Virtual Machine Interface
        dw      0                       ; no vital product data
        dw      pci_header_end - pci_header
        db      0                       ; revision of this structure
        db      0x00, 0x80, 0x08        ; class, base class last: other system peripheral
        dw      ROM_SIZE / OPTION_ROM_LENGTH_UNIT
        db      0, 1                    ; the ROM's version, minor and major: 1.0
        db      0                       ; code type: x86, PC-AT compatible
        db      0x80                    ; last image
        dw      0
pci_header_end:

; PnP expansion header (PnP BIOS 1.0a, section 3.2), here for the two names that Linux
; prints. With neither BCV nor BEV a BIOS won't take the ROM for something to boot from.
field_at 0x40
pnp_header:
        db      '$PnP'
        db      1                       ; revision
        db      (pnp_header_end - pnp_header) / 16
        dw      0                       ; no further header
        db      0
        db      0                       ; checksum of this header, see seal.py
        dd      0                       ; device identifier: none
        dw      manufacturer
        dw      product
        db      0x08, 0x80, 0x00        ; device type: the class above, base class first
        db      0x60                    ; may be shadowed in RAM, may be cached
        dw      0                       ; boot connection vector
        dw      0                       ; disconnect vector
        dw      0                       ; bootstrap entry vector
        dw      0
        dw      0                       ; static resource information vector
pnp_header_end:

; Vellum's own header: what the hypervisor changes in its copy (struct vmi_rom_private).
field_at 0x60
        db      'VVRM'
        dw      3                       ; version
        dw      answers
        dw      VMI_CALL_COUNT
        dw      hypercalls
        dw      (hypercalls_end - hypercalls) / 2
        dw      trace_stubs
        dw      TRACE_STUB_SIZE
        dw      time_data
        dw      iret_to_frame.iret
        dw      shadow_routines

; VMI 3.0's two entry points, 8 bytes of code each
field_at 0x80
        jmp     strict near vmi_init
field_at 0x88
        jmp     strict near get_reloc
field_at 0x90

hypercalls:
        dw      vmi_init.hypercall, trace.hypercall, reboot.hypercall, shutdown.hypercall
        dw      set_initial_ap_state.hypercall, apic_write_call.hypercall
        dw      shadow_hypercall
hypercalls_end:

license:
        db      'GPL v2', 0             ; Linux takes this or "GPL", to the letter
manufacturer:
        db      'Vellum', 0
product:
        db      'VMI 3.0 option ROM', 0
