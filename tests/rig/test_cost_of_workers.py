# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of whole runs, with the time of processes that outlive their parents."""

import io
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from delayrig.features.selfcheck.cost_of_workers import RunCost, WayCost, WorkersBenchmark
from delayrig.features.selfcheck.terminal import print_workers
from rich.console import Console

from tests.rig.builders import CHECKOUT

SPENT_S = 0.5
SPEND = f"""
import time
while time.process_time() < {SPENT_S}: pass
"""
RUN = f"""
import pathlib, subprocess, sys, time
for name in ("a", "b", "c"):
    folder = pathlib.Path(sys.argv[1], name)
    folder.mkdir(parents=True)
    (folder / "result.json").touch()
    time.sleep(0.1)
subprocess.Popen([sys.executable, "-c", {SPEND!r}])
"""
MEASURE = """
import sys
from pathlib import Path
import msgspec
from delayrig.features.selfcheck.cost_of_workers import measure_run
found = measure_run([sys.executable, "-c", sys.argv[1], sys.argv[2]], Path(sys.argv[2]))
print(msgspec.json.encode(found).decode())
"""


def measured(code: str, out: Path) -> subprocess.CompletedProcess[str]:
    """Measures in a process of its own, since it waits for any child that ends."""
    return subprocess.run(
        [sys.executable, "-c", MEASURE, code, str(out)],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "rig")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_cpu_time_of_a_process_that_outlives_its_run_is_counted(tmp_path: Path) -> None:
    done = measured(RUN, tmp_path / "out")
    found = msgspec.json.decode(done.stdout, type=RunCost)
    assert found.cells == 3
    assert found.cpu_s >= SPENT_S
    assert found.under_way_s >= 0.15
    assert found.wall_s >= 0.3


def test_run_that_leaves_no_cell_is_a_fault_with_its_words(tmp_path: Path) -> None:
    done = measured("raise SystemExit('no such plan')", tmp_path / "out")
    assert "RigFaultError" in done.stderr
    assert "no such plan" in done.stderr


def test_ways_are_compared_by_ratios_over_all_rounds() -> None:
    def way(words: list[str], *wall_s: float) -> WayCost:
        return WayCost(
            words=words,
            runs=[
                RunCost(cells=11, wall_s=each, cpu_s=2 * each, under_way_s=each - 5)
                for each in wall_s
            ],
        )

    found = WorkersBenchmark(
        here=way(["--jobs", "2"], 10, 20), workers=way(["--cluster", "local:2"], 15, 25)
    )
    assert found.here.cells_a_minute == pytest.approx(44)
    assert found.here.cells_a_minute_under_way == pytest.approx(60)
    page = io.StringIO()
    print_workers(found, Console(file=page, width=200, no_color=True))
    last = page.getvalue().splitlines()[-1]
    assert "0.75 times the cells a minute, 0.67 times once" in last
    assert "1.33 times the CPU" in last
