# SPDX-License-Identifier: GPL-2.0-or-later
"""216 kills in all lanes: no process is left, no file is incomplete, and each run can be resumed.

    tests/run --all guest live -k kill_campaign

`$RIG_KILLS` sets the number of kills per victim.
"""

import os
import random
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from delayrig.base.paths import Paths
from delayrig.model.lane import LaneName
from delayrig.model.result import read_results

from tests.guest.conftest import FinishedRun
from tests.guest.victims import GUEST, SIGNALS, VictimRun, send_signals
from tests.rig.builders import compare_folders

KILLS = int(os.environ.get("RIG_KILLS", "24"))
SEED = 25
DELAY_S = (0.0, 1.5)
RIG = "rig"
PASSES = (0,)
REAL_TIME_CODES = (0, 4, 99)
"""On a shared host, cells in real time may be inconclusive or lost."""
VIRTUAL = ("--plan", "smoke", "--cell", "canary*", "--cell", "control*")
HOST = ("--plan", "smoke", "--lane", "host", "--cell", "tty.*", "--cell", "control-bus*")
LIVE = ("--plan", "live", "--cell", "tty.*")
LONG = pytest.mark.long(
    "216 kills: half an hour; quick: test_kills.py, test_live.py, test_cluster.py"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A command, its process to kill, and the exit codes allowed when it is resumed."""

    lane: LaneName
    words: tuple[str, ...]
    victim: str
    codes: tuple[int, ...] = PASSES


VIRTUAL_OR_HOST = {
    "virtual-rig": Scene(lane=LaneName.VIRTUAL, words=VIRTUAL, victim=RIG),
    "virtual-qemu": Scene(lane=LaneName.VIRTUAL, words=VIRTUAL, victim=GUEST),
    "cluster-rig": Scene(
        lane=LaneName.VIRTUAL, words=(*VIRTUAL, "--cluster", "local:2"), victim=RIG
    ),
    "cluster-worker": Scene(
        lane=LaneName.VIRTUAL, words=(*VIRTUAL, "--cluster", "local:2"), victim=f"parent of {GUEST}"
    ),
    "host-rig": Scene(lane=LaneName.HOST, words=HOST, victim=RIG),
    "host-emulator": Scene(lane=LaneName.HOST, words=HOST, victim="serprog-emu"),
}
REAL_TIME = {
    "live-rig": Scene(lane=LaneName.LIVE, words=LIVE, victim=RIG, codes=REAL_TIME_CODES),
    "live-qemu": Scene(lane=LaneName.LIVE, words=LIVE, victim=GUEST, codes=REAL_TIME_CODES),
    "live-emulator": Scene(
        lane=LaneName.LIVE, words=LIVE, victim="serprog-emu", codes=REAL_TIME_CODES
    ),
}


def kill_often(scene: Scene, paths: Paths, folder: Path, reference: FinishedRun | None) -> None:
    """Runs the command KILLS times; each time kills the victim at a random time, and resumes."""
    draws, killed = random.Random(f"{SEED} {scene.lane} {scene.victim}"), 0
    for number in range(KILLS):
        run = VictimRun(paths=paths, words=scene.words, folder=folder / str(number))
        process = run.start()
        victim = process.pid if scene.victim == RIG else run.victim(scene.victim)
        if scene.victim == RIG and number % 4:
            run.victim("serprog-emu" if scene.lane is LaneName.HOST else GUEST)
        time.sleep(draws.uniform(*DELAY_S))
        if process.poll() is None:
            killed += 1
            send_signals(victim, SIGNALS[number % len(SIGNALS)])
        process.wait()
        run.finish(scene.codes)
        results = read_results(run.out)
        assert len(results.cells) == results.run.cells_planned
        if reference:
            assert not compare_folders(run.out, reference.out).differences, f"kill {number}"
    assert killed > KILLS // 2, "most runs ended before their kill"


@LONG
@pytest.mark.parametrize("name", VIRTUAL_OR_HOST)
def test_killed_run_gives_the_same_results_when_resumed(
    name: str, paths: Paths, tmp_path: Path, smoke: FinishedRun
) -> None:
    scene = VIRTUAL_OR_HOST[name]
    kill_often(scene, paths, tmp_path, smoke if scene.lane is LaneName.VIRTUAL else None)


@LONG
@pytest.mark.alone("cores of real speeds")
@pytest.mark.parametrize("name", REAL_TIME)
def test_killed_run_in_real_time_can_be_resumed(name: str, paths: Paths, tmp_path: Path) -> None:
    kill_often(REAL_TIME[name], paths, tmp_path, None)
