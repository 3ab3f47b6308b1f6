# SPDX-License-Identifier: GPL-2.0-only
"""The patched 6.1 with the programs of linux/ in its initramfs: how a test runs one of them, and
reads what it says."""

import json
import re

from vellum import BUILD, VMI_KERNEL, Module, boot

INITRAMFS = BUILD / "linux-tests.cpio"

# A family whose processors Linux takes for fit for SMP, which QEMU's own (an Athlon's) is not.
MODELS = {"amd": "max,family=23,model=1,stepping=2", "intel": None}
# Loops per tick of 4 ms: calibrating them takes longer than the rest of an AP's start.
LOOPS = {"amd": 4_000_000, "intel": 200_000}

# What Linux says of itself when something is wrong
COMPLAINTS = re.compile(r"WARNING|BUG:|Oops|Call Trace|soft lockup|hard LOCKUP|stall|unstable"
                        r"|general protection|[Uu]nable to handle|nobody cared|[Ll]ost|hung"
                        r"|bad IRQ|[Ff]ailed to")
# Natively, too: QEMU's INIT forgets MTRRs, Bochs's APICs have two versions, and it counts nothing.
NO_COMPLAINTS = re.compile(r"calibrate_delay_direct|inconsistent|APIC version|perfctr")

# The kernel's lines, which may stand in the middle of a program's
KERNEL_LINE = re.compile(r"\[ *\d+\.\d{6}\] .*\n")


def start(name, words, program, cpu="amd", cpus=1, kernel=VMI_KERNEL, more="", **machine):
    """Boots the guest under Vellum's words to run a program (its own words behind commas)."""
    guest = (f"console=ttyS0 nokaslr norandmaps tsc=reliable lpj={LOOPS[cpu]} "
             f"vellum.run={program} {more}")
    return boot(f"linux-{name}", words, [Module(kernel, guest), Module(INITRAMFS)], cpu=cpu,
                cpus=cpus, model=MODELS[cpu], icount=True, **machine)


def complaints(result):
    return [line for line in result.com1.splitlines()
            if COMPLAINTS.search(line) and not NO_COMPLAINTS.search(line)]


def program_lines(result):
    return KERNEL_LINE.sub("", result.com1.replace("\r", "")).splitlines()


def same_lines(result):
    """What has to be as natively."""
    return [line for line in program_lines(result) if line.startswith("SAME ")]


def said(result, word):
    """The JSON behind a word, of all lines that start with it."""
    return [json.loads(line[len(word) + 1:]) for line in program_lines(result)
            if line.startswith(f"{word} ")]


def calls_taken(result):
    """The VMI calls that the kernel says it makes."""
    found = re.search(r"vmi: calls taken: (.*)", result.com1)
    return found[1].split() if found else []
