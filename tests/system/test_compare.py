# SPDX-License-Identifier: GPL-2.0-only
"""Two results of a board laid over each other."""

from __future__ import annotations

import json
import subprocess

import pytest

from micro_board import ROOT, micro_document

from scoreboard.compare import Change, CompareError, compare, comparison_text
from scoreboard.spread import Interval


def test_a_result_is_like_itself():
    comparison = compare(micro_document(), micro_document())
    assert not comparison.regressions and not comparison.exits and not comparison.only_in_one


def test_a_slower_row_is_worse_and_a_quicker_one_better():
    comparison = compare(micro_document(), micro_document(scale=1.02))
    worse = {(one.row, one.column) for one in comparison.changes if one.verdict == "worse"}
    assert ("segv", "N1") in worse and ("segv", "N0") not in worse
    assert any(text.startswith("no longer held: N1/N0") for text in comparison.regressions)
    assert "WORSE  segv in N1" in comparison_text(comparison, ("a", "b"))
    back = compare(micro_document(scale=1.02), micro_document())
    assert not back.regressions
    assert ("segv", "N1") in {(one.row, one.column) for one in back.changes
                              if one.verdict == "better"}


@pytest.mark.parametrize("after, low, high, better, verdict", [
    (1006, 1.001, 1.010, "lower", "worse"),
    (1006, 0.999, 1.010, "lower", ""),       # the spread does not say so
    (1004, 1.003, 1.005, "lower", ""),       # as far as two boots are apart
    (1006, 1.001, 1.010, "higher", "better"),
    (994, 0.990, 0.999, "higher", "worse"),
    (994, 0.990, 1.001, "lower", ""),
])
def test_worse_is_what_value_and_spread_say(after, low, high, better, verdict):
    assert Change("row", "N1", 1000, after, Interval(low, high), better).verdict == verdict


def test_exits_that_changed_are_named():
    comparison = compare(micro_document(), micro_document(exits=40000))
    assert comparison.exits == [("cpuid, per iteration", "H1-nested", "1", "2")]
    assert comparison.more_exits == ["cpuid in H1-nested exits more often: 1 to 2"]


def test_other_machines_are_not_compared():
    with pytest.raises(CompareError, match="machine differs"):
        compare(micro_document(), micro_document() | {"machine": "another"})


def run_compare(*words) -> subprocess.CompletedProcess:
    return subprocess.run([ROOT / "tests" / "bench" / "compare", *words], capture_output=True,
                          text=True, check=False)


def test_the_command_fails_for_what_is_worse_only_if_asked_to(tmp_path):
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, document in zip(paths, (micro_document(), micro_document(scale=1.02))):
        path.write_text(json.dumps(document))
    assert run_compare(*paths).returncode == 0
    strict = run_compare("--strict", *paths)
    assert strict.returncode == 2 and "WORSE" in strict.stdout
    assert run_compare("--strict", *paths[::-1]).returncode == 0
    assert "is no board" in run_compare(paths[0], tmp_path / "none").stderr
