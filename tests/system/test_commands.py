# SPDX-License-Identifier: GPL-2.0-only
"""The boards of commands without a machine: lists, root file system, what is said of a board."""

from __future__ import annotations

import pytest

from micro_board import ROOT  # noqa: F401  (its import makes those below importable)
from vellum import BUILD, Module, boot, kernel

from bench_root import debian_tree, image, linux_tree
from guest_image.cpio import Archive
from scoreboard import columns, commands
from scoreboard.board import Board, ColumnResult
from scoreboard.claims import judge
from scoreboard.metric import INSTRUCTIONS
from scoreboard.records import Reason, row_from, rows_in, vmi_calls
from scoreboard.results import board_json
from scoreboard.text import board_text

BOARD = commands.board_from("one", {
    "packages": ["make"], "before": "clean", "quick": {"files": "a.o"}, "full": {"files": "a/"},
    "rows": [{"name": "1P", "iteration": "make", "command": "make {files}", "cpus": 1},
             {"name": "2P", "iteration": "make", "command": "make -j2 {files}", "cpus": 2}]})


# Lists

def test_a_list_has_the_rows_of_its_machine_and_the_words_of_its_scale():
    assert commands.list_text(BOARD, "quick", 1) == "1P\tclean\tmake a.o\n"
    assert commands.list_text(BOARD, "full", 2) == "2P\tclean\tmake -j2 a/\n"
    assert [row.name for row in BOARD.rows_for(2)] == ["2P"]
    assert BOARD.rows_for(4) == ()
    assert all(board.rows_for(4) == () for board in commands.boards().values())


@pytest.mark.parametrize("scale", commands.SCALES)
@pytest.mark.parametrize("cpus", commands.PROCESSORS)
def test_every_line_of_our_boards_is_whole(scale, cpus):
    for board in commands.boards().values():
        for line in commands.list_text(board, scale, cpus).splitlines():
            assert line.count("\t") == 2 and "{files}" not in line, line
            assert len(line) < 4096    # LINE_BYTES_MAX of commands.c


def test_init_is_told_which_list():
    assert commands.guest_words("quick", 2) == "vellum.run=vellum-commands,/commands-quick-2"


# The root file system

@pytest.mark.parametrize("path, wanted", [
    ("usr/bin/make", True), ("usr/lib/gcc/i686-linux-gnu/12/cc1", True),
    ("usr/lib/gcc/i686-linux-gnu/12/lto1", False), ("usr/share/doc/make/copyright", False),
    ("etc/passwd", False), ("usr/lib/i386-linux-gnu/libc_nonshared.a", True)])
def test_what_no_board_reads_is_left_out(path, wanted):
    assert debian_tree.is_wanted(path) == wanted


def test_pruning_keeps_the_rest_and_completes_it(tmp_path):
    for path in ("usr/bin/mawk", "usr/share/doc/a/b", "etc/passwd", "bin/sh"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    debian_tree.prune(tmp_path)
    debian_tree.complete(tmp_path)
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if not path.is_dir()}
    assert files == {"usr/bin/mawk", "usr/bin/awk", "etc/passwd", "bin/sh"}
    assert (tmp_path / "etc/passwd").read_text().startswith("root:x:0:0:")


