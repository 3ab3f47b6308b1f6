# SPDX-License-Identifier: GPL-2.0-only
"""Tells the waiting user what runs: one updating line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from .records import RESULT_PREFIX

PLAIN_SECONDS = 10  # between two plain lines


class Progress:
    """Counts the rows of each running column, and guesses the time that is left."""

    def __init__(self, rows: int, columns: int, stream=sys.stderr):
        self.rows = rows
        self.columns = columns   # that are to run, one after the other or at once
        self.finished = 0        # columns
        self.begun = time.monotonic()
        self.stream = stream
        self.updating = stream.isatty()
        self.started: dict[str, float] = {}
        self.done: dict[str, int] = {}
        self.last_shown = time.monotonic()

    def start(self, name: str) -> None:
        self.started[name] = time.monotonic()
        self.done[name] = 0

    def line_watcher(self, name: str) -> Callable[[str, str], None]:
        def watch(_port: str, line: str) -> None:
            self.done[name] += line.startswith(RESULT_PREFIX)
        return watch

    def end(self, name: str) -> None:
        self.clear()
        self.say(self.status(name))
        del self.started[name]
        self.finished += 1

    def show(self) -> None:
        """Called often; prints as often as it is good for the reader."""
        text = "   ".join([*(self.status(name) for name in self.started), *self.time_left()])
        if self.updating:
            self.clear()
            self.stream.write(text)
            self.stream.flush()
        elif self.started and time.monotonic() - self.last_shown >= PLAIN_SECONDS:
            self.say(text)

    def status(self, name: str) -> str:
        seconds = time.monotonic() - self.started[name]
        return f"{name}: {self.done[name]}/{self.rows} rows, {seconds:.0f} s"

    def time_left(self) -> list[str]:
        """In words, once there is a row to guess by: each is taken to be as long as another."""
        done = self.finished * self.rows + sum(self.done[name] for name in self.started)
        wanted = self.columns * self.rows
        if not self.started or not 0 < done < wanted:
            return []
        seconds = (time.monotonic() - self.begun) * (wanted - done) / done
        return [f"about {in_words(seconds)} left"]

    def say(self, text: str) -> None:
        self.last_shown = time.monotonic()
        print(text, file=self.stream, flush=True)

    def clear(self) -> None:
        if self.updating:
            self.stream.write("\r\x1b[K")


def in_words(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
