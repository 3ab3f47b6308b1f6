# SPDX-License-Identifier: GPL-2.0-only
"""The rows of the micro board, and what others published for the same rows.

The figures of others are quoted, never computed with; docs/benchmarks.md has the sources.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A row. The published figures are ratios as printed there; "" where there is none."""

    name: str
    iteration: str            # what one iteration is
    published: str = ""       # VMI or paravirt kernel on the bare machine, to N1/N0
    kvm_nested: str = ""      # KVM with nested paging to native, to H1/N1
    kvm_shadow: str = ""      # KVM with shadow paging to native


MICRO = (
    Row("getppid", "10 calls", "1.00 P4, 1.00 Opteron", "1.003", "1.004"),
    Row("segv", "SIGSEGV, handled", "0.99 P4, 1.08 Opteron", "0.993", "1.371"),
    Row("forkwaitn", "fork, exit, wait", "1.02 P4, 1.05 Opteron", "0.985", "4.753"),
    Row("divzero", "SIGFPE, handled", "0.99 P4, 1.09 Opteron", "0.985", "0.985"),
    Row("mmap-perf", "call of the mix", "1.104 instructions, 2009"),
    Row("cpuid", "CPUID", "", "474", "469"),
    Row("fork+exec", "fork, exec, exit, wait", "", "0.993", "4.134"),
    Row("pipe", "round trip", "", "0.997", "1.648"),
    Row("pgfault", "page", "", "1.009", "2.200"),
    Row("mmapmix", "call of the mix", "", "1.006", "3.027"),
    Row("file", "create to unlink", "", "1.002", "1.002"),
)

# The row whose every iteration exits, because CPUID must.
EXIT_ROW = "cpuid"

# The row whose two processes are on two processors, if there are two.
IPI_ROW = "pipe"
PEERS_EXIT_COST = "KVM about 2,850, Xen about 2,600 to 6,100"
