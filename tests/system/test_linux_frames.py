# SPDX-License-Identifier: GPL-2.0-only
"""No user program can crash the 6.1 guest by a frame that IRET, SYSEXIT or a POP of a segment
register can't take, and each frame ends as it does natively (linux/frames.c)."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import linux_guest
from vellum import VENDORS

COLUMNS = {
    "native": "mode=native",
    "on": "mode=hv vmi=on",
    "calls": "mode=hv vmi=calls",
    "trace": "mode=hv vmi=trace",
}
INTERRUPT_CALLS = {"EnableInterrupts", "DisableInterrupts", "GetInterruptMask",
                   "SetInterruptMask"}


@pytest.fixture(scope="module", params=VENDORS)
def runs(request):
    def run(column):
        return linux_guest.start(f"frames-{request.param}-{column}", COLUMNS[column], "frames",
                                 cpu=request.param, seconds=1500)
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(COLUMNS, pool.map(run, COLUMNS)))


def test_every_frame_ends_as_natively(runs):
    native = linux_guest.same_lines(runs["native"])
    assert native[-1] == "SAME frames done"
    for column, result in runs.items():
        assert linux_guest.same_lines(result) == native, column


def test_descriptors_of_their_own_are_made_and_meet_both_ends(runs):
    """Some selectors reach user mode, others fault at the way back to it."""
    native = linux_guest.same_lines(runs["native"])
    assert "SAME descriptor 9: 0" in native
    for segment in ("cs", "ss"):
        rows = [line for line in native if line.startswith(f"SAME sigreturn {segment} ")]
        assert any("trap 6 " in row for row in rows) and any("trap 32 " in row for row in rows)


def test_the_kernel_goes_on_and_complains_of_nothing(runs):
    for column, result in runs.items():
        assert "vellum-guest: done" in result.com1 and result.finished, (column, result)
        assert linux_guest.complaints(result) == [], column


def test_the_kernel_makes_the_interrupt_calls(runs):
    assert not INTERRUPT_CALLS & set(linux_guest.calls_taken(runs["on"]))
    for column in ("calls", "trace"):
        assert INTERRUPT_CALLS <= set(linux_guest.calls_taken(runs[column])), column
