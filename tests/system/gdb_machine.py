# SPDX-License-Identifier: GPL-2.0-only
"""The real gdb on Vellum's stub: how a machine is started for it, and what it prints is read."""

import contextlib
import re
import subprocess
import time

from vellum import (BUILD, IMAGE, INITRD, VMI_KERNEL, Link, Machine, Module, Session,
                    emulator_for)

SYMBOLS = VMI_KERNEL.parent / "vmlinux"
KERNEL_WORDS = "console=ttyS0 nokaslr norandmaps tsc=reliable vellum.run=shell"
READY = "gdb may connect"
SECONDS = 900  # a busy computer, and a guest that waits for each packet

# Slow machines: gdb's patience is for what it sends, not for the guest.
GDB = ["gdb", "-nx", "-q", "-batch", "-ex", "set confirm off", "-ex", "set pagination off",
       "-ex", "set remotetimeout 30"]


@contextlib.contextmanager
def stopped_machine(name, cpu, words="gdb=com2", modules=None, **machine):
    """A machine at its guest's first instruction; yields the Session."""
    modules = modules or [Module(VMI_KERNEL, KERNEL_WORDS), Module(INITRD)]
    machine = Machine(cpu=cpu, image=IMAGE, append=words, memory=256, modules=modules, **machine)
    with Session(emulator_for(machine), machine, BUILD / "logs", f"gdb-{name}-{cpu}",
                 com2=Link.SOCKET) as session:
        wait_for(session, "com2", READY)
        yield session


def log(session, port):
    """What has come so far; a file of it there is from the first byte on."""
    path = getattr(session, port).log
    return path.read_text(errors="replace") if path.exists() else ""


def wait_for(session, port, text):
    end = time.monotonic() + SECONDS
    while text not in log(session, port):
        assert time.monotonic() < end, f"{port} never said '{text}':\n{log(session, port)[-2000:]}"
        time.sleep(0.2)


def wait_for_end(session):
    """Until the machine is reset or off."""
    end = time.monotonic() + SECONDS
    while not session.has_ended():
        assert time.monotonic() < end, f"the machine runs on:\n{log(session, 'com2')[-2000:]}"
        time.sleep(0.2)


def gdb(session, *commands, symbols=SYMBOLS):
    """What gdb prints when it is connected and does the commands."""
    words = [*GDB, str(symbols), "-ex", f"target remote {session.com2.socket}"]
    for command in commands:
        words += ["-ex", command]
    result = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    return result.stdout + result.stderr


def registers(text):
    """The last value that "info registers" shows of each."""
    return {name: int(value, 16)
            for name, value in re.findall(r"^(\w+) +(0x[0-9a-f]+) ", text, re.MULTILINE)}


def symbol(name):
    words = subprocess.run(["nm", SYMBOLS], capture_output=True, text=True, check=True).stdout
    return int(re.search(rf"^([0-9a-f]+) \w {name}$", words, re.MULTILINE)[1], 16)
