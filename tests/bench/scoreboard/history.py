# SPDX-License-Identifier: GPL-2.0-only
"""Which commit a board is of, and the boards of earlier ones.

Each board is kept as results/history/COMMIT/BOARD.json, COMMIT with "-dirty" if the tree had
changes; the next board of the same commit takes its place.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

FOLDER = "history"
ID_DIGITS = 12
UNKNOWN = {"id": "unknown", "dirty": False, "time": 0}


def commit_of(tree: Path) -> dict:
    """The commit that is checked out, its time in seconds, and whether files differ from it."""
    try:
        name, time = git(tree, "log", "-1", f"--abbrev={ID_DIGITS}", "--format=%h %ct").split()
        dirty = bool(git(tree, "status", "--porcelain", "--untracked-files=no"))
    except (OSError, ValueError, subprocess.CalledProcessError):
        return dict(UNKNOWN)
    return {"id": name, "dirty": dirty, "time": int(time)}


def git(tree: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", tree, *words], capture_output=True, text=True,
                          check=True).stdout


def commit_name(document: dict) -> str:
    commit = document.get("commit", UNKNOWN)
    return commit["id"] + ("-dirty" if commit["dirty"] else "")


def keep(document: dict, results: Path, stem: str) -> None:
    folder = results / FOLDER / commit_name(document)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{stem}.json").write_text(json.dumps(document, indent=1) + "\n")


def kept(results: Path, stem: str, like: dict) -> list[dict]:
    """The boards of this name that may be compared with one, oldest commit first."""
    found = [json.loads(path.read_text())
             for path in (results / FOLDER).glob(f"*/{stem}.json")]
    comparable = [one for one in found
                  if all(one.get(key) == like.get(key) for key in ("board", "machine", "counts"))]
    return sorted(comparable, key=lambda one: (one["commit"]["time"], one["commit"]["dirty"]))
