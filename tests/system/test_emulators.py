# SPDX-License-Identifier: GPL-2.0-only
"""One machine, several emulators: its text arrives, every end and limit is noticed, and
nothing is left running. The guest is a few instructions, or Linux 6.1."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import pexpect
import pytest

from vellum import (IMAGE, INITRD, KERNEL_WORDS, PLAIN_KERNEL, ROOT, VMI_KERNEL, BUILD, Limits,
                    Machine, Module, choose_emulator, records, run)
from emulator import EmulatorError, End, Link, Session, bochs_program, grub_iso
from emulator.cache import is_intact, make_folder

RUN = ROOT / "boot" / "emulators" / "run"
FETCH_BOCHS = ROOT / "boot" / "emulators" / "fetch-bochs"
MACHINES = {"qemu": "amd", "bochs": "intel", "bochs-amd": "amd"}
SECONDS = 60

# Multiboot. Says its string and its modules' strings on COM1 and "two" on COM2; then the
# first letter after "do=" in its string says what it does.
GUEST = """
bits 32
org 0x100000
%define COM1 0x3f8
%define COM2 0x2f8
MAGIC equ 0x1badb002
FLAGS equ 0x10003                       ; page-aligned modules, memory map, addresses below
header:
    dd MAGIC, FLAGS, -(MAGIC + FLAGS), header, header, end, stack, start
start:
    mov esp, stack
    mov dx, COM1 + 3
    mov al, 3                           ; 8N1; Bochs goes by it, QEMU does not
    out dx, al
    mov dx, COM2 + 3
    out dx, al
    mov ebp, COM1
    mov esi, [ebx + 16]                 ; the string
    call say
    mov ecx, [ebx + 20]                 ; modules: how many, and where
    mov edi, [ebx + 24]
.module:
    jecxz .two
    mov esi, [edi + 8]
    call say
    add edi, 16
    dec ecx
    jmp .module
.two:
    mov ebp, COM2
    mov esi, two
    call say
    mov ebp, COM1
    mov esi, [ebx + 16]
.find:
    lodsb
    cmp al, '='
    jne .find
    lodsb
    cmp al, 'k'
    je keyboard_reset
    cmp al, 'c'
    je chipset_reset
    cmp al, 'p'
    je shutdown_port
    cmp al, 't'
    je triple_fault
    cmp al, 'f'
    je flood
    cmp al, 'a'
    je acpi_power_off
    cmp al, 'd'
    je draw
    cmp al, 'e'
    je echo
spin:
    pause
    jmp spin
keyboard_reset:
    mov al, 0xfe
    out 0x64, al
    jmp spin
chipset_reset:
    mov dx, 0xcf9
    mov al, 6
    out dx, al
    jmp spin
acpi_power_off:                         ; S5 at the PIIX4's usual places: Bochs, QEMU
    mov ax, 0x2000
    mov dx, 0xb004
    out dx, ax
    mov dx, 0x604
    out dx, ax
    jmp spin
shutdown_port:
    mov esi, shutdown
    mov dx, 0x8900
    mov ecx, 8
    rep outsb
    jmp spin
triple_fault:
    lidt [no_idt]
    int3
draw:                                   ; 2000 full screens, each one unlike the last
    mov ecx, 2000
.screen:
    mov edi, 0xb8000
    mov edx, 80 * 25
.cell:
    lea eax, [ecx + edx]
    and eax, 0x3f
    add eax, 0x720
    stosw
    dec edx
    jnz .cell
    mov eax, 100000
.pause:
    dec eax
    jnz .pause
    loop .screen
    jmp keyboard_reset
flood:
    mov esi, two
    call say
    jmp flood
echo:                                   ; a letter comes back as the next one, after q it ends
    mov dx, COM1 + 5
    in al, dx
    test al, 1
    jz echo
    mov dx, COM1
    in al, dx
    cmp al, 'q'
    je keyboard_reset
    inc al
    call put
    jmp echo
say:                                    ; the string at ESI and a newline, all sent at return
    lodsb
    test al, al
    jz .newline
    call put
    jmp say
