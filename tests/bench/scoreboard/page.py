# SPDX-License-Identifier: GPL-2.0-only
"""A board as one HTML file: tables and pictures, without script, network or other files.

It is made from the board's JSON, so boards of any age and of any kind can be drawn.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from . import charts
from .history import commit_name
from .model import TITLE, model_rows, model_titles, source_lines
from .numbers import number
from .published import OURS, boards, lay, peers

POLICY = "default-src 'none'; style-src 'unsafe-inline'"  # nothing may be fetched
STYLE_SHEET = Path(__file__).parent / "page.css"
CLASSES = {"held": "held", "MISSED": "missed"}
LONG_TEXT = 24   # letters of a cell that may be broken into lines


def page(document: dict, documents: dict[str, dict], kept: list[dict]) -> str:
    """The file. documents: every board at hand, by name; kept: this one at earlier commits."""
    title = f"Board {document['board']}, {document['cpu']}"
    sections = [heading(document, title), failures(document), claims(document),
                ratios(document), peers_section(document), exits(document), model(document),
                trend(kept), published(documents), statistics(document)]
    return "\n".join(['<!DOCTYPE html>', '<html lang="en"><head><meta charset="utf-8">',
                      f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
                      '<meta name="viewport" content="width=device-width, initial-scale=1">',
                      f"<title>{escape(title)}</title>",
                      f"<style>{STYLE_SHEET.read_text()}</style></head><body>",
                      *filter(None, sections), "</body></html>\n"])


def section(title: str, *parts: str) -> str:
    """A chapter of the page; "" if nothing is in it."""
    body = "\n".join(filter(None, parts))
    return f"<section><h2>{escape(title)}</h2>\n{body}</section>" if body else ""


def table(titles: list[str], rows: list[list[str]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    body = "\n".join("<tr>" + "".join(map(cell, row)) + "</tr>" for row in rows)
    return (f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n'
            f"<tbody>{body}</tbody></table></div>")


def cell(text: str) -> str:
    name = CLASSES.get(text, "text" if max(map(len, text.split("\n"))) > LONG_TEXT else "")
    body = escape(text).replace("\n", "<br>")
    return f'<td class="{name}">{body}</td>' if name else f"<td>{body}</td>"


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>" if svg else ""


def figures(*parts: str) -> str:
    body = "".join(parts)
    return f'<div class="charts">{body}</div>' if body else ""


def heading(document: dict, title: str) -> str:
    columns = [[name, document.get("meanings", {}).get(name, ""),
                str(document.get("versions", {}).get(name, {}).get("kernel", ""))]
               for name in document["columns"]]
    return (f"<h1>{escape(title)}</h1>\n"
            + paragraph(f"{document['counts']} per iteration, on {document['machine']}")
            + paragraph(f"commit {commit_name(document)}")
            + table(["column", "what it is", "kernel"], columns))


def failures(document: dict) -> str:
    rows = [[name, why] for name, why in document.get("failed", {}).items()]
    return section("Columns that did not finish", table(["column", "why"], rows))


def claims(document: dict) -> str:
    rows = [["held" if one["held"] else "MISSED", one["claim"], one["detail"]]
            for one in document["claims"]]
    return section("Claims", table(["", "claim", "found"], rows))


def ratios(document: dict) -> str:
    pairs = list(dict.fromkeys(pair for row in document["rows"] for pair in row["ratios"]))
    rows = [[row["name"], row["iteration"], *(ratio_cell(row, pair) for pair in pairs)]
            for row in document["rows"]]
    values = [[row["name"], row["iteration"], *(value_cell(row, name)
                                               for name in document["columns"])]
              for row in document["rows"]]
    far = [row["name"] for row in document["rows"]
           if not all(charts.near(row, pair) for pair in row["ratios"])]
    caption = "Bars: ratios; lines: their spread. " + (
        f"Beyond {charts.FAR_FROM_ONE}, and not drawn: some of {', '.join(far)}." if far else "")
    return section("Ratios and values",
                   figures(figure(charts.ratio_chart(document), caption),
                           figure(charts.value_chart(document), "One iteration of each row.")),
                   table(["row", "iteration", *pairs], rows) if pairs else "",
                   table(["row", "iteration", *document["columns"]], values))


def ratio_cell(row: dict, pair: str) -> str:
    """ratio [value/value], and from where to where it spreads."""
    if pair not in row["ratios"]:
        return "-"
    over, under = (value_cell(row, name) for name in pair.split("/"))
    text = f"{row['ratios'][pair]:.4f} [{over}/{under}]"
    low, high = row.get("spread", {}).get(pair, (None, None))
    return text if low is None else f"{text}\n{low:.4f} to {high:.4f}"


def value_cell(row: dict, column: str) -> str:
    return number(row["values"][column]) if column in row["values"] else "-"


def peers_section(document: dict) -> str:
    chart = charts.peers_chart(document)
    if not chart:
        return figures(figure(charts.exit_cost_chart(document), ""))
    pairs = [pair for pair in charts.OURS_BESIDE_PEERS
             if all(pair in row["ratios"] for row in document["rows"])]
    rows = [[row["name"], *(f"{row['ratios'][pair]:.3f}" for pair in pairs),
             *peers()["rows"][row["name"]]]
            for row in document["rows"] if row["name"] in peers()["rows"]]
    return section("Beside KVM and Xen",
                   paragraph(f"{peers()['machine']}. {peers()['note']}."),
                   figures(figure(chart, "Times native; shorter is better."),
                           figure(charts.exit_cost_chart(document),
                                  "What one CPUID exit costs more than natively.")),
                   table(["row", *pairs, *peers()["columns"]], rows))


def exits(document: dict) -> str:
    names = list(document["exits"])
    reasons = dict.fromkeys(reason for entries in document["exits"].values() for reason in entries)
    whole = [[reason, *(reason_cell(document["exits"][name].get(reason)) for name in names)]
             for reason in reasons]
    each = [[row["name"], *(exits_cell(row["exits_per_iteration"].get(name)) for name in names)]
            for row in document["rows"]]
    return section("Exits", figures(figure(charts.reasons_chart(document),
                                           "Exits of the whole run by reason.")),
                   table(["reason, count x cycles each", *names], whole),
                   table(["exits per iteration", *names], each) if names else "")


def reason_cell(entry: dict | None) -> str:
    if entry is None:
        return "-"
    each = entry["cycles"] / entry["count"] if entry["count"] else 0
    return f"{entry['count']:,} x {each:,.0f}"


def exits_cell(count: float | None) -> str:
    return "not counted" if count is None else f"{count:.4g}"


def model(document: dict) -> str:
    rows = model_rows(document)
    return section(TITLE, table(model_titles(), rows), *map(paragraph, source_lines() if rows else []))


def trend(kept: list[dict]) -> str:
    rows = [[commit_name(one), *(worst_cell(one, pair) for pair in trend_pairs(kept))]
            for one in kept]
    return section("Trend over commits",
                   figures(figure(charts.trend_chart(kept), "The highest ratio of any row.")),
                   table(["commit, worst row of", *trend_pairs(kept)], rows))


def trend_pairs(kept: list[dict]) -> list[str]:
    return list(kept[-1]["rows"][0]["ratios"]) if kept else []


def worst_cell(document: dict, pair: str) -> str:
    found = charts.worst(document, pair)
    return "-" if found is None else f"{found:+.2f} %"


def published(documents: dict[str, dict]) -> str:
    parts = [paragraph("Figures of others as they were printed. Nothing is computed with them."),
             figures(figure(charts.published_chart(documents),
                            "VMI kernel over the one without, on the bare machine."))]
    for board in boards():
        rows = [[laid.row.name, f"{laid.row.unit}, {laid.row.better}", *laid.row.figures,
                 laid.ours or f"not run: {laid.not_run}"] for laid in lay(board, documents)]
        parts += [f"<h3>{escape(f'{board.key}. {board.title}')}</h3>",
                  paragraph(f"{board.what}. From a {board.source}."),
                  table(["row", "unit, better", *board.columns, OURS], rows)]
    return section("The published boards", *parts)


def statistics(document: dict) -> str:
    rows = [[row["name"], column, str(one["count"]),
             *(number(one[key]) for key in ("median", "low", "high")), interval(one)]
            for row in document["rows"] for column, one in row.get("statistics", {}).items()]
    return section("Repeats of the timed columns",
                   table(["row", "column", "repeats", "median", "lowest", "highest",
                          "95 % interval of the mean"], rows))


def interval(one: dict) -> str:
    if one["confidence_95"] is None:
        return "-"
    return " to ".join(number(end) for end in one["confidence_95"])
