# SPDX-License-Identifier: GPL-2.0-only
"""The real kernel in every column on both vendors' processors: it boots, finds the ROM only
where there is one, and sees the same machine in every column."""

import contextlib
import re
from concurrent.futures import ThreadPoolExecutor

import pexpect
import pytest

from vellum import (BUILD, EMULATORS, IMAGE, INITRD, PLAIN_KERNEL, ROOT, VENDORS, VMI_KERNEL,
                    Machine, Module, boot, emulator_for, kernel, record, records)

COLUMNS = {
    "N1": "mode=native",
    "H0": "mode=hv vmi=off",
    "H1": "mode=hv vmi=on",
    "H1-calls": "mode=hv vmi=calls",
}
AT_ONCE = 2
RUN = ROOT / "boot" / "emulators" / "run"
SHELL_WORDS = "console=ttyS0 quiet nokaslr tsc=reliable vellum.run=shell"


@pytest.fixture(scope="module", params=VENDORS)
def cpu(request):
    return request.param


@pytest.fixture(scope="module")
def runs(cpu):
    """Every column's result on one vendor's processor."""
    def run(column):
        return boot(f"boot-{cpu}-{column}", COLUMNS[column], cpu=cpu, icount=True)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(COLUMNS, pool.map(run, COLUMNS)))


def memory_map(console):
    return re.findall(r"BIOS-e820: (\[mem .*)", console)


@pytest.mark.parametrize("column", COLUMNS)
def test_guest_comes_up_and_ends_the_machine(runs, column):
    result = runs[column]
    assert "vellum-guest: up" in result.com1
    assert "vellum-guest: done" in result.com1
    assert result.finished, result


@pytest.mark.parametrize("column", COLUMNS)
def test_boot_record_says_how(cpu, runs, column):
    boot_record = record(runs[column].com2, "boot")
    words = dict(word.split("=") for word in COLUMNS[column].split())
    assert boot_record["mode"] == words["mode"]
    assert boot_record["vmi"] == words.get("vmi", "off")
    assert boot_record["vendor"] == ("none" if column == "N1" else VENDORS[cpu])


@pytest.mark.parametrize("column", ["H0", "H1", "H1-calls"])
def test_last_words_are_the_exits_and_the_end(runs, column):
    last = records(runs[column].com2)[-2:]
    assert [one["event"] for one in last] == ["exits", "end"]
    assert last[0]["total"] == sum(one["count"] for one in last[0]["by_reason"].values())
    assert last[1]["why"] in ("poweroff", "reset")


def test_native_says_nothing_after_the_jump(runs):
    assert records(runs["N1"].com2)[-1]["event"] == "boot"


@pytest.mark.parametrize("column", ["H1", "H1-calls"])
def test_kernel_finds_the_rom(runs, column):
    assert re.search(r"vmi: .*ROM.* at 0x[0-9a-f]+", runs[column].com1, re.IGNORECASE)
    assert re.search(r"API 3\.0", runs[column].com1)
    assert "VMI ROM" in runs[column].com2
    assert "announced itself" in runs[column].com2


@pytest.mark.parametrize("column", ["N1", "H0"])
def test_kernel_says_that_there_is_no_rom(runs, column):
    assert re.search(r"vmi: no .*ROM", runs[column].com1, re.IGNORECASE)
    assert "announced itself" not in runs[column].com2


def test_every_column_sees_the_same_memory(runs):
    maps = {column: memory_map(result.com1) for column, result in runs.items()}
    assert maps["N1"]
    for column in COLUMNS:
        assert maps[column] == maps["N1"]


def test_kept_memory_is_reserved_for_the_guest(runs):
    keeping = re.search(r"keeping (\d+) MiB at ([0-9a-f]+)", runs["H1"].com2)
    start, size = int(keeping[2], 16), int(keeping[1]) << 20
    usable = [entry for entry in memory_map(runs["H1"].com1) if "usable" in entry]
    for entry in usable:
        first, last = (int(number, 16) for number in re.findall(r"0x([0-9a-f]+)", entry)[:2])
        assert last < start or first >= start + size, entry


def test_plain_kernel_boots_too():
    result = boot("boot-N0", "mode=native", [kernel(PLAIN_KERNEL), Module(INITRD)], icount=True)
    assert "vellum-guest: done" in result.com1
    assert "vmi:" not in result.com1


def test_vellum_is_thin(runs):
    """At most 32 MiB of RAM, 20 million instructions to the guest, 256 KiB of image."""
    for result in runs.values():
        boot_record = record(result.com2, "boot")
        assert boot_record["memory_kept"] <= 32 << 20
        assert boot_record["cycles"] <= 20_000_000
    assert IMAGE.stat().st_size <= 256 << 10


