# SPDX-License-Identifier: GPL-2.0-only
"""The columns of a board: which kernel, started how."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from emulator import Machine, Module

# Whatever differs from boot to boot by chance is switched off, so that runs repeat. The tick
# comes from the PIT, because calibrating the local APIC's timer waits for 200 ms in a loop of
# PAUSE: most of the time that a whole column takes under emulation. RCU asks for the end of
# its grace periods at once: as usual, a loop that is in the kernel whenever the tick comes
# delays it for 100 ms, and what was put off is freed inside of the measured time or behind it.
KERNEL_WORDS = ("console=ttyS0 quiet panic=-1 nokaslr norandmaps random.trust_cpu=off "
                "rcutree.blimit=100000 rcutree.jiffies_till_sched_qs=1 "
                "tsc=reliable nolapic_timer")

# With several processors each has its own tick.
SMP_KERNEL_WORDS = KERNEL_WORDS.replace(" nolapic_timer", "")

# Under a hypervisor Linux believes in the TSC deadline timer of an Intel processor, does
# without the PIT for its sake, and then finds it forbidden by nolapic_timer: no tick at all.
CPU_WORDS = {"amd": "", "intel": "lapic=notscdeadline"}


@dataclass(frozen=True)
class Column:
    """One way to run the guest. Without Vellum, the emulator's own loader starts it."""

    name: str
    kernel: str              # "plain" or "vmi", as guest-patches/build-kernel names them
    vellum: str | None       # the hypervisor's command line
    meaning: str

    @property
    def virtualized(self) -> bool:
        return self.vellum is not None and "mode=hv" in self.vellum

    @property
    def paging(self) -> str | None:
        """Who translates the guest's addresses; None if no hypervisor does."""
        words = (self.vellum or "").split()
        return next((word.removeprefix("paging=") for word in words
                     if word.startswith("paging=")), None)


ALL = (
    Column("N0", "plain", "mode=native",
           "kernel without VMI, on the bare machine"),
    Column("N1", "vmi", "mode=native",
           "VMI kernel, on the bare machine"),
    Column("H0-nested", "vmi", "mode=hv vmi=off paging=nested",
           "VMI kernel under Vellum, ROM hidden, nested paging"),
    Column("H1-nested", "vmi", "mode=hv vmi=on paging=nested",
           "VMI kernel under Vellum with the ROM, nested paging"),
    Column("H0-shadow", "vmi", "mode=hv vmi=off paging=shadow",
           "VMI kernel under Vellum, ROM hidden, shadow paging"),
    Column("H1-shadow", "vmi", "mode=hv vmi=on paging=shadow",
           "VMI kernel under Vellum with the ROM, shadow paging"),
    Column("D0", "plain", None,
           "kernel without VMI, started by the emulator's own loader"),
    Column("D1", "vmi", None,
           "VMI kernel, started by the emulator's own loader"),
)

BY_NAME = {column.name: column for column in ALL}
SHORT_NAMES = {"H0": "H0-nested", "H1": "H1-nested"}
PAGINGS = ("nested", "shadow")


def default_for(paging: str) -> list[Column]:
    """The columns of a board that shows one of PAGINGS."""
    return [BY_NAME[name] for name in ("N0", "N1", f"H0-{paging}", f"H1-{paging}")]


def named(text: str) -> list[Column]:
    """The columns of a list like "N0,N1,H1"; ValueError names one that does not exist."""
    names = [SHORT_NAMES.get(name, name) for name in text.split(",")]
    unknown = [name for name in names if name not in BY_NAME]
    if unknown:
        raise ValueError(f"no column is called '{unknown[0]}', there are {', '.join(BY_NAME)}")
    return [BY_NAME[name] for name in dict.fromkeys(names)]


@dataclass(frozen=True)
class Parts:
    """What the columns are made of."""

    vellum: Path
    initramfs: Path
    kernels: dict[str, Path]  # bzImage by kernel name
    vellum_words: str = ""    # more words for the hypervisor
    kernel_words: str = ""    # more words for the kernel
    cpu: str = "amd"
    memory: int = 512         # MiB
    cpus: int = 1
    icount: bool = True


def machine_for(column: Column, parts: Parts) -> Machine:
    """The machine that runs a column."""
    kernel, initramfs = parts.kernels[column.kernel], Module(parts.initramfs)
    words = KERNEL_WORDS if parts.cpus == 1 else SMP_KERNEL_WORDS
    kernel_words = joined(words, CPU_WORDS[parts.cpu], parts.kernel_words)
    machine = Machine(cpu=parts.cpu, memory=parts.memory, cpus=parts.cpus,
                      icount=parts.icount)
    if column.vellum is None:
        machine.image, machine.append, machine.modules = kernel, kernel_words, [initramfs]
    else:
        machine.image = parts.vellum
        machine.append = joined(column.vellum, "stats=end", parts.vellum_words)
        machine.modules = [Module(kernel, kernel_words), initramfs]
    return machine


def joined(*words: str) -> str:
    return " ".join(filter(None, words))
