# SPDX-License-Identifier: GPL-2.0-or-later
"""Correct subjects are never accused: our flashrom, legal changes of it, 1.4.0 without hazards."""

import os
from collections import Counter
from pathlib import Path

import pytest
from delayrig.base.paths import Paths
from delayrig.model.cell import Role
from delayrig.model.result import Results, Verdict, read_results

from .conftest import busy_loops, launch

LOOPS = os.cpu_count() or 1
CELLS_MIN = 2000
LIMIT_S = 7200
FREQUENT_SIGNALS = "trouble.*.signals-400.*"
ACCUSING = (Verdict.TOO_SHORT, Verdict.CORRUPT)


def run(paths: Paths, out: Path, *words: str) -> Results:
    launch(paths, "run", "--plan", "never-accused", "--out", str(out), *words, limit_s=LIMIT_S)
    return read_results(out)


def verdicts_of(results: Results) -> Counter[str]:
    """Checks that no measured cell is accused; returns the number of cells of each verdict."""
    cells = [cell for cell in results.cells if Role(cell.role) is Role.MEASURE]
    accused = [f"{cell.id}: {cell.reason}" for cell in cells if cell.verdict in ACCUSING]
    assert accused == []
    return Counter(cell.verdict for cell in cells)


def test_no_correct_subject_is_accused_under_frequent_signals(paths: Paths, tmp_path: Path) -> None:
    verdicts = verdicts_of(run(paths, tmp_path / "out", "--cell", FREQUENT_SIGNALS))
    assert verdicts[Verdict.PASS] >= 30
    assert verdicts.keys() <= {Verdict.PASS, Verdict.INCONCLUSIVE}


@pytest.mark.long("2,000 cells: more than ten minutes; quick: those with frequent signals")
@pytest.mark.parametrize("load", [0, LOOPS], ids=["idle", "loaded"])
def test_no_correct_subject_is_accused_in_2000_cells(
    paths: Paths, tmp_path: Path, load: int
) -> None:
    with busy_loops(load):
        verdicts = verdicts_of(run(paths, tmp_path / "out"))
    assert verdicts.total() >= CELLS_MIN
    assert verdicts[Verdict.PASS] > CELLS_MIN * 9 // 10
