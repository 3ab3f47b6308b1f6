# SPDX-License-Identifier: GPL-2.0-only
"""What the TSC of an emulated machine counts, and what may be said with such values."""

from __future__ import annotations

from dataclasses import dataclass

from emulator.base import Emulator


@dataclass(frozen=True)
class Metric:
    """How a board speaks of its values. The unit in every record is tsc/iter."""

    name: str                   # of the values, in headings
    machine: str                # what the TSC does, in the line that describes the machine
    note: str = ""              # under the table of ratios
    judges_ratios: bool = True  # two runs of a machine give the same value
    counts_instructions: bool = False  # claims and peers' figures in instructions apply


INSTRUCTIONS = Metric("instructions", "1 instruction = 1 TSC count", counts_instructions=True)
BOCHS_TSC = Metric(
    "counts of Bochs's TSC", "the TSC counts emulated time",
    "Values are counts of Bochs's TSC: emulated time, which advances as the processor executes.\n"
    "They repeat exactly. Compare the ratios; do not lay the values beside another emulator's.")
CYCLES = Metric("TSC cycles", "not counting instructions", judges_ratios=False)


def metric_of(emulator: Emulator, icount: bool) -> Metric:
    """Bochs counts the same way whether it is asked to or not."""
    if emulator.name == "bochs":
        return BOCHS_TSC
    return INSTRUCTIONS if icount else CYCLES
