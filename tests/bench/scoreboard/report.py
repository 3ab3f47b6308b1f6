# SPDX-License-Identifier: GPL-2.0-only
"""Writes a board's files: text, JSON, page, and a copy for the history."""

from __future__ import annotations

import json
from pathlib import Path

from . import history
from .model import model_text
from .page import page
from .published import board_names, published_text


def publish(results: Path, stem: str, document: dict, text: str) -> str:
    """Writes BOARD.txt, .json and .html; returns what to print, which is shorter.

    The rows of the published boards come from every board of the same machine in the folder.
    """
    path = results / stem
    documents = boards_beside(results, stem, document)
    text = "\n\n".join(filter(None, [text.rstrip("\n"), model_text(document)]))
    json_text = json.dumps(document, indent=1) + "\n"
    path.with_suffix(".json").write_text(json_text)
    path.with_suffix(".txt").write_text(f"{text}\n\n{published_text(documents, True)}\n")
    history.keep(document, results, stem)
    path.with_suffix(".html").write_text(
        page(document, documents, history.kept(results, stem, document)))
    return f"{text}\n\n{published_text(documents, False)}\n"


def boards_beside(results: Path, stem: str, document: dict) -> dict[str, dict]:
    """This board, and the others that published rows stand beside, by name."""
    found = {}
    for name in board_names() - {document["board"]}:
        path = results / f"{stem.replace(document['board'], name, 1)}.json"
        if path.is_file():
            found[name] = json.loads(path.read_text())
    return found | {document["board"]: document}
