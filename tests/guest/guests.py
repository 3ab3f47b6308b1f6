# SPDX-License-Identifier: GPL-2.0-only
"""The bare guests: how each is started, and what Vellum's console must show."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Run:
    """One boot of a guest, and what is expected of it beside its own verdict."""

    name: str
    words: str = "mode=hv vmi=off"  # Vellum's command line
    told: str = ""                  # the guest's
    why: str | None = "reset"       # Vellum's last record; None: there is no record
    console: tuple[str, ...] = ()   # regular expressions that COM2 must match
    silent: tuple[str, ...] = ()    # ... and must not match
    exits: dict[str, int] = field(default_factory=dict)  # exact numbers by reason
    stays: bool = False             # the machine stops without an end: so does the test


@dataclass(frozen=True)
class Guest:
    """A guest and its runs."""

    name: str
    runs: tuple[Run, ...]
    same: bool = False  # it says lines "SAME ...": those of all runs are the native one's


HV = Run("hv")
NATIVE = Run("native", words="mode=native", told="native", why=None)

GUESTS = (
    Guest("cpuid_leaves", (HV, NATIVE), same=True),
    Guest("cpuid_follows_cr4", (HV, NATIVE)),
    Guest("cpuid_prefixes", (HV, NATIVE), same=True),
    Guest("cpuid_places", (HV, NATIVE)),
    Guest("cpuid_traps", (HV, NATIVE)),
)
