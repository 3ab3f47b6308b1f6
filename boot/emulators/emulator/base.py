# SPDX-License-Identifier: GPL-2.0-only
"""What every emulator answers."""

from __future__ import annotations

import abc

from .machine import Machine, Serial


class Emulator(abc.ABC):
    """One way to build a machine. Its twins stand in files of their own (qemu.py)."""

    name: str  # the word for it in EMU=

    @abc.abstractmethod
    def refusal(self, machine: Machine) -> str | None:
        """Why this emulator cannot build the machine; None if it can."""

    @abc.abstractmethod
    def command(self, machine: Machine, com1: Serial, com2: Serial) -> list[str]:
        """The command line that runs the machine and ends with it, by reset or power-off.

        Files that the emulator itself needs go beside com1.log.
        """

    @abc.abstractmethod
    def description(self) -> str:
        """Program and version, for the heading of a report."""
