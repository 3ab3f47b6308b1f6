# SPDX-License-Identifier: GPL-2.0-only
"""Where Vellum's words go: a serial card, other speeds."""

from vellum import boot, record


def test_a_pci_card(tmp_path):
    card = tmp_path / "card"
    result = boot("console-pci", "console=pci", icount=True, extra=[
        "-chardev", f"file,id=card,path={card}", "-device", "pci-serial,chardev=card"])
    assert result.finished
    text = card.read_text()
    assert "vellum: keeping 8 MiB" in text
    assert record(text, "end")["why"] in ("reset", "poweroff")
    assert "vellum: keeping" not in result.com2


def test_without_a_card_nothing_is_said_and_the_guest_boots():
    result = boot("console-no-card", "console=pci", icount=True)
    assert result.finished
    assert "vellum: keeping" not in result.com2 + result.com1


def test_another_speed():
    """An emulator's line has none: what is seen is that the port still works."""
    result = boot("console-speed", "baud=9600", icount=True)
    assert result.finished and record(result.com2, "end")
