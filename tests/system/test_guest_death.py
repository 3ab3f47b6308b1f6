# SPDX-License-Identifier: GPL-2.0-only
"""What is printed when the real kernel dies, and what onfault= makes of it."""

import re

import pytest

from monitor import SYSTEM_MAP, machine_with_monitor, symbol, PROMPT
from vellum import BUILD, Module, boot, kernel, record

# Without an initrd there is nothing to run.
LOST = "console=ttyS0 nokaslr norandmaps tsc=reliable"
MESSAGE = "No working init found."


def die(name, words, guest_words=LOST, **machine):
    machine = {"icount": True, **machine}
    return boot(name, words, [kernel(words=guest_words), Module(SYSTEM_MAP)], **machine)


def assert_is_report(text, where):
    assert re.search(r"  rip 0{8}[0-9a-f]{8} rsp ", text)
    assert re.search(rf"  code 32 [0-9a-f]+( [0-9a-f]{{2}}){{32}}", text)
    assert re.search(rf"  at   [0-9a-f]{{8}}  {where}", text)
    assert re.search(r"  the last \d+ exits, newest last \(trace=on", text)
    assert re.search(r"  \d+ 0 [0-9a-f]+ (cpuid|port|wrmsr|debug_register) \d+ ", text)
    assert "  next: " in text


def test_a_panic_is_reported_and_the_guest_does_as_it_likes():
    result = die("death-panic", "", LOST + " panic=-1")
    assert result.finished, result.com2
    assert f'guest panic on processor 0: "{MESSAGE}' in result.com2
    assert_is_report(result.com2, "panic\n")
    assert re.search(r"  from [0-9a-f]{8}  kernel_init\+", result.com2)
    assert "Kernel panic - not syncing: No working init" in result.com1
    assert record(result.com2, "end")["why"] == "reset"
    assert "attention" not in record(result.com2, "exits")["by_reason"]


def test_a_panic_parks():
    result = die("death-park", "onfault=park", seconds=60, marker="stopped here, as onfault= asks")
    assert record(result.com2, "end")["why"] == "panic"
    assert "Kernel panic" not in result.com1


def test_a_hang_is_reported_and_resets():
    """The kernel that has panicked loops for ever."""
    result = die("death-hang", "watchdog=1")
    assert result.finished, result.com2
    assert "guest hangs: its processor 0 has been in the kernel for more than 1 seconds" in (
        result.com2)
    assert_is_report(result.com2[result.com2.index("guest hangs"):], r"\w+")
    assert record(result.com2, "end")["why"] == "hang"


@pytest.mark.parametrize("cpu", ["amd", "intel"])
def test_a_panic_is_looked_at(cpu):
    modules = [Module(BUILD / "kernel-vmi" / "bzImage", LOST)]
    with machine_with_monitor("panic", cpu, "onfault=monitor", modules) as line:
        line.wait_for(PROMPT)
        assert f'guest panic on processor 0: "{MESSAGE}' in line.text
        assert f"processor 0 at {symbol('panic'):08x}  panic" in line.text
        assert "kernel_init+" in line.ask("bt")
        line.go_on()
        line.wait_for_guest("Kernel panic - not syncing")
