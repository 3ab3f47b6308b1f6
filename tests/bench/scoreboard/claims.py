# SPDX-License-Identifier: GPL-2.0-only
"""What Vellum claims of itself, and whether a board bears it out."""

from __future__ import annotations

from dataclasses import dataclass

from .board import Board
from .published import peers
from .rows import EXIT_ROW, IPI_ROW

PARAVIRT_RATIO_MAX = 1.01    # N1/N0: CONFIG_VMI=y on the bare machine
COMMAND_RATIO_MAX = 1.005    # the same for whole commands, which a hot path is a part of
NESTED_RATIO_MAX = 1.005     # under Vellum to the same kernel on the bare machine
EXIT_COST_MAX = 100          # instructions for one CPUID exit
NEAR_ONE = 1.02              # rows below do not tell one shadow paging from another
SHADOW_RIVAL = "KVM shadow"  # whose ratios ours with shadow paging stay below


@dataclass(frozen=True)
class Verdict:
    """A claim and how it fared."""

    claim: str
    held: bool
    detail: str


def judge(board: Board) -> list[Verdict]:
    """A verdict for each claim that the columns at hand and their metric can decide."""
    if not board.metric.judges_ratios:
        return []
    verdicts = []
    if ("N1", "N0") in board.pairs():
        verdicts.append(judge_ratio(board, ("N1", "N0"),
                                    PARAVIRT_RATIO_MAX if board.is_micro() else COMMAND_RATIO_MAX,
                                    all_rows(board)))
    for column in board.paged("nested"):
        if (column, "N1") in board.pairs():
            verdicts.append(judge_ratio(board, (column, "N1"), NESTED_RATIO_MAX,
                                        rows_without_exits(board, column)))
            if board.metric.counts_instructions and board.is_micro():
                verdicts.append(judge_exit_cost(board, column))
        if board.is_micro() and not pays_for_apic(board, column):
            verdicts.append(judge_exits(board, column))
    if board.is_micro() and ("H0-shadow", "N1") in board.pairs() and board.metric.counts_instructions:
        verdicts.append(judge_beside_rival(board, ("H0-shadow", "N1")))
    return verdicts


def pays_for_apic(board: Board, column: str) -> bool:
    """Without VMI every timer setting and every interrupt between processors exits then."""
    return board.catches_apic() and column == "H0-nested"


def all_rows(board: Board) -> list[str]:
    return [row.name for row in board.rows]


def rows_without_exits(board: Board, column: str) -> list[str]:
    """Where a hypervisor may cost next to nothing. A command's exits are a small part of it."""
    exiting = {EXIT_ROW, IPI_ROW} if pays_for_apic(board, column) else {EXIT_ROW}
    return [name for name in all_rows(board) if name not in exiting]


def judge_ratio(board: Board, pair: tuple[str, str], limit: float,
                rows: list[str]) -> Verdict:
    ratios = {row: board.ratio(pair, row) for row in rows}
    missed = {row: ratio for row, ratio in ratios.items() if ratio > limit}
    left_out = [name for name in all_rows(board) if name not in rows]
    scope = " and ".join(["every row but " + left_out[0], *left_out[1:]] if left_out
                         else ["every row"])
    claim = f"{'/'.join(pair)} at most {limit:g} on {scope}"
    if missed:
        by = ", ".join(f"{row} {ratio:.4f} (by {ratio - limit:.4f})"
                       for row, ratio in missed.items())
        return Verdict(claim, False, by)
    worst = max(ratios, key=ratios.__getitem__)
    return Verdict(claim, True, f"highest {ratios[worst]:.4f}, {worst}")


def judge_beside_rival(board: Board, pair: tuple[str, str]) -> Verdict:
    """Its ratios are to its own guest's native run; where an exit is the row, nobody is near 1."""
    place = peers()["columns"].index(SHADOW_RIVAL)
    theirs = {row: float(figures[place]) for row, figures in peers()["rows"].items()
              if row in all_rows(board) and row != EXIT_ROW}
    ratios = {row: board.ratio(pair, row) for row in theirs}
    claim = f"{'/'.join(pair)} below {SHADOW_RIVAL}'s ratio wherever that is above {NEAR_ONE:g}"
    judged = [row for row in ratios if theirs[row] > NEAR_ONE]
    beside = {row: f"{row} {ratios[row]:.3f} to {theirs[row]:.3f}" for row in judged}
    missed = [text for row, text in beside.items() if ratios[row] >= theirs[row]]
    return Verdict(claim, not missed, ", ".join(missed or beside.values()))


def judge_exit_cost(board: Board, column: str) -> Verdict:
    cost = board.exit_cost(column)
    claim = f"one {EXIT_ROW} exit in {column} costs at most {EXIT_COST_MAX} instructions"
    if cost > EXIT_COST_MAX:
        return Verdict(claim, False, f"{cost:.1f} (by {cost - EXIT_COST_MAX:.1f})")
    return Verdict(claim, True, f"{cost:.1f}")


def judge_exits(board: Board, column: str) -> Verdict:
    """Not counted is missed: a claim that cannot be seen to hold is not held."""
    counts = {row: board.columns[column].rows[row].exits for row in rows_without_exits(board, column)}
    claim = f"no exit in any loop of {column} but {EXIT_ROW}'s"
    missed = [f"{row} {'not counted' if count is None else count}"
              for row, count in counts.items() if count != 0]
    if missed:
        return Verdict(claim, False, ", ".join(missed))
    return Verdict(claim, True, "0 in all of them")
