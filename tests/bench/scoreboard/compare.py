# SPDX-License-Identifier: GPL-2.0-only
"""Two results of one board, B laid over A: what got slower, and which exits changed."""

from __future__ import annotations

from dataclasses import dataclass

from .numbers import number, table
from .spread import Interval, ratio_spread

TOLERANCE = 0.005          # counted: how far two boots of one kernel are apart (docs/benchmarks.md)
MUST_AGREE = ("board", "machine", "counts")


class CompareError(Exception):
    """Why two results cannot be compared."""


@dataclass(frozen=True)
class Change:
    """One row of one column, in B over A."""

    row: str
    column: str
    before: float
    after: float
    spread: Interval
    better: str

    @property
    def ratio(self) -> float:
        return self.after / self.before

    @property
    def verdict(self) -> str:
        """Worse or better only if the value and the whole spread say so."""
        lower_is_better = self.better == "lower"
        if self.ratio > 1 + TOLERANCE and self.spread.low > 1:
            return "worse" if lower_is_better else "better"
        if self.ratio < 1 - TOLERANCE and self.spread.high < 1:
            return "better" if lower_is_better else "worse"
        return ""


@dataclass(frozen=True)
class Comparison:
    """Everything that differs between two results."""

    changes: list[Change]
    exits: list[tuple[str, str, str, str]]   # where, column, before, after
    more_exits: list[str]                    # rows whose loops exit more often
    claims_lost: list[str]
    only_in_one: list[str]                   # rows and columns

    @property
    def regressions(self) -> list[str]:
        worse = [f"{one.row} in {one.column}: {one.ratio:.4f}" for one in self.changes
                 if one.verdict == "worse"]
        return (worse + self.more_exits
                + [f"no longer held: {claim}" for claim in self.claims_lost])


def compare(before: dict, after: dict) -> Comparison:
    """CompareError names what makes them incomparable."""
    for key in MUST_AGREE:
        if before.get(key) != after.get(key):
            raise CompareError(f"{key} differs: '{before.get(key)}' and '{after.get(key)}'")
    old, new = rows_of(before), rows_of(after)
    shared = [name for name in new if name in old]
    return Comparison([change for name in shared for change in changes(old[name], new[name])],
                      loop_exits(old, new, shared) + reasons(before, after),
                      more_exits(old, new, shared), claims_lost(before, after),
                      only_in_one(before, after))


def rows_of(document: dict) -> dict[str, dict]:
    return {row["name"]: row for row in document["rows"]}


def changes(old: dict, new: dict) -> list[Change]:
    return [Change(new["name"], column, old["values"][column], value,
                   spread_of(old, new, column), new.get("better", "lower"))
            for column, value in new["values"].items() if old["values"].get(column)]


def spread_of(old: dict, new: dict, column: str) -> Interval:
    """Of the repeats if there are any, else of the runs, else of the value alone."""
    for key in ("repeats", "runs"):
        if column in old.get(key, {}) and column in new.get(key, {}):
            return ratio_spread(new[key][column], old[key][column])
    ratio = new["values"][column] / old["values"][column]
    return Interval(ratio, ratio)


def loop_exits(old: dict, new: dict, shared: list[str]) -> list[tuple[str, str, str, str]]:
    return [(f"{name}, per iteration", column, exits_text(before), exits_text(after))
            for name, column, before, after in exit_pairs(old, new, shared) if before != after]


def exit_pairs(old: dict, new: dict, shared: list[str]):
    for name in shared:
        for column, after in new[name]["exits_per_iteration"].items():
            if column in old[name]["exits_per_iteration"]:
                yield name, column, old[name]["exits_per_iteration"][column], after


def exits_text(count: float | None) -> str:
    return "not counted" if count is None else f"{count:.6g}"


def more_exits(old: dict, new: dict, shared: list[str]) -> list[str]:
    return [f"{name} in {column} exits more often: {before:.6g} to {after:.6g}"
            for name, column, before, after in exit_pairs(old, new, shared)
            if None not in (before, after) and after > before * (1 + TOLERANCE)]


def reasons(before: dict, after: dict) -> list[tuple[str, str, str, str]]:
    """Reasons of the whole run whose counts differ."""
    return [(f"{reason}, whole run", column, *map(str, counts))
            for column in after["exits"] if column in before["exits"]
            for reason in sorted(before["exits"][column].keys() | after["exits"][column].keys())
            if len(set(counts := [one["exits"][column].get(reason, {}).get("count", 0)
                                  for one in (before, after)])) == 2]


def claims_lost(before: dict, after: dict) -> list[str]:
    held = {one["claim"] for one in before["claims"] if one["held"]}
    return [f"{one['claim']} ({one['detail']})" for one in after["claims"]
            if not one["held"] and one["claim"] in held]


def only_in_one(before: dict, after: dict) -> list[str]:
    rows = rows_of(before).keys() ^ rows_of(after).keys()
    return ([f"row {name}" for name in sorted(rows)]
            + [f"column {name}" for name in sorted(set(before["columns"]) ^ set(after["columns"]))])


def comparison_text(comparison: Comparison, names: tuple[str, str]) -> str:
    """What differs, rows first; names: of A and B."""
    parts = [f"B over A: {names[1]} over {names[0]}", changes_table(comparison)]
    if comparison.exits:
        parts.append("Exits that changed:\n" + table(["where", "column", "A", "B"],
                                                     [list(one) for one in comparison.exits]))
    else:
        parts.append("Exits: the same.")
    if comparison.only_in_one:
        parts.append(f"Only in one of them: {', '.join(comparison.only_in_one)}")
    lines = [f"WORSE  {text}" for text in comparison.regressions]
    parts.append("\n".join(lines) if lines else "Nothing is worse.")
    return "\n\n".join(parts) + "\n"


def changes_table(comparison: Comparison) -> str:
    return table(["row", "column", "B/A", "lowest to highest", ""],
                 ([one.row, one.column,
                   f"{one.ratio:.4f} [{number(one.after)}/{number(one.before)}]",
                   f"{one.spread.low:.4f} to {one.spread.high:.4f}", one.verdict]
                  for one in comparison.changes))
