# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests whose subject floods its output, its programmer or the console."""

from pathlib import Path

import pytest
from delayrig.base.paths import Paths
from delayrig.machine.guest_logs import LOG_BYTES_MAX
from delayrig.model.result import Verdict

from tests.flooding import Flood, build_flood

from .conftest import run_plan
from .plans import cell, plan, write_plan

FOLDER_BYTES_MAX = 64 << 20
WANTED = {
    Flood.OUTPUT: (Verdict.OP_FAILED, "signal 25"),
    Flood.NOPS: (Verdict.OP_FAILED, "after 65536 idle requests"),
    Flood.CONSOLE: (Verdict.INFRA_ERROR, "the guest floods console.log"),
}


@pytest.mark.parametrize(
    ("lane", "mips"),
    [
        ("virtual", 250),
        pytest.param(
            *("live", 40),
            marks=[
                pytest.mark.alone("a core of real speed"),
                pytest.mark.long("floods at 40 MIPS in real time; quick: the virtual lane"),
            ],
        ),
    ],
)
def test_flood_in_a_guest_is_bounded_and_harms_no_other_cell(
    paths: Paths, tmp_path: Path, lane: str, mips: int
) -> None:
    floods = {flood: f"path:{build_flood(flood, tmp_path)}" for flood in WANTED}
    subjects = ", ".join(f'"{name}"' for name in [*floods.values(), "bundled"])
    at = f'mips = {mips}, cores = 1, job = "probe", chip = "W25Q128JV"'
    file = write_plan(tmp_path, plan(cell("cell", at, 4), subjects=subjects))
    run = run_plan(paths, tmp_path / "out", "--plan", file, "--lane", lane)
    for flood, (verdict, reason) in WANTED.items():
        found = run.cell("cell", floods[flood])
        assert found.verdict is verdict, found.reason
        assert reason in found.reason
    assert run.cell("cell", "bundled").verdict in (Verdict.PASS, Verdict.INCONCLUSIVE), run.output
    files = [path for path in run.out.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= FOLDER_BYTES_MAX
    assert all(p.stat().st_size <= LOG_BYTES_MAX for p in files if p.name.endswith(".log"))
