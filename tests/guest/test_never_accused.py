# SPDX-License-Identifier: GPL-2.0-or-later
"""Correct subjects are never accused: ours, legal changes of it, and 1.4.0 without hazards."""

import os
from collections import Counter
from pathlib import Path

import pytest
from delayrig.base.paths import Paths
from delayrig.model.cell import Role
from delayrig.model.result import Results, Verdict, read_results

from .conftest import busy_loops, launch

BURNERS = os.cpu_count() or 1
CELLS_MIN = 2000
LIMIT_S = 7200
OFTEN = "trouble.*.signals-400.*"
ACCUSING = (Verdict.TOO_SHORT, Verdict.CORRUPT)


def run(paths: Paths, out: Path, *words: str) -> Results:
    launch(paths, "run", "--plan", "never-accused", "--out", str(out), *words, limit_s=LIMIT_S)
    return read_results(out)


def measured(results: Results) -> Counter[str]:
    cells = [cell for cell in results.cells if Role(cell.role) is Role.MEASURE]
    accused = [f"{cell.id}: {cell.reason}" for cell in cells if cell.verdict in ACCUSING]
    assert accused == []
    return Counter(cell.verdict for cell in cells)


def test_no_correct_subject_is_accused_under_frequent_signals(paths: Paths, tmp_path: Path) -> None:
    verdicts = measured(run(paths, tmp_path / "out", "--cell", OFTEN))
    assert verdicts[Verdict.PASS] >= 30
    assert verdicts.keys() <= {Verdict.PASS, Verdict.INCONCLUSIVE}


@pytest.mark.long("2,000 cells: ten minutes and more; quick: those with frequent signals")
@pytest.mark.parametrize("load", [0, BURNERS], ids=["idle", "loaded"])
def test_no_correct_subject_is_accused_in_two_thousand_cells(
    paths: Paths, tmp_path: Path, load: int
) -> None:
    with busy_loops(load):
        verdicts = measured(run(paths, tmp_path / "out"))
    assert verdicts.total() >= CELLS_MIN
    assert verdicts[Verdict.PASS] > CELLS_MIN * 9 // 10
