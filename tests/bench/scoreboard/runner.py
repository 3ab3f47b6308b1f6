# SPDX-License-Identifier: GPL-2.0-only
"""Boots columns, some at a time, and collects what they gave."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from emulator import Limits, Machine, Result, Session, choose_emulator
from emulator.session import POLL_SECONDS

from .board import ColumnResult, missing_rows
from .columns import Column
from .progress import Progress
from .records import RecordError, events_in, exit_reasons, rows_in, vmi_calls
from .rows import Row

GUEST_DONE = "vellum-guest: done"
LAST_LINES = 15


class ColumnError(Exception):
    """A column that did not finish; the message holds the last lines of both consoles."""


@dataclass(frozen=True)
class Job:
    """One column to boot."""

    column: Column
    machine: Machine
    log_name: str


def run_jobs(jobs: list[Job], emulator: str, logs: Path, at_once: int, limits: Limits,
             progress: Progress, ended: Callable[[str, Result], None] = lambda *_: None
             ) -> dict[str, Result]:
    """Every job's result, by log name; ended hears of each as it comes.

    Leaving in any way ends all emulators.
    """
    results: dict[str, Result] = {}
    waiting, running = list(jobs), {}
    with ExitStack() as stack:
        while waiting or running:
            while waiting and len(running) < at_once:
                job = waiting.pop(0)
                running[job.log_name] = stack.enter_context(session_for(job, emulator, logs))
                progress.start(job.log_name)
            new = collect(running, limits, progress)
            for name, result in new.items():
                ended(name, result)
            results |= new
            time.sleep(POLL_SECONDS)
    return results


def session_for(job: Job, emulator: str, logs: Path) -> Session:
    return Session(choose_emulator(emulator, job.machine), job.machine, logs, job.log_name)


def collect(running: dict[str, Session], limits: Limits,
            progress: Progress) -> dict[str, Result]:
    """Takes the machines that have ended out of the running ones."""
    ended = {}
    for name, session in list(running.items()):
        result = session.poll(limits, progress.line_watcher(name))
        if result is not None:
            ended[name] = result
            progress.end(name)
            del running[name]
    progress.show()
    return ended


def column_result(column: Column, rows: tuple[Row, ...], result: Result,
                  kernel_version: str) -> ColumnResult:
    """Reads a finished column; ColumnError if it is not whole."""
    if not result.finished or GUEST_DONE not in result.com1:
        raise ColumnError(failure(column, result, f"ended by {result.end.value} after "
                                  f"{result.seconds:.1f} s, the guest was not done"))
    try:
        got, reasons = rows_in(result.com1), exit_reasons(result.com2)
        boots = events_in(result.com2, "boot")
    except (RecordError, KeyError) as error:
        raise ColumnError(failure(column, result, f"{type(error).__name__}: {error}")) from None
    missing = missing_rows(rows, got)
    if missing:
        raise ColumnError(failure(column, result, f"no result for {', '.join(missing)}"))
    if column.virtualized and boots and boots[0].get("mode") != "hv":
        raise ColumnError(failure(column, result, "Vellum did not virtualize"))
    versions = {"kernel": kernel_version}
    if boots:
        versions["vellum"] = str(boots[0].get("version", "unknown"))
    return ColumnResult(column, got, reasons, result.seconds, versions,
                        calls=vmi_calls(result.com2))


def failure(column: Column, result: Result, why: str) -> str:
    parts = [f"column {column.name} did not finish: {why}"]
    for title, text, log in (("the guest's console", result.com1, result.logs[0]),
                             ("Vellum's console", result.com2, result.logs[1])):
        parts.append(f"--- last lines of {title}, all of it in {log}")
        parts += text.splitlines()[-LAST_LINES:]
    if result.messages.strip():
        parts += ["--- the emulator said", result.messages.strip()]
    return "\n".join(parts)


def differences(first: Result, second: Result) -> list[str]:
    """Where two runs of a column said different things; [] if they are identical."""
    return [f"{first_log.name} and {second_log.name} differ"
            for first_text, second_text, first_log, second_log in
            zip((first.com1, first.com2), (second.com1, second.com2), first.logs, second.logs)
            if first_text != second_text]
