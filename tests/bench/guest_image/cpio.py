# SPDX-License-Identifier: GPL-2.0-only
"""Writes cpio archives in the "newc" format that Linux unpacks as an initramfs.

Format: the kernel's Documentation/driver-api/early-userspace/buffer-format.rst. Written
here, because making device nodes for cpio(1) to find would need root.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass

MAGIC = "070701"
TRAILER = "TRAILER!!!"
ALIGNMENT = 4
NO_DEVICE = (0, 0)


@dataclass(frozen=True)
class Device:
    """A character device's number."""

    major: int
    minor: int


@dataclass(frozen=True)
class Entry:
    mode: int
    data: bytes = b""
    device: tuple[int, int] = NO_DEVICE


class Archive:
    """Entries by path. Owner root and time 0 for all: the bytes depend on contents only."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}

    def add_folder(self, path: str) -> None:
        self.entries[path] = Entry(stat.S_IFDIR | 0o755)

    def add_file(self, path: str, data: bytes, executable: bool = False) -> None:
        self.entries[path] = Entry(stat.S_IFREG | (0o755 if executable else 0o644), data)

    def add_link(self, path: str, target: str) -> None:
        self.entries[path] = Entry(stat.S_IFLNK | 0o777, target.encode())

    def add_device(self, path: str, device: Device) -> None:
        self.entries[path] = Entry(stat.S_IFCHR | 0o600, device=(device.major, device.minor))

    def to_bytes(self) -> bytes:
        """Sorted by path, so that a folder comes before what lies in it."""
        members = [member(number, path, self.entries[path])
                   for number, path in enumerate(sorted(self.entries), start=1)]
        return b"".join(members) + member(0, TRAILER, Entry(mode=0))


def member(inode: int, path: str, entry: Entry) -> bytes:
    """Header and name, then data, each filled up to a multiple of four bytes."""
    name = path.encode() + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    owner = group = time = checksum = 0
    fields = (inode, entry.mode, owner, group, links, time, len(entry.data),
              *NO_DEVICE, *entry.device, len(name), checksum)
    header = MAGIC + "".join(f"{field:08x}" for field in fields)
    return padded(header.encode() + name) + padded(entry.data)


def padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % ALIGNMENT)
