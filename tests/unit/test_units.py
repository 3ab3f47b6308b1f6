# SPDX-License-Identifier: GPL-2.0-only
"""The cmocka programs of this folder as pytest tests, so that "make test" has one sum.

"make unit-programs" builds them; "make test-unit" runs them without pytest.
"""

import pathlib
import subprocess

import pytest

FOLDER = pathlib.Path(__file__).parent
BUILT = FOLDER.parents[1] / "build" / "unit"
NAMES = sorted(source.stem for source in FOLDER.glob("test_*.c"))


@pytest.mark.parametrize("name", NAMES)
def test_unit(name):
    run = subprocess.run([BUILT / name], cwd=FOLDER.parents[1], capture_output=True, text=True,
                         timeout=300, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