.newline:
    mov al, 10
put:
    push eax
    lea edx, [ebp + 0]
    out dx, al
    lea edx, [ebp + 5]
.wait:
    in al, dx
    test al, 0x40
    jz .wait
    pop eax
    ret
two: db "two", 0
shutdown: db "Shutdown"
no_idt: dd 0, 0
end:
stack equ end + 4096
"""


def gone(pid):
    """No process of this id, and none in its process group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, 0)
        return False
    return not pathlib.Path(f"/proc/{pid}").exists()


def emulator_for(name, machine):
    """The emulator, or a skip that says why there is none."""
    try:
        return choose_emulator(name.partition("-")[0], machine)
    except EmulatorError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def guest(tmp_path_factory):
    source = tmp_path_factory.mktemp("guest") / "tiny.asm"
    source.write_text(GUEST)
    subprocess.run(["nasm", "-f", "bin", "-o", source.with_suffix(".bin"), source], check=True)
    return source.with_suffix(".bin")


@pytest.fixture(params=MACHINES)
def start(request, guest, tmp_path):
    """A function that starts the guest with a word, and gives the session."""
    def session(word, name=request.param, links=(Link.NONE, Link.NONE), **machine):
        built = Machine(cpu=MACHINES[name], memory=64, image=guest, append=f"do={word}", **machine)
        return Session(emulator_for(name, built), built, tmp_path, "guest", *links)
    session.emulator = request.param
    return session


def without_path(line):
    """A string without its first word: QEMU gives the file's path there, GRUB its name."""
    return line.partition(" ")[2]


# ---- what is said, and how it ends ---------------------------------------------


def test_strings_arrive_as_they_are(start, guest):
    odd = "a $b ${c} * (d) ; e#f {g} <h> | &i"
    with start("keyboard", modules=[Module(guest, odd), Module(guest)]) as session:
        result = session.wait(Limits(SECONDS))
    assert result.finished, result
    assert [without_path(line) for line in result.com1.splitlines()] == ["do=keyboard", odd, ""]
    assert result.com2 == "two\n"


@pytest.mark.parametrize("end", ["keyboard", "chipset", "triple-fault", "acpi", "port"])
def test_end_of_the_machine_ends_the_run_once(start, end):
    if end == "port" and start.emulator == "qemu":
        pytest.skip("QEMU has no shutdown port")
    with start(end) as session:
        result = session.wait(Limits(SECONDS))
        assert gone(session.process.pid)
    assert (result.end, result.exit_status) == (End.EXIT, 0), result
    assert result.com1.count("do=") == 1 and result.com2 == "two\n"


def test_machine_that_draws_is_not_held_up(start):
    with start("draw") as session:
        result = session.wait(Limits(SECONDS))
    assert result.end is End.EXIT, result


def test_marker_stops_the_run(start):
    with start("spin") as session:
        result = session.wait(Limits(SECONDS, marker="tw"))
        assert gone(session.process.pid)
    assert result.end is End.MARKER


def test_time_limit(start):
    with start("spin") as session:
        result = session.wait(Limits(2))
        assert gone(session.process.pid)
    assert result.end is End.TIMEOUT and not result.finished
    assert 2 <= result.seconds < 4


def test_log_limit(start):
    with start("flood") as session:
        result = session.wait(Limits(SECONDS, log_bytes=60_000))
        assert gone(session.process.pid)
    assert result.end is End.LOG_LIMIT
    assert len(result.com1) <= 60_000


def test_wrong_model_is_said_by_the_emulator(start):
    with start("spin", model="nonsense") as session:
        result = session.wait(Limits(SECONDS))
    assert not result.finished and result.exit_status != 0
    assert "model" in result.messages


# ---- nothing stays behind ------------------------------------------------------


def test_exception_ends_the_emulator(start):
    with pytest.raises(ZeroDivisionError):
        with start("spin") as session:
            pid = session.process.pid
            raise ZeroDivisionError
    assert gone(pid)


