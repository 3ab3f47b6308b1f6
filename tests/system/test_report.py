# SPDX-License-Identifier: GPL-2.0-only
"""The boards' files without an emulator: what others published and ours beside it, the page,
the history."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from micro_board import micro_board, micro_document

from scoreboard import charts, commands, history, published, report, rows
from scoreboard.claims import judge
from scoreboard.page import page
from scoreboard.results import board_json

MICRO = {"board": "micro", "counts": "instructions", "machine": "KVM",
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
    names |= {f"{name}/{row.name}" for name, board in commands.boards().items()
              for row in board.rows}
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


def test_a_row_for_two_processors_names_the_command_that_runs_it():
    one_way = {"board": "kernel-compile", "counts": "instructions", "machine": "QEMU",
               "rows": [{"name": "1P -j16", "values": {"N0": 1000.0, "N1": 1001.0}}]}
    found = laid("A", {"kernel-compile": one_way})
    assert found["kernel compile UP"].ours == "1.0010 [1,001/1,000]"
    assert found["kernel compile SMP 2-way"].not_run == "make bench BOARD=kernel-compile CPUS=2"


def test_what_is_not_run_says_why():
    assert laid("A", {})["getppid"].not_run == "make bench BOARD=micro"
    cycles = MICRO | {"counts": "TSC cycles"}
    assert "ICOUNT=1" in laid("B", {"micro": cycles})["instructions"].not_run
    assert laid("B", {"micro": cycles})["cycles"].ours
    emulated = cycles | {"machine": "QEMU 7.2 TCG"}
    assert "needs hardware" in laid("B", {"micro": emulated})["cycles"].not_run
    one_column = MICRO | {"rows": [{"name": "segv", "values": {"N1": 1.0}}]}
    assert "without N1 or N0" in laid("A", {"micro": one_column})["segv"].not_run


# History and files

def test_a_board_is_kept_by_commit_and_the_trend_is_in_their_order(tmp_path):
    for number in (2, 0, 1, 1):
        report.publish(tmp_path, "micro", micro_document(commit=number), "text")
    like = micro_document()
    ids = [one["commit"]["id"] for one in history.kept(tmp_path, "micro", like)]
    assert ids == [f"{number:012x}" for number in (0, 1, 2)]
    assert history.kept(tmp_path, "micro", like | {"machine": "another"}) == []
    assert "Trend over commits" in (tmp_path / "micro.html").read_text()


def test_changed_files_make_a_commit_dirty(tmp_path):
    def git(*words):
        subprocess.run(["git", "-C", tmp_path, "-c", "user.name=a", "-c", "user.email=a@b",
                        *words], check=True, capture_output=True)
    assert history.commit_of(tmp_path / "nowhere")["id"] == "unknown"
    git("init", "-q")
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("commit", "-qm", "one")
    found = history.commit_of(tmp_path)
    assert not found["dirty"] and len(found["id"]) >= 12 and found["time"] > 0
    (tmp_path / "file").write_text("2")
    assert history.commit_name({"commit": history.commit_of(tmp_path)}) == f"{found['id']}-dirty"


def test_the_files_have_what_the_terminal_leaves_out(tmp_path):
    told = report.publish(tmp_path, "micro", micro_document(), "the board")
    text = (tmp_path / "micro.txt").read_text()
    assert told.startswith("the board\n") and text.startswith("the board\n")
    assert "lmbench stat" in text and "lmbench stat" not in told
    assert json.loads((tmp_path / "micro.json").read_text())["board"] == "micro"


def test_the_same_board_gives_the_same_page():
    one, other = (page(micro_document(), {"micro": micro_document()}, []) for _ in range(2))
    assert one == other


def test_a_column_that_did_not_finish_is_in_the_page_and_loses_no_other():
    board = micro_board()
    del board.columns["H0-nested"]
    document = board_json(board, judge(board)) | {"failed": {"H0-nested": "ended by <timeout>"}}
    text = page(document, {"micro": document}, [])
    assert "ended by &lt;timeout&gt;" in text and "H1-nested/N1" in text


def test_ratios_far_from_one_do_not_push_the_others_out_of_the_picture():
    document = micro_document()
    for row in document["rows"]:
        row["ratios"]["H1-shadow/N1"] = 3.0
    assert len(charts.near_rows(document)) == len(rows.MICRO)
    text = charts.ratio_chart(document)
    assert "N1/N0" in text and "H1-shadow" not in text
    assert "Vellum H1-shadow/N1" in charts.peers_chart(document)
    assert charts.worst(document, "H1-shadow/N1") == pytest.approx(200)
    assert charts.worst(document, "H1-nested/N1") < 1    # without the CPUID row
