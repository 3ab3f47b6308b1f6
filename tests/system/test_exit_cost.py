# SPDX-License-Identifier: GPL-2.0-only
"""The exit-cost board, whole, on both vendors: what an exit may cost, in instructions and so
no timed test, and that cpuid=boot spares exec its exits where the processor can."""

import json
import subprocess

import pytest

from vellum import BUILD, EMULATORS, IMAGE, ROOT, Machine, emulator_for

RESULTS = BUILD / "results-test"
COLUMNS = ["native", "exit", "boot"]
BARE_ROWS = {"cpuid", "cpuid-pae", "hypercall", "rdmsr", "wrmsr", "port", "nested_fault"}
EXEC_ROWS = {"exec-static", "exec-dynamic"}


def run_board(cpu, name):
    emulator_for(Machine(cpu=cpu, image=IMAGE))
    run = subprocess.run([ROOT / "tests/bench/exit-cost", "--results", RESULTS, "--cpu", cpu,
                          "--emu", EMULATORS[cpu]], cwd=ROOT, capture_output=True, text=True,
                         timeout=1200, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return json.loads((RESULTS / name).read_text())


@pytest.fixture(scope="module")
def amd():
    return run_board("amd", "exit-cost.json")


@pytest.fixture(scope="module")
def intel():
    return run_board("intel", "exit-cost-intel.json")


def values(board):
    return {row["name"]: row["values"] for row in board["rows"]}


def exits(board, column, row):
    return {one["name"]: one["exits_per_iteration"] for one in board["rows"]}[row].get(column)


def cpuid_exits(board, column):
    return board["exits"][column]["cpuid"]["count"]


def check_rows(board):
    assert board["columns"] == COLUMNS
    assert set(values(board)) == BARE_ROWS | EXEC_ROWS
    for row in BARE_ROWS:
        assert exits(board, "exit", row) == 1, row
    for row in EXEC_ROWS:
        assert set(values(board)[row]) == set(COLUMNS)
        assert exits(board, "exit", row) >= 10, row


def test_a_cpuid_exit_costs_at_most_100_instructions(amd):
    assert amd["counts"] == "instructions"
    assert 20 < values(amd)["cpuid"]["exit"] <= 100


def test_a_null_hypercall_costs_at_most_80_instructions(amd):
    assert 20 < values(amd)["hypercall"]["exit"] <= 80


def test_page_tables_of_8_byte_entries_cost_little_more(amd):
    assert values(amd)["cpuid-pae"]["exit"] <= 130


def test_cpuid_boot_spares_exec_its_exits(amd):
    for row in EXEC_ROWS:
        native, exit_, boot = (values(amd)[row][column] for column in COLUMNS)
        spared = exits(amd, "exit", row) * values(amd)["cpuid"]["exit"]
        assert exit_ - boot >= spared / 2, row
        assert boot <= native * 1.005, row
    assert cpuid_exits(amd, "boot") < cpuid_exits(amd, "exit") / 50


@pytest.mark.parametrize("name", ["amd", "intel"])
def test_every_row_exits_as_often_as_it_says(name, request):
    check_rows(request.getfixturevalue(name))


def test_on_intel_cpuid_always_exits_and_nothing_is_called_an_instruction(intel):
    assert intel["counts"] == "counts of Bochs's TSC"
    assert not intel["claims"]
    assert cpuid_exits(intel, "boot") == cpuid_exits(intel, "exit")
