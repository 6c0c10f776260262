# SPDX-License-Identifier: GPL-2.0-or-later
"""The live lane with real guests: its verdicts, killed processes, and the network of a subject.

A cell is inconclusive if a busy host could not keep up with it; these tests accept that.
"""

import errno
import json
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from delayrig.base.paths import Paths
from delayrig.judge.trust import NOT_KEPT_UP
from delayrig.machine.arguments import HOST_ADDRESS
from delayrig.model.delays import read_delays
from delayrig.model.result import CellResult, Verdict
from delayrig.run.resume import RESULT

from tests.conftest import Bound
from tests.hostile import build_hostile, refusals
from tests.rig.processes import children_of, is_running, rig_started_by

from .conftest import repeated, run_plan
from .plans import group, plan, write_plan
from .victims import VictimRun, assert_whole

pytestmark = pytest.mark.alone("cores of real speeds")
REQUESTED_KILLS = os.environ.get("RIG_KILLS")
"""The number of kills of each of the two tests, in place of the tier's number."""
KILLS = (3, 25)
KILLS_MIN = (1, 8)
"""The number that is enough on a slow host, unless $RIG_KILLS sets another."""
KILLING_LIMIT_S = float("inf") if REQUESTED_KILLS else 150
GONE_LIMIT_S = 20
LOOK_S = 0.02
DELAY_S = (0.5, 7.0)
VICTIMS = ("qemu-system", "serprog-emu")
"""The processes to kill, in turn. Without its guest a cell fails nearly always.

Without its emulator it fails only during the measured job.
"""
CELLS_PER_KILL = 3
PLAN = plan(
    group(
        "victim", 'machine = ["10:40"], job = ["probe"], chip = ["W25Q128JV"], hazards = [HAZARDS]'
    ),
    lane="live",
)


def wait_until_gone(pids: list[int]) -> list[int]:
    """Waits until the processes have ended; returns those that still run after the limit."""
    deadline = time.monotonic() + GONE_LIMIT_S
    while pids and time.monotonic() < deadline:
        time.sleep(LOOK_S)
        pids = [pid for pid in pids if is_running(pid)]
    return pids


@contextmanager
def many_cells(
    paths: Paths, folder: Path, kills: int
) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """Runs more cells than the test waits for; yields the folder of results and the process."""
    folder.mkdir()
    hazards = ", ".join(f'"move:{ms}"' for ms in range(CELLS_PER_KILL * kills))
    words = ("--plan", write_plan(folder, PLAN.replace("HAZARDS", hazards)))
    run = VictimRun(paths=paths, words=words, folder=folder)
    with run.start() as process:
        try:
            yield run.out, process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def skip_if_not_kept_up(cell: CellResult) -> None:
    """Skips the test if the host was too busy for this cell; no other doubt is allowed."""
    if cell.verdict is Verdict.INCONCLUSIVE:
        assert NOT_KEPT_UP in cell.reason
        pytest.skip(f"inconclusive: {cell.reason}")


def test_delay_loop_moved_to_a_faster_core_is_convicted(paths: Paths, tmp_path: Path) -> None:
    run = run_plan(paths, tmp_path / "out", "--plan", "live", "--cell", "moved.*")
    for subject in ("bundled", "debian:trixie"):
        cell = run.cell("moved", subject)
        assert cell.verdict in (Verdict.PASS, Verdict.INCONCLUSIVE), run.output
    moved = run.cell("moved", "debian:bookworm")
    skip_if_not_kept_up(moved)
    assert moved.verdict is Verdict.TOO_SHORT, run.output


def test_canaries_are_convicted_and_controls_are_not(paths: Paths, tmp_path: Path) -> None:
    words = ["--cell", "canary*", "--cell", "control*"]
    run = run_plan(paths, tmp_path / "out", "--plan", "live", *words)
    for cell in run.results.cells:
        if cell.role == "canary":
            skip_if_not_kept_up(cell)
        allowed = (
            (Verdict.TOO_SHORT,) if cell.role == "canary" else (Verdict.PASS, Verdict.INCONCLUSIVE)
        )
        assert cell.verdict in allowed, run.output
        # QEMU translated the code of the subject in the rehearsal. It must still record its calls.
        delays = read_delays(tmp_path / "out" / cell.id)
        assert delays
        assert delays.calls
        assert all(delays.callers_of(call) for call in delays.calls), cell.id


def finished_cells(out: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in out.glob(f"*/{RESULT}")]


