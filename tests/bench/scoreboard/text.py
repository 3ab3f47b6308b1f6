# SPDX-License-Identifier: GPL-2.0-only
"""A board as text, in the manner of the 2006 scoreboard: ratio [value/value]."""

from __future__ import annotations

from .board import Board
from .claims import Verdict
from .numbers import number, table
from .published import peers
from .rows import EXIT_ROW

OURS_BESIDE_PEERS = (("H1-nested", "N1"), ("H0-shadow", "N1"), ("H1-shadow", "N1"))


def board_text(board: Board, verdicts: list[Verdict]) -> str:
    """The whole board, ready to print."""
    parts = [heading(board), ratio_table(board), spread_line(board), board.metric.note,
             peers_table(board)]
    if board.virtualized():
        parts += [loop_exits_table(board), reasons_table(board), calls_table(board),
                  exit_cost_lines(board)]
    parts += [*counter_tables(board), verdict_lines(board, verdicts)]
    return "\n\n".join(part for part in parts if part) + "\n"


def heading(board: Board) -> str:
    how = ("per iteration, mean of the best 3 of 5 runs" if board.is_micro()
           else "of one run of each command")
    lines = [f"Board {board.name}, {board.cpu}: {board.metric.name} {how}",
             f"on {board.machine}"]
    lines += [f"  {name:<10} {result.column.meaning}, {result.seconds:.1f} s"
              for name, result in board.columns.items()]
    return "\n".join(lines)


def ratio_table(board: Board) -> str:
    """One column alone has no ratios: then its values are the table."""
    if not board.pairs():
        titles = ["row", "iteration", *board.columns]
        return table(titles, ([row.name, row.iteration,
                               *(number(board.value(name, row.name)) for name in board.columns)]
                              for row in board.rows))
    titles = ["row", *("/".join(pair) for pair in board.pairs())]
    return table(titles, ([row.name,
                           *(ratio_cell(board, pair, row.name) for pair in board.pairs())]
                          for row in board.rows))


def ratio_cell(board: Board, pair: tuple[str, str], row: str) -> str:
    over, under = (number(board.value(name, row)) for name in pair)
    return f"{board.ratio(pair, row):.4f} [{over}/{under}]"


def spread_line(board: Board) -> str:
    """By how much the runs behind one value differ, in each column's worst row."""
    if not board.is_micro():
        return ""
    worst = {name: max((result.spread, row) for row, result in column.rows.items())
             for name, column in board.columns.items()}
    return "The best three runs of a row differ by at most: " + ", ".join(
        f"{name} {spread:.2%} ({row})" for name, (spread, row) in worst.items())


def peers_table(board: Board) -> str:
    """Our ratios beside those of KVM and Xen on the same machine, which are of instructions."""
    pairs = [pair for pair in OURS_BESIDE_PEERS if pair in board.pairs()]
    if not pairs or not board.metric.counts_instructions or not board.is_micro():
        return ""
    titles = ["row", "iteration", *("/".join(pair) for pair in pairs), *peers()["columns"]]
    nothing = [""] * len(peers()["columns"])
    rows = ([row.name, row.iteration, *(f"{board.ratio(pair, row.name):.3f}" for pair in pairs),
             *peers()["rows"].get(row.name, nothing)] for row in board.rows)
    return "Beside peers on the same emulated machine, to native:\n" + table(titles, rows)


def loop_exits_table(board: Board) -> str:
    names = board.virtualized()
    rows = ([row.name, *(loop_exits(board, name, row.name) for name in names)]
            for row in board.rows)
    what = "loops, per iteration" if board.is_micro() else "commands"
    return f"Exits in the measured {what}:\n" + table(["row", *names], rows)


def loop_exits(board: Board, column: str, row: str) -> str:
    exits = board.columns[column].rows[row].exits_per_iteration
    return "not counted" if exits is None else f"{exits:.4g}"


def reasons_table(board: Board) -> str:
    """Count and cost of the exits of whole runs, from power-on to power-off."""
    names = board.virtualized()
    reasons = dict.fromkeys(reason for name in names for reason in board.columns[name].reasons)
    rows = ([reason, *(reason_cell(board, name, reason) for name in names)]
            for reason in reasons)
    return ("Exits of the whole run, boot to end, count x cycles each:\n"
            + table(["reason", *names], rows))


def calls_table(board: Board) -> str:
    names = [name for name in board.virtualized() if board.columns[name].calls]
    calls = dict.fromkeys(call for name in names for call in board.columns[name].calls)
    rows = [[call, *(f"{entry.count:,}" if (entry := board.columns[name].calls.get(call)) else "-"
                     for name in names)] for call in calls]
    return "VMI calls of the whole run:\n" + table(["call", *names], rows) if rows else ""


def counter_tables(board: Board) -> list[str]:
    """A table for each thing that the guest counted beside the time."""
    counters = dict.fromkeys(name for column in board.columns.values()
                             for row in column.rows.values() for name in row.counters)
    return [f"In the measured commands, {counter}:\n"
            + table(["row", *board.columns],
                    [[row.name, *(counter_cell(board, column, row.name, counter)
                                  for column in board.columns)] for row in board.rows])
            for counter in counters]


def counter_cell(board: Board, column: str, row: str, counter: str) -> str:
    count = board.columns[column].rows[row].counters.get(counter)
    return "-" if count is None else f"{count:,}"


def reason_cell(board: Board, column: str, reason: str) -> str:
    entry = board.columns[column].reasons.get(reason)
    return "-" if entry is None else f"{entry.count:,} x {entry.cycles_each:,.0f}"


def exit_cost_lines(board: Board) -> str:
    costs = [f"{name} {number(cost)}" for name in board.virtualized()
             if (cost := board.exit_cost(name)) is not None]
    if not costs:
        return ""
    line = f"One {EXIT_ROW} exit, {board.metric.name} more than natively: {', '.join(costs)}"
    if board.metric.counts_instructions:
        line += f"\n  on the same emulated machine: {peers()['exit_cost']} (docs/benchmarks.md)"
    return line


def verdict_lines(board: Board, verdicts: list[Verdict]) -> str:
    if not board.metric.judges_ratios:
        return "The claims are about counted instructions (ICOUNT=1) and are not judged here."
    lines = [f"{'held  ' if verdict.held else 'MISSED'}  {verdict.claim}: {verdict.detail}"
             for verdict in verdicts]
    if not board.metric.counts_instructions and board.virtualized():
        lines.append(f"What one {EXIT_ROW} exit may cost is claimed in instructions: "
                     "not judged here.")
    return "\n".join(lines)
