# SPDX-License-Identifier: GPL-2.0-only
"""Runs a described machine on an emulator and tells what its serial lines said.

    from emulator import Limits, Machine, Module, choose_emulator, run

    machine = Machine(image="build/vellum.elf", append="mode=hv",
                      modules=[Module("bzImage", "console=ttyS0"), Module("initramfs.cpio")])
    result = run(choose_emulator("auto", machine), machine, logs="build/logs", name="hello")
    assert "vellum-guest: done" in result.com1

Chapters: machine.py says what is built, qemu.py and bochs.py how QEMU and Bochs build it,
choice.py which emulator does it, session.py runs it and cleans up after it. qemu_program.py
and bochs_program.py say where the emulators are; grub_iso.py, bochs_screen.py and relay.py
serve Bochs; cache.py is for all that is fetched or built once, kept.py for fetched programs.
"""

from .choice import choose_emulator
from .errors import EmulatorError
from .machine import Link, Machine, Module, Netboot, Serial
from .session import End, Limits, Result, Session, run

__all__ = ["EmulatorError", "End", "Limits", "Link", "Machine", "Module", "Netboot", "Result",
           "Serial", "Session", "choose_emulator", "run"]
