# SPDX-License-Identifier: GPL-2.0-only
"""Which emulator runs a machine: EMU=auto|qemu|kvm|bochs."""

from __future__ import annotations

from .base import Emulator
from .bochs import Bochs
from .errors import EmulatorError
from .machine import Machine
from .qemu import Kvm, Qemu

EMULATORS = {emulator.name: emulator for emulator in (Kvm, Qemu, Bochs)}
CHOICES = ("auto", *EMULATORS)

# What "auto" tries for a vendor's processor. Bochs has AMD's, too, but is the slower one.
AUTO = {"amd": ("kvm", "qemu"), "intel": ("kvm", "bochs")}


def choose_emulator(wish: str, machine: Machine) -> Emulator:
    """The emulator asked for, or with "auto" the first that can build the machine."""
    if wish not in CHOICES:
        raise EmulatorError(f"unknown emulator '{wish}', want one of {', '.join(CHOICES)}")
    refusals = []
    for name in AUTO[machine.cpu] if wish == "auto" else (wish,):
        emulator = EMULATORS[name]()
        refusal = emulator.refusal(machine)
        if refusal is None:
            return emulator
        refusals.append(f"{name}: {refusal}")
    raise EmulatorError("; ".join(refusals))
