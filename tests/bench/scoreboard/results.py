# SPDX-License-Identifier: GPL-2.0-only
"""A board as JSON; the schema is in docs/benchmarks.md."""

from __future__ import annotations

from .board import Board
from .claims import Verdict
from .rows import Row


def board_json(board: Board, verdicts: list[Verdict]) -> dict:
    return {"board": board.name,
            "cpu": board.cpu,
            "machine": board.machine,
            "counts": board.metric.name,
            "columns": list(board.columns),
            "rows": [row_json(board, row) for row in board.rows],
            "exits": {name: exits_json(board, name) for name in board.virtualized()},
            "claims": [{"claim": verdict.claim, "held": verdict.held, "detail": verdict.detail}
                       for verdict in verdicts],
            "seconds": {name: round(result.seconds, 1)
                        for name, result in board.columns.items()},
            "versions": {name: result.versions for name, result in board.columns.items()}}


def row_json(board: Board, row: Row) -> dict:
    results = {name: result.rows[row.name] for name, result in board.columns.items()}
    return {"name": row.name,
            "unit": next(iter(results.values())).unit,
            "iteration": row.iteration,
            "values": {name: result.value for name, result in results.items()},
            "runs": {name: list(result.runs) for name, result in results.items()},
            "ratios": {"/".join(pair): round(board.ratio(pair, row.name), 6)
                       for pair in board.pairs()},
            "exits_per_iteration": {name: results[name].exits_per_iteration
                                    for name in board.virtualized()}}


def exits_json(board: Board, column: str) -> dict:
    return {reason: {"count": entry.count, "cycles": entry.cycles}
            for reason, entry in board.columns[column].reasons.items()}
