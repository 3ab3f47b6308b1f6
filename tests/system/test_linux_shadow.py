# SPDX-License-Identifier: GPL-2.0-only
"""The patched 6.1 without nested paging makes the ROM's calls of page tables, and goes on as it
does natively: frames.c forks hundreds of programs that die of each kind of fault."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import linux_guest
from vellum import record

COLUMNS = {
    "native": "mode=native",
    "shadow-on": "mode=hv vmi=on paging=shadow stats=end",
}
MMU_CALLS = {"SetPxE", "UpdatePxE", "AllocatePage", "ReleasePage", "InvalPage", "FlushTLB",
             "SetLinearMapping"}


@pytest.fixture(scope="module")
def runs():
    def run(column):
        return linux_guest.start(f"shadow-{column}", COLUMNS[column], "frames", seconds=1500)
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(COLUMNS, pool.map(run, COLUMNS)))


def test_every_program_ends_as_natively(runs):
    native = linux_guest.same_lines(runs["native"])
    assert native[-1] == "SAME frames done"
    for column, result in runs.items():
        assert linux_guest.same_lines(result) == native, column
        assert linux_guest.complaints(result) == [], column


def test_the_calls_take_the_place_of_faults(runs):
    """No INVLPG is left, and nearly each page fault is mended by a call that fills its entry."""
    assert MMU_CALLS <= set(linux_guest.calls_taken(runs["shadow-on"]))
    exits = record(runs["shadow-on"].com2, "exits")
    assert "invlpg" not in exits["by_reason"]
    faults = exits["by_reason"]["guest_fault"]["count"]
    assert exits["vmi_calls"]["SetPxE"]["count"] > 0.9 * faults
