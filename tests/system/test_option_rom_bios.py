# SPDX-License-Identifier: GPL-2.0-only
"""The VMI ROM on a machine without Vellum: what a BIOS makes of it, and that its code does
what a guest kernel counts on.

SeaBIOS tells on its debug port which option ROMs it runs and which it refuses. Then the
probe (vmirom_probe/) runs the ROM's code in place, at CPL 0, through a mapping like
Linux', and tells the registers. What this cannot see: that Vellum answers the hypercall.
Here a handler of #UD stands in for it.
"""
import os
import pathlib
import re
import resource
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("BUILD", "build")
ROM = BUILD / "vmirom.bin"
PROBE = BUILD / "vmirom_probe" / "probe.elf"

LINEAR_MAP = 0xC0000000
ROM_SIZE = 4096
SECONDS = 30            # one run takes half a second
LOG_LIMIT = 1 << 20     # bytes; a BIOS that runs wild in a broken ROM writes without end

CHECKSUM = 0x07
IF = 0x200
HYPERCALL_INIT = 0x56000000
FAKE_RESULT = 0x5A5A5A5A  # of the probe's #UD handler
NONE, CALL_REL, NOP = 0, 1, 3
NATIVE = 1 << 8 | CALL_REL  # with the hint
ANSWERS = {**dict.fromkeys(range(29, 35), NATIVE), 36: CALL_REL, 37: CALL_REL,
           62: CALL_REL, 65: NOP,
           **dict.fromkeys(range(66, 72), NATIVE)}
KEPT = {"ebx": 0xB0B0B0B0, "esi": 0x51515151, "edi": 0xD1D1D1D1, "ebp": 0xB9B9B9B9,
        "esp_moved": 0}
ALL_KEPT = {**KEPT, "ecx": 0xC0C0C0C0, "edx": 0xD0D0D0D0}


def machine(rom, log):
    return ["qemu-system-x86_64", "-accel", "tcg", "-m", "32", "-nodefaults", "-display", "none",
            "-no-reboot", "-option-rom", str(rom),
            "-chardev", f"file,id=debug,path={log}",
            "-device", "isa-debugcon,iobase=0x402,chardev=debug"]


def limit_log():
    """In the child: QEMU dies when it writes more than LOG_LIMIT to a file."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (LOG_LIMIT, LOG_LIMIT))


def boot_probe(rom, directory, cpu="qemu64"):
    """What BIOS and probe write to the debug port. The probe ends the machine."""
    log = directory / "debug.log"
    subprocess.run([*machine(rom, log), "-cpu", cpu, "-kernel", str(PROBE),
                    "-device", "isa-debug-exit,iobase=0xf4"],
                   timeout=SECONDS, check=False, preexec_fn=limit_log)
    return log.read_text()


def probe_records(text, name):
    """The lines `PROBE name key=hex ...`, as dictionaries."""
    for line in text.splitlines():
        match = re.match(rf"PROBE {name} (.*)", line)
        if match:
            pairs = (word.split("=") for word in match.group(1).split())
            yield {key: int(value, 16) for key, value in pairs}


def record(text, name):
    found = list(probe_records(text, name))
    assert len(found) == 1, f"{len(found)} lines PROBE {name}"
    return found[0]


def changed(rom, directory, change):
    """A copy of the ROM with change() applied."""
    data = bytearray(rom.read_bytes())
    change(data)
    path = directory / "changed.bin"
    path.write_bytes(data)
    return path


def reseal(data):
    data[CHECKSUM] = (data[CHECKSUM] - sum(data)) % 256


def wait_for(log, text):
    limit = time.monotonic() + SECONDS
    while not (log.exists() and text in log.read_text()):
        assert time.monotonic() < limit, f"no '{text}' on the debug port"
        time.sleep(0.02)


def read_memory(rom, directory, address, size):
    """Physical memory once the BIOS has found nothing to boot, through QEMU's monitor."""
    log = directory / "debug.log"
    with subprocess.Popen([*machine(rom, log), "-monitor", "stdio"], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          preexec_fn=limit_log) as qemu:
        try:
            wait_for(log, "No bootable device")
            answer, _ = qemu.communicate(f"xp/{size}xb {address:#x}\nquit\n", timeout=SECONDS)
        finally:
            qemu.kill()
    lines = re.findall(r"^[0-9a-f]{16}:((?: 0x[0-9a-f]{2})+)", answer, re.MULTILINE)
    return bytes(int(byte, 16) for line in lines for byte in line.split())


@pytest.fixture(scope="module")
def probed(tmp_path_factory):
    return boot_probe(ROM, tmp_path_factory.mktemp("probe"))


@pytest.fixture(scope="module")
def rom_base(probed):
    """Linear address at which the probe found the ROM."""
    return record(probed, "rom")["at"]


# ---- the BIOS ----

def test_bios_accepts_and_runs_the_rom(probed, rom_base):
    assert rom_base >= LINEAR_MAP + 0xC0000
    segment = (rom_base - LINEAR_MAP) >> 4
    assert f"Running option rom at {segment:04x}:0003" in probed
    assert "bad checksum" not in probed
    assert "PROBE end" in probed  # bios_init came back, and so did all that followed


def test_bios_refuses_a_wrong_checksum(tmp_path):
    def break_checksum(data):
        data[CHECKSUM] ^= 1

    text = boot_probe(changed(ROM, tmp_path, break_checksum), tmp_path)
    assert re.search(r"bad checksum: loc=\S+ len=4096 sum=\w+", text)
    assert record(text, "rom")["at"] == 0


