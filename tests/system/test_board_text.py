# SPDX-License-Identifier: GPL-2.0-only
"""The boards' Python without an emulator: parsers, ratios, verdicts, text, cpio, commands."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "bench"), str(ROOT / "boot" / "emulators")]

from emulator import (EmulatorError, Limits, Link, Machine, Module, Result, Serial,
                      choose_emulator, qemu_program, run)
from emulator.base import Emulator
from emulator.bochs import Bochs
from emulator.log import LogTail
from emulator.qemu import Qemu, boot, module_words
from emulator.session import End
from guest_image import busybox
from guest_image.cpio import Archive, Device
from scoreboard import columns, kernels
from scoreboard.board import Board, ColumnResult
from scoreboard.claims import judge
from scoreboard.metric import BOCHS_TSC, CYCLES, INSTRUCTIONS, metric_of
from scoreboard.numbers import number, table
from scoreboard.records import Reason, RecordError, exit_reasons, rows_in
from scoreboard.results import board_json
from scoreboard.rows import Row
from scoreboard.runner import ColumnError, column_result
from scoreboard.text import board_text

RESULT = ('RESULT {"bench":"pipe","unit":"tsc/iter","iterations":10,"value":5.5,'
          '"runs":[5,6,7,8,9],"exits":100}')


# What the serial lines say

def test_a_result_line_among_other_lines_becomes_a_row():
    row = rows_in(f"vellum-guest: up\n{RESULT}\nRESULTS are none\n")["pipe"]
    assert (row.value, row.iterations, row.exits) == (5.5, 10, 100)
    assert row.exits_per_iteration == 2  # 100 exits in 5 runs of 10


def test_the_best_three_runs_have_a_spread():
    runs = RESULT.replace(RESULT[RESULT.index('"runs"'):RESULT.index("]")],
                          '"runs":[9,4,8,5,4')
    assert rows_in(runs)["pipe"].spread == 0.25


def test_exits_that_nobody_counts_are_not_zero():
    assert rows_in(RESULT.replace("100", "null"))["pipe"].exits_per_iteration is None


def test_a_broken_result_line_is_named():
    with pytest.raises(RecordError, match="pipe"):
        rows_in(RESULT[:-1])
    with pytest.raises(RecordError, match="without 'runs'"):
        rows_in(RESULT.replace("runs", "walks"))


def exits_record(cpu: int, count: int, cycles: int) -> str:
    return (f'VELLUM {{"event":"exits","cpu":{cpu},"total":{count},'
            f'"by_reason":{{"cpuid":{{"count":{count},"cycles":{cycles}}}}}}}\n')


def test_exits_add_up_over_processors_and_the_last_record_counts():
    com2 = exits_record(0, 1, 10) + exits_record(0, 3, 30) + exits_record(1, 4, 40)
    assert exit_reasons(com2) == {"cpuid": Reason(7, 70)}
    assert Reason(7, 70).cycles_each == 10
    assert exit_reasons('VELLUM {"event":"boot"}\n') == {}


# Ratios, verdicts and text

ROWS = (Row("getppid", "10 calls"), Row("cpuid", "CPUID"))


def column(name: str, getppid: float, cpuid: float, exits: int | None = None) -> ColumnResult:
    lines = [f'RESULT {{"bench":"{row}","unit":"tsc/iter","iterations":10,"value":{value},'
             f'"runs":[1,1,1,1,1],"exits":{count}}}'
             for row, value, count in (("getppid", getppid, "null" if exits is None else exits),
                                       ("cpuid", cpuid, "null" if exits is None else 50))]
    reasons = {} if exits is None else {"cpuid": Reason(60, 6000)}
    return ColumnResult(columns.BY_NAME[name], rows_in("\n".join(lines)), reasons, 1.0)


def board(*results: ColumnResult, metric=INSTRUCTIONS, cpus: int = 1) -> Board:
    return Board("micro", "amd", cpus, "a test", metric, ROWS, {r.column.name: r for r in results})


def full_board(n1: float = 1000, h1: float = 1000, cost: float = 100, exits: int = 0,
               metric=INSTRUCTIONS) -> Board:
    return board(column("N0", 1000, 4), column("N1", n1, 4),
                 column("H1-nested", h1, 4 + cost, exits), metric=metric)


def missed(verdicts) -> list[str]:
    return [verdict.detail for verdict in verdicts if not verdict.held]


def test_ratios_lay_the_first_column_over_the_second():
    result = full_board(n1=1010)
    assert result.ratio(("N1", "N0"), "getppid") == pytest.approx(1.01)
    assert result.pairs() == [("N1", "N0"), ("H1-nested", "N1"), ("H1-nested", "N0")]
    assert result.exit_cost("H1-nested") == 100


def test_claims_hold_up_to_their_limits():
    verdicts = judge(full_board(n1=1010, h1=1015, cost=100))
    assert len(verdicts) == 4 and not missed(verdicts)


def test_a_missed_claim_says_where_and_by_how_much():
    assert missed(judge(full_board(n1=1020, h1=1020))) == ["getppid 1.0200 (by 0.0100)"]
    assert missed(judge(full_board(h1=1006))) == ["getppid 1.0060 (by 0.0010)"]
    assert missed(judge(full_board(cost=101))) == ["101.0 (by 1.0)"]
    assert missed(judge(full_board(exits=3))) == ["getppid 3"]


def shadow_board(segv: float, file: float) -> Board:
    def result(name: str, segv: float, file: float) -> ColumnResult:
        lines = (RESULT.replace("pipe", row).replace("5.5", str(value))
                 for row, value in (("segv", segv), ("file", file)))
        return ColumnResult(columns.BY_NAME[name], rows_in("\n".join(lines)), {}, 1.0)

    results = {"N1": result("N1", 1000, 1000), "H0-shadow": result("H0-shadow", segv, file)}
    return Board("micro", "amd", 1, "a test", INSTRUCTIONS,
                 (Row("segv", "a fault"), Row("file", "a file")), results)


def test_shadow_paging_is_judged_beside_kvms_where_that_costs():
    """KVM's ratios are 1.371 and 1.002; exits are what shadow paging is made of."""
    assert [verdict.detail for verdict in judge(shadow_board(segv=1370, file=1100))] == [
        "segv 1.370 to 1.371"]
    assert not missed(judge(shadow_board(segv=1370, file=1100)))
    assert missed(judge(shadow_board(segv=1372, file=1000))) == ["segv 1.372 to 1.371"]