def child_of(pid, seconds=20):
    """The process that another one started, once it has become the emulator."""
    for _ in range(seconds * 20):
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        with contextlib.suppress(FileNotFoundError):
            for child in children:
                if pathlib.Path(f"/proc/{child}/comm").read_text()[:4] in ("qemu", "ld-l", "boch"):
                    return int(child)
        time.sleep(0.05)
    raise AssertionError("no emulator was started")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("name", ["qemu", "bochs"])
def test_signal_to_the_runner_ends_the_emulator(name, number, guest, tmp_path):
    emulator_for(name, Machine(cpu=MACHINES[name], image=guest))
    # A shell's background job ignores SIGINT, and so would all that the tests start in one.
    runner = subprocess.Popen([RUN, "--emu", name, "--cpu", MACHINES[name], "--image", guest,
                               "--append", "do=spin", "--logs", tmp_path],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    with runner:
        emulator = child_of(runner.pid)
        runner.send_signal(number)
        runner.wait(10)
    for _ in range(100):  # the kernel delivers a dead parent's signal in its own time
        if gone(emulator):
            return
        time.sleep(0.05)
    raise AssertionError(f"{name} outlived its runner")


# ---- serial ports that are typed to --------------------------------------------


def wait_for_text(log, text):
    patience = time.monotonic() + SECONDS
    while not log.exists() or text not in log.read_text():
        assert time.monotonic() < patience, f"'{text}' did not come"
        time.sleep(0.05)


def test_socket_takes_what_is_typed(start):
    links = (Link.SOCKET, Link.NONE)
    with start("echo", links=links) as session, socket.socket(socket.AF_UNIX) as client:
        client.settimeout(SECONDS)
        wait_for_text(session.com2.log, "two")
        client.connect(str(session.com1.socket))
        client.sendall(b"HAL")
        answer = b""
        while len(answer) < 3:
            answer += client.recv(3)
        client.sendall(b"q")
        result = session.wait(Limits(SECONDS))
    assert answer == b"IBM"
    assert result.finished and result.com1.endswith("IBM")


@pytest.mark.parametrize("leave", ["q", "\x01x"], ids=["reset", "ctrl-a-x"])
@pytest.mark.parametrize("name", ["qemu", "bochs"])
def test_terminal_takes_what_is_typed(name, leave, guest, tmp_path):
    emulator_for(name, Machine(cpu=MACHINES[name], image=guest))
    words = ["--emu", name, "--cpu", MACHINES[name], "--interactive", "--image", str(guest),
             "--append", "do=echo", "--logs", str(tmp_path)]
    with contextlib.closing(pexpect.spawn(str(RUN), words, timeout=SECONDS)) as terminal:
        terminal.expect("do=echo")
        terminal.expect("\n")
        terminal.send("HAL")
        terminal.expect("IBM")
        emulator = child_of(terminal.pid)
        terminal.send(leave)
        terminal.expect(pexpect.EOF)
    assert terminal.exitstatus == 0
    assert gone(emulator)
    assert "IBM" in (tmp_path / "machine.com1.log").read_text()


# ---- which emulator ------------------------------------------------------------


def test_auto_takes_what_can_build_the_machine(monkeypatch):
    monkeypatch.setattr("emulator.qemu.kvm_refusal", lambda cpu: None)
    assert choose_emulator("auto", Machine(cpu="amd")).name == "kvm"
    assert choose_emulator("auto", Machine(cpu="amd", icount=True)).name == "qemu"
    assert choose_emulator("auto", Machine(cpu="intel")).name == "kvm"
    monkeypatch.setattr("emulator.qemu.kvm_refusal", lambda cpu: "there is none")
    monkeypatch.setattr("emulator.bochs.Bochs.refusal", lambda self, machine: None)
    assert choose_emulator("auto", Machine(cpu="amd")).name == "qemu"
    assert choose_emulator("auto", Machine(cpu="intel")).name == "bochs"
    assert choose_emulator("auto", Machine(cpu="intel", icount=True)).name == "bochs"


def test_string_that_grub_would_change_is_refused(guest):
    emulator_for("bochs", Machine(image=guest))
    for string in ("a 'b'", 'a="b c"', "a\\b"):
        with pytest.raises(EmulatorError, match="GRUB"):
            choose_emulator("bochs", Machine(image=guest, append=string))


def test_same_machine_makes_the_same_iso(guest, tmp_path):
    machine = Machine(image=guest, append="a", modules=[Module(guest, "b")])
    emulator_for("bochs", machine)
    grub_iso.write_iso(tmp_path / "1.iso", machine)
    os.utime(guest, (0, 0))
    grub_iso.write_iso(tmp_path / "2.iso", machine)
    assert (tmp_path / "1.iso").read_bytes() == (tmp_path / "2.iso").read_bytes()


# ---- Bochs in the cache --------------------------------------------------------


@pytest.fixture
def cached(tmp_path, monkeypatch):
    """A cache with something in Bochs's place, and no Bochs of the system's."""
    def fill(folder):
        (folder / "bin").mkdir()
        (folder / "bin" / "bochs-bin").write_text("a program\n")
    monkeypatch.setenv("VELLUM_CACHE", str(tmp_path))
    monkeypatch.setattr(bochs_program, "system_program", lambda: None)
    bochs_program.find.cache_clear()
    folder = bochs_program.KEPT.folder()
    make_folder(folder, fill)
    yield folder, lambda: make_folder(folder, fill)
    bochs_program.find.cache_clear()


def change(folder):
    (folder / "bin" / "bochs-bin").write_text("a Program\n")


def remove(folder):
    (folder / "bin" / "bochs-bin").unlink()


def add(folder):
    (folder / "bin" / "more").touch()


def forget(folder):
    (folder / "SHA256SUMS").unlink()


@pytest.mark.parametrize("damage", [change, remove, add, forget])
def test_damaged_cache_is_noticed_and_replaced(cached, damage):
    folder, fetch_again = cached
    bochs_program.find.__wrapped__()
    damage(folder)
    with pytest.raises(EmulatorError, match="damaged; 'make setup'"):
        bochs_program.find.__wrapped__()
    fetch_again()
    assert is_intact(folder)
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def failing_programs(folder, *names):
    """A folder for PATH in which these programs do nothing but fail."""
    folder.mkdir()
    for name in names:
        (folder / name).write_text("#!/bin/sh\nexit 1\n")
        (folder / name).chmod(0o755)
    return folder


def test_fetch_bochs_sees_damage_and_says_that_it_cannot_mend_it(cached, tmp_path):
    folder, _ = cached
    change(folder)
    programs = failing_programs(tmp_path / "programs", "apt-get", "bochs-bin")
    done = subprocess.run([sys.executable, FETCH_BOCHS], capture_output=True, text=True,
                          env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"})
    assert done.returncode == 1
    assert f"{folder} is damaged" in done.stdout
    assert "fetch-bochs: error: this system's apt sources name no Debian mirror" in done.stderr


def test_fetch_bochs_does_nothing_where_it_is():
    emulator_for("bochs", Machine(cpu="intel"))
    done = subprocess.run([sys.executable, FETCH_BOCHS], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# ---- Linux ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def kernel():
    for path in (VMI_KERNEL, PLAIN_KERNEL):
        if path.is_file() and IMAGE.is_file() and INITRD.is_file():
            return path
    pytest.skip("no guest kernel, initramfs or Vellum is built: make test-system does")


def boot_linux(kernel, name):
    machine = Machine(cpu="intel", image=IMAGE, append="mode=native",
                      modules=[Module(kernel, KERNEL_WORDS), Module(INITRD)])
    return run(emulator_for("bochs", machine), machine, BUILD / "logs", name, Limits(180))


def test_linux_repeats_to_the_digit_on_bochs(kernel):
    first, second = (boot_linux(kernel, f"bochs-linux-{number}") for number in (1, 2))
    assert first.finished, first
    assert "Intel(R) Core(TM) i7-4770" in first.com1
    assert "vellum-guest: done" in first.com1
    assert records(first.com2)[0]["mode"] == "native"
    assert (first.com1, first.com2) == (second.com1, second.com2)
