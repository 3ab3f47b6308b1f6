# SPDX-License-Identifier: GPL-2.0-only
"""What every emulator answers."""

from __future__ import annotations

import abc
import signal
import subprocess
from pathlib import Path

from .machine import Machine, Serial


class Emulator(abc.ABC):
    """One way to build a machine. Its twins stand in files of their own (qemu.py, bochs.py)."""

    name: str  # the word for it in EMU=

    # How a guest can end the run, beside reset and power-off: "isa-debug-exit" is QEMU's
    # device at port 0xf4, "shutdown-port" takes the bytes "Shutdown" at port 0x8900.
    end_devices: tuple[str, ...]

    stop_signal = signal.SIGTERM
    has_links = True  # it wires a serial port to a terminal or a socket by itself

    @abc.abstractmethod
    def refusal(self, machine: Machine) -> str | None:
        """Why this emulator cannot build the machine; None if it can."""

    @abc.abstractmethod
    def command(self, machine: Machine, com1: Serial, com2: Serial) -> list[str]:
        """The command line that runs the machine and ends with it, by reset or power-off.

        Files that the emulator itself needs go beside com1.log.
        """

    def started(self, process: subprocess.Popen, messages: Path) -> None:
        """Called when the emulator runs and prints to that file."""

    def own_log(self, com1: Serial) -> Path | None:
        """The file in which the emulator reports on itself; None if there is none."""
        return None

    def tells_the_end(self, line: str) -> bool:
        """Whether this line of its own log says that the machine powered off or reset.

        Such a run is over and went well, even if the emulator goes on or exits with an error.
        """
        return False

    def complaints(self, printed: str) -> str:
        """What of the emulator's output is for the user's eyes when a run went wrong."""
        return printed

    @abc.abstractmethod
    def description(self, machine: Machine) -> str:
        """Program and version, for the heading of a report."""
