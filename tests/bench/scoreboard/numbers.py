# SPDX-License-Identifier: GPL-2.0-only
"""How numbers and tables are printed."""

from __future__ import annotations

from collections.abc import Iterable


def number(value: float) -> str:
    """About four digits, as the scoreboard prints them."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}"


def table(titles: list[str], rows: Iterable[list[str]]) -> str:
    """Columns as wide as their widest cell, two blanks apart."""
    lines = [titles, *rows]
    widths = [max(len(cell) for cell in cells) for cells in zip(*lines, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
                     for line in lines)
