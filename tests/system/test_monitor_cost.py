# SPDX-License-Identifier: GPL-2.0-only
"""What the first board costs with the monitor on and idle, in instructions."""

import json
from concurrent.futures import ThreadPoolExecutor

from vellum import INITRD, Module, boot, kernel, record

WORDS = "console=ttyS0 nokaslr norandmaps tsc=reliable random.trust_cpu=off vellum.run=board"
MARK = "RESULT "
MOST = 1.02
SECONDS = 900  # a busy computer


def rows(name, words):
    """The board's values by row, and what exited."""
    result = boot(name, words, [kernel(words=WORDS), Module(INITRD)], icount=True,
                  seconds=SECONDS)
    assert result.finished
    lines = [json.loads(line[len(MARK):]) for line in result.com1.splitlines()
             if line.startswith(MARK)]
    return ({line["bench"]: line["value"] for line in lines},
            record(result.com2, "exits")["by_reason"])


def test_an_idle_monitor_costs_next_to_nothing_and_none_nothing():
    with ThreadPoolExecutor() as pool:
        (off, exits_off), (on, exits_on) = pool.map(
            rows, ("cost-off", "cost-on"), ("", "monitor=com2"))
    assert len(off) > 8 and off.keys() == on.keys()
    assert {name: on[name] / off[name] for name in off if on[name] > MOST * off[name]} == {}
    assert set(exits_off) == {"cpuid", "port", "hypercall"}
    assert set(exits_on) == {*exits_off, "attention"}
