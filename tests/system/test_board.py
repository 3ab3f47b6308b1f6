# SPDX-License-Identifier: GPL-2.0-only
"""The first board, whole, twice: every column finishes, the figures repeat to the digit,
and Vellum's claims hold. Instructions are counted, so this is no timed test."""

import json
import subprocess

import pytest

from vellum import BUILD, ROOT

RESULTS = BUILD / "results-test"
NESTED = ("H0-nested", "H1-nested")
ROWS = {"getppid", "segv", "forkwaitn", "divzero", "cpuid", "fork+exec", "pipe", "pgfault",
        "mmap-perf", "mmapmix", "file"}


@pytest.fixture(scope="module")
def board():
    run = subprocess.run([ROOT / "tests/bench/board", "--board", "micro", "--repeat", "2",
                          "--results", RESULTS], cwd=ROOT, capture_output=True, text=True,
                         timeout=1200, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return json.loads((RESULTS / "micro.json").read_text())


def rows(board):
    return {row["name"]: row for row in board["rows"]}


def test_every_row_has_a_value_in_every_column(board):
    assert set(rows(board)) == ROWS
    for row in board["rows"]:
        assert set(row["values"]) == {"N0", "N1", *NESTED}


def test_vmi_costs_nothing_natively(board):
    for name, row in rows(board).items():
        assert row["ratios"]["N1/N0"] <= 1.01, name


@pytest.mark.parametrize("column", NESTED)
def test_vellum_costs_next_to_nothing(board, column):
    for name, row in rows(board).items():
        if name != "cpuid":
            assert row["ratios"][f"{column}/N1"] <= 1.005, name


@pytest.mark.parametrize("column", NESTED)
def test_a_cpuid_exit_costs_at_most_150_instructions(board, column):
    values = rows(board)["cpuid"]["values"]
    assert values[column] - values["N1"] <= 150


@pytest.mark.parametrize("column", NESTED)
def test_loops_do_not_exit(board, column):
    for name, row in rows(board).items():
        exits = row["exits_per_iteration"][column]
        assert exits > 0 if name == "cpuid" else exits == 0, name