def test_an_archive_has_contents_links_and_who_may_execute(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/a").write_bytes(b"text")
    (tmp_path / "bin/b").write_bytes(b"program")
    (tmp_path / "bin/b").chmod(0o755)
    (tmp_path / "bin/c").symlink_to("b")
    entries = image.archive_of(tmp_path).entries
    assert {path: oct(entry.mode) for path, entry in entries.items()} == {
        "bin": "0o40755", "bin/a": "0o100644", "bin/b": "0o100755", "bin/c": "0o120777"}
    assert entries["bin/c"].data == b"b" and entries["bin/b"].data == b"program"


def test_another_list_of_packages_is_another_image():
    assert image.name_for(["a", "b"], False) == image.name_for(["b", "a"], False)
    assert image.name_for(["a"], False) != image.name_for(["b"], False)


def test_what_runs_on_this_machine_is_found_and_its_headers_are_forgotten(tmp_path):
    (tmp_path / "tool").write_bytes(b"\x7fELF\x02\x01")
    (tmp_path / "kernel.o").write_bytes(b"\x7fELF\x01\x01")
    (tmp_path / ".tool.cmd").write_text("cmd_tool := gcc -o tool tool.c\n\ndeps_tool := \\\n"
                                        "  /usr/include/stdio.h \\\n  tool.h \\\n")
    assert linux_tree.tools(tmp_path) == [tmp_path / "tool"]
    linux_tree.forget_outside(tmp_path)
    assert (tmp_path / ".tool.cmd").read_text() == (
        "cmd_tool := gcc -o tool tool.c\n\ndeps_tool := \\\n  tool.h \\\n")


# In the guest, with busybox in place of Debian's programs

LIST = ("work\ttrue\tbusybox seq 100 >/tmp/numbers && busybox sort /tmp/numbers >/tmp/sorted\n"
        "after\tbusybox rm /tmp/sorted\t! busybox test -e /tmp/sorted\n"
        "broken\ttrue\tfalse\n"
        "unprepared\tfalse\ttrue\n")


def test_the_guest_times_each_command_and_one_that_fails_has_no_value(tmp_path):
    archive = Archive()
    archive.add_file(commands.list_name("quick", 1), LIST.encode())
    initrd = tmp_path / "initrd.cpio"
    initrd.write_bytes((BUILD / "commands.cpio").read_bytes() + archive.to_bytes())
    words = columns.joined(columns.KERNEL_WORDS, commands.guest_words("quick", 1))
    result = boot("commands", "mode=hv vmi=on paging=nested stats=end", icount=True, seconds=900,
                  modules=[kernel(words=words), Module(initrd)])
    rows = rows_in(result.com1)
    assert list(rows) == ["work", "after"], result.com1
    assert "broken failed: false" in result.com1 and "unprepared failed: true" in result.com1
    work = rows["work"]
    assert work.counters["page faults"] > 0 and work.counters["context switches"] > 0
    # One instruction is a nanosecond; the clock is read some instructions off the TSC.
    assert work.counters["seconds"] == pytest.approx(work.value / 1e9, rel=0.05)
    assert work.value > rows["after"].value and work.exits is not None


# What is said of a board

def column(name: str, value: float) -> ColumnResult:
    virtualized = columns.BY_NAME[name].virtualized
    row = row_from({"bench": "1P", "unit": "tsc/run", "iterations": 1, "value": value,
                    "runs": [value], "exits": 48 if virtualized else None,
                    "counters": {"seconds": 1.5, "page faults": 54921}})
    return ColumnResult(columns.BY_NAME[name], {"1P": row},
                        {"cpuid": Reason(50, 5000)} if virtualized else {}, 1.0, {},
                        calls={"Shutdown": Reason(1, 10)} if virtualized else {})


def board_of(h1: float) -> Board:
    values = {"N0": 1000.0, "N1": 1003.0, "H1-nested": h1}
    return Board("one", "amd", 1, "a machine", INSTRUCTIONS, BOARD.rows_for(1),
                 {name: column(name, value) for name, value in values.items()})


def test_a_command_may_exit_but_must_not_cost():
    held = {verdict.claim: verdict.held for verdict in judge(board_of(1004.0))}
    assert held == {"N1/N0 at most 1.005 on every row": True,
                    "H1-nested/N1 at most 1.005 on every row": True}
    assert not all(verdict.held for verdict in judge(board_of(1010.0)))


def test_calls_of_a_run_are_those_of_the_last_record():
    text = "".join('VELLUM {"event":"exits","cpu":0,"total":1,"by_reason":{},"vmi_calls":'
                   f'{{"SetAlarm":{{"count":{count},"cycles":9}}}}}}\n' for count in (3, 5))
    assert vmi_calls(text) == {"SetAlarm": Reason(5, 9)}


def test_the_text_and_the_json_have_counters_exits_and_calls():
    board = board_of(1004.0)
    text = board_text(board, judge(board))
    for line in ("instructions of one run of each command", "In the measured commands, page faults:",
                 "54,921", "Exits in the measured commands:", "VMI calls of the whole run:"):
        assert line in text
    assert "best 3 of 5" not in text and "CPUID exit" not in text
    document = board_json(board, judge(board))
    assert document["rows"][0]["counters"]["N0"] == {"seconds": 1.5, "page faults": 54921}
    assert document["vmi_calls"] == {"H1-nested": {"Shutdown": 1}}
