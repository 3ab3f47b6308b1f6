# SPDX-License-Identifier: GPL-2.0-only
"""A guest of two processors keeps time: no tick, timer or alarm is lost, the kernel's clock is the
real-time clock's, and nothing is complained of (linux/soak.c). SOAK= says for how many seconds of
the guest's time; `make test-soak` asks for an hour."""

import os

import pytest

import linux_guest
from vellum import record

SECONDS = int(os.environ.get("SOAK", "30"))
PER_SECOND = 20        # expirations of the workers' timers
CPUS = 2
HZ = 250
NS = 1_000_000_000
LATE_NS = 5_000_000    # a tick and a bit, should a processor have been off for so long
PPM = 200
COLUMNS = {
    "on": "mode=hv vmi=on",
    "calls": "mode=hv vmi=calls",  # the ROM's clock and alarms
}


@pytest.fixture(scope="module", params=COLUMNS)
def soak(request):
    return linux_guest.start(f"soak-{request.param}", COLUMNS[request.param], f"soak,{SECONDS}",
                             cpus=CPUS, seconds=1500 + 3 * SECONDS)


def test_it_ends_and_nothing_is_complained_of(soak):
    assert "soak: done" in soak.com1 and soak.finished, soak
    assert linux_guest.complaints(soak) == []
    assert record(soak.com2, "end")["why"] == "reset"


def test_no_expiration_is_lost_or_late(soak):
    workers = linux_guest.said(soak, "WORKER")
    assert sorted(worker["cpu"] for worker in workers) == list(range(CPUS))
    for worker in workers:
        assert worker["expirations"] == worker["expected"] == SECONDS * PER_SECOND
        assert worker["late_reads"] == 0
        assert worker["latest_ns"] < LATE_NS
        assert worker["alarms"] in (SECONDS - 1, SECONDS)
        assert worker["programs"] == worker["pings"] == worker["barriers"] == SECONDS


def test_the_clocks_agree(soak):
    clocks, = linux_guest.said(soak, "CLOCKS")
    assert clocks["seconds"] >= SECONDS
    assert abs(clocks["monotonic_ns"] / (clocks["seconds"] * NS) - 1) < PPM * 1e-6
    assert abs(clocks["jiffies"] * NS / 100 - clocks["monotonic_ns"]) <= 2 * NS / 100


@pytest.mark.parametrize("column", COLUMNS)
def test_a_timer_that_ticks_all_the_time_loses_no_tick(column):
    """Without high resolution and idle mode each processor's interrupts are its ticks."""
    result = linux_guest.start(f"soak-ticks-{column}", COLUMNS[column], "soak,5", cpus=CPUS,
                               more="nohz=off highres=off", seconds=1500)
    clocks, = linux_guest.said(result, "CLOCKS")
    ticks, = linux_guest.said(result, "TICKS")
    wanted = clocks["seconds"] * HZ
    assert linux_guest.complaints(result) == []
    assert all(wanted - 2 <= count <= wanted + 2 for count in ticks), (wanted, ticks)
