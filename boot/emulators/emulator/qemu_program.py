# SPDX-License-Identifier: GPL-2.0-only
"""Where QEMU is: the system's own; for exact runs of several processors one that can, which
is Debian 13's in the cache (fetch-qemu puts it there) if the system's is too old."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .errors import EmulatorError
from .kept import Kept, start_words

PROGRAM = "qemu-system-x86_64"

# The older ones hang a 2-way Linux 6.1 at "Booting SMP configuration" (7.2 was seen to).
FIRST_VERSION_WITH_SMP_ICOUNT = (10, 0)

KEPT = Kept("QEMU", "trixie", "amd64", ("qemu-system-x86",), layout=1)


@dataclass(frozen=True)
class Program:
    """How to start a QEMU."""

    words: tuple[str, ...]

    def version(self) -> tuple[int, int]:
        done = subprocess.run([*self.words, "--version"], capture_output=True, text=True,
                              check=False)
        return version_in(done.stdout)


def version_in(text: str) -> tuple[int, int]:
    """(major, minor) in what "--version" prints; (0, 0) if it says nothing."""
    found = re.search(r"version (\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def in_folder(folder: Path) -> Program:
    """The QEMU in a folder that fetch-qemu filled."""
    return Program((*start_words(folder, PROGRAM), "-L", str(folder / "share")))


@cache
def system() -> Program:
    """The system's QEMU; the environment's QEMU names another one."""
    name = os.environ.get("QEMU", PROGRAM)
    path = shutil.which(name)
    if path is None:
        raise EmulatorError(f"{name} is not installed; 'make setup' installs it")
    return Program((path,))


@cache
def system_version() -> tuple[int, int]:
    return system().version()


@cache
def counting_several() -> Program:
    """A QEMU that counts the instructions of several processors."""
    if system_version() >= FIRST_VERSION_WITH_SMP_ICOUNT:
        return system()
    return in_folder(KEPT.find())
