# SPDX-License-Identifier: GPL-2.0-only
"""A program of a newer Debian, kept in the cache with the libraries and the dynamic linker
that it was built for: so it runs on older systems, too. ../keep.py fetches it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from .cache import cache_root, is_intact
from .errors import EmulatorError

LINKER = "ld-linux-x86-64.so.2"


@dataclass(frozen=True)
class Kept:
    """What is fetched; LAYOUT is to be counted up when the folder is filled otherwise."""

    name: str
    suite: str
    architecture: str
    packages: tuple[str, ...]
    layout: int

    def folder(self) -> Path:
        """Where it is. The folder's name changes with all that decides what is in there."""
        recipe = repr((self.suite, self.architecture, self.packages, self.layout))
        digest = hashlib.sha256(recipe.encode()).hexdigest()[:12]
        return cache_root() / self.name.lower() / f"{self.suite}-{digest}"

    def find(self) -> Path:
        """The folder, if it is there and whole."""
        folder = self.folder()
        if not folder.exists():
            raise EmulatorError(f"{self.name} is not there; 'make setup' fetches it")
        if not is_intact(folder):
            raise EmulatorError(f"{folder} is damaged; 'make setup' fetches {self.name} again")
        return folder


def start_words(folder: Path, program: str) -> tuple[str, ...]:
    """The words that start a program of such a folder."""
    library = folder / "lib"
    return (str(library / LINKER), "--library-path", str(library), str(folder / "bin" / program))
