# SPDX-License-Identifier: GPL-2.0-only
"""Several boots of one column, where a clock measures and no two give the same value."""

from __future__ import annotations

from dataclasses import replace
from statistics import median

from .board import ColumnResult


def combined(every: list[ColumnResult]) -> ColumnResult:
    """One column of its repeats: a row's value is the median of theirs."""
    if len(every) == 1:
        return every[0]
    repeats = {name: tuple(one.rows[name].value for one in every) for name in every[0].rows}
    rows = {name: replace(row, value=median(repeats[name]))
            for name, row in every[0].rows.items()}
    return replace(every[0], rows=rows, repeats=repeats,
                   seconds=sum(one.seconds for one in every))
