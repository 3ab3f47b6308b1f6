# SPDX-License-Identifier: GPL-2.0-only
"""Reads away what Bochs draws.

Debian's Bochs puts the machine's screen on a pseudo-terminal of its own, for a user to look
at. If nobody reads that, it is full after some screens of text, and Bochs stops and waits.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
import time
import tty
from pathlib import Path

POLL_SECONDS = 0.05
CHUNK = 1 << 16
NAMED = re.compile(r'^Bochs connected to screen "(/dev/pts/\d+)"$', re.MULTILINE)


def read_away(process: subprocess.Popen, messages: Path) -> None:
    """Does it until the process is gone, in a thread that ends by itself."""
    threading.Thread(target=work, args=(process, messages), daemon=True).start()


def work(process: subprocess.Popen, messages: Path) -> None:
    while process.poll() is None:
        found = NAMED.search(messages.read_text(errors="replace"))
        if found:
            drain(process, found[1])
            return
        time.sleep(POLL_SECONDS)


def drain(process: subprocess.Popen, name: str) -> None:
    try:
        screen = os.open(name, os.O_RDWR | os.O_NOCTTY)
    except OSError:  # Bochs is gone already
        return
    # Only while Bochs lives the name is sure to be its screen's, not a stranger's terminal.
    if process.poll() is None:
        tty.setraw(screen)
        read_to_the_end(screen)
    os.close(screen)


def read_to_the_end(screen: int) -> None:
    try:
        while os.read(screen, CHUNK):
            pass
    except OSError:  # Bochs has closed its side
        pass
