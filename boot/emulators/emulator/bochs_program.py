# SPDX-License-Identifier: GPL-2.0-only
"""Where Bochs is: the system's own if it is new enough, else Debian 13's in the cache, where
fetch-bochs puts it."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .errors import EmulatorError
from .kept import Kept, start_words

FIRST_VERSION = (3, 0)  # 2.7 does not start Linux 6.1
KEPT = Kept("Bochs", "trixie", "amd64", ("bochs", "bochs-term", "bochsbios", "vgabios"), layout=1)

SYSTEM_PROGRAM = "bochs-bin"
SYSTEM_SHARE = Path("/usr/share/bochs")
SYSTEM_PLUGINS = "/usr/lib/*/bochs/plugins/libbx_term_gui.so"


@dataclass(frozen=True)
class Program:
    """How to start a Bochs, and where its BIOS images are."""

    words: tuple[str, ...]
    share: Path

    @property
    def bios(self) -> Path:
        return self.share / "BIOS-bochs-latest"

    @property
    def vga_bios(self) -> Path:
        return self.share / "VGABIOS-lgpl-latest"

    def version(self) -> tuple[int, int]:
        done = subprocess.run([*self.words, "--help"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        return version_in(done.stdout + done.stderr)


def version_in(text: str) -> tuple[int, int]:
    """(major, minor) in Bochs's heading; (0, 0) if there is none."""
    found = re.search(r"Bochs x86 Emulator (\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def in_folder(folder: Path) -> Program:
    """The Bochs in a folder that fetch-bochs filled."""
    share = folder / "share" / "bochs"
    return Program(("env", f"LTDL_LIBRARY_PATH={folder / 'plugins'}", f"BXSHARE={share}",
                    *start_words(folder, SYSTEM_PROGRAM)), share)


def system_program() -> Program | None:
    """The system's Bochs; None if it is too old, or has no display that needs no screen."""
    path = shutil.which(SYSTEM_PROGRAM)
    if path is None or not list(Path("/").glob(SYSTEM_PLUGINS[1:])):
        return None
    program = Program((path,), SYSTEM_SHARE)
    usable = program.version() >= FIRST_VERSION and program.vga_bios.exists()
    return program if usable else None


@cache
def find() -> Program:
    """The Bochs to use."""
    if platform.machine() != "x86_64":
        raise EmulatorError("Bochs is had for x86-64 computers only")
    program = system_program()
    if program is not None:
        return program
    return in_folder(KEPT.find())
