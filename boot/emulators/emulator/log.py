# SPDX-License-Identifier: GPL-2.0-only
"""Reads a log file while an emulator writes it."""

from __future__ import annotations

from pathlib import Path

READ_BYTES_MAX = 1 << 20  # at one look, so that a flood cannot outrun the limit on it


class LogTail:
    """The lines that were added to a file since the last look."""

    def __init__(self, path: Path):
        self.path = path
        self.read_so_far = 0
        self.partial = b""    # the last line, as long as its newline is missing

    def start_anew(self) -> None:
        """Removes what an earlier run left."""
        if self.path.is_file():
            self.path.unlink()

    def size(self) -> int:
        """Bytes in the file, read or not."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def unread(self) -> bool:
        return self.read_so_far < self.size()

    def new_lines(self) -> list[str]:
        """Some new lines, whole and without their ends; [] if there are none."""
        if not self.unread():
            return []
        with open(self.path, "rb") as stream:
            stream.seek(self.read_so_far)
            added = stream.read(READ_BYTES_MAX)
        self.read_so_far += len(added)
        *lines, self.partial = (self.partial + added).split(b"\n")
        return [line.decode(errors="replace").rstrip("\r") for line in lines]

    def unended_line(self) -> str:
        """What came after the last newline: a prompt, or the start of a line."""
        return self.partial.decode(errors="replace")

    def text(self, limit: int) -> str:
        """The file from its start, at most limit bytes of it, with plain newlines."""
        if self.size() == 0:
            return ""
        with open(self.path, "rb") as stream:
            data = stream.read(limit)
        return data.decode(errors="replace").replace("\r\n", "\n")
