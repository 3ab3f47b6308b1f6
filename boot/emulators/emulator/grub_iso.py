# SPDX-License-Identifier: GPL-2.0-only
"""A bootable ISO for emulators that have no boot loader of their own.

GRUB starts the image at once and without a menu. The same machine gives the same ISO to
the byte, so that runs can be compared to the digit.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from .errors import EmulatorError
from .machine import Machine

PROGRAM = "grub-mkrescue"
GRUB_MODULES = Path("/usr/lib/grub/i386-pc")
NEEDED = "biosdisk iso9660 normal multiboot linux"
DATE = "2024010100000000"  # of the ISO and of every file in it

MULTIBOOT_MAGIC = (0x1BADB002).to_bytes(4, "little")
MULTIBOOT_SEARCH = 8192    # the header is in the first 8 KiB (Multiboot 3.1)

# GRUB puts a backslash before these when it makes one string of a command's words.
CHANGED_BY_GRUB = "\\'\""


def refusal(machine: Machine) -> str | None:
    """Why no ISO can be made for the machine; None if it can."""
    for need in (PROGRAM, "xorriso", "mformat"):
        if shutil.which(need) is None:
            return f"{need} is not installed; 'make setup' installs it"
    if not GRUB_MODULES.is_dir():
        return "GRUB for BIOS machines (grub-pc-bin) is not installed; 'make setup' installs it"
    strings = [machine.append, *(module.words for module in machine.modules)]
    if any(character in text for text in strings for character in CHANGED_BY_GRUB):
        return "GRUB changes quotes and backslashes in command lines"
    return None


def write_iso(iso: Path, machine: Machine) -> None:
    """Writes the ISO that starts the machine's image with its words and modules."""
    with tempfile.TemporaryDirectory(prefix="vellum-iso.") as name:
        boot = Path(name) / "boot"
        (boot / "grub").mkdir(parents=True)
        (boot / "grub" / "grub.cfg").write_text(configuration(machine), encoding="utf-8")
        for number, path in enumerate(boot_files(machine)):
            shutil.copyfile(path, boot / f"file{number}")
        make_rescue(iso, Path(name))


def boot_files(machine: Machine) -> list[Path | str]:
    return [machine.image, *(module.path for module in machine.modules)]


def configuration(machine: Machine) -> str:
    commands = multiboot(machine) if is_multiboot(machine.image) else linux(machine)
    return "\n".join(["set timeout=0", *commands, "boot", ""])


def is_multiboot(image: Path | str) -> bool:
    with open(image, "rb") as stream:
        return MULTIBOOT_MAGIC in stream.read(MULTIBOOT_SEARCH)


def multiboot(machine: Machine) -> list[str]:
    """The string of image and module is the file's name and its words, as QEMU has it.

    GRUB leaves the name out that it loads from, so it is given a second time.
    """
    strings = [f"{Path(machine.image).name} {machine.append}",
               *(f"{Path(module.path).name} {module.words}" for module in machine.modules)]
    verbs = ["multiboot"] + ["module"] * len(machine.modules)
    return [f"{verb} /boot/file{number} {quoted(string)}"
            for number, (verb, string) in enumerate(zip(verbs, strings))]


def linux(machine: Machine) -> list[str]:
    initrds = " ".join(f"/boot/file{number}" for number in range(1, len(machine.modules) + 1))
    return ([f"linux /boot/file0 {quoted(machine.append)}"]
            + ([f"initrd {initrds}"] if initrds else []))


def quoted(string: str) -> str:
    """Each word in quotes, so that GRUB's shell sees no sign of its own in it."""
    return " ".join(f"'{word}'" for word in string.split())


def make_rescue(iso: Path, tree: Path) -> None:
    words = [PROGRAM, "-d", GRUB_MODULES, f"--install-modules={NEEDED}", "--fonts=", "--locales=",
             "--themes=", "-o", iso, tree,
             "--", "-volume_date", "uuid", DATE, "-volume_date", "all_file_dates", DATE]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, env={**os.environ, "SOURCE_DATE_EPOCH": "1704067200"})
    if done.returncode != 0:
        raise EmulatorError(f"{PROGRAM} failed:\n{done.stdout}")
