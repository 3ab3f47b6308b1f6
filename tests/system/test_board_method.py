# SPDX-License-Identifier: GPL-2.0-only
"""How boards are measured, without an emulator: statistics, the modelled figure, resuming,
progress."""

from __future__ import annotations

from pathlib import Path

import pytest

from micro_board import column, micro_document

from emulator import Machine, Module, Result
from emulator.session import End
from scoreboard import model, resume, rows, spread
from scoreboard.board import Board
from scoreboard.metric import CYCLES
from scoreboard.page import page
from scoreboard.progress import Progress
from scoreboard.repeats import combined
from scoreboard.results import board_json

# Statistics

def test_a_confidence_interval_is_students():
    # mean 10, standard deviation 1, of five: 2.776 / sqrt(5) to either side
    values = [10 + d for d in (-1.2649110640673518, 1.2649110640673518, 0, -0.6324555320336759,
                               0.6324555320336759)]
    interval = spread.confidence(values)
    assert interval.high == pytest.approx(10 + 2.776 / 5 ** 0.5, rel=1e-6)
    assert interval.low == pytest.approx(10 - 2.776 / 5 ** 0.5, rel=1e-6)
    assert spread.confidence([1.0]) is None
    assert spread.student(1) == 12.706 and spread.student(30) == 2.042
    assert spread.student(31) == spread.NORMAL_95


def test_a_slow_moment_of_the_computer_does_not_widen_a_ratio():
    """Columns run in turn: what doubles one repeat of both leaves their ratio as it is."""
    under = [100.0, 200.0, 100.0, 104.0]
    over = [value * 1.1 for value in under]
    interval = spread.ratio_interval(over, under)
    assert interval.low == pytest.approx(1.1) and interval.high == pytest.approx(1.1)


def test_a_summary_has_median_and_range():
    one = spread.summary([3.0, 1.0, 2.0, 10.0])
    assert (one.count, one.median, one.low, one.high) == (4, 2.5, 1.0, 10.0)


def test_a_spread_is_of_the_best_three():
    found = spread.ratio_spread([11, 12, 13, 90, 91], [10, 10, 10, 50, 50])
    assert (found.low, found.high) == (1.1, 1.3)


def test_repeats_give_the_median_and_their_interval_in_the_json():
    every = {name: combined([column(name, scale) for scale in scales]) for name, scales in
             {"N0": (1.0, 1.1, 1.5), "N1": (2.0, 2.2, 3.0)}.items()}
    board = Board("micro", "amd", 1, "a machine", CYCLES, rows.MICRO, every)
    row = board_json(board, [])["rows"][0]
    assert row["values"] == {"N0": 1100, "N1": 2200}
    assert row["repeats"]["N0"] == [1000, 1100, 1500]
    assert row["statistics"]["N0"]["count"] == 3
    assert row["spread"]["N1/N0"] == [2.0, 2.0]
    assert "95 % interval of the mean" in page(board_json(board, []), {}, [])


# The modelled figure

def test_exits_are_multiplied_with_what_somebody_published_and_with_nothing_measured():
    document = micro_document()
    lines = {(row[0], row[1]): row[2:] for row in model.model_rows(document)}
    assert lines["cpuid", "H1-nested"] == ["1", "3,300", "2,000"]
    assert lines["whole run", "H0-nested"][0] == "30,002"
    assert not any(name == "getppid" for name, _ in lines)   # does not exit
    assert all(one.source and one.what for one in model.processors())
    assert "Modelled, not measured" in model.model_text(document)
    assert model.model_text(document | {"rows": [], "exits": {}}) == ""


# Resuming

def finished_run(folder: Path, machine: Machine) -> Result:
    paths = folder / "c.com1.log", folder / "c.com2.log"
    paths[0].write_bytes(b"one\r\ntwo\n")
    paths[1].write_bytes(b"")
    return Result("one\ntwo\n", "", 2.5, End.EXIT, 0, "", paths)


@pytest.fixture
def machine(tmp_path):
    for name in ("image", "kernel", "initramfs"):
        (tmp_path / name).write_text(name)
    return Machine(image=tmp_path / "image", append="mode=hv",
                   modules=[Module(tmp_path / "kernel", "quiet"), Module(tmp_path / "initramfs")])


def test_a_finished_column_is_taken_as_it_was(tmp_path, machine):
    result, mark = finished_run(tmp_path, machine), resume.fingerprint(machine, "QEMU 7.2")
    assert resume.kept(tmp_path, "c", mark) is None
    resume.keep(tmp_path, "c", mark, result)
    assert resume.kept(tmp_path, "c", mark) == result
    resume.forget(tmp_path, "c")
    assert resume.kept(tmp_path, "c", mark) is None


def test_a_column_whose_consoles_are_not_those_of_its_end_runs_again(tmp_path, machine):
    mark = resume.fingerprint(machine, "QEMU 7.2")
    resume.keep(tmp_path, "c", mark, finished_run(tmp_path, machine))
    (tmp_path / "c.com1.log").write_text("one\n")      # interrupted while it ran again
    assert resume.kept(tmp_path, "c", mark) is None
    (tmp_path / "c.done.json").write_text("{")
    assert resume.kept(tmp_path, "c", mark) is None


def test_a_column_that_did_not_finish_runs_again(tmp_path, machine):
    mark, result = resume.fingerprint(machine, ""), finished_run(tmp_path, machine)
    resume.keep(tmp_path, "c", mark, Result(result.com1, "", 1, End.TIMEOUT, None, "",
                                            result.logs))
    assert resume.kept(tmp_path, "c", mark) is None


@pytest.mark.parametrize("name", ["image", "kernel", "initramfs"])
def test_a_changed_file_changes_the_fingerprint(tmp_path, machine, name):
    before = resume.fingerprint(machine, "QEMU 7.2")
    (tmp_path / name).write_text("other")
    assert resume.fingerprint(machine, "QEMU 7.2") != before


def test_words_machine_and_emulator_change_the_fingerprint(machine):
    before = resume.fingerprint(machine, "QEMU 7.2")
    assert resume.fingerprint(machine, "QEMU 10.0") != before
    for name, value in (("append", "mode=native"), ("cpus", 2), ("memory", 64), ("icount", True),
                        ("cpu", "intel")):
        changed = Machine(**(vars(machine) | {name: value}))
        assert resume.fingerprint(changed, "QEMU 7.2") != before, name


# Progress

class Lines(list):
    def isatty(self):
        return False

    def write(self, text):
        self.append(text)

    def flush(self):
        pass


def test_the_time_that_is_left_is_told_once_there_is_a_row_to_guess_by():
    progress = Progress(rows=10, columns=4, stream=Lines())
    progress.start("N0")
    assert progress.time_left() == []
    watch = progress.line_watcher("N0")
    progress.begun -= 20
    for _ in range(10):
        watch("com1", "RESULT {}")
    assert progress.time_left() == ["about 60 s left"]
    progress.end("N0")
    progress.start("N1")
    assert progress.time_left() == ["about 60 s left"]
