# SPDX-License-Identifier: GPL-2.0-only
"""Runs machines, some at a time, and keeps what each gave.

While a test looks at one machine's result, those of the next tests already run.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from emulator import Limits, Machine, Session
from emulator.base import Emulator

AT_ONCE = int(os.environ.get("JOBS", 0)) or os.cpu_count() or 1
POLL_SECONDS = 0.05


@dataclass
class Boot:
    """A machine to be started; its name is that of its logs, and no other one's."""

    emulator: Emulator
    machine: Machine
    name: str
    limits: Limits


class Boots:
    """Use it in a "with" statement: leaving that ends the machines that still run."""

    def __init__(self, logs, wanted):
        """Starts what is wanted, in this order, which should be that of the tests."""
        self.logs = logs
        self.ended = False
        self.pool = ThreadPoolExecutor(AT_ONCE)
        self.results = {}
        for boot in wanted:
            if boot.name not in self.results:
                self.results[boot.name] = self.pool.submit(self.run, boot)

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        self.ended = True
        self.pool.shutdown(cancel_futures=True)

    def run(self, boot):
        with Session(boot.emulator, boot.machine, self.logs, boot.name) as session:
            while (result := session.poll(boot.limits)) is None and not self.ended:
                time.sleep(POLL_SECONDS)
            return result

    def result(self, boot):
        """What this boot gave; waits for it."""
        return self.results[boot.name].result()