def test_columns_follow_the_paging():
    assert [one.name for one in columns.default_for("shadow")] == [
        "N0", "N1", "H0-shadow", "H1-shadow"]
    assert [one.paging for one in columns.default_for("nested")] == [None, None, "nested", "nested"]


def test_with_several_amd_processors_only_vmi_promises_no_exit():
    def verdicts(traps: int, calls: int):
        return judge(board(column("N1", 1000, 4), column("H0-nested", 1000, 100, traps),
                           column("H1-nested", 1000, 100, calls), cpus=2))
    assert not missed(verdicts(traps=30, calls=0))
    assert missed(verdicts(traps=30, calls=3)) == ["getppid 3"]


def test_without_vmi_interrupts_between_amd_processors_may_cost():
    def verdicts(name: str):
        lines = "\n".join(f'RESULT {{"bench":"{row}","unit":"tsc/iter","iterations":10,'
                          '"value":%d,"runs":[1,1,1,1,1],"exits":0}' for row in ("pipe", "file"))
        results = {column: ColumnResult(columns.BY_NAME[column], rows_in(lines % values), {}, 1.0)
                   for column, values in (("N1", (1000, 1000)), (name, (1400, 1001)))}
        rows = (Row("pipe", "round trip"), Row("file", "create to unlink"))
        return judge(Board("micro", "amd", 2, "a test", BOCHS_TSC, rows, results))
    assert not missed(verdicts("H0-nested"))
    assert missed(verdicts("H1-nested")) == ["pipe 1.4000 (by 0.3950)"]


