# SPDX-License-Identifier: GPL-2.0-only
"""The boards that others published (published.toml), and ours laid beside them.

What is of ours comes from the boards' JSON, so that the rows of every board at hand meet here.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .numbers import number, table

FOLDER = Path(__file__).parent
PAIR = ("N1", "N0")  # VMI kernel over the one without, on the bare machine: what all three print
CYCLES, EMULATED = "TSC cycles", "TCG"  # QEMU's TSC is a clock's time and no count of cycles
OURS = "Vellum's kernel, N1 and N0"


@dataclass(frozen=True)
class PublishedRow:
    """A row as printed there, and which one of ours stands beside it."""

    name: str
    unit: str
    better: str              # lower, higher
    figures: tuple[str, ...]
    ours: str = ""           # board/row
    not_run: str = ""        # why there is none of ours
    counts: str = ""         # ours must count this; "" for anything
    words: str = ""          # for make, beside the board's name, where that has the row

    @property
    def board(self) -> str:
        return self.ours.partition("/")[0]


@dataclass(frozen=True)
class PublishedBoard:
    """One of the three."""

    key: str
    title: str
    what: str
    source: str
    columns: tuple[str, ...]
    form: str
    rows: tuple[PublishedRow, ...]


@cache
def boards() -> tuple[PublishedBoard, ...]:
    with open(FOLDER / "published.toml", "rb") as stream:
        return tuple(board_from(board) for board in tomllib.load(stream)["boards"])


def board_from(data: dict) -> PublishedBoard:
    rows = tuple(row_from(group, row) for group in data["groups"] for row in group["rows"])
    return PublishedBoard(data["key"], data["title"], data["what"], data["source"],
                          tuple(data["columns"]), data["form"], rows)


def row_from(group: dict, row: dict) -> PublishedRow:
    return PublishedRow(row["name"], group["unit"], group["better"], tuple(row["figures"]),
                        row.get("ours", ""), group.get("not_run", ""), row.get("counts", ""),
                        row.get("words", ""))


@dataclass(frozen=True)
class Laid:
    """A published row with ours beside it."""

    row: PublishedRow
    ours: str       # "" if not run
    not_run: str    # why, "" if run


def lay(board: PublishedBoard, documents: dict[str, dict]) -> list[Laid]:
    """Every row of a published board; documents: our boards' JSON by name."""
    return [laid_row(board.form, row, documents) for row in board.rows]


def laid_row(form: str, row: PublishedRow, documents: dict[str, dict]) -> Laid:
    if not row.ours:
        return Laid(row, "", row.not_run)
    document = documents.get(row.board)
    if document is None or values_of(document, row) is None:
        return Laid(row, "", " ".join(filter(None, ["make bench", f"BOARD={row.board}",
                                                    row.words])))
    if row.counts not in ("", document["counts"]) or (row.counts == CYCLES and
                                                      EMULATED in document["machine"]):
        return Laid(row, "", row.not_run)
    values = values_of(document, row)
    if not values.keys() >= set(PAIR):
        return Laid(row, "", f"the board was run without {' or '.join(PAIR)}")
    return Laid(row, FORMS[form](values["N0"], values["N1"], row.better), "")


def values_of(document: dict, row: PublishedRow) -> dict[str, float] | None:
    """None where a board of ours has no such row, on this machine."""
    name = row.ours.partition("/")[2]
    return next((one["values"] for one in document["rows"] if one["name"] == name), None)


def form_values(plain: float, vmi: float, _better: str) -> str:
    return f"{vmi / plain:.4f} [{number(vmi)}/{number(plain)}]"


def form_change(plain: float, vmi: float, _better: str) -> str:
    return f"{number(plain)} -> {number(vmi)}, {(vmi / plain - 1) * 100:+.2f} %"


def form_performance(plain: float, vmi: float, better: str) -> str:
    ratio = vmi / plain if better == "higher" else plain / vmi
    return f"{number(plain)} -> {number(vmi)}, {ratio:.4f}"


FORMS = {"values": form_values, "change": form_change, "performance": form_performance}


def published_text(documents: dict[str, dict], every_row: bool) -> str:
    """The three boards in their own layouts; without every_row only what ran is shown."""
    parts = [board_text(board, lay(board, documents), every_row) for board in boards()]
    parts = ["The published boards, and ours beside them in our own unit (nothing is computed "
             "with their figures):", *filter(None, parts)]
    missing = sum(not laid.ours for board in boards() for laid in lay(board, documents))
    if missing and not every_row:
        parts.append(f"{missing} more of their rows are not run; the .txt file says why, each.")
    return "\n\n".join(parts)


def board_text(board: PublishedBoard, rows: list[Laid], every_row: bool) -> str:
    shown = rows if every_row else [laid for laid in rows if laid.ours]
    if not shown:
        return ""
    titles = ["row", "unit, better", *board.columns, OURS]
    lines = ([laid.row.name, f"{laid.row.unit}, {laid.row.better}", *laid.row.figures,
              laid.ours or f"not run: {laid.not_run}"] for laid in shown)
    return f"{board.key}. {board.title}\n   {board.what}\n" + table(titles, lines)


@cache
def peers() -> dict:
    """KVM and Xen on the same emulated machine: peers.toml as it is."""
    with open(FOLDER / "peers.toml", "rb") as stream:
        return tomllib.load(stream)


def board_names() -> set[str]:
    """Our boards that have rows which stand beside published ones."""
    return {row.board for board in boards() for row in board.rows} - {""}
