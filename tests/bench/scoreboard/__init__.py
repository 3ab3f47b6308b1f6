# SPDX-License-Identifier: GPL-2.0-only
"""The boards: the same workloads in every column of the run matrix, laid side by side.

Chapters: columns.py says what is booted, runner.py boots it, resume.py spares what has run,
records.py reads what the serial lines said, rows.py defines the rows, metric.py says what a
value counts, board.py computes ratios, spread.py how sure they are, claims.py judges them,
text.py prints, results.py writes JSON. What comes after works from that JSON: published.py lays
it beside others' boards, model.py adds what exits would cost, charts.py draws, page.py writes
HTML, history.py keeps it, compare.py compares, and report.py writes the files.
"""
