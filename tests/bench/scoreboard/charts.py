# SPDX-License-Identifier: GPL-2.0-only
"""A board's pictures, as SVG that stands inside a page and takes its colours from it."""

from __future__ import annotations

import re

import pygal
from pygal.style import Style

from .history import commit_name
from .published import boards, lay, peers
from .rows import EXIT_ROW

WIDTH = 480          # narrow, so that a phone shows it without shrinking its letters
LINE_HEIGHT = 15     # of one bar
MARGIN_HEIGHT = 130  # for axis, title and legend
FAR_FROM_ONE = 1.5   # a ratio beyond this has no place beside ratios of 1.00
COLOURS = tuple(f"var(--series-{n})" for n in range(1, 8))
OURS_BESIDE_PEERS = ("H1-nested/N1", "H0-shadow/N1", "H1-shadow/N1")
PEERS_SHOWN = ("KVM nested", "KVM shadow", "Xen PVH shadow PAE", "Xen PV x86-64")

PAIRS_DERIVED = ("H1-nested/N0",)  # tell nothing that the other pairs do not


def style(colours: tuple[str, ...] = COLOURS) -> Style:
    return Style(background="transparent", plot_background="transparent",
                 foreground="var(--text)", foreground_strong="var(--text)",
                 foreground_subtle="var(--grid)", colors=colours, font_family="inherit",
                 opacity="1", opacity_hover="1", transition="0s", label_font_size=13,
                 major_label_font_size=13, legend_font_size=13, title_font_size=14)


def options(bars: int) -> dict:
    """Without script and without links to elsewhere."""
    return {"style": style(), "js": [], "width": WIDTH,
            "height": MARGIN_HEIGHT + LINE_HEIGHT * bars, "disable_xml_declaration": True,
            "legend_at_bottom": True, "explicit_size": False, "truncate_label": -1,
            "truncate_legend": -1, "formatter": "{:,g}".format}


def picture(chart, label: str) -> str:
    """The chart's SVG: the same for the same figures, described for those who can't see it."""
    text = chart.render(is_unicode=True)
    text = re.sub(r"<!--.*?-->|<script.*?</script>", "", text, flags=re.S)
    text = text.replace(f"chart-{chart.uuid}", "chart-" + re.sub(r"\W+", "-", label.lower()))
    return text.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def bars_of(labels: list[str], series: dict[str, list], axis: str, **more):
    """Horizontal bars, the first label on top, the first series in the first colour."""
    colours = COLOURS[:len(series)][::-1]
    chart = pygal.HorizontalBar(**options(len(labels) * len(series))
                                | {"style": style(colours), "x_title": axis} | more)
    chart.x_labels = labels[::-1]
    for name, values in reversed(series.items()):
        chart.add(name, values[::-1])
    return chart


def percent(ratio: float) -> float:
    return (ratio - 1) * 100


def near(row: dict, pair: str) -> bool:
    return row["ratios"].get(pair, FAR_FROM_ONE) < FAR_FROM_ONE


def near_rows(document: dict) -> list[dict]:
    """The rows that have a ratio near 1."""
    return [row for row in document["rows"] if any(near(row, pair) for pair in row["ratios"])]


def spread_bar(row: dict, pair: str) -> dict | None:
    """None for what has no place on the axis."""
    if not near(row, pair):
        return None
    low, high = (percent(end) for end in row.get("spread", {}).get(pair, [row["ratios"][pair]] * 2))
    return {"value": percent(row["ratios"][pair]), "ci": {"low": low, "high": high}}


def ratio_chart(document: dict) -> str:
    """Per cent more than the column below, with spread; "" for a board without such rows."""
    rows = near_rows(document)
    pairs = [pair for pair in dict.fromkeys(pair for row in rows for pair in row["ratios"])
             if pair not in PAIRS_DERIVED and any(near(row, pair) for row in rows)]
    if not rows:
        return ""
    series = {pair: [spread_bar(row, pair) for row in rows] for pair in pairs}
    ends = [end for bars in series.values() for bar in bars if bar
            for end in (bar["value"], *bar["ci"].values())]
    return picture(bars_of([row["name"] for row in rows], series,
                           "% more than the column it is laid over",
                           range=(min(0, *ends) * 1.05, max(0, *ends) * 1.05)),
                   "Ratios with spread")


