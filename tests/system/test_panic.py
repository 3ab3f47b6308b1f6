# SPDX-License-Identifier: GPL-2.0-only
"""A fault in the hypervisor itself ends in a dump that names the place, and in a stop.

Vellum has no word that makes it fail, so gdb does: it stops Vellum in a function through
QEMU's stub, and sends it off to where nothing is.
"""

import re
import subprocess

from vellum import BUILD, IMAGE, INITRD, VMI_KERNEL, record

from emulator import Limits, Machine, Module, Session, choose_emulator

NOWHERE = 0x123456789000


def crash(name, place, commands):
    """Boots, stops at the function place, lets gdb do its commands, waits for the end."""
    socket = BUILD / "logs" / f"{name}.gdb"
    machine = Machine(image=IMAGE, append="vmi=on", modules=[Module(VMI_KERNEL), Module(INITRD)],
                      extra=["-S", "-gdb", f"unix:{socket},server=on,wait=off"])
    socket.unlink(missing_ok=True)
    with Session(choose_emulator("qemu", machine), machine, BUILD / "logs", name) as session:
        while not socket.exists():
            assert session.process.poll() is None
        debug(socket, [f"hbreak {place}", "continue", "delete", *commands, "detach"])
        return session.wait(Limits(seconds=20, marker='"event":"end"'))


def debug(socket, commands):
    words = ["gdb", "--batch", "-nx", BUILD / "vellum64.elf", "-ex", f"target remote {socket}"]
    for command in commands:
        words += ["-ex", command]
    run = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert "detached" in run.stdout, run.stdout + run.stderr


def test_page_fault_names_address_place_and_callers():
    console = crash("panic-pf", "linux_image_read", [f"set $pc = {NOWHERE:#x}"]).com2
    assert re.search(r"panic: exception 14 \(#PF page fault\), error code 10, "
                     r"while loading the guest", console)
    assert f"cr2 {NOWHERE:016x}" in console
    for register in ("rax", "r15", "cr3", "rflags"):
        assert re.search(rf"\b{register}\s+[0-9a-f]+", console), register
    assert re.search(r"from [0-9a-f]{16} vellum_main\+0x", console)
    assert record(console, "end")["why"] == "panic"


def test_an_exception_while_a_guest_runs_names_the_handler():
    console = crash("panic-gp", "exit_cpuid", ["set $rdi = 0x8000000000000000"]).com2
    assert re.search(r"panic: exception 13 \(#GP general protection\), error code 0, "
                     r"while running the guest", console)
    assert re.search(r"at   [0-9a-f]{16} exit_cpuid\+0x", console)
    assert record(console, "end")["why"] == "panic"

