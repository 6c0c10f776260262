# SPDX-License-Identifier: GPL-2.0-or-later
"""A tree with our delay layer, gated in guests against the same tree without it."""

from pathlib import Path

import msgspec
from delayrig.analysis.gate.decision import FILE_NAME as GATE_FILE
from delayrig.analysis.graft.summary import FILE_NAME, SUMMARY, Graft
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.model.cell import Role

from .conftest import launch
from .test_gate import SMALL_PLAN
from .upstream_tree import gateable_tree


def test_graft_of_a_tree_passes_the_gate_and_takes_less_of_the_cpu(
    paths: Paths, tmp_path: Path
) -> None:
    tree, out = gateable_tree(paths.checkout / "flashrom", tmp_path / "tree"), tmp_path / "out"
    plan = tmp_path / "small.toml"
    plan.write_text(SMALL_PLAN)
    done = launch(paths, "graft", str(tree), "--out", str(out), "--plan", str(plan))
    assert done.returncode == ExitCode.PASS, done.stderr
    answer = msgspec.json.decode((out / FILE_NAME).read_bytes(), type=Graft)
    assert answer.gate
    (cell,) = (each for each in answer.gate.cells if each.role == Role.MEASURE)
    figures = {item.figure: item for item in cell.excess}
    assert figures["CPU time"].candidate_ns < figures["CPU time"].baseline_ns / 2
    summary = (out / SUMMARY).read_text()
    assert "\nCPU time  " in summary
    assert "Yes: the graft against the original; " in " ".join(summary.split())
    assert (out / "gate" / GATE_FILE).is_file()