def test_bios_does_not_boot_from_the_rom(tmp_path):
    read_memory(ROM, tmp_path, 0xC0000, 1)
    text = (tmp_path / "debug.log").read_text()
    assert "Running option rom at c000:0003" in text
    assert "Booting from c000:" not in text


def test_rom_is_in_memory_as_built(tmp_path):
    rom = ROM.read_bytes()
    assert read_memory(ROM, tmp_path, 0xC0000, len(rom)) == rom


# ---- get_reloc ----

def test_every_call_has_its_answer(probed, rom_base):
    routines = set()
    for call in range(74):
        answers = [r for r in probe_records(probed, "get_reloc") if r["call"] == call]
        assert answers, call
        for answer in answers:
            assert answer["edx"] == ANSWERS.get(call, NONE), call
            if answer["edx"] & 0xFF == CALL_REL:
                assert rom_base + 0x90 <= answer["eax"] < rom_base + ROM_SIZE, call
                routines.add(answer["eax"])
            else:
                assert answer["eax"] == 0, call
    assert len(routines) == sum(edx & 0xFF == CALL_REL for edx in ANSWERS.values())


def test_unknown_calls_are_none(probed):
    unknown = [r for r in probe_records(probed, "get_reloc") if r["call"] >= 74]
    assert {r["call"] for r in unknown} == {74, 75, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
                                            0x4000001D, 0x8000001D, 0xC000001D}
    assert all(r["eax"] == r["edx"] == 0 for r in unknown)


def test_get_reloc_keeps_what_c_keeps(probed):
    for answer in probe_records(probed, "get_reloc"):
        assert {key: answer[key] for key in KEPT} == KEPT, hex(answer["call"])


# ---- the routines; DS and ES lead nowhere meanwhile ----

@pytest.mark.parametrize("name, eax, interrupts", [
    ("enable", 0x12345678, IF),
    ("disable", 0x12345678, 0),
    ("set_mask_on", IF, IF),
    ("set_mask_off", 0, 0),
    ("set_mask_others_on", 0xFFFFFFFF, IF),
    ("set_mask_others_off", 0xFFFFFFFF & ~IF, 0),
])
def test_interrupt_routine_changes_flags_only(probed, name, eax, interrupts):
    after = record(probed, name)
    assert after["eflags"] & IF == interrupts
    assert after["eflags"] & 0x7F00 & ~IF == 0  # TF, DF, IOPL, NT as they were
    assert {key: after[key] for key in ALL_KEPT} == ALL_KEPT
    assert after["eax"] == eax


@pytest.mark.parametrize("name, interrupts", [("get_mask_on", IF), ("get_mask_off", 0)])
def test_get_interrupt_mask(probed, name, interrupts):
    after = record(probed, name)
    assert after["eax"] & IF == interrupts
    assert after["eflags"] & IF == interrupts
    assert {key: after[key] for key in ALL_KEPT} == ALL_KEPT


def test_iret_drops_the_return_address_and_takes_the_frame(probed):
    after = record(probed, "iret")
    assert after["eflags"] == 0x203     # the frame's
    assert {key: after[key] for key in ALL_KEPT} == ALL_KEPT
    assert after["eax"] == 0x12345678


def test_sysexit_reaches_user_mode_with_interrupts_on(probed):
    user = record(probed, "sysexit")    # see user_landing in entry.asm
    assert user["eax"] & 3 == 3         # CS
    assert user["ebx"] & IF             # EFLAGS
    assert user["esi"] == 0             # ESP, less the one asked for


# ---- vmi_init ----

def assert_stays_native(text):
    after = record(text, "vmi_init")
    assert after["eax"] == 0xFFFFFFFF
    assert after["hypercall_eax"] == 0  # none was made
    assert {key: after[key] for key in KEPT} == KEPT


def test_init_fails_behind_another_hypervisor(probed):
    assert_stays_native(probed)         # QEMU's CPUID says TCGTCGTCGTCG


def test_init_fails_on_the_bare_machine(tmp_path):
    assert_stays_native(boot_probe(ROM, tmp_path, cpu="qemu64,-hypervisor"))


def expect_tcg(data):
    """Puts QEMU's CPUID signature in the place of Vellum's."""
    for compare, ours, theirs in ((b"\x81\xfb", b"Vell", b"TCGT"),
                                  (b"\x81\xf9", b"umVe", b"CGTC"),
                                  (b"\x81\xfa", b"llum", b"GTCG")):
        assert data.count(compare + ours) == 1
        data[:] = data.replace(compare + ours, compare + theirs)
    reseal(data)


def test_init_calls_the_hypervisor_that_it_knows(tmp_path):
    text = boot_probe(changed(ROM, tmp_path, expect_tcg), tmp_path)
    after = record(text, "vmi_init")
    assert after["hypercall_eax"] == HYPERCALL_INIT
    assert after["hypercall_edx"] == record(text, "rom")["at"]
    assert after["eax"] == FAKE_RESULT
    assert {key: after[key] for key in KEPT} == KEPT


def test_init_wants_the_hypervisor_bit_before_the_signature(tmp_path):
    rom = changed(ROM, tmp_path, expect_tcg)
    assert_stays_native(boot_probe(rom, tmp_path, cpu="qemu64,-hypervisor"))
