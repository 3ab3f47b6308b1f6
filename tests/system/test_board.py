# SPDX-License-Identifier: GPL-2.0-only
"""The first board, whole, twice: every column finishes, the figures repeat to the digit,
and Vellum's claims hold. Instructions are counted, so this is no timed test. On Intel two of
its columns, once; with two processors three."""

import json
import subprocess

import pytest

from vellum import BUILD, IMAGE, ROOT, Machine, emulator_for

RESULTS = BUILD / "results-test"
NESTED = ("H0-nested", "H1-nested")
ROWS = {"getppid", "segv", "forkwaitn", "divzero", "cpuid", "fork+exec", "pipe", "pgfault",
        "mmap-perf", "mmapmix", "file"}


def run_board(name, *words):
    """Runs the board with more words; what the file of this name then holds."""
    run = subprocess.run([ROOT / "tests/bench/board", "--board", "micro", "--results", RESULTS,
                          *words], cwd=ROOT, capture_output=True, text=True, timeout=1200,
                         check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return json.loads((RESULTS / name).read_text())


@pytest.fixture(scope="module")
def board():
    return run_board("micro.json", "--repeat", "2", "--fresh")


@pytest.fixture(scope="module")
def intel():
    emulator_for(Machine(cpu="intel", image=IMAGE))
    return run_board("micro-intel.json", "--cpu", "intel", "--emu", "bochs", "--columns", "N1,H1")


@pytest.fixture(scope="module")
def two_way():
    emulator_for(Machine(cpus=2, icount=True, image=IMAGE))
    return run_board("micro-2way.json", "--cpus", "2", "--columns", "N0,N1,H1")


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
def test_a_cpuid_exit_costs_at_most_100_instructions(board, column):
    values = rows(board)["cpuid"]["values"]
    assert values[column] - values["N1"] <= 100


@pytest.mark.parametrize("column", NESTED)
def test_loops_do_not_exit(board, column):
    for name, row in rows(board).items():
        exits = row["exits_per_iteration"][column]
        assert exits > 0 if name == "cpuid" else exits == 0, name


def test_on_intel_vellum_costs_next_to_nothing_and_loops_do_not_exit(intel):
    assert set(rows(intel)) == ROWS
    for name, row in rows(intel).items():
        exits = row["exits_per_iteration"]["H1-nested"]
        if name == "cpuid":
            assert exits == 1
        else:
            assert row["ratios"]["H1-nested/N1"] <= 1.005, name
            assert exits == 0, name


def test_on_intel_nothing_is_called_an_instruction(intel):
    assert intel["cpu"] == "intel"
    assert intel["counts"] == "counts of Bochs's TSC"
    assert not any("instruction" in claim["claim"] for claim in intel["claims"])


def test_a_broken_column_loses_no_other_and_what_is_finished_is_not_run_again(tmp_path):
    wrong = BUILD / "guest" / "exit_cost.bin"   # a bzImage, but no Linux: ends without rows
    folder = tmp_path / "results"
    words = [ROOT / "tests/bench/board", "--results", folder, "--columns", "N0,N1"]
    first = subprocess.run([*words, "--kernel", f"vmi={wrong}"], cwd=ROOT, capture_output=True,
                           text=True, timeout=1200, check=False)
    assert first.returncode == 1
    assert "column N1 did not finish" in first.stderr
    document = json.loads((folder / "micro.json").read_text())
    assert document["columns"] == ["N0"] and "N1" in document["failed"]
    assert set(rows(document)) == ROWS
    again = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=1200,
                           check=False)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "finished earlier, of the same files: micro-N0 (" in again.stdout
    whole = json.loads((folder / "micro.json").read_text())
    assert whole["columns"] == ["N0", "N1"] and not whole["failed"]
    assert [row["values"]["N0"] for row in whole["rows"]] == [row["values"]["N0"]
                                                             for row in document["rows"]]


def test_two_processors_keep_every_claim(two_way):
    assert [claim for claim in two_way["claims"] if not claim["held"]] == []
    assert len(two_way["claims"]) == 4  # N1/N0, H1/N1, the cost of an exit, no exits