def disturbed_cells(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the cells that were lost, finally or at their first try."""
    return [
        cell
        for cell in cells
        if cell["verdict"] == Verdict.INFRA_ERROR or cell.get("retried_after")
    ]


def wanted_kills(bound: Bound) -> tuple[int, int]:
    """Returns the number of kills to try, and the smallest number that is enough."""
    if REQUESTED_KILLS:
        return int(REQUESTED_KILLS), int(REQUESTED_KILLS)
    return bound("kills"), bound("kills_min")


@pytest.mark.bounds(kills=KILLS, kills_min=KILLS_MIN)
def test_killed_guest_or_emulator_ends_its_cell_only(
    paths: Paths, tmp_path: Path, bound: Bound
) -> None:
    draws = random.Random(1)
    wanted, fewest = wanted_kills(bound)
    kills, until = 0, time.monotonic() + KILLING_LIMIT_S
    with many_cells(paths, tmp_path / "run", wanted) as (out, run):
        rig = rig_started_by(run.pid)
        while kills < wanted and time.monotonic() < until and run.poll() is None:
            time.sleep(draws.uniform(*DELAY_S))
            victims = [
                pid
                for pid, name in children_of(rig).items()
                if name.startswith(VICTIMS[kills % len(VICTIMS)])
            ]
            if victims:
                os.kill(draws.choice(victims), signal.SIGKILL)
                kills += 1
        # A disturbed cell runs again and has no result before that.
        while (
            not disturbed_cells(finished_cells(out))
            and time.monotonic() < until
            and run.poll() is None
        ):
            time.sleep(LOOK_S)
        ours = [rig, *children_of(rig)]
    assert wait_until_gone(ours) == []
    assert kills >= fewest
    assert_whole(out)
    cells = json.loads((out / "results.json").read_bytes())["cells"]
    lost = [cell for cell in cells if cell["verdict"] == Verdict.INFRA_ERROR]
    disturbed = disturbed_cells(cells)
    # A kill between two cells, or of the emulator in a rehearsal, disturbs no cell.
    assert 0 < len(disturbed) <= kills
    # A cell that runs again can be disturbed again.
    assert len(lost) <= kills - len(disturbed)
    others = {cell["verdict"] for cell in cells if cell not in lost}
    assert others <= {Verdict.PASS, Verdict.INCONCLUSIVE}
    reasons = [c["retried_after"] for c in disturbed] + [c["reason"] for c in lost]
    assert all("console.log" in reason or "emulator" in reason for reason in reasons)


@pytest.mark.bounds(kills=KILLS, kills_min=KILLS_MIN)
def test_killed_rig_leaves_no_process_or_cut_file(
    paths: Paths, tmp_path: Path, bound: Bound
) -> None:
    draws = random.Random(2)
    wanted, fewest = wanted_kills(bound)
    kills, until = 0, time.monotonic() + KILLING_LIMIT_S
    while kills < wanted and time.monotonic() < until:
        with many_cells(paths, tmp_path / str(kills), wanted) as (out, run):
            time.sleep(draws.uniform(*DELAY_S))
            rig = rig_started_by(run.pid)
            ours = [rig, *children_of(rig)]
            run.kill()
            run.wait()
        assert wait_until_gone(ours) == []
        assert_whole(out)
        kills += 1
    assert kills >= fewest


CONNECTING = plan(
    group("connects", 'machine = ["10:40"], job = ["probe"], chip = ["W25Q128JV"]'), lane="live"
)


@pytest.mark.parametrize("connect", ["embed", "plain"])
def test_subject_in_a_live_guest_reaches_no_other_service_of_this_machine(
    paths: Paths, tmp_path: Path, connect: str
) -> None:
    with socket.socket() as service:
        service.bind(("127.0.0.1", 0))
        service.listen()
        service.settimeout(0)
        port = int(service.getsockname()[1])
        program = build_hostile(tmp_path, ONLY="connect", HOST=HOST_ADDRESS, PORT=port)
        words = ["--plan", write_plan(tmp_path, CONNECTING), "--connect", connect]
        words += repeated("--subject", (f"path:{program}", "bundled"))
        run = run_plan(paths, tmp_path / "out", *words)
        with pytest.raises(BlockingIOError):
            service.accept()
    hostile, bundled = run.results.cells
    errors = refusals((run.out / hostile.id / "stdout.txt").read_text())
    assert errors == {"connect": errno.ECONNREFUSED}, run.output
    assert hostile.verdict is not Verdict.PASS, hostile.reason
    assert bundled.verdict in (Verdict.PASS, Verdict.INCONCLUSIVE), bundled.reason
    assert run.results.run.confined is True
