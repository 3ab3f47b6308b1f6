# SPDX-License-Identifier: GPL-2.0-only
"""The guest kernels: built or taken from the cache by guest-patches/build-kernel."""

from __future__ import annotations

import subprocess
from pathlib import Path

VERSION_POINTER = 0x20e   # Linux boot protocol: where the version string is, less 0x200
SETUP_OFFSET = 0x200
VERSION_BYTES_MAX = 256


class KernelError(Exception):
    """Why there is no kernel."""


def build(program: Path, name: str) -> Path:
    """The bzImage of a kernel. Building takes many minutes the first time, and says so."""
    try:
        with subprocess.Popen([program, name], stdout=subprocess.PIPE, text=True) as process:
            folder = last_line(process.stdout)
    except FileNotFoundError:
        raise KernelError(f"no such program: {program}") from None
    if process.returncode != 0:
        raise KernelError(f"{program.name} {name} failed with status {process.returncode}")
    return Path(folder) / "bzImage"


def last_line(stream) -> str:
    """Prints the lines that come before the last one."""
    last = ""
    for line in stream:
        if last:
            print(last, flush=True)
        last = line.rstrip("\n")
    return last


def version(bzimage: Path) -> str:
    """The version that a bzImage names in its header."""
    with open(bzimage, "rb") as stream:
        stream.seek(VERSION_POINTER)
        pointer = int.from_bytes(stream.read(2), "little")
        stream.seek(SETUP_OFFSET + pointer)
        text = stream.read(VERSION_BYTES_MAX)
    return text.partition(b"\0")[0].decode(errors="replace")
