# SPDX-License-Identifier: GPL-2.0-only
"""Boots the bare guests of this folder, each in every way that guests.py knows.

A guest gives its verdict on COM1: "PASS name", "FAIL name: why" or "SKIP name: why".
Lines "SAME ..." are for comparison: a native run of the same guest says the same. What
Vellum says on COM2 is held against guests.py. "make guests" builds them; nothing is
built here.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "boot" / "emulators"))

from emulator import End, Limits, Machine, Module, choose_emulator, run  # noqa: E402
from guests import GUESTS  # noqa: E402

BUILD = ROOT / os.environ.get("BUILD", "build")
LOGS = BUILD / "logs" / "guest"
SECONDS = 60    # one run takes one or two
MEMORY = 64    # MiB, for every guest
LOG_BYTES = 1 << 20

CASES = [pytest.param(guest, boot, id=f"{guest.name}-{boot.name}")
         for guest in GUESTS for boot in guest.runs]
COMPARED = [pytest.param(guest, id=guest.name) for guest in GUESTS if guest.same]


def machine_for(guest, boot):
    kernel = BUILD / "guest" / f"{guest.name}.bin"
    return Machine(image=BUILD / "vellum.elf", append=boot.words, memory=MEMORY,
                   modules=[Module(kernel, boot.told)], debug_exit=True,
                   extra=list(boot.extra))


def start(guest, boot):
    machine = machine_for(guest, boot)
    limits = Limits(SECONDS, LOG_BYTES, marker="stopped here" if boot.stays else None)
    emulator = choose_emulator(os.environ.get("EMU", "auto"), machine)
    if emulator.name in boot.not_on:
        pytest.skip(boot.not_on[emulator.name])
    return run(emulator, machine, LOGS, f"{guest.name}-{boot.name}", limits)


@pytest.fixture(scope="module")
def boots():
    """Each boot happens once: the comparison uses what the verdict was read from."""
    done = {}

    def boot(guest, how):
        key = guest.name, how.name
        if key not in done:
            done[key] = start(guest, how)
        return done[key]
    return boot


def records(text):
    return [json.loads(line) for line in re.findall(r"^VELLUM (\{.*\})$", text, re.MULTILINE)]


def verdict(guest, result):
    found = re.findall(rf"^((?:PASS|FAIL|SKIP) {guest.name}\b.*)$", result.com1, re.MULTILINE)
    assert len(found) == 1, (f"{len(found)} verdicts on COM1; ended by {result.end.value}\n"
                             f"--- COM1\n{result.com1[-2000:]}\n--- COM2\n{result.com2[-4000:]}")
    return found[0]


def check_console(boot, text):
    for pattern in boot.console:
        assert re.search(pattern, text, re.MULTILINE), f"COM2 lacks /{pattern}/:\n{text}"
    for words in boot.once:
        assert text.count(words) == 1, f"COM2 shows '{words}' {text.count(words)} times"


def check_end(boot, found, com1):
    """The records of exits and of the end come last, in this order, once, not too early."""
    assert [record["event"] for record in found] == ["boot", "exits", "end"]
    exits, end = found[1:]
    assert end["why"] == boot.why
    assert exits["total"] == sum(reason["count"] for reason in exits["by_reason"].values())
    assert "unknown" not in exits["by_reason"]
    for counted in re.findall(r"^EXITS (\d+)$", com1, re.MULTILINE):
        assert exits["total"] == int(counted) + 1, "the record was not made at the end"
    for reason, count in boot.exits.items():
        assert exits["by_reason"].get(reason, {"count": 0})["count"] == count, reason


@pytest.mark.parametrize("guest, boot", CASES)
def test_guest(guest, boot, boots):
    result = boots(guest, boot)
    line = verdict(guest, result)
    assert not line.startswith("FAIL"), f"{line}\n--- COM2\n{result.com2[-4000:]}"
    assert result.end is (End.MARKER if boot.stays else End.EXIT)
    assert result.exit_status in (0, None), "ended by the debug port: the reset did nothing"
    check_console(boot, result.com2)
    if boot.why is not None:
        check_end(boot, records(result.com2), result.com1)
    if line.startswith("SKIP"):
        pytest.skip(line.partition(": ")[2])


def same_lines(result):
    return [line for line in result.com1.splitlines() if line.startswith("SAME ")]


@pytest.mark.parametrize("guest", COMPARED)
def test_same_as_native(guest, boots):
    """What the guest saw virtualized is what it sees on the bare machine."""
    by_name = {boot.name: same_lines(boots(guest, boot)) for boot in guest.runs}
    native = by_name.pop("native")
    assert native, "the guest says no line to compare"
    for name, lines in by_name.items():
        assert lines == native, name
