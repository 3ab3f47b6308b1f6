# SPDX-License-Identifier: GPL-2.0-only
"""What the system tests share: Vellum with a real kernel on an emulated machine."""

import json
import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "boot" / "emulators"))

from emulator import (EmulatorError, Limits, Link, Machine, Module, Session,  # noqa: E402,F401
                      choose_emulator, run)

BUILD = ROOT / os.environ.get("BUILD", "build")
IMAGE = BUILD / "vellum.elf"
VELLUM_BIN = BUILD / "vellum.bin"
VMI_KERNEL = BUILD / "kernel-vmi" / "bzImage"
PLAIN_KERNEL = BUILD / "kernel-plain" / "bzImage"
INITRD = BUILD / "initramfs.cpio"

# "vellum.run=" of the guest's init: print the kernel's messages, then end the machine.
KERNEL_WORDS = "console=ttyS0 nokaslr norandmaps tsc=reliable vellum.run=dmesg"

# The vendors' names in VELLUM records, and what runs their processors in these tests.
VENDORS = {"amd": "AMD-V", "intel": "VT-x"}
EMULATORS = {"amd": "qemu", "intel": "bochs"}


def kernel(path=VMI_KERNEL, words=KERNEL_WORDS):
    return Module(path, words)


def emulator_for(machine):
    """The emulator for the machine's vendor, or a skip that says why there is none."""
    try:
        return choose_emulator(EMULATORS[machine.cpu], machine)
    except EmulatorError as error:
        pytest.skip(str(error))


def boot(name, words="", modules=None, seconds=180, marker=None, cpu="amd", **machine):
    """Boots Vellum with its words and modules on a vendor's processor; returns the
    emulator's Result."""
    if modules is None:
        modules = [kernel(), Module(INITRD)]
    description = Machine(cpu=cpu, image=IMAGE, append=words, modules=modules, **machine)
    return run(emulator_for(description), description, BUILD / "logs", name,
               Limits(seconds=seconds, marker=marker))


def records(console):
    """The VELLUM {json} lines of a console, in order."""
    return [json.loads(line[len("VELLUM "):]) for line in console.splitlines()
            if line.startswith("VELLUM {")]


def record(console, event):
    found = [one for one in records(console) if one["event"] == event]
    assert len(found) == 1, f"{len(found)} records of {event}:\n{console}"
    return found[0]
