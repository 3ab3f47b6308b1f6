# SPDX-License-Identifier: GPL-2.0-only
"""The modelled figure: exits that were counted x what one costs on a real processor.

An emulated world switch takes no time, so this is what a board's values lack. It is shown in
columns of its own and never added to, or divided by, what was measured.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .numbers import number, table

TITLE = "Modelled, not measured: exits x cycles that one costs on real processors"


@dataclass(frozen=True)
class Processor:
    """A processor generation and what one exit costs there, as somebody published."""

    name: str
    vendor: str
    cycles: int      # one exit and the entry after it
    what: str        # what was measured there
    source: str


@cache
def processors() -> tuple[Processor, ...]:
    with open(Path(__file__).parent / "exit_costs.toml", "rb") as stream:
        return tuple(Processor(**entry) for entry in tomllib.load(stream)["processors"])


def model_rows(document: dict) -> list[list[str]]:
    """A row's exits in each virtualized column and their cycles; rows without exits are out.

    The last row is the whole run, boot to end.
    """
    counts = [(row["name"], row["exits_per_iteration"]) for row in document["rows"]]
    counts.append(("whole run", {column: sum(entry["count"] for entry in reasons.values())
                                 for column, reasons in document["exits"].items()}))
    return [[name, column, f"{exits:,.6g}" if exits < 1e6 else f"{exits:,.0f}",
             *(number(exits * processor.cycles) for processor in processors())]
            for name, exits_of in counts for column, exits in exits_of.items() if exits]


def model_titles() -> list[str]:
    return ["row", "column", "exits", *(f"{one.name}, {one.cycles:,} each" for one in processors())]


def source_lines() -> list[str]:
    return [f"{one.name} ({one.vendor}): {one.what}; {one.source}" for one in processors()]


def model_text(document: dict) -> str:
    """The table and its sources; "" for a board without a hypervisor."""
    rows = model_rows(document)
    if not rows:
        return ""
    return "\n".join([f"{TITLE}:", table(model_titles(), rows),
                      *(f"  {line}" for line in source_lines())])
