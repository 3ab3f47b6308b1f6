# SPDX-License-Identifier: GPL-2.0-only
"""Where a kernel developer stops Linux with gdb: in a driver, in a user's program, in a panic, and
on the way through a VMI call."""

import re
import struct

import pytest

from gdb_machine import (KERNEL_WORDS, gdb, log, registers, stopped_machine, symbol, wait_for,
                         wait_for_end)
from vellum import BUILD, INITRD, VENDORS, VMI_KERNEL, Module

PROGRAM = BUILD / "bench" / "vellum-bench"
RUN_PROGRAM = KERNEL_WORDS.replace("=shell", "=vellum-bench,getppid")
COM1 = 0x3f8


@pytest.fixture(params=VENDORS)
def cpu(request):
    return request.param


def entry_of(program):
    """The address of an ELF32 program's first instruction."""
    return struct.unpack_from("<I", program.read_bytes(), 24)[0]


def first_bytes(program, count):
    """What the program has there; its text segment is mapped as it stands in the file."""
    data = program.read_bytes()
    offset = entry_of(program) - 0x8048000
    return data[offset:offset + count]


def test_a_driver_and_then_a_user_program(cpu):
    entry = entry_of(PROGRAM)
    modules = [Module(VMI_KERNEL, RUN_PROGRAM), Module(INITRD)]
    with stopped_machine("user", cpu, modules=modules) as session:
        text = gdb(session,
                   "hbreak serial8250_startup", "continue", "bt", "x/2xw $eax", "delete",
                   f"hbreak *{entry:#x} if *(int *)$esp == 2", "continue",
                   "echo @program\\n", "info registers", "info threads",
                   "x/s *(char **)($esp + 4)", "x/s *(char **)($esp + 8)",
                   "echo @stepped\\n", "stepi 2", "info registers", f"x/8xb {entry:#x}",
                   "delete", "detach")
        wait_for(session, "com1", "vellum-guest: done")
        wait_for_end(session)
    driver, program = text.split("@program\n")
    assert re.search(r"#0 .* in serial8250_startup \(\)\n#1 .* in uart_", driver)
    assert f"{COM1:#010x}" in driver, "the first port is at 3F8h"
    program, stepped = program.split("@stepped\n")
    values = registers(program)
    assert values["eip"] == entry and values["cs"] & 3 == 3 and values["ss"] & 3 == 3
    assert "(processor 0, CPL 3)" in program
    assert '"vellum-bench"' in program and '"getppid"' in program
    code = "\t".join(f"{byte:#04x}" for byte in first_bytes(PROGRAM, 8))
    assert code in stepped, "the page is there once its first instruction has been fetched"
    assert entry < registers(stepped)["eip"] < entry + 16
    assert '"bench":"getppid"' in log(session, "com1")


def test_a_panic_is_stopped_with_its_cause(cpu):
    with stopped_machine("panic", cpu, modules=[Module(VMI_KERNEL, KERNEL_WORDS)]) as session:
        text = gdb(session, "hbreak panic", "continue", "x/s *(char **)($esp + 4)",
                   "info symbol *(unsigned int *)$esp - 1", "info registers", "kill")
        wait_for_end(session)
    assert "No working init found" in text
    assert re.search(r"^kernel_init \+ \d+ in section", text, re.MULTILINE), "who called it"
    assert registers(text)["eip"] == symbol("panic")
    assert "Kernel panic" not in log(session, "com1"), "it has not said it yet"


STEP_TO_THE_CALLER = """python
back = int(gdb.parse_and_eval("*(unsigned int *)$esp"))
for steps in range(200):
    if int(gdb.parse_and_eval("$eip")) & 0xffffffff == back: break
    print(gdb.execute("x/i $pc", to_string=True), end="")
    gdb.execute("stepi", to_string=True)
print("@back")
"""


def test_steps_through_an_answered_call(cpu, tmp_path):
    """With vmi=trace each goes through the ROM into the hypervisor first. EDX:EAX are hertz."""
    script = tmp_path / "step.gdb"
    script.write_text(STEP_TO_THE_CALLER)
    with stopped_machine("call", cpu, "vmi=trace gdb=com2") as session:
        text = gdb(session, "hbreak vmi_slot_GetCycleFrequency", "continue", "delete",
                   f"source {script}", "info registers", "info symbol $pc", "detach")
        wait_for(session, "com1", "Ctrl-D powers off")
    way, end = text.split("@back\n")
    assert {"amd": "vmmcall", "intel": "vmcall"}[cpu] in way
    assert re.search(r"vmi_clock_setup \+ \d+ in section", end)
    megahertz = float(re.search(r"Detected ([\d.]+) MHz processor", log(session, "com1"))[1])
    answer = registers(end)["edx"] << 32 | registers(end)["eax"]
    assert abs(answer / (megahertz * 1e6) - 1) < 1e-4
