# SPDX-License-Identifier: GPL-2.0-only
"""Debian's Chromium without a window, spoken to over a pipe (Chrome DevTools Protocol)."""

from __future__ import annotations

import base64
import io
import json
import os
import subprocess
import tempfile
from contextlib import ExitStack

import pytest

PROGRAM = "/usr/bin/chromium"
SECONDS = 1200  # for all visits; the computer may be busy
HEIGHT = 1000   # of the window: the highest chart fits
WORDS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
         "--disable-background-networking", "--disable-component-update", "--no-first-run",
         "--disable-dev-shm-usage", "--force-color-profile=srgb", "--hide-scrollbars")


class Browser:
    """One page at a time. Use it in a "with" statement."""

    def __init__(self):
        self.stack = ExitStack()
        self.number = 0
        self.session = None
        self.requests: list[str] = []
        self.loaded = False

    def __enter__(self) -> Browser:
        if not os.path.exists(PROGRAM):
            pytest.skip("there is no Chromium; 'make setup' installs it")
        profile = self.stack.enter_context(tempfile.TemporaryDirectory())
        their_input, self.output = os.pipe()
        self.input, their_output = os.pipe()
        # Chromium reads commands from descriptor 3 and answers on 4.
        script = f"exec 3<&{their_input} 4>&{their_output}; exec \"$@\""
        self.process = subprocess.Popen(
            ["timeout", "-k", "5", str(SECONDS), "bash", "-c", script, "bash", PROGRAM, *WORDS,
             f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(their_input, their_output), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(their_input)
        os.close(their_output)
        self.stack.callback(self.stop)
        self.unread = b""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target,
                                flatten=True)["sessionId"]
        for domain in ("Page", "Network"):
            self.ask(f"{domain}.enable")
        return self

    def __exit__(self, *_exception) -> None:
        self.stack.close()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()
        os.close(self.output)
        os.close(self.input)

    def ask(self, method: str, **parameters) -> dict:
        """Sends one command and waits for its answer."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next_message()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def next_message(self) -> dict:
        while b"\0" not in self.unread:
            data = os.read(self.input, 1 << 16)
            assert data, "Chromium has ended"
            self.unread += data
        text, _, self.unread = self.unread.partition(b"\0")
        message = json.loads(text)
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        self.loaded |= message.get("method") == "Page.loadEventFired"
        return message

    def visit(self, url: str, width: int, dark: bool = False, media: str = "screen",
              script: bool = False) -> None:
        """Opens a page; the page's own scripts do not run unless asked for."""
        self.ask("Emulation.setScriptExecutionDisabled", value=not script)
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=HEIGHT,
                 deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia", media=media,
                 features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.requests, self.loaded = [], False
        self.ask("Page.navigate", url=url)
        while not self.loaded:
            self.next_message()

    def evaluate(self, expression: str):
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        return answer["result"].get("value")

    def screen(self):
        """What is seen without scrolling, as an image of Pillow's."""
        data = self.ask("Page.captureScreenshot")["data"]
        image = pytest.importorskip("PIL.Image", reason="needs python3-pil")
        return image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")

    def picture(self, selector: str):
        """One element, scrolled to and cut out: drawing a whole long page takes a minute."""
        box = self.evaluate(f"(e => {{ e.scrollIntoView(); let r = e.getBoundingClientRect();"
                            "return [r.left, r.top, r.right, r.bottom]; })"
                            f"(document.querySelector('{selector}'))")
        return self.screen().crop([round(edge) for edge in box])

    def pdf(self) -> bytes:
        return base64.b64decode(self.ask("Page.printToPDF")["data"])
