# SPDX-License-Identifier: GPL-2.0-only
"""The statistics of a board: spread of counted runs, intervals of timed ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean, median, stdev

BEST = 3   # of the runs of a row; their mean is its value

# Student's t, two-sided 95 %, for 1 to 30 degrees of freedom
STUDENT_95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
              2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
              2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042)
NORMAL_95 = 1.960


@dataclass(frozen=True)
class Interval:
    """Between which values something lies."""

    low: float
    high: float


@dataclass(frozen=True)
class Summary:
    """Several measurements of one thing."""

    count: int
    median: float
    low: float
    high: float
    interval: Interval | None   # 95 % confidence interval of the mean; None of one value


def student(degrees: int) -> float:
    return STUDENT_95[degrees - 1] if degrees <= len(STUDENT_95) else NORMAL_95


def confidence(values: list[float]) -> Interval | None:
    """The 95 % confidence interval of the mean, by Student's t."""
    if len(values) < 2:
        return None
    half = student(len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return Interval(fmean(values) - half, fmean(values) + half)


def summary(values: list[float]) -> Summary:
    return Summary(len(values), median(values), min(values), max(values), confidence(values))


def ratio_interval(over: list[float], under: list[float]) -> Interval | None:
    """The 95 % interval of a ratio of two columns that ran in turn.

    Repeat i of both ran one after the other, so what slowed the computer then slowed both: the
    ratios are taken repeat by repeat, and averaged as logarithms.
    """
    logs = [math.log(first / second) for first, second in zip(over, under, strict=True)]
    interval = confidence(logs)
    return None if interval is None else Interval(math.exp(interval.low), math.exp(interval.high))


def ratio_median(over: list[float], under: list[float]) -> float:
    return median(first / second for first, second in zip(over, under, strict=True))


def best(runs: list[float]) -> list[float]:
    return sorted(runs)[:BEST]


def ratio_spread(over: list[float], under: list[float]) -> Interval:
    """The lowest and highest ratio that any of the runs make that count."""
    first, second = best(over), best(under)
    return Interval(min(first) / max(second), max(first) / min(second))
