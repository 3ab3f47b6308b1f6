# SPDX-License-Identifier: GPL-2.0-only
"""Reads a log file while an emulator writes it."""

from __future__ import annotations

from pathlib import Path


class LogTail:
    """The lines that were added to a file since the last look."""

    def __init__(self, path: Path):
        self.path = path
        self.size = 0         # bytes read so far
        self.partial = b""    # the last line, as long as its newline is missing

    def new_lines(self) -> list[str]:
        """Whole new lines without their ends; [] while the file does not exist yet."""
        try:
            with open(self.path, "rb") as stream:
                stream.seek(self.size)
                added = stream.read()
        except FileNotFoundError:
            return []
        self.size += len(added)
        *lines, self.partial = (self.partial + added).split(b"\n")
        return [line.decode(errors="replace").rstrip("\r") for line in lines]

    def text(self) -> str:
        """All of the file, with plain newlines."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return ""
        return data.decode(errors="replace").replace("\r\n", "\n")
