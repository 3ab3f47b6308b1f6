# SPDX-License-Identifier: GPL-2.0-only
"""The boards' HTML in a real browser: charts are drawn, tables need no script, no request leaves
the file, and a phone, paper and the dark get what they need."""

from __future__ import annotations

import pytest

from browser import Browser
from micro_board import ROOT, micro_document

from scoreboard import report

PICTURES = ROOT / "build" / "results-test" / "pictures"
DESKTOP, PHONE = 1280, 390
CHARTS = {"Ratios with spread", "Beside KVM and Xen", "What one CPUID exit costs",
          "Exits by reason", "Beside the scoreboard of 2006", "Trend over commits"}
SERIES_1 = (0x0b, 0x62, 0xb0)


@pytest.fixture(scope="module")
def browser():
    with Browser() as one:
        yield one


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    for number in range(3):
        report.publish(folder, "micro", micro_document(commit=number), "text")
    return (folder / "micro.html").as_uri()


def colours(picture) -> dict[tuple, int]:
    return {colour: count for count, colour in picture.getcolors(1 << 24)}


def labels(browser) -> set[str]:
    return set(browser.evaluate("[...document.querySelectorAll('svg[role=img]')]"
                                ".map(e => e.getAttribute('aria-label'))"))


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_every_chart_is_drawn(browser, address, width):
    PICTURES.mkdir(parents=True, exist_ok=True)
    browser.visit(address, width)
    assert labels(browser) == CHARTS
    browser.screen().save(PICTURES / f"page-{width}.png")
    for number, label in enumerate(sorted(CHARTS)):
        picture = browser.picture(f'svg[aria-label="{label}"]')
        picture.save(PICTURES / f"chart-{width}-{number}.png")
        drawn = colours(picture)
        assert drawn.get(SERIES_1, 0) > 40, label        # bars or points of the first series
        assert max(drawn, key=drawn.get) == (255, 255, 255), label


def test_a_phone_need_not_scroll_sideways(browser, address):
    browser.visit(address, PHONE)
    assert browser.evaluate("document.documentElement.scrollWidth") <= PHONE
    assert browser.evaluate("Math.min(...[...document.querySelectorAll('svg')]"
                            ".map(e => e.getBoundingClientRect().width))") > PHONE * 0.8


def test_tables_need_no_script(browser, address):
    browser.visit(address, DESKTOP)
    assert browser.evaluate("document.querySelectorAll('script').length") == 0
    text = browser.evaluate("document.body.innerText")
    assert "SPECviewperf tcvis" in text and "1.00 [1.70/1.70]" in text
    assert "not run: needs lmbench in the guest" in text
    assert browser.evaluate("document.querySelectorAll('tr').length") > 100


def test_no_request_leaves_the_file(browser, address, tmp_path):
    browser.visit(address, DESKTOP)
    assert browser.requests == [address]
    beacon = tmp_path / "beacon.html"     # what the check would see if there were one
    beacon.write_text('<img src="http://127.0.0.1:9/picture.png">')
    browser.visit(beacon.as_uri(), DESKTOP)
    assert browser.requests == [beacon.as_uri(), "http://127.0.0.1:9/picture.png"]


def test_the_dark_has_its_own_colours(browser, address):
    background = "getComputedStyle(document.body).backgroundColor"
    browser.visit(address, DESKTOP, dark=True)
    assert browser.evaluate(background) == "rgb(20, 24, 29)"
    browser.visit(address, DESKTOP, dark=True, media="print")
    assert browser.evaluate(background) == "rgb(255, 255, 255)"


def test_it_can_be_printed(browser, address):
    browser.visit(address, DESKTOP)
    assert browser.pdf().startswith(b"%PDF")
