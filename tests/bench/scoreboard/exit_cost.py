# SPDX-License-Identifier: GPL-2.0-only
"""The exit-cost board: what one exit costs, and how many of them an exec makes."""

from __future__ import annotations

from dataclasses import dataclass, field

from .claims import Verdict
from .columns import Column
from .metric import Metric
from .numbers import number, table
from .records import Reason, RowResult

NAME = "exit-cost"
CPUID_MAX = 100      # instructions, 32-bit guest with 4 KiB pages
HYPERCALL_MAX = 80

COLUMNS = (
    Column("native", "vmi", "mode=native", "on the bare machine"),
    Column("exit", "vmi", "mode=hv vmi=on cpuid=exit", "under Vellum, every CPUID exits"),
    Column("boot", "vmi", "mode=hv vmi=on cpuid=boot",
           "under Vellum, CPUID exits while the kernel boots (AMD-V)"),
)
BARE = ("native", "exit")  # columns of the bare guest: it has no programs for cpuid=boot

# What one iteration is. The bare guest has the first ones, Linux the last two.
ROWS = {
    "cpuid": "CPUID leaf 0, 32-bit guest, 4 KiB pages",
    "cpuid-pae": "the same in a PAE guest, 2 MiB pages",
    "hypercall": "hypercall NULL",
    "rdmsr": "RDMSR of EFER",
    "wrmsr": "WRMSR of EFER, value unchanged",
    "port": "IN from port 64h, a guarded one",
    "nested_fault": "first touch of a GiB above all RAM",
    "exec-static": "fork, exec of an empty static program, exit, wait",
    "exec-dynamic": "the same, linked with libc.so.6",
}
EXEC_ROWS = ("exec-static", "exec-dynamic")
NO_HYPERCALL = {"native": ("hypercall",)}  # #UD there


def rows_wanted(column: str) -> set[str]:
    """The rows that a column has to give."""
    bare = set(ROWS) - set(EXEC_ROWS) if column in BARE else set()
    return bare - set(NO_HYPERCALL.get(column, ())) | set(EXEC_ROWS)


@dataclass(frozen=True)
class ExitCost:
    """The whole board."""

    cpu: str
    machine: str
    metric: Metric
    rows: dict[str, dict[str, RowResult]]      # by column
    reasons: dict[str, dict[str, Reason]]      # by column: Linux, boot to end
    versions: dict[str, str] = field(default_factory=dict)

    def row(self, column: str, name: str) -> RowResult | None:
        return self.rows[column].get(name)


def judge(board: ExitCost) -> list[Verdict]:
    """The limits are instructions, so nothing else is held against them."""
    if not board.metric.counts_instructions:
        return []
    return [limit(board, "cpuid", CPUID_MAX), limit(board, "hypercall", HYPERCALL_MAX)]


def limit(board: ExitCost, name: str, most: int) -> Verdict:
    """What was not measured does not hold."""
    claim = f"one {name} exit costs at most {most} instructions"
    row = board.row("exit", name)
    if row is None:
        return Verdict(claim, False, "not measured")
    return Verdict(claim, row.value <= most, f"{row.value:.1f}")


def board_text(board: ExitCost, verdicts: list[Verdict]) -> str:
    parts = [heading(board), value_table(board), board.metric.note, reason_lines(board),
             "\n".join(f"{'held  ' if verdict.held else 'MISSED'}  {verdict.claim}: "
                       f"{verdict.detail}" for verdict in verdicts)]
    return "\n\n".join(part for part in parts if part) + "\n"


def heading(board: ExitCost) -> str:
    lines = [f"Board {NAME}, {board.cpu}: {board.metric.name} per iteration, less the same loop "
             "without the instruction", f"on {board.machine}"]
    return "\n".join(lines + [f"  {column.name:<8} {column.meaning}" for column in COLUMNS])


def value_table(board: ExitCost) -> str:
    """The heads say what is counted."""
    names = [column.name for column in COLUMNS]
    titles = ["row", *(f"{name}, {board.metric.name}" for name in names), "exits each",
              "iteration"]
    return table(titles, ([row, *(value(board.row(name, row)) for name in names),
                           exits(board.row("exit", row)), ROWS[row]] for row in ROWS))


def value(result: RowResult | None) -> str:
    return "-" if result is None else number(result.value)


def exits(result: RowResult | None) -> str:
    if result is None or result.exits_per_iteration is None:
        return "-"
    return f"{result.exits_per_iteration:.4g}"


def reason_lines(board: ExitCost) -> str:
    """With cpuid=boot a guest can't ask how often it exited; Vellum says it at the end."""
    counts = ", ".join(f"{column} {reasons['cpuid'].count:,}"
                       for column, reasons in board.reasons.items() if "cpuid" in reasons)
    return f"CPUID exits of a whole run of Linux with the exec rows: {counts}"


def board_json(board: ExitCost, verdicts: list[Verdict]) -> dict:
    return {"board": NAME,
            "cpu": board.cpu,
            "machine": board.machine,
            "counts": board.metric.name,
            "columns": [column.name for column in COLUMNS],
            "meanings": {column.name: column.meaning for column in COLUMNS},
            "rows": [row_json(board, row) for row in ROWS],
            "exits": {column: {reason: {"count": entry.count, "cycles": entry.cycles}
                               for reason, entry in reasons.items()}
                      for column, reasons in board.reasons.items()},
            "claims": [{"claim": verdict.claim, "held": verdict.held, "detail": verdict.detail}
                       for verdict in verdicts],
            "versions": board.versions}


def row_json(board: ExitCost, name: str) -> dict:
    results = {column: row for column in board.rows if (row := board.row(column, name))}
    native = results.get("native")
    return {"name": name,
            "unit": next((row.unit for row in results.values()), ""),
            "better": "lower",
            "iteration": ROWS[name],
            "values": {column: row.value for column, row in results.items()},
            "ratios": {f"{column}/native": round(row.value / native.value, 6)
                       for column, row in results.items()
                       if name in EXEC_ROWS and native and column != "native"},
            "exits_per_iteration": {column: row.exits_per_iteration
                                    for column, row in results.items() if column != "native"}}
