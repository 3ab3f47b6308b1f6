# SPDX-License-Identifier: GPL-2.0-only
"""One run of a machine: start, watch its serial lines, stop, report."""

from __future__ import annotations

import dataclasses
import enum
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .base import Emulator
from .log import LogTail
from .machine import Link, Machine, Serial
from .relay import Relay

POLL_SECONDS = 0.05
PATIENCE_SECONDS = 5  # between asking an emulator to end and ending it
OWN_LOG_BYTES = 64 << 20  # Bochs notes what a guest does wrong, which can be any amount

# Called with ("com1" or "com2", a whole line without its newline).
LineWatcher = Callable[[str, str], None]


class End(enum.Enum):
    """Why a run ended."""

    EXIT = "exit"            # the machine powered off or reset
    MARKER = "marker"        # the awaited text came
    TIMEOUT = "timeout"
    LOG_LIMIT = "log limit"


@dataclass(frozen=True)
class Limits:
    """What a run may take before it is stopped, and the text that stops it."""

    seconds: float | None = 120
    log_bytes: int = 8 << 20     # of either serial port
    marker: str | None = None    # within a line of either serial port


@dataclass(frozen=True)
class Result:
    """What a run gave."""

    com1: str
    com2: str
    seconds: float
    end: End
    exit_status: int | None      # 0 after power-off or reset, else the emulator's;
                                 # None if the run was stopped
    messages: str                # what the emulator itself complained about
    logs: tuple[Path, Path]

    @property
    def finished(self) -> bool:
        """The run came to an end of its own; neither limit was hit, nothing crashed."""
        return self.end is End.MARKER or (self.end is End.EXIT and self.exit_status == 0)


