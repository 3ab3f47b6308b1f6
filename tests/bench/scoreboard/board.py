# SPDX-License-Identifier: GPL-2.0-only
"""A board: the columns' results, and the ratios between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .columns import Column
from .metric import Metric
from .records import Reason, RowResult
from .rows import EXIT_ROW, Row

# Which column is laid over which one, in the order of printing.
PAIRS = (("N1", "N0"), ("H0-nested", "N1"), ("H1-nested", "N1"), ("H1-nested", "N0"),
         ("H0-shadow", "N1"), ("H1-shadow", "N1"),
         ("N0", "D0"), ("N1", "D1"), ("D1", "D0"))


@dataclass(frozen=True)
class ColumnResult:
    """What one column gave."""

    column: Column
    rows: dict[str, RowResult]
    reasons: dict[str, Reason]     # exits of the whole run
    seconds: float                 # wall-clock time of the whole run
    versions: dict[str, str] = field(default_factory=dict)
    repeats: dict[str, tuple[float, ...]] = field(default_factory=dict)  # a row's values, if timed
    calls: dict[str, Reason] = field(default_factory=dict)  # VMI calls of the whole run


@dataclass(frozen=True)
class Board:
    """All columns of one board."""

    name: str
    cpu: str                       # the processor's vendor: amd, intel
    cpus: int
    machine: str                   # what it ran on, in words
    metric: Metric                 # what the values count
    rows: tuple[Row, ...]
    columns: dict[str, ColumnResult]

    def pairs(self) -> list[tuple[str, str]]:
        """The ratios that the columns at hand allow."""
        return [pair for pair in PAIRS if set(pair) <= self.columns.keys()]

    def value(self, column: str, row: str) -> float:
        return self.columns[column].rows[row].value

    def ratio(self, pair: tuple[str, str], row: str) -> float:
        over, under = pair
        return self.value(over, row) / self.value(under, row)

    def catches_apic(self) -> bool:
        """AMD-V with several processors: a write to a guest's local APIC is an exit."""
        return self.cpu == "amd" and self.cpus > 1

    def is_micro(self) -> bool:
        """Its rows are loops; those of others are whole commands, which run once."""
        return self.name == "micro"

    def virtualized(self) -> list[str]:
        return [name for name, result in self.columns.items() if result.column.virtualized]

    def paged(self, paging: str) -> list[str]:
        """The virtualized columns of this paging: "nested", "shadow"."""
        return [name for name in self.virtualized()
                if self.columns[name].column.paging == paging]

    def exit_cost(self, column: str) -> float | None:
        """What one CPUID costs more than natively; None without that row or native column."""
        if "N1" not in self.columns or not self.is_micro():
            return None
        return self.value(column, EXIT_ROW) - self.value("N1", EXIT_ROW)


def missing_rows(rows: Iterable[Row], got: dict[str, RowResult]) -> list[str]:
    return [row.name for row in rows if row.name not in got]
