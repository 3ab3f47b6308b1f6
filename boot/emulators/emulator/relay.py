# SPDX-License-Identifier: GPL-2.0-only
"""Wires a serial port to a terminal or a socket, for emulators that can do neither.

The emulator is given a pseudo-terminal. A thread here passes on what comes out of it,
keeps it in the log, and passes back what is typed.
"""

from __future__ import annotations

import os
import selectors
import socket
import sys
import termios
import threading
import tty
from pathlib import Path

from .machine import Link, Serial

CHUNK = 4096
CTRL_A = 0x01
END_KEY = ord("x")  # after Ctrl-A, as with QEMU


class Relay:
    """One port's wire. Start it before the emulator, close it when that is gone."""

    def __init__(self, serial: Serial):
        self.port, self.emulators_end = os.openpty()
        tty.setraw(self.emulators_end)
        self.device = Path(os.ttyname(self.emulators_end))
        self.log = open(serial.log, "wb", buffering=0)
        self.end = TerminalEnd() if serial.link is Link.TERMINAL else SocketEnd(serial)
        self.waker, self.wake = os.pipe()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    @property
    def left(self) -> bool:
        """The user asked to end the machine."""
        return self.end.left

    def work(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self.port, selectors.EVENT_READ, self.pass_out)
            selector.register(self.waker, selectors.EVENT_READ)
            self.end.register(selector, self.pass_in)
            while not any(key.fd == self.waker for key in self.serve(selector)):
                pass
        self.drain()

    @staticmethod
    def serve(selector: selectors.BaseSelector) -> list[selectors.SelectorKey]:
        """Waits for something to read and handles it; what it was."""
        keys = [key for key, _ in selector.select()]
        for key in keys:
            if key.data is not None:
                key.data()
        return keys

    def pass_out(self) -> None:
        data = os.read(self.port, CHUNK)
        self.log.write(data)
        self.end.write(data)

    def pass_in(self, data: bytes) -> None:
        os.write(self.port, data)

    def drain(self) -> None:
        """The machine's last words, when nothing more can come."""
        os.set_blocking(self.port, False)
        try:
            while True:
                self.pass_out()
        except BlockingIOError:
            pass

    def close(self) -> None:
        """Safe to call twice."""
        if self.log.closed:
            return
        os.write(self.wake, b".")
        self.thread.join()
        self.end.close()
        self.log.close()
        for descriptor in (self.port, self.emulators_end, self.waker, self.wake):
            os.close(descriptor)


class TerminalEnd:
    """This process's standard input and output. Ctrl-A X asks for the end."""

    def __init__(self):
        self.left = False
        self.after_ctrl_a = False
        self.input = sys.stdin.fileno()
        self.output = sys.stdout.fileno()
        self.settings = termios.tcgetattr(self.input) if os.isatty(self.input) else None
        if self.settings is not None:
            tty.setraw(self.input)

    def register(self, selector: selectors.BaseSelector, pass_in) -> None:
        def typed():
            data = self.read()
            if not data:
                selector.unregister(self.input)
            pass_in(self.filtered(data))
        try:
            selector.register(self.input, selectors.EVENT_READ, typed)
        except PermissionError:  # a file, or /dev/null: nothing is ever typed there
            pass

    def read(self) -> bytes:
        """b"" at the end of the input."""
        try:
            return os.read(self.input, CHUNK)
        except OSError:  # the terminal is gone
            self.left = True
            return b""

    def filtered(self, data: bytes) -> bytes:
        """What is for the machine. Ctrl-A twice is one Ctrl-A for it."""
        passed = bytearray()
        for byte in data:
            if self.after_ctrl_a:
                self.left |= byte | 0x20 == END_KEY
                passed += b"\x01" if byte == CTRL_A else b""
                self.after_ctrl_a = False
            elif byte == CTRL_A:
                self.after_ctrl_a = True
            else:
                passed.append(byte)
        return bytes(passed)

    def write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self.output, data):]
        except OSError:  # the terminal is gone
            self.left = True

    def close(self) -> None:
        if self.settings is not None:
            termios.tcsetattr(self.input, termios.TCSADRAIN, self.settings)


class SocketEnd:
    """A socket that takes one client after the other."""

    left = False

    def __init__(self, serial: Serial):
        if serial.tcp is not None:
            self.path = None
            self.listener = socket.create_server(("127.0.0.1", serial.tcp))
        else:
            self.path = serial.socket
            self.path.unlink(missing_ok=True)
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(str(self.path))
            self.listener.listen()
        self.client: socket.socket | None = None

    def register(self, selector: selectors.BaseSelector, pass_in) -> None:
        def connected():
            client, _ = self.listener.accept()
            self.drop(selector)
            self.client = client
            selector.register(client, selectors.EVENT_READ, received)

        def received():
            try:
                data = self.client.recv(CHUNK)
            except OSError:
                data = b""
            if data:
                pass_in(data)
            else:
                self.drop(selector)
        selector.register(self.listener, selectors.EVENT_READ, connected)

    def drop(self, selector: selectors.BaseSelector) -> None:
        if self.client is not None:
            selector.unregister(self.client)
            self.client.close()
            self.client = None

    def write(self, data: bytes) -> None:
        if self.client is None:
            return
        try:
            self.client.sendall(data)
        except OSError:
            pass  # the client is gone; reading from it will say so

    def close(self) -> None:
        if self.client is not None:
            self.client.close()
        self.listener.close()
        if self.path is not None:
            self.path.unlink(missing_ok=True)
