# SPDX-License-Identifier: GPL-2.0-or-later
"""The live lane with real guests: its convictions, killed processes, and the network of a subject.

A cell that a busy host could not keep up with is inconclusive; these tests accept that.
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
from delayrig.judge.judge import NOT_KEPT_UP
from delayrig.machine.arguments import HOST_ADDRESS
from delayrig.model.delays import read_delays
from delayrig.model.result import CellResult, Verdict
from delayrig.run.resume import RESULT

from tests.conftest import Bound
from tests.hostile import build_hostile, refusals
from tests.rig.processes import children_of, is_running, rig_started_by

from .conftest import FinishedRun, run_plan
from .plans import group, plan
from .victims import assert_whole

pytestmark = pytest.mark.alone("cores of real speeds")
ASKED = os.environ.get("RIG_KILLS")
"""The number of kills of each of the two tests, in place of the tier's own."""
KILLS = (3, 25)
KILLS_MIN = (1, 8)
"""The number that is enough on a slow host, unless $RIG_KILLS asks for another."""
KILLING_LIMIT_S = float("inf") if ASKED else 150
GONE_LIMIT_S = 20
LOOK_S = 0.02
MOMENT_S = (0.5, 7.0)
VICTIMS = ("qemu-system", "serprog-emu")
"""The victims, in turn. A killed guest nearly always costs its cell, an emulator during a job."""
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
    paths: Paths, folder: Path, out: Path, kills: int
) -> Iterator[subprocess.Popen[bytes]]:
    """Starts a run of more cells than the test waits for; yields it, and ends it afterwards."""
    file, cells = folder / "victims.toml", range(CELLS_PER_KILL * kills)
    file.write_text(PLAN.replace("HAZARDS", ", ".join(f'"move:{ms}"' for ms in cells)))
    words = ["run", "--no-color", "--plan", str(file), "--out", str(out)]
    with subprocess.Popen(
        [str(paths.checkout / "rig" / "rig"), *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(folder)},
    ) as run:
        try:
            yield run
        finally:
            run.send_signal(signal.SIGTERM)
            run.wait()


def skip_if_not_kept_up(cell: CellResult) -> None:
    """Skips the test if the host was too busy for this cell; no other doubt is allowed."""
    if cell.verdict is Verdict.INCONCLUSIVE:
        assert NOT_KEPT_UP in cell.reason
        pytest.skip(f"inconclusive: {cell.reason}")


def test_calibrated_on_a_slow_core_and_moved_to_a_fast_one_is_convicted(
    paths: Paths, tmp_path: Path
) -> None:
    run = run_plan(paths, tmp_path / "out", "--plan", "live", "--cell", "moved.*")
    for subject in ("bundled", "debian:trixie"):
        cell = run.cell("moved", subject)
        assert cell.verdict in (Verdict.PASS, Verdict.INCONCLUSIVE), run.output
    moved = run.cell("moved", "debian:bookworm")
    skip_if_not_kept_up(moved)
    assert moved.verdict is Verdict.TOO_SHORT, run.output


def test_canaries_of_the_lane_are_convicted_and_controls_are_not(
    paths: Paths, tmp_path: Path
) -> None:
    words = ["--cell", "canary*", "--cell", "control*"]
    run = run_plan(paths, tmp_path / "out", "--plan", "live", *words)
    for cell in run.results.cells:
        if cell.role == "canary":
            skip_if_not_kept_up(cell)
        allowed = (
            (Verdict.TOO_SHORT,) if cell.role == "canary" else (Verdict.PASS, Verdict.INCONCLUSIVE)
        )
        assert cell.verdict in allowed, run.output
        # QEMU translated the subject's code in the rehearsal; it must see the calls nevertheless.
        delays = read_delays(tmp_path / "out" / cell.id)
        assert delays
        assert delays.calls
        assert all(delays.callers_of(call) for call in delays.calls), cell.id


def finished_cells(out: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in out.glob(f"*/{RESULT}")]


