# SPDX-License-Identifier: GPL-2.0-only
"""The rows of the micro board."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A row of a board; published.toml says beside which published one it stands."""

    name: str
    iteration: str            # what one iteration is


MICRO = (
    Row("getppid", "10 calls"),
    Row("segv", "SIGSEGV, handled"),
    Row("forkwaitn", "fork, exit, wait"),
    Row("divzero", "SIGFPE, handled"),
    Row("mmap-perf", "call of the mix"),
    Row("cpuid", "CPUID"),
    Row("fork+exec", "fork, exec, exit, wait"),
    Row("pipe", "round trip"),
    Row("pgfault", "page"),
    Row("mmapmix", "call of the mix"),
    Row("file", "create to unlink"),
)

# The row whose every iteration exits, because CPUID must.
EXIT_ROW = "cpuid"

# The row whose two processes are on two processors, if there are two.
IPI_ROW = "pipe"
