# SPDX-License-Identifier: GPL-2.0-only
"""The boards: the same workloads in every column of the run matrix, laid side by side.

Chapters: columns.py says what is booted, runner.py boots it, records.py reads what the
serial lines said, rows.py defines the rows and what others reached, metric.py says
what a value counts, board.py computes ratios, claims.py judges them, text.py prints, results.py writes JSON.
"""
