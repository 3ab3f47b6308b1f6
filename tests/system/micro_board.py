# SPDX-License-Identifier: GPL-2.0-only
"""A micro board without a machine, for what is tested of reports."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "bench"), str(ROOT / "boot" / "emulators")]

from scoreboard import columns, rows
from scoreboard.board import Board, ColumnResult
from scoreboard.claims import judge
from scoreboard.metric import INSTRUCTIONS
from scoreboard.records import Reason, RowResult
from scoreboard.results import board_json


def column(name: str, scale: float = 1.0, exits: int = 20000) -> ColumnResult:
    """A column whose rows take 1000 counts times the scale, its CPUID 100 more if it exits."""
    hypervisor = columns.BY_NAME[name].virtualized
    results = {}
    for row in rows.MICRO:
        value = 1000 * scale + (100 if hypervisor and row.name == "cpuid" else 0)
        count = (exits if row.name == "cpuid" else 0) if hypervisor else None
        results[row.name] = RowResult(row.name, "tsc/iter", 4000, value,
                                      tuple(value * k for k in (0.998, 1, 1.002, 1.01, 1.02)),
                                      count)
    reasons = {"cpuid": Reason(30000, 2100000), "port": Reason(2, 130)} if hypervisor else {}
    return ColumnResult(columns.BY_NAME[name], results, reasons, 1.0, {"kernel": "6.1"})


def micro_board(metric=INSTRUCTIONS, scale: float = 1.004, **more) -> Board:
    every = (column("N0"), column("N1", scale), column("H0-nested", scale),
             column("H1-nested", scale * 1.001, **more))
    return Board("micro", "amd", 1, "a machine", metric, rows.MICRO,
                 {one.column.name: one for one in every})


def micro_document(commit: int = 0, **more) -> dict:
    board = micro_board(**more)
    return board_json(board, judge(board)) | {
        "commit": {"id": f"{commit:012x}", "dirty": False, "time": commit}, "failed": {}}