def peers_chart(document: dict) -> str:
    """Ours and the peers', times native."""
    rows = [row for row in document["rows"]
            if row["name"] in peers()["rows"] and row["name"] != EXIT_ROW]
    pairs = [pair for pair in OURS_BESIDE_PEERS if all(pair in row["ratios"] for row in rows)]
    if document["counts"] != "instructions" or not rows or not pairs:
        return ""
    series = {f"Vellum {pair}": [row["ratios"][pair] for row in rows] for pair in pairs}
    for place, name in enumerate(peers()["columns"]):
        if name in PEERS_SHOWN:
            series[name] = [float(peers()["rows"][row["name"]][place]) for row in rows]
    most = max(value for values in series.values() for value in values)
    return picture(bars_of([row["name"] for row in rows], series, "times native",
                           range=(0, most * 1.05)), "Beside KVM and Xen")


def exit_cost_chart(document: dict) -> str:
    """One CPUID exit beside the peers', in instructions."""
    row = next((row for row in document["rows"] if row["name"] == EXIT_ROW), None)
    if document["counts"] != "instructions" or row is None or "N1" not in row["values"]:
        return ""
    costs = {f"Vellum {column}": row["values"][column] - row["values"]["N1"]
             for column in document["exits"]}
    costs |= peers()["exit_costs"]
    chart = bars_of(list(costs), {"one CPUID exit": list(costs.values())}, "instructions",
                    show_legend=False)
    return picture(chart, "What one CPUID exit costs")


def value_chart(document: dict) -> str:
    """Values by column, for boards of single instructions."""
    rows = [row for row in document["rows"] if not row["ratios"] or row not in near_rows(document)]
    if document["board"] != "exit-cost" or not rows:
        return ""
    series = {column: [row["values"].get(column) for row in rows]
              for column in document["columns"] if any(column in row["values"] for row in rows)}
    return picture(bars_of([row["name"] for row in rows], series, document["counts"]),
                   "What exits cost")


def reasons_chart(document: dict) -> str:
    """How often each reason made the processor leave the guest, on a logarithmic axis."""
    reasons = list(dict.fromkeys(reason for column in document["exits"].values()
                                 for reason in column))
    if not reasons:
        return ""
    series = {column: [entries.get(reason, {}).get("count") for reason in reasons]
              for column, entries in document["exits"].items()}
    return picture(bars_of(reasons, series, "exits, boot to end (logarithmic)", logarithmic=True),
                   "Exits by reason")


def published_chart(documents: dict[str, dict]) -> str:
    """Published and own ratios of the 2006 rows as points: nearness is what counts."""
    board = boards()[0]
    rows = [laid for laid in lay(board, documents) if laid.ours]
    if not rows:
        return ""
    chart = pygal.Line(**options(14), stroke=False, dots_size=5, y_title="VMI kernel / without",
                       range=(0.95, 1.10))
    chart.x_labels = [laid.row.name for laid in rows]
    chart.add("ours, N1/N0", [float(laid.ours.split()[0]) for laid in rows])
    for place, column in enumerate(board.columns):
        chart.add(f"{column}, 2006", [float(laid.row.figures[place].split()[0]) for laid in rows])
    return picture(chart, "Beside the scoreboard of 2006")


def worst(document: dict, pair: str) -> float | None:
    """The highest ratio of any row that need not exit, as a percentage beyond 1."""
    ratios = [row["ratios"][pair] for row in document["rows"]
              if pair in row["ratios"] and row["name"] != EXIT_ROW]
    return percent(max(ratios)) if ratios else None


def trend_chart(boards_kept: list[dict]) -> str:
    """The highest ratio of any row, commit by commit; "" for a single one."""
    if len(boards_kept) < 2:
        return ""
    chart = pygal.Line(**options(14), dots_size=4, x_label_rotation=40,
                       y_title="% of the row that is worst")
    chart.x_labels = [commit_name(one)[:14] for one in boards_kept]
    for pair in boards_kept[-1]["rows"][0]["ratios"]:
        chart.add(pair, [worst(one, pair) for one in boards_kept])
    return picture(chart, "Trend over commits")
