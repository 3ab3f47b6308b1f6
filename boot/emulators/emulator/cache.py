# SPDX-License-Identifier: GPL-2.0-only
"""Folders that were made once and are kept, with a checksum of every file in them."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

MANIFEST = "SHA256SUMS"


def cache_root() -> Path:
    """Where Vellum keeps what is fetched or built once."""
    named = os.environ.get("VELLUM_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(named) if named else Path(base) / "vellum"


def is_intact(folder: Path) -> bool:
    """Every file is there and is what it was when the folder was made, and none is new."""
    try:
        return (folder / MANIFEST).read_text(encoding="utf-8") == manifest_of(folder)
    except (OSError, UnicodeDecodeError):
        return False


def manifest_of(folder: Path) -> str:
    """A line for each file, in the form that sha256sum -c reads."""
    names = sorted(path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir())
    return "".join(f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n"
                   for name in names if name != Path(MANIFEST))


def make_folder(folder: Path, fill: Callable[[Path], None]) -> None:
    """Lets "fill" write a folder's files; the folder appears whole or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new.") as work:
        new = Path(work) / "new"
        new.mkdir()
        fill(new)
        (new / MANIFEST).write_text(manifest_of(new), encoding="utf-8")
        put_in_place(new, folder, Path(work) / "old")


def put_in_place(new: Path, folder: Path, old: Path) -> None:
    """Moves a damaged predecessor away; gives way to another process that was quicker."""
    if folder.exists() and not is_intact(folder):
        os.rename(folder, old)
    try:
        os.rename(new, folder)
    except OSError:
        if not is_intact(folder):
            raise
