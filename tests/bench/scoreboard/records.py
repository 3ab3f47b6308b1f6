# SPDX-License-Identifier: GPL-2.0-only
"""What the serial lines said, for machines: RESULT lines on COM1, VELLUM lines on COM2."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

RESULT_PREFIX = "RESULT "
VELLUM_PREFIX = "VELLUM "


class RecordError(Exception):
    """A line that should be a record and is none; the message quotes it."""


@dataclass(frozen=True)
class RowResult:
    """One row of one column."""

    name: str
    unit: str
    iterations: int        # of one run
    value: float           # the row's statistic, per iteration
    runs: tuple[float, ...]
    exits: int | None      # in all runs together; None where nobody counts
    counters: dict[str, float] = field(default_factory=dict)  # what else the guest counted

    @property
    def spread(self) -> float:
        """By how much the best three runs, which the value is the mean of, differ."""
        best = sorted(self.runs)[:3]
        return best[-1] / best[0] - 1

    @property
    def exits_per_iteration(self) -> float | None:
        return None if self.exits is None else self.exits / (self.iterations * len(self.runs))


def json_lines(text: str, prefix: str) -> list[dict]:
    """The JSON object of every line that starts with the prefix."""
    return [json_object(line[len(prefix):]) for line in text.splitlines()
            if line.startswith(prefix)]


def json_object(text: str) -> dict:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise RecordError(f"broken record ({error}): {text}") from None
    if not isinstance(value, dict):
        raise RecordError(f"record is no object: {text}")
    return value


def rows_in(com1: str) -> dict[str, RowResult]:
    """The rows by name, from the guest's console."""
    rows = [row_from(record) for record in json_lines(com1, RESULT_PREFIX)]
    return {row.name: row for row in rows}


def row_from(record: dict) -> RowResult:
    try:
        return RowResult(name=record["bench"], unit=record["unit"],
                         iterations=record["iterations"], value=record["value"],
                         runs=tuple(record["runs"]), exits=record["exits"],
                         counters=record.get("counters", {}))
    except KeyError as error:
        raise RecordError(f"RESULT without {error}: {record}") from None


def events_in(com2: str, event: str) -> list[dict]:
    """The records of one kind, from Vellum's console."""
    return [record for record in json_lines(com2, VELLUM_PREFIX) if record.get("event") == event]


@dataclass(frozen=True)
class Reason:
    """How often one thing made the processor leave the guest, and what that cost."""

    count: int
    cycles: int

    @property
    def cycles_each(self) -> float:
        return self.cycles / self.count if self.count else 0.0


def exit_reasons(com2: str) -> dict[str, Reason]:
    """Exits of a whole run by reason, all processors together; {} if none were reported.

    A processor's last record counts: each one holds everything since its start.
    """
    return counts_in(com2, "by_reason")


def vmi_calls(com2: str) -> dict[str, Reason]:
    """The guest's VMI calls that Vellum answered, likewise: those of the first 4 KiB a record."""
    return counts_in(com2, "vmi_calls")


def counts_in(com2: str, key: str) -> dict[str, Reason]:
    last = {record["cpu"]: record.get(key, {}) for record in events_in(com2, "exits")}
    total: dict[str, Reason] = {}
    for counts in last.values():
        for name, entry in counts.items():
            before = total.get(name, Reason(0, 0))
            total[name] = Reason(before.count + entry["count"], before.cycles + entry["cycles"])
    return total