def hit_cells(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the cells that were lost, for good or at their first try."""
    return [
        cell
        for cell in cells
        if cell["verdict"] == Verdict.INFRA_ERROR or cell.get("retried_after")
    ]


def wanted_kills(bound: Bound) -> tuple[int, int]:
    """Returns the number of kills to try, and the smallest number that is enough."""
    return (int(ASKED), int(ASKED)) if ASKED else (bound("kills"), bound("kills_min"))


@pytest.mark.bounds(kills=KILLS, kills_min=KILLS_MIN)
def test_guest_or_emulator_that_is_killed_costs_its_own_cell_alone(
    paths: Paths, tmp_path: Path, bound: Bound
) -> None:
    draws, out = random.Random(1), tmp_path / "out"
    wanted, fewest = wanted_kills(bound)
    kills, until = 0, time.monotonic() + KILLING_LIMIT_S
    with many_cells(paths, tmp_path, out, wanted) as run:
        rig = rig_started_by(run.pid)
        while kills < wanted and time.monotonic() < until and run.poll() is None:
            time.sleep(draws.uniform(*MOMENT_S))
            victims = [
                pid
                for pid, name in children_of(rig).items()
                if name.startswith(VICTIMS[kills % len(VICTIMS)])
            ]
            if victims:
                os.kill(draws.choice(victims), signal.SIGKILL)
                kills += 1
        # A cell that was hit runs again, and has no result before that.
        while (
            not hit_cells(finished_cells(out)) and time.monotonic() < until and run.poll() is None
        ):
            time.sleep(LOOK_S)
        ours = [rig, *children_of(rig)]
    assert wait_until_gone(ours) == []
    assert kills >= fewest
    assert_whole(out)
    cells = json.loads((out / "results.json").read_bytes())["cells"]
    lost = [cell for cell in cells if cell["verdict"] == Verdict.INFRA_ERROR]
    hit = hit_cells(cells)
    # A kill between two cells, or of a rehearsal's emulator, costs no cell.
    assert 0 < len(hit) <= kills
    # A cell that runs again can be hit again.
    assert len(lost) <= kills - len(hit)
    others = {cell["verdict"] for cell in cells if cell not in lost}
    assert others <= {Verdict.PASS, Verdict.INCONCLUSIVE}
    reasons = [c["retried_after"] for c in hit] + [c["reason"] for c in lost]
    assert all("console.log" in reason or "emulator" in reason for reason in reasons)


@pytest.mark.bounds(kills=KILLS, kills_min=KILLS_MIN)
def test_rig_that_is_killed_leaves_no_process_and_no_half_written_result(
    paths: Paths, tmp_path: Path, bound: Bound
) -> None:
    draws = random.Random(2)
    wanted, fewest = wanted_kills(bound)
    kills, until = 0, time.monotonic() + KILLING_LIMIT_S
    while kills < wanted and time.monotonic() < until:
        out = tmp_path / f"out-{kills}"
        with many_cells(paths, tmp_path, out, wanted) as run:
            time.sleep(draws.uniform(*MOMENT_S))
            rig = rig_started_by(run.pid)
            ours = [rig, *children_of(rig)]
            run.kill()
            run.wait()
        assert wait_until_gone(ours) == []
        assert_whole(out)
        kills += 1
    assert kills >= fewest


LOOKING = plan(
    group("looks", 'machine = ["10:40"], job = ["probe"], chip = ["W25Q128JV"]'), lane="live"
)


def run_looking(paths: Paths, folder: Path, *more: str) -> FinishedRun:
    """Runs a subject that tries to connect to a service of this machine; checks that it cannot."""
    file = folder / "looks.toml"
    file.write_text(LOOKING)
    with socket.socket() as service:
        service.bind(("127.0.0.1", 0))
        service.listen()
        service.settimeout(0)
        port = int(service.getsockname()[1])
        program = build_hostile(folder, ONLY="connect", HOST=HOST_ADDRESS, PORT=port)
        subjects = ("--subject", f"path:{program}", "--subject", "bundled")
        run = run_plan(paths, folder / "out", "--plan", str(file), *subjects, *more)
        with pytest.raises(BlockingIOError):
            service.accept()
    return run


@pytest.mark.parametrize("behind", ["embed", "plain"])
def test_subject_in_a_live_guest_reaches_no_other_service_of_this_machine(
    paths: Paths, tmp_path: Path, behind: str
) -> None:
    run = run_looking(paths, tmp_path, "--connect", behind)
    looks, works = run.results.cells
    output = refusals((run.out / looks.id / "stdout.txt").read_text())
    assert output == {"connect": errno.ECONNREFUSED}, run.output
    assert looks.verdict is not Verdict.PASS, looks.reason
    assert works.verdict in (Verdict.PASS, Verdict.INCONCLUSIVE), works.reason
    assert run.results.run.confined is True
