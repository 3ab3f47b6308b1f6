# SPDX-License-Identifier: GPL-2.0-only
"""Every monitor command on a real serial line, with the real kernel."""

import re

import pytest

from monitor import PROMPT, SHELL, machine_with_monitor, symbol
from vellum import VENDORS, Module, record, BUILD


@pytest.fixture(params=VENDORS)
def cpu(request):
    return request.param


def test_from_the_first_instruction_to_the_shell(cpu):
    with machine_with_monitor("boot", cpu, "wait=on") as line:
        assert "the guest's first instruction" in line.wait_for(PROMPT)
        text = line.ask("regs")
        assert "protected mode, no paging" in text and "rip 0000000001000000" in text
        assert "cr0  0000000000000011  PE ET" in text
        assert "gdtr" in text and "32-bit code, readable, DPL 0" in text
        assert line.ask("break start_kernel") == (
            f"1  break  {symbol('panic'):08x}  panic\n"
            f"2  break  {symbol('start_kernel'):08x}  start_kernel\n")
        text = line.wait_for_stop()
        assert f"breakpoint\nprocessor 0 at {symbol('start_kernel'):08x}  start_kernel" in text
        assert re.search(r"^\? [0-9a-f]{8}  startup_32_smp\+", line.ask("bt"), re.MULTILINE)
        assert re.match(rf"code 32 {symbol('start_kernel'):x}( [0-9a-f]{{2}}){{32}}  start_kernel$",
                        line.ask("code"))
        assert "page of 4 KiB at p:" in line.ask("walk $eip")
        assert line.ask("delete") == "no breakpoints\n"
        line.ask("watch jiffies")
        text = line.wait_for_stop()
        assert f"{symbol('jiffies'):08x} was written" in text and "do_timer+" in text
        line.ask("delete")
        assert line.wait_for_stop("s 3").count("processor 0 at ") == 3
        assert line.wait_for_stop("s 100").count("processor 0 at ") == 1
        line.go_on()
        line.wait_for_guest(SHELL)
        assert "processor 0 at " in line.stop()
        text = line.ask("vmi")
        assert re.search(r"VMI ROM at p:c[0-9a-f]{4}, the guest calls it at c00c[0-9a-f]{4}", text)
        text = line.ask("vmi all")
        assert re.search(r"^29 EnableInterrupts +call +native", text, re.MULTILINE)
        assert len(re.findall(r"^[ \d]\d \w+", text, re.MULTILINE)) == 74
        assert re.search(r"^cpuid +\d+ +\d+ +\d+$", line.ask("exits"), re.MULTILINE)
        assert "vellum: Vellum " in line.ask("log 4096")
        line.go_on("reset")
        text = line.wait_for_end()
    assert record(text.split("reset\n")[-1], "end")["why"] == "reset"


def test_memory(cpu):
    with machine_with_monitor("memory", cpu) as line:
        line.wait_for_guest(SHELL)
        line.stop()
        banner = symbol("linux_banner")
        assert re.match(rf"{banner:08x}  4c 69 6e 75 78 20 76 65  72 .*  Linux ver", line.ask("mem linux_banner 16"))
        assert line.ask("find linux_banner 100 \"Linux version\"") == f"{banner:08x}\nfound 1 times\n"
        assert line.ask("write linux_banner \"Vellu\"") == f"5 bytes written at {banner:08x}\n"
        assert "Vellu ver" in line.ask("mem linux_banner 16")
        where = re.search(r"page of 4 KiB at p:(\w+)", line.ask("walk linux_banner"))
        physical = int(where[1], 16) + banner % 4096
        assert "Vellu" in line.ask(f"mem p:{physical:x} 16")
        line.ask(f"write p:{physical:x} 4c 69")
        assert "Lillu" in line.ask("mem linux_banner 16")
        assert "00000000: not mapped" in line.ask("mem 0")
        assert "this entry is not present" in line.ask("walk 0")
        assert line.ask("sym linux_banner") == f"{banner:08x}\n"
        assert line.ask("sym start_kernel+3") == f"{symbol('start_kernel') + 3:08x}  start_kernel+3\n"


def test_bad_lines_and_noise(cpu):
    """Nothing of it stops the guest, or is obeyed in part."""
    with machine_with_monitor("noise", cpu) as line:
        line.wait_for_guest(SHELL)
        line.send(bytes(range(0x80, 0x100)) * 8 + b"\x00\x1b[A\x1b[\x1b[\x7f reset help ")
        line.wait_until_quiet()  # what comes into a full FIFO is lost, Enter too
        line.stop()
        assert line.ask_long("x" * 10240) == "a line has 255 characters at most; nothing was done\n"
        assert line.ask_long("reset" + " " * 300 + "x") == (
            "a line has 255 characters at most; nothing was done\n")
        assert "no such command" in line.ask("frobnicate")
        for bad in ("mem", "mem zz", "mem 1000 0", "mem 1000 99999", "write 1000", "walk",
                    "write 1000 100", "find 0 1", "cpu 7", "cpu", "break $nothing", "watch 1 3",
                    "delete 9", "s 0", "bt 1000", "code qq", "regs 1", "reset now", "sym"):
            assert line.ask(bad), bad
        assert line.ask("reg\x1b[1\x1b[Ds\x1b[D\x1b[C\x7fgs\x01\x0bmem $esp 4").count("\n") == 1
        assert "help" in line.ask("he\t")
        line.send("resetx\x03")
        line.wait_for("^C\n" + PROMPT)
        line.go_on()
        before = len(line.text)
        line.send("reset power-off \x1b[A")
        line.read()
        line.read()
        line.wait_until_quiet()
        assert PROMPT not in line.text[before:]
        line.stop()
        line.go_on("reset")
        text = line.wait_for_end()
    assert record(text, "end")["why"] == "reset"


def test_two_processors():
    with machine_with_monitor("smp", "amd", cpus=2) as line:
        line.wait_for_guest(SHELL)
        line.stop()
        text = line.ask("cpus")
        assert re.search(r"^[* ] 0  APIC id 0 ", text, re.MULTILINE)
        assert re.search(r"^[* ] 1  APIC id 1   [0-9a-f]{16}", text, re.MULTILINE)
        assert "APIC id 1" in line.ask("cpu 1")
        assert "processor 1, CPL" in line.ask("regs")
        assert "processor 1 " in line.ask("exits")
        assert line.ask("nmi") == "processor 1 gets an NMI as soon as it runs\n"
        line.go_on()
        line.wait_for_guest("NMI received for unknown reason")
        line.stop()
        line.go_on("power-off")
        assert record(line.wait_for_end(), "end")["why"] == "poweroff"


def test_a_triple_fault_is_looked_at():
    guest = [Module(BUILD / "guest" / "triple_fault.bin")]
    with machine_with_monitor("fault", words="vmi=off onfault=monitor wait=on", modules=guest,
                              symbols=False) as line:
        line.wait_for(PROMPT)
        assert "triple fault: the guest is lost" in line.wait_for_stop()
        assert "rax 00000000600dcafe" in line.ask("regs")
        assert re.search(r"code 32 [0-9a-f]+ 0f 0b", line.text)
        line.go_on()
        text = line.wait_for_end()
    assert record(text, "end")["why"] == "triple-fault"
