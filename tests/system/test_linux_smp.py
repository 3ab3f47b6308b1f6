# SPDX-License-Identifier: GPL-2.0-only
"""The patched 6.1 on several processors does under Vellum, with the ROM and without, what it does
natively: comes up with all of them, keeps time, takes processors off and on again, restarts."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import linux_guest
from vellum import BUILD, VMI_KERNEL, record, records

ROUNDS = 2
COLUMNS = {
    "native": "mode=native",
    "off": "mode=hv vmi=off",      # INIT and STARTUP
    "on": "mode=hv vmi=on",        # SetInitialAPState
    "calls": "mode=hv vmi=calls",  # and the ROM's clock and alarms
}
MACHINES = {  # columns of each; Bochs takes its time
    "amd-2": ("native", "off", "on", "calls"),
    "amd-4": ("native", "on"),
    "amd-2-pae": ("native", "on", "calls"),
    "intel-2": ("native", "off", "on"),
}
PAE_KERNEL = BUILD / "kernel-vmi-pae" / "bzImage"  # six more minutes to build: not for each test
SLEEP_AT_MOST_NS = 1_020_000_000
# Nobody needs the PIT where the ROM has the alarms; and Linux trusts an Intel processor's TSC
# deadline timer where it sees that there is a hypervisor.
PIT = "SAME interrupts 0: timer"
NS = 1_000_000_000
PPM = 200  # of a clock that was measured for some milliseconds


def cpus_of(machine):
    return int(machine.split("-")[1])


def kernel_of(machine):
    if not machine.endswith("-pae"):
        return VMI_KERNEL
    if not PAE_KERNEL.exists():
        pytest.skip("no kernel with PAE; make kernels PAE=1 builds it")
    return PAE_KERNEL


@pytest.fixture(scope="module", params=MACHINES)
def machine(request):
    return request.param


@pytest.fixture(scope="module")
def all_runs():
    """Results by machine and column, of what has been asked for."""
    return {}


@pytest.fixture(scope="module")
def runs(all_runs, machine):
    vendor, kernel = machine.partition("-")[0], kernel_of(machine)

    def run(column):
        return linux_guest.start(f"smp-{machine}-{column}", COLUMNS[column],
                                 f"everyday,{ROUNDS}", cpu=vendor, cpus=cpus_of(machine),
                                 kernel=kernel, seconds=1500)
    if machine not in all_runs:
        with ThreadPoolExecutor(2) as pool:
            columns = MACHINES[machine]
            all_runs[machine] = dict(zip(columns, pool.map(run, columns)))
    return all_runs[machine]


def virtual(runs):
    return {column: result for column, result in runs.items() if column != "native"}


def vmi_calls(result):
    """Hypercalls by name, of all processors."""
    sums = {}
    for one in records(result.com2):
        for name, call in one.get("vmi_calls", {}).items():
            sums[name] = sums.get(name, 0) + call["count"]
    return sums


def exits(result, cpu):
    return [one for one in records(result.com2) if one["event"] == "exits"][cpu]["by_reason"]


def test_all_processors_are_online_and_the_machine_restarts(machine, runs):
    for column, result in runs.items():
        assert f"SAME online 0-{cpus_of(machine) - 1}" in linux_guest.same_lines(result), column
        assert "vellum-guest: done" in result.com1 and result.finished, (column, result)


def test_programs_run(runs):
    for column, result in runs.items():
        assert [one["bench"] for one in linux_guest.said(result, "RESULT")] == ["getppid"], column


def without_pit(lines):
    return [line for line in lines if line != PIT]


def test_everything_is_as_natively(machine, runs):
    native = linux_guest.same_lines(runs["native"])
    assert sum(" to 1: online" in line for line in native) == ROUNDS * (cpus_of(machine) - 1)
    assert not any("timer no" in line for line in native)
    for column, result in virtual(runs).items():
        assert without_pit(linux_guest.same_lines(result)) == without_pit(native), column


def test_the_kernel_complains_of_nothing(runs):
    for column, result in runs.items():
        assert linux_guest.complaints(result) == [], column


def test_a_second_is_a_second(runs):
    for column, result in runs.items():
        clocks = linux_guest.said(result, "CLOCKS")[-1]
        timed = linux_guest.said(result, "TIMED")
        hertz = clocks["tsc"] / clocks["seconds"]
        assert abs(clocks["monotonic_ns"] / (clocks["seconds"] * NS) - 1) < PPM * 1e-6, column
        assert len(timed) == 2
        for sleep in timed:
            assert sleep["status"] == 0
            assert NS <= sleep["monotonic_ns"] <= SLEEP_AT_MOST_NS, column
            assert 0.999 < sleep["tsc"] / hertz < SLEEP_AT_MOST_NS / NS, column


def test_end_is_a_reset(runs):
    for column, result in virtual(runs).items():
        assert record(result.com2, "end")["why"] == "reset", column


def test_with_the_rom_processors_start_by_the_state_they_are_given(machine, runs):
    starts = (ROUNDS + 1) * (cpus_of(machine) - 1)
    for column, result in virtual(runs).items():
        expected = 0 if column == "off" else starts
        assert vmi_calls(result).get("SetInitialAPState", 0) == expected, column
        taken = linux_guest.calls_taken(result)
        assert ("SetInitialAPState" in taken) == (column != "off")


def test_the_state_spares_the_way_through_real_mode(machine, runs):
    """Where each start takes one write of CR0 that exits."""
    if not machine.startswith("intel"):
        pytest.skip("on AMD-V no write of CR0 exits")
    written = {column: exits(result, 1).get("control_register", {"count": 0})["count"]
               for column, result in virtual(runs).items()}
    assert written == {"off": ROUNDS + 1, "on": 0}


def test_without_it_init_and_startup_are_caught(machine, runs):
    if "off" not in runs:
        pytest.skip("this machine has no run without the ROM")
    starts = ROUNDS + 1
    if machine.startswith("intel"):
        other = exits(runs["off"], 1)
        assert other["init"]["count"] >= starts and other["startup"]["count"] >= starts
    else:
        assert exits(runs["off"], 0)["apic"]["count"] >= 2 * starts


def test_calls_are_made_where_hints_are_missing(runs):
    if "calls" not in runs:
        pytest.skip("this machine has no run without hints")
    taken = linux_guest.calls_taken(runs["calls"])
    for call in ("EnableInterrupts", "DisableInterrupts", "GetInterruptMask", "SetInterruptMask",
                 "SetAlarm", "GetCycleCounter"):
        assert call in taken


@pytest.mark.parametrize("column, why", [("native", None), ("off", None), ("on", "poweroff")])
def test_switched_off_it_stops_or_with_the_rom_powers_off(column, why):
    """Without ACPI a kernel can only stand still, unless the ROM switches the machine off."""
    result = linux_guest.start(f"halt-{column}", COLUMNS[column], "halt", cpus=2,
                               marker=None if why else "System halted", seconds=1500)
    assert result.finished, result
    assert linux_guest.complaints(result) == []
    if why:
        assert record(result.com2, "end")["why"] == why
    else:
        assert "System halted" in result.com1
        assert [one["event"] for one in records(result.com2)] == ["boot"]
