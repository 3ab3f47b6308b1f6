# SPDX-License-Identifier: GPL-2.0-only
"""The monitor as a person sees it: a real serial line, typed at and read from."""

import contextlib
import re
import socket
import time

from vellum import (BUILD, IMAGE, INITRD, VMI_KERNEL, Link, Machine, Module, Session,
                    emulator_for)

SYSTEM_MAP = VMI_KERNEL.parent / "System.map"
KERNEL_WORDS = "console=ttyS0 nokaslr norandmaps tsc=reliable vellum.run=shell"
PROMPT = "vellum> "
SHELL = "Ctrl-D powers off"
SECONDS = 240


class Line:
    """COM2's other end."""

    def __init__(self, session):
        self.session = session
        self.text = ""       # all that has come
        self.socket = connected(session.com2.socket)

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode("latin-1"))

    def read(self):
        with contextlib.suppress(TimeoutError):
            self.text += self.socket.recv(65536).decode("latin-1").replace("\r", "")

    def wait_for(self, text, start=0):
        """What came from start on, up to and with the text."""
        end = time.monotonic() + SECONDS
        while text not in self.text[start:]:
            assert time.monotonic() < end, f"no '{text}' in:\n{self.text[start:][-3000:]}"
            self.read()
        return self.text[start:self.text.index(text, start) + len(text)]

    def ask(self, command):
        """What the command prints."""
        start = len(self.text)
        self.send(command + "\r")
        text = self.wait_for("\n" + PROMPT, start)
        return text.split("\n", 1)[1].removesuffix(PROMPT)

    def wait_until_quiet(self, seconds=1.0):
        """Until nothing has come for so long: the line's FIFO is empty then."""
        length, end = -1, 0
        while length != len(self.text) or time.monotonic() < end:
            if length != len(self.text):
                length, end = len(self.text), time.monotonic() + seconds
            self.read()

    def ask_long(self, command):
        """The same for a command that no FIFO takes at once."""
        start = len(self.text)
        self.send(command)
        self.wait_until_quiet()
        self.send("\r")
        text = self.wait_for("\n" + PROMPT, start)
        return text.split("\n", 1)[1].removesuffix(PROMPT)

    def stop(self):
        """Stops the guest as a person does; what the monitor says to that."""
        start = len(self.text)
        self.send("\r")
        return self.wait_for(PROMPT, start)

    def go_on(self, command="c"):
        self.send(command + "\r")

    def wait_for_stop(self, command="c"):
        start = len(self.text)
        self.send(command + "\r")
        return self.wait_for(PROMPT, start)

    def guest_text(self):
        """What the guest has said on COM1."""
        log = self.session.com1.log
        return log.read_text(errors="replace") if log.exists() else ""

    def wait_for_guest(self, text):
        """Until the guest has said something on COM1."""
        end = time.monotonic() + SECONDS
        while text not in self.guest_text():
            assert time.monotonic() < end and not self.session.has_ended(), (
                f"COM1 never said '{text}', but:\n{self.guest_text()[-2000:]}\n"
                f"and COM2:\n{self.text[-1000:]}")
            self.read()
            time.sleep(0.05)

    def wait_for_end(self):
        """Until the machine is reset or off; all that has come."""
        end = time.monotonic() + SECONDS
        while not self.session.has_ended():
            assert time.monotonic() < end, "the machine runs on"
            self.read()
        with contextlib.suppress(OSError):
            self.read()
        return self.text


def connected(path):
    end = time.monotonic() + 60
    while True:
        one = socket.socket(socket.AF_UNIX)
        try:
            one.connect(str(path))
            one.settimeout(0.1)
            return one
        except OSError:
            one.close()
            assert time.monotonic() < end, f"nobody listens at {path}"
            time.sleep(0.05)


@contextlib.contextmanager
def machine_with_monitor(name, cpu="amd", words="", modules=None, symbols=True, **machine):
    """A machine whose COM2 is the monitor's; yields the Line."""
    modules = modules or [Module(VMI_KERNEL, KERNEL_WORDS), Module(INITRD)]
    modules = modules + ([Module(SYSTEM_MAP)] if symbols else [])
    # With time by instructions a busy host makes no guest miss its timers.
    machine = {"memory": 256, "icount": cpu == "amd", **machine}
    described = Machine(cpu=cpu, image=IMAGE, append=f"monitor=com2 {words}", modules=modules,
                        **machine)
    with Session(emulator_for(described), described, BUILD / "logs", f"monitor-{name}-{cpu}",
                 com2=Link.SOCKET) as session:
        line = Line(session)
        try:
            yield line
        finally:
            line.close()


def symbol(name):
    found = re.search(rf"^([0-9a-f]+) \w {name}$", SYSTEM_MAP.read_text(), re.MULTILINE)
    return int(found[1], 16)
