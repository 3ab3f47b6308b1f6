# SPDX-License-Identifier: GPL-2.0-only
"""From the exits of a real boot to a table, a file for trace viewers, and instructions."""

import json
import subprocess

from monitor import SHELL, machine_with_monitor, symbol
from vellum import BUILD, ROOT, boot, records


def tool(*words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          check=False, **options)


def test_a_boots_trace_becomes_a_table_and_a_picture(tmp_path):
    result = boot("trace-end", "trace=end", icount=True)
    assert result.finished
    lines = records(result.com2)
    assert lines[-1]["event"] == "end"
    exits = [one for line in lines if line["event"] == "trace" for one in line["exits"]]
    assert 100 < len(exits) < 2048  # the last one is not over yet
    assert [one[0] for one in exits] == sorted(one[0] for one in exits)
    output = tmp_path / "trace.json"
    made = tool(ROOT / "boot" / "trace", result.logs[1], "--output", output)
    assert made.returncode == 0, made.stderr
    assert made.stdout.splitlines()[0].split() == ["exit", "exits", "cycles", "median", "90", "%",
                                                   "99", "%", "most"]
    counted = {line.split()[0]: int(line.split()[1]) for line in made.stdout.splitlines()[1:-1]}
    assert sum(counted.values()) == len(exits) and counted["cpuid"] > 100
    events = json.loads(output.read_text())["traceEvents"]
    assert len(events) == len(exits)
    assert all(event["ph"] == "X" and event["ts"] >= 0 and event["dur"] >= 0 for event in events)


def test_the_monitor_shows_the_last_exits():
    with machine_with_monitor("trace", words="trace=on") as line:
        line.wait_for_guest(SHELL)
        line.stop()
        assert "cpuid" in line.ask("trace 2048 cpuid")
        text = line.ask("trace 3")
        assert text.splitlines()[0].split() == ["tsc", "cpu", "rip", "exit", "cycles"]
        assert len(text.splitlines()) == 4 and "attention" not in text
        assert "#" in line.ask("hist cpuid")
        assert 'VELLUM {"event":"trace","tsc_hz":' in line.ask("trace json")
        line.ask("trace clear")
        assert len(line.ask("trace").splitlines()) <= 2  # the exit that it stands in
        code = line.ask("code schedule 5")
    shown = tool(ROOT / "boot" / "code", input=code).stdout
    assert shown.startswith(code)
    assert f"{symbol('schedule'):x}:" in shown and "push" in shown


def test_a_log_without_a_trace_says_what_to_do(tmp_path):
    log = tmp_path / "log"
    log.write_text('VELLUM {"event":"end","why":"reset"}\nVELLUM {"event":"trace","tsc\n')
    made = tool(ROOT / "boot" / "trace", log)
    assert made.returncode == 1 and "trace=end" in made.stderr
