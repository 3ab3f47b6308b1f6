# SPDX-License-Identifier: GPL-2.0-only
"""Boots the bare guests of this folder, each in every way that guests.py knows.

A guest gives its verdict on COM1: "PASS name", "FAIL name: why" or "SKIP name: why".
Lines "SAME ..." are for comparison: a native run of the same guest on the same processor
says the same. What Vellum says on COM2 is held against guests.py. "make guests" builds
them; nothing is built here.
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

from emulator import EmulatorError, End, Limits, Machine, Module, choose_emulator  # noqa: E402
from boots import Boot, Boots  # noqa: E402
from guests import ALL, GUESTS  # noqa: E402

BUILD = ROOT / os.environ.get("BUILD", "build")
LOGS = BUILD / "logs" / "guest"
SECONDS = 60    # one run takes one or two on QEMU, four on Bochs
MEMORY = 64    # MiB, for every guest
LOG_BYTES = 1 << 20

RESET_FAILED = "the reset through the keyboard controller did nothing"  # lib/guest.c

CASES = [pytest.param(place, guest, run, id=f"{guest.name}-{run.name}-{place.name}")
         for place in ALL for guest in GUESTS for run in guest.runs_on(place)]
COMPARED = [pytest.param(place, guest, id=f"{guest.name}-{place.name}")
            for place in ALL for guest in GUESTS
            if guest.same and len(guest.runs_on(place)) > 1]


def emulator_for(place, machine):
    wish = os.environ.get("EMU", "auto") if place.emulator == "auto" else place.emulator
    return choose_emulator(wish, machine)


def boot_for(place, guest, run):
    """What has to be started; a text says why it cannot be."""
    kernel = BUILD / "guest" / f"{guest.name}.bin"
    modules = [Module(kernel, words) for words in (run.told, *guest.modules)]
    machine = Machine(cpu=place.cpu, image=BUILD / "vellum.elf", append=run.words,
                      memory=MEMORY, debug_exit=True,
                      modules=[] if guest.disk else modules,
                      disk=BUILD / "guest" / guest.disk if guest.disk else None,
                      icount=run.icount, extra=list(run.extra), cpus=run.cpus)
    try:
        emulator = emulator_for(place, machine)
    except EmulatorError as error:
        return str(error)
    for where in (place.name, emulator.name, f"{emulator.name} {place.cpu}"):
        if where in run.not_on:
            return run.not_on[where]
    limits = Limits(SECONDS, LOG_BYTES, marker="stopped here" if run.stays else None)
    return Boot(emulator, machine, f"{guest.name}-{run.name}-{place.name}", limits)


def runs_of(item):
    """The runs that a test is about: one, or all of a guest's."""
    parameters = item.callspec.params
    place, guest = parameters["place"], parameters["guest"]
    runs = [parameters["run"]] if "run" in parameters else guest.runs_on(place)
    return [(place, guest, run) for run in runs]


@pytest.fixture(scope="session")
def boots(request):
    """Each boot happens once: the comparison uses what the verdict was read from."""
    wanted = [boot_for(*run) for item in request.session.items
              if "boots" in item.fixturenames for run in runs_of(item)]
    with Boots(LOGS, [boot for boot in wanted if isinstance(boot, Boot)]) as running:
        yield running


def result_of(boots, place, guest, run):
    boot = boot_for(place, guest, run)
    if isinstance(boot, str):
        pytest.skip(boot)
    return boots.result(boot)


def records(text):
    return [json.loads(line) for line in re.findall(r"^VELLUM (\{.*\})$", text, re.MULTILINE)]


def verdict(guest, result):
    found = re.findall(rf"^((?:PASS|FAIL|SKIP) {guest.name}\b.*)$", result.com1, re.MULTILINE)
    assert len(found) == 1, (f"{len(found)} verdicts on COM1; ended by {result.end.value}\n"
                             f"--- COM1\n{result.com1[-2000:]}\n--- COM2\n{result.com2[-4000:]}\n"
                             f"--- emulator\n{result.messages[-1000:]}")
    return found[0]


def check_console(run, text):
    for pattern in run.console:
        assert re.search(pattern, text, re.MULTILINE), f"COM2 lacks /{pattern}/:\n{text}"
    for words in run.once:
        assert text.count(words) == 1, f"COM2 shows '{words}' {text.count(words)} times"


def check_end(run, found, com1):
    """The records of exits and of the end come last, in this order, once, not too early."""
    events = [record["event"] for record in found]
    assert events[0] == "boot" and events[-1] == "end"
    assert set(events[1:-1]) == {"exits"} and len(events) <= 2 + run.cpus
    assert found[-1]["why"] == run.why
    for exits in found[1:-1]:
        assert exits["total"] == sum(reason["count"] for reason in exits["by_reason"].values())
        assert "unknown" not in exits["by_reason"]
    exits = found[1]
    for counted in re.findall(r"^EXITS (\d+)$", com1, re.MULTILINE):
        assert exits["total"] == int(counted) + 1, "the record was not made at the end"
    for reason, count in run.exits.items():
        assert exits["by_reason"].get(reason, {"count": 0})["count"] == count, reason
    for call, count in run.calls.items():
        assert exits["vmi_calls"].get(call, {"count": 0})["count"] == count, call


@pytest.mark.parametrize("place, guest, run", CASES)
def test_guest(place, guest, run, boots):
    result = result_of(boots, place, guest, run)
    line = verdict(guest, result)
    assert not line.startswith("FAIL"), f"{line}\n--- COM2\n{result.com2[-4000:]}"
    assert result.end is (End.MARKER if run.stays else End.EXIT)
    assert result.exit_status in (0, None) and RESET_FAILED not in result.com1
    check_console(run, result.com2)
    if run.why is not None:
        check_end(run, records(result.com2), result.com1)
    if line.startswith("SKIP"):
        pytest.skip(line.partition(": ")[2])


def same_lines(result):
    return [line for line in result.com1.splitlines() if line.startswith("SAME ")]


@pytest.mark.parametrize("place, guest", COMPARED)
def test_same_as_native(place, guest, boots):
    """What the guest saw virtualized is what it sees on the bare machine."""
    by_name = {run.name: same_lines(result_of(boots, place, guest, run))
               for run in guest.runs_on(place)}
    native = by_name.pop("native")
    assert native, "the guest says no line to compare"
    for name, lines in by_name.items():
        assert lines == native, name
