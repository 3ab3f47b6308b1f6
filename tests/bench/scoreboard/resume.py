# SPDX-License-Identifier: GPL-2.0-only
"""Columns that are finished are not run again while nothing that made them has changed.

Beside a column's consoles, NAME.done.json holds the fingerprint of all that decides what they
say: emulator, machine, words, and the bytes of hypervisor, kernel and initramfs.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

from emulator import Machine, Result
from emulator.log import LogTail
from emulator.session import End

SUFFIX = ".done.json"


def fingerprint(machine: Machine, emulator: str) -> str:
    """Of everything that a column's consoles depend on; emulator: its name and version."""
    digest = hashlib.sha256(emulator.encode())
    digest.update(repr(sorted(asdict(machine).items(), key=lambda item: item[0])).encode())
    for path in machine.files():
        digest.update(file_digest(path))
    return digest.hexdigest()


def file_digest(path: Path | str) -> bytes:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def keep(logs: Path, name: str, mark: str, result: Result) -> None:
    """Notes a column that is finished."""
    if not result.finished:
        return
    note = {"fingerprint": mark, "seconds": result.seconds, "end": result.end.name,
            "exit_status": result.exit_status, "messages": result.messages,
            "consoles": [text_digest(result.com1), text_digest(result.com2)]}
    (logs / f"{name}{SUFFIX}").write_text(json.dumps(note) + "\n")


def text_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def kept(logs: Path, name: str, mark: str) -> Result | None:
    """The result of a finished column, from its files; None if it has to run."""
    try:
        note = json.loads((logs / f"{name}{SUFFIX}").read_text())
        paths = (logs / f"{name}.com1.log", logs / f"{name}.com2.log")
        texts = [console(path) for path in paths]
    except (OSError, ValueError):
        return None
    if note["fingerprint"] != mark or note["consoles"] != [*map(text_digest, texts)]:
        return None
    return Result(*texts, note["seconds"], End[note["end"]], note["exit_status"],
                  note["messages"], paths)


def console(path: Path) -> str:
    """A log as a session gives it."""
    tail = LogTail(path)
    return tail.text(tail.size())


def forget(logs: Path, name: str) -> None:
    (logs / f"{name}{SUFFIX}").unlink(missing_ok=True)