class Session:
    """A running machine. Use it in a "with" statement: leaving that ends the emulator."""

    def __init__(self, emulator: Emulator, machine: Machine, logs: Path | str, name: str,
                 com1: Link = Link.NONE, com2: Link = Link.NONE,
                 com2_tcp: int | None = None):
        machine.check()
        folder = Path(logs)
        folder.mkdir(parents=True, exist_ok=True)
        self.com1 = serial_for(folder / f"{name}.com1", com1)
        self.com2 = dataclasses.replace(serial_for(folder / f"{name}.com2", com2), tcp=com2_tcp)
        self.messages = folder / f"{name}.emulator.log"
        self.emulator = emulator
        self.machine = machine
        self.in_foreground = emulator.has_links and Link.TERMINAL in (com1, com2)
        self.relays: list[Relay] = []
        self.tails = {"com1": LogTail(self.com1.log), "com2": LogTail(self.com2.log)}
        self.own_log = LogTail(emulator.own_log(self.com1) or Path(os.devnull))
        self.machine_ended = False
        self.process: subprocess.Popen | None = None
        self.started = 0.0

    def command(self) -> list[str]:
        """The emulator's command line; writes the files that it needs."""
        return self.emulator.command(self.machine, self.com1, self.com2)

    def __enter__(self) -> Session:
        for tail in (*self.tails.values(), self.own_log):
            tail.start_anew()
        try:
            self.com1, self.com2 = self.relayed(self.com1), self.relayed(self.com2)
            command = self.command()
            self.started = time.monotonic()
            self.process = start(command, self.messages, self.in_foreground)
            self.emulator.started(self.process, self.messages)
        except BaseException:
            self.stop()
            raise
        return self

    def relayed(self, serial: Serial) -> Serial:
        """The port with a relay behind it, if it has a link that the emulator cannot make."""
        if serial.link is Link.NONE or self.emulator.has_links:
            return serial
        self.relays.append(Relay(serial))
        return dataclasses.replace(serial, device=self.relays[-1].device)

    def __exit__(self, *_exception) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends the emulator if it still runs; returns when it is gone."""
        if self.process is not None and self.process.poll() is None:
            self.end_process()
        for relay in self.relays:
            relay.close()

    def end_process(self) -> None:
        self.send(self.emulator.stop_signal)
        try:
            self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.send(signal.SIGKILL)
            self.process.wait()

    def send(self, number: signal.Signals) -> None:
        """To the emulator, and to what it started where it has a process group of its own."""
        if self.in_foreground:
            self.process.send_signal(number)
        else:
            os.killpg(self.process.pid, number)

    def wait(self, limits: Limits, on_line: LineWatcher | None = None) -> Result:
        """Watches until the machine ends or a limit is hit, then ends the emulator."""
        while (result := self.poll(limits, on_line)) is None:
            time.sleep(POLL_SECONDS)
        return result

    def poll(self, limits: Limits, on_line: LineWatcher | None = None) -> Result | None:
        """One look, for those who watch several machines; None while the machine runs."""
        exited = self.has_ended()  # before reading: the last words count
        if exited:
            self.stop()
        marked = self.read_lines(limits.marker, on_line)
        while exited and not marked and self.unread():
            marked = self.read_lines(limits.marker, on_line)
        end = self.end_reason(limits, exited, marked)
        if end is None:
            return None
        seconds = time.monotonic() - self.started
        self.stop()
        return self.result(end, seconds, limits.log_bytes)

    def has_ended(self) -> bool:
        """The emulator is gone, or it told that the machine is, or the user wants it to be."""
        gone = self.process.poll() is not None
        self.read_own_log()
        while gone and self.own_log.unread():
            self.read_own_log()
        self.machine_ended |= any(relay.left for relay in self.relays)
        return gone or self.machine_ended

    def read_own_log(self) -> None:
        for line in self.own_log.new_lines():
            self.machine_ended |= self.emulator.tells_the_end(line)

    def unread(self) -> bool:
        return any(tail.unread() for tail in self.tails.values())

    def read_lines(self, marker: str | None, on_line: LineWatcher | None) -> bool:
        """Passes new lines on; True if one holds the marker, or a line that has yet no end."""
        marked = False
        for port, tail in self.tails.items():
            lines = tail.new_lines()
            marked |= marker is not None and any(marker in line
                                                 for line in (*lines, tail.unended_line()))
            for line in lines if on_line is not None else ():
                on_line(port, line)
        return marked

    def end_reason(self, limits: Limits, exited: bool, marked: bool) -> End | None:
        if marked:
            return End.MARKER
        if self.logs_exceed(limits.log_bytes):
            return End.LOG_LIMIT
        if exited:
            return End.EXIT
        if limits.seconds is not None and time.monotonic() - self.started > limits.seconds:
            return End.TIMEOUT
        return None

    def logs_exceed(self, log_bytes: int) -> bool:
        return (self.own_log.size() > OWN_LOG_BYTES
                or any(tail.size() > log_bytes for tail in self.tails.values()))

    def result(self, end: End, seconds: float, log_bytes: int) -> Result:
        return Result(com1=self.tails["com1"].text(log_bytes),
                      com2=self.tails["com2"].text(log_bytes),
                      seconds=seconds, end=end,
                      exit_status=self.exit_status() if end is End.EXIT else None,
                      messages=self.emulator.complaints(
                          self.messages.read_text(errors="replace")),
                      logs=(self.com1.log, self.com2.log))

    def exit_status(self) -> int:
        return 0 if self.machine_ended else self.process.returncode


def run(emulator: Emulator, machine: Machine, logs: Path | str, name: str,
        limits: Limits = Limits(), on_line: LineWatcher | None = None,
        com1: Link = Link.NONE, com2: Link = Link.NONE) -> Result:
    """Runs a machine to its end. The logs are NAME.com1.log and NAME.com2.log."""
    with Session(emulator, machine, logs, name, com1, com2) as session:
        return session.wait(limits, on_line)


def serial_for(stem: Path, link: Link) -> Serial:
    socket = stem.with_name(stem.name + ".sock") if link is Link.SOCKET else None
    return Serial(stem.with_name(stem.name + ".log"), link, socket)


def start(command: list[str], messages: Path, in_foreground: bool) -> subprocess.Popen:
    """Starts the emulator so that it ends with this thread, even if that is killed.

    Unless it has the terminal it has a session and a process group of its own, so that a Ctrl-C
    meant for this process does not reach it. With one it has to stay in the foreground.
    """
    with open(messages, "wb") as stream:
        return subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command],
                                stdin=None if in_foreground else subprocess.DEVNULL,
                                stdout=None if in_foreground else stream, stderr=stream,
                                start_new_session=not in_foreground)


def raise_on_signals() -> None:
    """Turns SIGTERM and SIGHUP into SystemExit, so that "with" cleans up after them."""
    def leave(number, _frame):
        raise SystemExit(128 + number)
    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGHUP, leave)
