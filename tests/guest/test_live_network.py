# SPDX-License-Identifier: GPL-2.0-or-later
"""Network access of a subject in a live guest: it reaches its emulator only."""

import errno
import socket
from pathlib import Path

import pytest
from delayrig.base.paths import Paths
from delayrig.machine.arguments import HOST_ADDRESS
from delayrig.model.result import Verdict

from tests.hostile import build_hostile, refusals

from .conftest import FinishedRun, run_plan

pytestmark = pytest.mark.alone("guests of real time")
PLAN = """\
schema = 1
about = "one that looks around, and one that does its job"
lane = "live"
subjects = ["bundled"]
[[group]]
name = "looks"
region_kib = 4
[group.over]
machine = ["10:40"]
job = ["probe"]
chip = ["W25Q128JV"]
"""


def run_looking(paths: Paths, folder: Path, *more: str) -> FinishedRun:
    """Runs a subject that connects to a service of this machine; checks that it fails."""
    plan = folder / "looks.toml"
    plan.write_text(PLAN)
    with socket.socket() as service:
        service.bind(("127.0.0.1", 0))
        service.listen()
        service.settimeout(0)
        port = int(service.getsockname()[1])
        program = build_hostile(folder, ONLY="connect", HOST=HOST_ADDRESS, PORT=port)
        subjects = ("--subject", f"path:{program}", "--subject", "bundled")
        run = run_plan(paths, folder / "out", "--plan", str(plan), *subjects, *more)
        with pytest.raises(BlockingIOError):
            service.accept()
    return run


@pytest.mark.parametrize("behind", ["embed", "plain"])
def test_subject_in_a_live_guest_reaches_no_other_service_of_this_machine(
    paths: Paths, tmp_path: Path, behind: str
) -> None:
    run = run_looking(paths, tmp_path, "--connect", behind)
    looks, works = run.results.cells
    said = refusals((run.out / looks.id / "stdout.txt").read_text())
    assert said == {"connect": errno.ECONNREFUSED}, run.said
    assert looks.verdict is not Verdict.PASS, looks.reason
    assert works.verdict in (Verdict.PASS, Verdict.INCONCLUSIVE), works.reason
    assert run.results.run.confined is True
