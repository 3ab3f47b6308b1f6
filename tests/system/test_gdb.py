# SPDX-License-Identifier: GPL-2.0-only
"""The real gdb on Vellum's stub, with the real kernel, from its first instruction on."""

import re

import pytest

from gdb_machine import (gdb, log, registers, stopped_machine, symbol, wait_for, wait_for_end)
from vellum import BUILD, VENDORS, Module


@pytest.fixture(params=VENDORS)
def cpu(request):
    return request.param


def test_from_the_first_instruction_to_a_watched_variable(cpu):
    with stopped_machine("boot", cpu) as session:
        text = gdb(session,
                   "info registers",
                   "echo first\\n", "x/3i $pc", "stepi", "stepi", "info registers eip",
                   "hbreak start_kernel", "continue", "bt", "info registers eip cr0",
                   "delete", "break sysfs_init", "continue", "bt 1", "x/i $pc", "stepi 100",
                   "delete", "watch *(long *)&jiffies", "continue", "delete",
                   "monitor exits", "monitor regs", "detach")
        wait_for(session, "com1", "Ctrl-D powers off")
    begin, _, rest = text.partition("first\n")
    assert registers(begin)["cr0"] == 0x11 and registers(begin)["cs"] == 0x10
    assert registers(begin)["eip"] + 2 == registers(rest.split("Hardware assisted")[0])["eip"]
    assert "in start_kernel ()" in rest
    assert re.search(rf"eip +{symbol('start_kernel'):#x} ", rest)
    assert registers(rest)["cr0"] & 0x80000001 == 0x80000001
    old, new = (int(value) for value in re.findall(r"^(?:Old|New) value = (-?\d+)", rest,
                                                   re.MULTILINE))
    assert new == old + 1 and "do_timer" in rest
    assert re.search(r"Breakpoint \d, 0x[0-9a-f]+ in sysfs_init", rest)
    assert "int3" not in rest, "a breakpoint shows in the code"
    assert re.search(r"^cpuid +\d+ +\d+", rest, re.MULTILINE)
    assert re.search(r"^cr0 +\w+ +PE ", rest, re.MULTILINE)
    assert "detached" in rest


def test_ctrl_c_and_a_second_gdb(cpu):
    with stopped_machine("attach", cpu) as session:
        gdb(session, "detach")
        wait_for(session, "com1", "Ctrl-D powers off")
        first = gdb(session, "info threads", "info registers eip", "detach")
        second = gdb(session, "p/x $cs", "p $eflags", "print/x *(int *)$sp", "kill")
        wait_for(session, "com2", "gdb has killed the guest")
        wait_for_end(session)
    assert re.search(r"Thread 1 \(processor 0, CPL [03]\)", first)
    assert "detached" in first
    assert re.search(r"^\$1 = 0x(60|73)$", second, re.MULTILINE)
    assert re.search(r"^\$2 = \[ .*\]", second, re.MULTILINE)


def test_a_triple_fault_stops_where_it_came(cpu):
    """The registers are those that the test guest has set."""
    guest = [Module(BUILD / "guest" / "triple_fault.bin")]
    with stopped_machine("fault", cpu, "vmi=off gdb=com2", guest) as session:
        text = gdb(session, "continue", "info registers", "x/i $pc", "continue",
                   symbols=BUILD / "guest" / "triple_fault.elf")
        wait_for_end(session)
    assert "SIGSEGV" in text
    assert "triple fault: the guest's processor 0" in text  # Vellum's own words come, too
    values = registers(text)
    assert (values["eax"], values["ebx"], values["esi"]) == (0x600dcafe, 0xbadf00d, 0x5151d1d1)
    assert re.search(r"=> 0x[0-9a-f]+.*:\tud2", text)
    assert '"event":"end","why":"triple-fault"' in text
    assert "exited normally" in text


def guest_file(name):
    return [Module(BUILD / "guest" / f"{name}.bin")]


def elf(name):
    return BUILD / "guest" / f"{name}.elf"


def values_after(text, mark):
    return registers(text.split(f"@{mark}\n")[1].split("@")[0])


def test_registers_memory_and_exits_of_a_small_guest(cpu):
    """Values that the guest has set, values that gdb sets, and steps over what exits."""
    call = {"amd": "at_vmmcall", "intel": "at_vmcall"}[cpu]
    with stopped_machine("small", cpu, "vmi=on gdb=com2", guest_file("debugged")) as session:
        text = gdb(session,
                   "hbreak all_set", "continue", "echo @all_set\\n", "info registers",
                   "p/x $xmm3.v4_int32", "p $st0", "p (float)$st1", "p/x $cr0 & 1", "info symbol $pc",
                   "echo @behind_cpuid\\n", "stepi", "info registers",
                   f"break {call}", "continue", "echo @call\\n", "stepi", "info registers",
                   "info symbol $pc", "break behind_pushf", "break behind_call",
                   "echo @step\\n", "stepi", "stepi", "stepi", "stepi", "info registers",
                   "echo @written\\n", "set var $ebx = 0x12345678", "set var $xmm3.v4_int32[2] = 0x77",
                   "set var $st0 = 2.5", "p/x $ebx", "p/x $xmm3.v4_int32", "p $st0",
                   "set var *(int *)0x90ffe = 0x11223344", "x/1xw 0x90ffe", "x/1xw 0xf0000000",
                   "print *(int *)0x7fffe000", "set var *(int *)0x7fffe000 = 1",
                   "delete", "hbreak let_go", "continue", "info breakpoints", "detach",
                   symbols=elf("debugged"))
        wait_for(session, "com1", "debugged")
        wait_for_end(session)
    before = values_after(text, "all_set")
    assert (before["eax"], before["ebx"], before["ecx"]) == (0x40000000, 0xb1b1b1b1, 0)
    assert (before["edx"], before["esi"]) == (0xd1d1d1d1, 0x51515151)
    assert (before["edi"], before["ebp"]) == (0xd2d2d2d2, 0xb9b9b9b9)
    assert before["eflags"] & 1 and before["cs"] == 0x08 and before["ss"] == 0x10
    assert "{0x11111111, 0x22222222, 0x33333333, 0x44444444}" in text
    assert re.search(r"\$\d+ = 1$", text, re.MULTILINE) and "= 3.14159274" in text
    behind = values_after(text, "behind_cpuid")
    assert behind["eip"] == before["eip"] + 2
    assert 0x40000000 < behind["eax"] < 0x40000100, "EAX is what CPUID has answered"
    assert behind["ebx"] == int.from_bytes(b"Vell", "little")
    called = values_after(text, "call")
    assert called["eax"] == 0xffffffda, "-ENOSYS: nothing answers call 999"
    stepped = values_after(text, "step")
    assert stepped["eax"] & 0x100 == 0, "the guest has seen the trap flag"
    written = text.split("@written\n")[1]
    assert "0x12345678" in written and "0x11111111, 0x22222222, 0x77, 0x44444444" in written
    assert "= 2.5" in written and "0x00090ffe:\t0x11223344" in written.replace("0x90ffe", "0x00090ffe")
    assert written.count("Cannot access memory at address") == 3
    assert "PASS debugged" in log(session, "com1")
