# SPDX-License-Identifier: GPL-2.0-only
"""The boards' reports without an emulator: what others published, and ours beside it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "bench"), str(ROOT / "boot" / "emulators")]

from scoreboard import published, rows

MICRO = {"board": "micro", "counts": "instructions",
         "rows": [{"name": row.name, "values": {"N0": 1000.0, "N1": 1010.0}}
                  for row in rows.MICRO]}


def laid(key: str, documents: dict) -> dict[str, published.Laid]:
    board = next(board for board in published.boards() if board.key == key)
    return {one.row.name: one for one in published.lay(board, documents)}


# What others published

def test_every_row_of_the_three_boards_is_there():
    assert [len(board.rows) for board in published.boards()] == [29, 10, 44]
    for board in published.boards():
        assert len({row.name for row in board.rows}) == len(board.rows)
        for row in board.rows:
            assert len(row.figures) == len(board.columns), row.name
            assert row.ours or row.not_run, row.name


def test_a_row_of_ours_is_one_that_a_board_has():
    names = {f"micro/{row.name}" for row in rows.MICRO}
    ours = {row.ours for board in published.boards() for row in board.rows} - {""}
    assert ours and ours <= names
    assert published.peers()["rows"].keys() <= {row.name for row in rows.MICRO}
    for figures in published.peers()["rows"].values():
        assert len(figures) == len(published.peers()["columns"])


def test_each_board_prints_ours_in_its_own_form():
    assert laid("A", {"micro": MICRO})["getppid"].ours == "1.0100 [1,010/1,000]"
    assert laid("B", {"micro": MICRO})["instructions"].ours == "1,000 -> 1,010, +1.00 %"
    assert published.form_performance(1000, 1010, "lower") == "1,000 -> 1,010, 0.9901"
    assert published.form_performance(1000, 1010, "higher") == "1,000 -> 1,010, 1.0100"


def test_no_row_disappears():
    text = published.published_text({"micro": MICRO}, every_row=True)
    for board in published.boards():
        for row in board.rows:
            assert f"\n{row.name} " in text, row.name
    assert text.count("not run: ") == 83 - 5
    assert "78 more of their rows" in published.published_text({"micro": MICRO}, every_row=False)


def test_what_is_not_run_says_why():
    assert laid("A", {})["getppid"].not_run == "make bench BOARD=micro"
    cycles = MICRO | {"counts": "TSC cycles"}
    assert "ICOUNT=1" in laid("B", {"micro": cycles})["instructions"].not_run
    assert laid("B", {"micro": cycles})["cycles"].ours
    one_column = MICRO | {"rows": [{"name": "segv", "values": {"N1": 1.0}}]}
    assert "without N1 or N0" in laid("A", {"micro": one_column})["segv"].not_run
