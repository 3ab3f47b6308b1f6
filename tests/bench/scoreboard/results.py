# SPDX-License-Identifier: GPL-2.0-only
"""A board as JSON; the schema is in docs/benchmarks.md."""

from __future__ import annotations

from .board import Board
from .claims import Verdict
from .rows import Row
from .spread import Interval, Summary, ratio_interval, ratio_spread, summary


def board_json(board: Board, verdicts: list[Verdict]) -> dict:
    return {"board": board.name,
            "cpu": board.cpu,
            "machine": board.machine,
            "counts": board.metric.name,
            "columns": list(board.columns),
            "meanings": {name: result.column.meaning for name, result in board.columns.items()},
            "rows": [row_json(board, row) for row in board.rows],
            "exits": {name: exits_json(board, name) for name in board.virtualized()},
            "vmi_calls": {name: {call: entry.count for call, entry
                                 in board.columns[name].calls.items()}
                          for name in board.virtualized()},
            "claims": [{"claim": verdict.claim, "held": verdict.held, "detail": verdict.detail}
                       for verdict in verdicts],
            "seconds": {name: round(result.seconds, 1)
                        for name, result in board.columns.items()},
            "versions": {name: result.versions for name, result in board.columns.items()}}


def row_json(board: Board, row: Row) -> dict:
    results = {name: result.rows[row.name] for name, result in board.columns.items()}
    data = {"name": row.name,
            "unit": next(iter(results.values())).unit,
            "better": "lower",
            "iteration": row.iteration,
            "values": {name: result.value for name, result in results.items()},
            "runs": {name: list(result.runs) for name, result in results.items()},
            "ratios": {"/".join(pair): round(board.ratio(pair, row.name), 6)
                       for pair in board.pairs()},
            "spread": {"/".join(pair): spread_json(board, pair, row.name)
                       for pair in board.pairs()},
            "exits_per_iteration": {name: results[name].exits_per_iteration
                                    for name in board.virtualized()}}
    if any(result.counters for result in results.values()):
        data["counters"] = {name: result.counters for name, result in results.items()}
    repeats = {name: list(result.repeats[row.name])
               for name, result in board.columns.items() if result.repeats}
    if repeats:
        data |= {"repeats": repeats, "statistics": {name: summary_json(summary(values))
                                                    for name, values in repeats.items()}}
    return data


def spread_json(board: Board, pair: tuple[str, str], row: str) -> list[float]:
    """Of a timed ratio the 95 % interval, of a counted one the lowest and highest."""
    over, under = (board.columns[name] for name in pair)
    interval = None
    if over.repeats and under.repeats:
        interval = ratio_interval(list(over.repeats[row]), list(under.repeats[row]))
    interval = interval or ratio_spread(list(over.rows[row].runs), list(under.rows[row].runs))
    return [round(interval.low, 6), round(interval.high, 6)]


def summary_json(one: Summary) -> dict:
    return {"count": one.count, "median": one.median, "low": one.low, "high": one.high,
            "confidence_95": interval_json(one.interval)}


def interval_json(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]


def exits_json(board: Board, column: str) -> dict:
    return {reason: {"count": entry.count, "cycles": entry.cycles}
            for reason, entry in board.columns[column].reasons.items()}