def test_what_is_no_instruction_is_never_called_one():
    result = full_board(n1=1020, cost=200, metric=BOCHS_TSC)
    text = board_text(result, judge(result))
    assert "counts of Bochs's TSC per iteration" in text
    assert "One cpuid exit, counts of Bochs's TSC more than natively: H1-nested 200.0" in text
    assert "KVM" not in text  # whose figures are instructions
    assert text.count("instructions") == 1
    assert "may cost is claimed in instructions: not judged here" in text


def test_bochs_values_are_judged_by_ratios_and_exits_only():
    result = full_board(n1=1020, h1=1020, cost=200, metric=BOCHS_TSC)
    assert missed(judge(result)) == ["getppid 1.0200 (by 0.0100)"]
    assert len(judge(result)) == 3
    assert judge(full_board(metric=CYCLES)) == []


def test_a_missing_emulator_is_said_before_anything_runs(tmp_path):
    environment = {"VELLUM_CACHE": str(tmp_path), "PATH": "/nowhere"}
    done = subprocess.run([sys.executable, ROOT / "tests" / "bench" / "board", "--check", "--cpu",
                           "intel"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "bochs: Bochs is not there; 'make setup' fetches it" in done.stderr


def test_the_emulator_decides_what_is_counted():
    assert metric_of(Qemu(), True) is INSTRUCTIONS
    assert metric_of(Qemu(), False) is CYCLES
    assert metric_of(Bochs(), True) is metric_of(Bochs(), False) is BOCHS_TSC


def test_exits_that_are_not_counted_do_not_bear_out_a_claim():
    result = board(column("N1", 1000, 4), column("H1-nested", 1000, 104))
    assert missed(judge(result)) == ["getppid not counted"]


def test_the_text_shows_ratio_and_values_exits_and_verdicts():
    result = full_board(n1=1020)
    text = board_text(result, judge(result))
    assert "1.0200 [1,020/1,000]" in text
    assert "60 x 100" in text                       # exits of the whole run, cycles each
    assert "H1-nested 100.0" in text                # what one exit costs
    assert "MISSED  N1/N0 at most 1.01 on every row: getppid 1.0200 (by 0.0100)" in text
    assert "held    no exit in any loop of H1-nested but cpuid's: 0 in all of them" in text


def test_one_column_alone_shows_its_values():
    text = board_text(board(column("N0", 1234, 4)), [])
    assert "1,234" in text and "Exits" not in text


def test_the_json_keeps_to_its_schema():
    result = full_board()
    document = board_json(result, judge(result))
    assert document["columns"] == ["N0", "N1", "H1-nested"]
    assert document["rows"][0]["values"] == {"N0": 1000, "N1": 1000, "H1-nested": 1000}
    assert document["rows"][0]["ratios"]["H1-nested/N1"] == 1
    assert document["exits"] == {"H1-nested": {"cpuid": {"count": 60, "cycles": 6000}}}


def test_numbers_and_tables():
    assert (number(4.004), number(999.96), number(17234.4)) == ("4.0", "1000.0", "17,234")
    assert table(["a", "bb"], [["ccc", ""], ["d", "e"]]) == "a    bb\nccc\nd    e"


# What the columns boot

def test_column_names():
    assert [c.name for c in columns.named("N1,H0,N1")] == ["N1", "H0-nested"]
    with pytest.raises(ValueError, match="'X'"):
        columns.named("N0,X")


def test_a_column_boots_its_kernel_through_vellum():
    parts = columns.Parts(Path("v"), Path("i"), {"plain": Path("p"), "vmi": Path("k")}, "log=3",
                          "debug")
    machine = columns.machine_for(columns.BY_NAME["H1-nested"], parts)
    assert machine.append == "mode=hv vmi=on paging=nested stats=end log=3"
    assert [module.path for module in machine.modules] == [Path("k"), Path("i")]
    assert machine.modules[0].words.endswith(" debug")
    assert columns.machine_for(columns.BY_NAME["D0"], parts).image == Path("p")


def test_an_intel_column_has_a_tick_under_a_hypervisor():
    parts = columns.Parts(Path("v"), Path("i"), {"vmi": Path("k")}, cpu="intel")
    machine = columns.machine_for(columns.BY_NAME["N1"], parts)
    assert machine.cpu == "intel"
    assert machine.modules[0].words.endswith(" nolapic_timer lapic=notscdeadline")


def test_a_column_that_vellum_did_not_virtualize_is_no_result(tmp_path):
    com2 = 'VELLUM {"event":"boot","mode":"native"}\n'
    result = Result(f"{RESULT}\nvellum-guest: done\n", com2, 1.0, End.EXIT, 0, "",
                    (tmp_path, tmp_path))
    with pytest.raises(ColumnError, match="Vellum did not virtualize"):
        column_result(columns.BY_NAME["H1-nested"], (Row("pipe", ""),), result, "6.1")
    assert column_result(columns.BY_NAME["N1"], (Row("pipe", ""),), result, "6.1").rows


def test_a_kernels_version_is_read_from_its_header(tmp_path):
    image = bytearray(0x300)
    image[0x20e:0x210] = (0x40).to_bytes(2, "little")
    image[0x240:0x24a] = b"6.1.0 test"
    (tmp_path / "bzImage").write_bytes(image)
    assert kernels.version(tmp_path / "bzImage") == "6.1.0 test"


def kernel_builder(folder: Path, script: str) -> Path:
    program = folder / "build-kernel"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


def test_a_built_kernel_lies_in_the_folder_of_the_last_line(tmp_path, capsys):
    program = kernel_builder(tmp_path, "echo compiling $1; echo /cache/$1")
    assert kernels.build(program, "vmi") == Path("/cache/vmi/bzImage")
    assert capsys.readouterr().out == "compiling vmi\n"


def test_a_kernel_that_cannot_be_built_is_an_error(tmp_path):
    with pytest.raises(kernels.KernelError, match="status 3"):
        kernels.build(kernel_builder(tmp_path, "echo /cache; exit 3"), "vmi")
    with pytest.raises(kernels.KernelError, match="no such program"):
        kernels.build(tmp_path / "nothing", "vmi")


# The initramfs

def test_a_cpio_archive_is_what_the_format_says():
    archive = Archive()
    archive.add_file("init", b"hello", executable=True)
    data = archive.to_bytes()
    header = "070701" + "".join(f"{field:08x}" for field in
                                (1, 0o100755, 0, 0, 1, 0, 5, 0, 0, 0, 0, 5, 0))
    assert data.startswith(header.encode() + b"init\0" + b"\0" + b"hello\0\0\0" + b"070701")
    assert b"TRAILER!!!\0" in data and len(data) % 4 == 0


def test_a_device_node_is_numbered_as_itself_not_as_the_disk_it_lies_on():
    archive = Archive()
    archive.add_device("tty", Device(4, 65))
    fields = archive.to_bytes()[6:110].decode()
    assert fields[7 * 8:11 * 8] == "0000000000000000" + "0000000400000041"


def test_a_cpio_archive_does_not_depend_on_the_order_of_adding():
    one, two = Archive(), Archive()
    for archive, names in ((one, ("dev", "dev/console")), (two, ("dev/console", "dev"))):
        for name in names:
            if name == "dev":
                archive.add_folder(name)
            else:
                archive.add_device(name, Device(5, 1))
    assert one.to_bytes() == two.to_bytes()
    assert one.to_bytes().index(b"dev\0") < one.to_bytes().index(b"dev/console\0")


def test_a_damaged_busybox_is_fetched_again(tmp_path, monkeypatch):
    monkeypatch.setenv("VELLUM_CACHE", str(tmp_path))
    fetched = []
    monkeypatch.setattr(busybox, "fetch", lambda: fetched.append(1) or b"program")
    path = busybox.find_or_fetch()
    busybox.find_or_fetch()
    assert len(fetched) == 1
    path.write_bytes(b"damaged")
    assert busybox.find_or_fetch().read_bytes() == b"program"
    assert len(fetched) == 2


# The emulator runner

def test_commas_are_doubled_and_words_follow_the_path():
    assert module_words(Module("bz,Image", "a=1,2")) == "bz,,Image a=1,,2"
    machine = Machine(image="v", modules=[Module("k", "w"), Module("i")])
    assert boot(machine) == ["-kernel", "v", "-initrd", "k w,i"]


def test_counted_runs_need_one_processor_or_a_newer_qemu(monkeypatch, tmp_path, request):
    request.addfinalizer(qemu_program.counting_several.cache_clear)
    monkeypatch.setenv("VELLUM_CACHE", str(tmp_path))
    monkeypatch.setattr(qemu_program, "system_version", lambda: (7, 2))
    qemu_program.counting_several.cache_clear()
    assert Qemu().refusal(Machine(icount=True)) is None
    assert "'make setup' fetches it" in Qemu().refusal(Machine(icount=True, cpus=2))
    monkeypatch.setattr(qemu_program, "system_version", lambda: (10, 0))
    assert Qemu().refusal(Machine(icount=True, cpus=2)) is None
    with pytest.raises(EmulatorError, match="cannot count"):
        choose_emulator("kvm", Machine(icount=True))
    assert qemu_program.version_in("QEMU emulator version 10.0.2 (Debian)") == (10, 0)


def test_a_machine_of_files_that_do_not_exist_is_refused(tmp_path):
    with pytest.raises(EmulatorError, match="no-such-image"):
        Machine(image=tmp_path / "no-such-image").check()


def test_a_log_is_read_in_whole_lines(tmp_path):
    tail = LogTail(tmp_path / "log")
    assert tail.new_lines() == []
    tail.path.write_bytes(b"one\r\ntw")
    assert tail.new_lines() == ["one"]
    with open(tail.path, "ab") as stream:
        stream.write(b"o\r\n")
    assert tail.new_lines() == ["two"]
    assert tail.text(limit=100) == "one\ntwo\n"
    assert tail.text(limit=3) == "one"


def test_the_last_lines_of_a_flood_are_read_too(tmp_path):
    script = "seq 300000 >$1; echo mark >>$1"  # more than one look takes
    result = run(ShellEmulator(script), Machine(), tmp_path, "t", Limits(20, marker="mark"))
    assert result.end is End.MARKER


class ShellEmulator(Emulator):
    """A shell script in an emulator's place; $1 and $2 are the logs."""

    name = "shell"

    def __init__(self, script: str):
        self.script = script

    def refusal(self, machine: Machine) -> str | None:
        return None

    def command(self, machine: Machine, com1: Serial, com2: Serial) -> list[str]:
        assert Link.TERMINAL not in (com1.link, com2.link)
        return ["sh", "-c", self.script, "sh", str(com1.log), str(com2.log)]

    def description(self, machine: Machine) -> str:
        return "a shell"


@pytest.mark.parametrize("script, limits, end, status", [
    ("echo hello >$1", Limits(10), End.EXIT, 0),
    ("exit 3", Limits(10), End.EXIT, 3),
    ("echo mark >$2; sleep 60", Limits(10, marker="mark"), End.MARKER, None),
    ("printf 'login: ' >$1; sleep 60", Limits(10, marker="login: "), End.MARKER, None),
    ("sleep 60", Limits(0.2), End.TIMEOUT, None),
    ("head -c 5000 /dev/zero >$1; sleep 60", Limits(10, log_bytes=4096), End.LOG_LIMIT, None),
])
def test_why_a_run_ended(tmp_path, script, limits, end, status):
    result = run(ShellEmulator(script), Machine(), tmp_path, "t", limits)
    assert (result.end, result.exit_status) == (end, status)
    assert result.finished == (status == 0 or end is End.MARKER)


def test_a_stopped_emulator_takes_its_children_along(tmp_path):
    script = "sleep 60 & echo child $! >$1; wait"
    result = run(ShellEmulator(script), Machine(), tmp_path, "t", Limits(20, marker="child"))
    assert vanishes(int(result.com1.split()[1]))


def vanishes(process: int) -> bool:
    """True once a process is gone; a killed one takes a moment."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False
