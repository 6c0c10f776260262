# SPDX-License-Identifier: GPL-2.0-or-later
"""A gate of a source tree with our delay layer against the same tree without it."""

from pathlib import Path

import msgspec
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.decision.decision import FILE_NAME as GATE_FILE
from delayrig.features.graft.pipeline import FILE_NAME, SUMMARY, Graft
from delayrig.model.result import Verdict

from .conftest import launch
from .plans import SMALL_PLAN, group, write_plan
from .upstream_tree import gateable_tree

OVER = 'mips = [250], cores = [1], job = ["probe"], chip = ["GD25Q16C"]'
SIGNALS = group("signals", f'{OVER}, hazards = ["long-waits+signals:1"]')


def test_grafted_tree_uses_less_cpu_time_and_survives_signals(paths: Paths, tmp_path: Path) -> None:
    tree, out = gateable_tree(paths.checkout / "flashrom", tmp_path / "tree"), tmp_path / "out"
    plan = write_plan(tmp_path, SMALL_PLAN + SIGNALS)
    done = launch(paths, "graft", str(tree), "--out", str(out), "--plan", plan)
    # The answer may be inconclusive: a baseline that cuts its long waits short is faster than a
    # candidate that does not.
    assert done.returncode in (ExitCode.PASS, ExitCode.INCONCLUSIVE), done.stderr
    answer = msgspec.json.decode((out / FILE_NAME).read_bytes(), type=Graft)
    assert answer.gate
    cells = {cell.id.partition(".")[0]: cell for cell in answer.gate.cells}
    signals = cells["signals"]
    assert (signals.baseline, signals.candidate) == (Verdict.TOO_SHORT, Verdict.PASS)
    figures = {item.figure: item for item in cells["write"].excess}
    assert figures["CPU time"].candidate_ns < figures["CPU time"].baseline_ns / 2
    summary = (out / SUMMARY).read_text()
    assert "\ncells with a fault                       1                   0\n" in summary
    assert "\nCPU time  " in summary
    assert str(out) not in summary.partition("Made by:")[0]
    assert (out / "gate" / GATE_FILE).is_file()