def test_second_processor_stays_out_of_reach():
    result = boot("boot-2cpus", "mode=hv cpus=1", cpus=2)
    assert "the guest gets 1 of 2 processors" in result.com2
    assert "vellum-guest: done" in result.com1


@pytest.mark.parametrize("vendor, model, why", [
    ("amd", "max,-svm", "neither AMD-V .* nor VT-x"),
    ("intel", "p4_prescott_celeron_336", "neither AMD-V .* nor VT-x"),
])
def test_without_virtualization_the_guest_runs_natively(vendor, model, why):
    result = boot("boot-" + model.replace(",", ""), "mode=hv", cpu=vendor, model=model)
    assert re.search(f"warning: running the guest natively: .*{why}", result.com2)
    assert record(result.com2, "boot")["mode"] == "native"
    assert "vellum-guest: done" in result.com1


@pytest.mark.parametrize("vendor, model, missing", [
    ("amd", "max,-npt", "AMD-V has no nested paging"),
    ("amd", "qemu64,+svm,-npt", "AMD-V has no nested paging"),
    ("intel", "core2_penryn_t9600", "VT-x has no extended page tables (EPT)"),
    ("intel", "corei5_lynnfield_750", "VT-x has no unrestricted guest mode"),
])
def test_without_nested_paging_shadow_paging_is_used(vendor, model, missing):
    result = boot("boot-" + model.replace(",", ""), "mode=hv", cpu=vendor, model=model,
                  seconds=900)
    assert f"warning: this {missing}: paging=shadow is used" in result.com2
    assert record(result.com2, "boot")["paging"] == "shadow"
    assert "vellum-guest: done" in result.com1


def test_shadow_paging_boots_on_vt_x():
    result = boot("boot-intel-shadow", "mode=hv paging=shadow", cpu="intel", seconds=900)
    assert record(result.com2, "boot")["paging"] == "shadow"
    assert "vellum-guest: done" in result.com1
    assert record(result.com2, "exits")["by_reason"]["hidden_fault"]["count"] > 1000


def test_real_mode_ends_a_guest_where_no_guest_can_have_it():
    result = boot("boot-real-mode", "mode=hv", [Module(BUILD / "guest" / "real_mode.bin")],
                  cpu="intel", model="core2_penryn_t9600")
    assert "goes to real mode" in result.com2
    assert "boot this guest with mode=native" in result.com2
    assert record(result.com2, "end")["why"] == "real-mode"


def test_processor_without_long_mode_is_told_on_the_screen_and_com1():
    result = boot("boot-qemu32", extra=["-cpu", "qemu32"], marker="no 64-bit mode", seconds=20)
    assert "no 64-bit mode" in result.com1


def test_unknown_words_are_named_and_the_defaults_used():
    result = boot("boot-words", "mode=maybe colour=red vmi=off")
    assert re.search(r"maybe", result.com2)
    assert re.search(r"colour", result.com2)
    assert record(result.com2, "boot")["mode"] == "hv"


def test_console_may_share_com1_with_the_guest():
    result = boot("boot-com1", "console=com1 vmi=off")
    assert "keeping 8 MiB" in result.com1
    assert record(result.com1, "end")["why"] in ("poweroff", "reset")
    assert not (BUILD / "logs" / "boot-com1.com2.log").read_text()


def test_without_statistics_vellum_lets_the_machine_end_unwatched():
    result = boot("boot-stats", "stats=off")
    assert [one["event"] for one in records(result.com2)] == ["boot"]
    assert "vellum-guest: done" in result.com1 and result.finished


@pytest.mark.parametrize("vendor", VENDORS)
def test_shell_on_the_terminal_ends_with_ctrl_d(vendor):
    emulator_for(Machine(cpu=vendor, image=IMAGE))
    words = ["--interactive", "--emu", EMULATORS[vendor], "--cpu", vendor,
             "--logs", str(BUILD / "logs"), "--name", f"boot-{vendor}-shell",
             "--image", str(IMAGE), "--append", "console=com1 mode=hv",
             "--module", f"{VMI_KERNEL} {SHELL_WORDS}", "--module", str(INITRD)]
    with contextlib.closing(pexpect.spawn(str(RUN), words, timeout=180)) as terminal:
        terminal.expect("Ctrl-D powers off")
        terminal.expect("# ")
        terminal.sendline("echo $((6 * 7))")
        terminal.expect("\n42")
        terminal.expect("# ")
        terminal.sendeof()
        terminal.expect('"event":"end"')
        terminal.expect(pexpect.EOF)
    assert terminal.exitstatus == 0
