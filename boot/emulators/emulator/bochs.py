# SPDX-License-Identifier: GPL-2.0-only
"""Bochs: the files and the command line that build a described machine; VT-x and AMD-V.

A run repeats to the digit by itself: time is counted in instructions, the clock starts at
a fixed date, and the processor has no source of random numbers.
"""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

from . import bochs_program, bochs_screen, grub_iso
from .base import Emulator
from .errors import EmulatorError
from .machine import Machine, Serial

MODELS = {"intel": "corei7_haswell_4770",  # EPT, VPID, unrestricted guests
          "amd": "ryzen"}

# Virtual time. More makes the guest's delays longer, less its timer interrupts denser.
INSTRUCTIONS_PER_SECOND = 50_000_000
START_OF_TIME = 1_704_067_200  # 2024-01-01

OPTION_ROM_START = 0xD0000
OPTION_ROM_END = 0xE0000       # the BIOS begins there
OPTION_ROMS_MAX = 4
ROM_BLOCK = 2048               # where the BIOS looks for ROMs

# The machine's own ends, in Bochs's log. A triple fault resets a real machine. The reset
# at time 0 is power-on; after any other Bochs would boot again.
ENDS = re.compile(r"ACPI control: soft power off"
                  r"|Shutdown port: shutdown requested"
                  r"|exception\(\): 3rd \(\d+\) exception with no resolution"
                  r"|^0*[1-9]\d*i\[SYS   \] bx_pc_system_c::Reset")

INFORMATION = re.compile(r"\d{11}i\[")  # how Bochs starts a line that is no complaint


class Bochs(Emulator):
    """Bochs 3: Intel processors with VT-x on any computer, exact by its nature."""

    name = "bochs"
    end_devices = ("shutdown-port",)
    stop_signal = signal.SIGKILL  # its display catches SIGTERM and does nothing
    has_links = False

    def refusal(self, machine: Machine) -> str | None:
        try:
            bochs_program.find()
        except EmulatorError as error:
            return str(error)
        if machine.firmware != "bios" or machine.usb is not None or machine.netboot is not None:
            return "Bochs boots through its BIOS, and neither from USB sticks nor a network"
        if len(machine.option_roms) > OPTION_ROMS_MAX:
            return f"Bochs takes at most {OPTION_ROMS_MAX} option ROMs"
        return grub_iso.refusal(machine) if machine.image is not None else None

    def command(self, machine: Machine, com1: Serial, com2: Serial) -> list[str]:
        settings = beside(com1, "bochsrc")
        lines = configuration(machine, com1, com2, bochs_program.find())
        settings.write_text("\n".join(lines) + "\n", encoding="utf-8")
        if machine.image is not None:
            grub_iso.write_iso(beside(com1, "iso"), machine)
        # The display draws in the words of this terminal; it needs none (bochs_screen.py).
        return ["env", "TERM=vt100", *bochs_program.find().words, "-q", "-f", str(settings)]

    def started(self, process: subprocess.Popen, messages: Path) -> None:
        bochs_screen.read_away(process, messages)

    def own_log(self, com1: Serial) -> Path:
        return beside(com1, "bochs.log")

    def tells_the_end(self, line: str) -> bool:
        return ENDS.search(line) is not None

    def complaints(self, printed: str) -> str:
        return "".join(line for line in printed.splitlines(keepends=True)
                       if not INFORMATION.match(line)).lstrip()

    def description(self, _machine: Machine) -> str:
        return f"Bochs {'.'.join(map(str, bochs_program.find().version()))}"


def beside(com1: Serial, ending: str) -> Path:
    """NAME.ending, where COM1's log is NAME.com1.log; Bochs wants the whole path."""
    return com1.log.absolute().with_name(com1.log.name.removesuffix("com1.log") + ending)


def configuration(machine: Machine, com1: Serial, com2: Serial,
                  program: bochs_program.Program) -> list[str]:
    """The lines of a bochsrc."""
    return [*firmware(machine, program), *processor(machine, [com1, com2]),
            *discs(machine, com1), serial_port("com1", com1), serial_port("com2", com2),
            "display_library: term",
            "vga: extension=vbe, update_freq=5, realtime=0",  # in the guest's time
            "plugin_ctrl: unmapped=1, speaker=0",  # port 0x8900; no sound device is opened
            "sound: waveoutdrv=dummy",
            f"log: {beside(com1, 'bochs.log')}",
            "panic: action=fatal", "error: action=report", "info: action=report",
            "debug: action=ignore", *machine.extra]


def firmware(machine: Machine, program: bochs_program.Program) -> list[str]:
    return [f"romimage: file={program.bios}", f"vgaromimage: file={program.vga_bios}",
            *option_roms(machine)]


def option_roms(machine: Machine) -> list[str]:
    lines, address = [], OPTION_ROM_START
    for number, rom in enumerate(machine.option_roms, 1):
        lines.append(f"optromimage{number}: file={Path(rom).absolute()}, address={address:#x}")
        address += -(-Path(rom).stat().st_size // ROM_BLOCK) * ROM_BLOCK
    if address > OPTION_ROM_END:
        raise EmulatorError("the option ROMs do not fit below Bochs's BIOS")
    return lines


def processor(machine: Machine, serials: list[Serial]) -> list[str]:
    # A guest that is typed to shall not run ahead of the one who types.
    sync = "slowdown" if any(serial.device for serial in serials) else "none"
    # Random numbers differ from run to run; and a processor that waits in MWAIT misses what
    # another one writes: Linux, which sends no IPI then, stands still, with no Vellum at all, too.
    without = "rdrand,rdseed" + (",mwait" if machine.cpus > 1 else "")
    return [f"cpu: model={machine.model or MODELS[machine.cpu]}, count={machine.cpus}, "
            f"ips={INSTRUCTIONS_PER_SECOND}, reset_on_triple_fault=0, ignore_bad_msrs=1, "
            f'exclude_features="{without}"',
            f"memory: guest={machine.memory}, host={machine.memory}",
            f"clock: sync={sync}, time0={START_OF_TIME}"]


def discs(machine: Machine, com1: Serial) -> list[str]:
    made = [beside(com1, "iso")] if machine.image is not None else []
    given = [Path(machine.cdrom).absolute()] if machine.cdrom else []
    drives = zip(("master", "slave"), made + given)
    return ["ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14",
            *(f"ata0-{place}: type=cdrom, path={path}, status=inserted" for place, path in drives),
            *hard_disk(machine), f"boot: {'cdrom' if made + given else 'disk'}"]


def hard_disk(machine: Machine) -> list[str]:
    """Its size is a multiple of a cylinder of 16 heads and 63 sectors."""
    if machine.disk is None:
        return []
    return ["ata1: enabled=1, ioaddr1=0x170, ioaddr2=0x370, irq=15",
            f"ata1-master: type=disk, path={Path(machine.disk).absolute()}, mode=volatile"]


def serial_port(name: str, serial: Serial) -> str:
    if serial.device is not None:
        return f"{name}: enabled=1, mode=term, dev={serial.device}"
    return f"{name}: enabled=1, mode=file, dev={serial.log.absolute()}"
