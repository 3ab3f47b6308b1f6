# SPDX-License-Identifier: GPL-2.0-only
"""QEMU: the command line that builds a described machine, with TCG or with KVM."""

from __future__ import annotations

import os
from pathlib import Path

from . import qemu_program
from .base import Emulator
from .errors import EmulatorError
from .machine import Link, Machine, Module, Serial

# All that it takes for a whole Linux run to repeat to the digit: one nanosecond per
# instruction, a clock that starts at a fixed date and follows that time, and a fixed
# seed for RDRAND. "sleep=off" skips idle time instead of waiting for it.
REPEATABLE = ["-icount", "shift=0,sleep=off",
              "-rtc", "base=2024-01-01T00:00:00,clock=vm",
              "-seed", "1"]

# The firmware, and its variables as a machine has them that was never switched on. Debian 12
# and Ubuntu from 22.04 have them of this size.
UEFI_CODE = Path("/usr/share/OVMF/OVMF_CODE_4M.fd")
UEFI_VARIABLES = Path("/usr/share/OVMF/OVMF_VARS_4M.fd")


def escape(text: str) -> str:
    """QEMU separates by commas; a comma that is meant is doubled."""
    return text.replace(",", ",,")


def program_for(machine: Machine) -> qemu_program.Program:
    if machine.icount and machine.cpus > 1:
        return qemu_program.counting_several()
    return qemu_program.system()


class Qemu(Emulator):
    """QEMU without KVM: AMD-V on any computer, exact repetition with icount."""

    name = "qemu"
    end_devices = ("isa-debug-exit",)
    accelerator = "TCG"

    def refusal(self, machine: Machine) -> str | None:
        if machine.cpu != "amd":
            return f"QEMU without KVM has no virtualization for cpu '{machine.cpu}'"
        try:
            program_for(machine)
        except EmulatorError as error:
            return str(error)
        return firmware_refusal(machine)

    def command(self, machine: Machine, com1: Serial, com2: Serial) -> list[str]:
        return [*program_for(machine).words, "-nodefaults", "-display", "none", "-no-reboot",
                "-m", str(machine.memory),
                # One socket each: SeaBIOS's MP table lists sockets, and not every guest has ACPI.
                "-smp", f"{machine.cpus},sockets={machine.cpus}",
                *self.processor(machine), *firmware(machine),
                *serial_port("com1", com1), *serial_port("com2", com2),
                *boot(machine), *devices(machine), *machine.extra]

    def description(self, machine: Machine) -> str:
        version = program_for(machine).version()
        return f"QEMU {'.'.join(map(str, version))} {self.accelerator}"

    def processor(self, machine: Machine) -> list[str]:
        """"max" has SVM with nested paging, and calls itself AuthenticAMD."""
        return ["-accel", "tcg", "-cpu", machine.model or "max",
                *(REPEATABLE if machine.icount else [])]


class Kvm(Qemu):
    """QEMU with KVM: needs /dev/kvm with nested virtualization."""

    name = "kvm"
    accelerator = "KVM"

    def refusal(self, machine: Machine) -> str | None:
        if machine.icount:
            return "KVM cannot count instructions: use ICOUNT=0 with it"
        return kvm_refusal(machine.cpu) or firmware_refusal(machine)

    def processor(self, machine: Machine) -> list[str]:
        return ["-accel", "kvm", "-cpu", machine.model or "host"]


def kvm_refusal(cpu: str) -> str | None:
    """Why /dev/kvm does not serve for a guest hypervisor; None if it does."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "/dev/kvm is absent or not yours to open"
    parameter = f"/sys/module/kvm_{cpu}/parameters/nested"
    try:
        with open(parameter, encoding="ascii") as stream:
            nested = stream.read().strip()
    except OSError:
        return f"this computer's KVM is not for cpu '{cpu}'"
    return None if nested in ("1", "Y") else f"nested virtualization is off ({parameter})"


def firmware_refusal(machine: Machine) -> str | None:
    if machine.firmware == "uefi" and not (UEFI_CODE.is_file() and UEFI_VARIABLES.is_file()):
        return f"{UEFI_CODE} is not installed (package ovmf); 'make setup' installs it"
    return None


def firmware(machine: Machine) -> list[str]:
    """SeaBIOS is QEMU's default. What UEFI writes to its variables is forgotten at the end."""
    if machine.firmware == "bios":
        return []
    return ["-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={UEFI_CODE}",
            "-drive", f"if=pflash,unit=1,format=raw,snapshot=on,file={UEFI_VARIABLES}"]


def serial_port(name: str, serial: Serial) -> list[str]:
    log = f"logfile={escape(str(serial.log))}"
    if serial.link is Link.TERMINAL:
        # Ctrl-C goes to the guest; Ctrl-A X ends QEMU, Ctrl-A C talks to it.
        return ["-chardev", f"stdio,id={name},mux=on,signal=off,{log}",
                "-mon", f"chardev={name}", "-serial", f"chardev:{name}"]
    if serial.link is Link.SOCKET:
        where = (f"path={escape(str(serial.socket))}" if serial.tcp is None
                 else f"host=127.0.0.1,port={serial.tcp}")
        return ["-chardev", f"socket,id={name},{where},server=on,wait=off,{log}",
                "-serial", f"chardev:{name}"]
    return ["-chardev", f"null,id={name},{log}", "-serial", f"chardev:{name}"]


def boot(machine: Machine) -> list[str]:
    if machine.image is None:
        return [*usb(machine), *network(machine),
                *(["-cdrom", str(machine.cdrom), "-boot", "d"] if machine.cdrom else [])]
    words = ["-kernel", str(machine.image)]
    if machine.append:
        words += ["-append", machine.append]
    if machine.modules:
        words += ["-initrd", ",".join(module_words(module) for module in machine.modules)]
    return words + (["-cdrom", str(machine.cdrom)] if machine.cdrom else [])


def usb(machine: Machine) -> list[str]:
    if machine.usb is None:
        return []
    return ["-device", "qemu-xhci", "-device", "usb-storage,drive=stick,bootindex=0",
            "-drive", "if=none,id=stick,format=raw,readonly=on,"
                      f"file={escape(str(machine.usb))}"]


def network(machine: Machine) -> list[str]:
    """e1000's ROM is iPXE, for BIOS and for UEFI; OVMF's own PXE has a driver for virtio."""
    net = machine.netboot
    if net is None:
        return []
    card = "e1000" if net.ipxe else "virtio-net-pci,romfile="
    return ["-netdev", f"user,id=net,tftp={escape(str(net.folder))},bootfile={escape(net.file)}",
            "-device", f"{card},netdev=net", "-boot", "n"]


def module_words(module: Module) -> str:
    """A file's path and, after a blank, its string."""
    return escape(f"{module.path} {module.words}".rstrip())


def devices(machine: Machine) -> list[str]:
    words = [word for rom in machine.option_roms for word in ("-option-rom", str(rom))]
    if machine.disk is not None:
        words += ["-drive", f"file={escape(str(machine.disk))},format=raw,snapshot=on"]
    if machine.debug_exit:
        words += ["-device", "isa-debug-exit,iobase=0xf4,iosize=0x04"]
    return words
