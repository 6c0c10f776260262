# SPDX-License-Identifier: GPL-2.0-or-later
"""Slow links shorten no wait, and hide no wait that must be judged."""

import pytest
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.model.events import of_kind, read_events
from delayrig.model.kinds.emulator import FaultMade
from delayrig.model.result import Verdict

from .conftest import FinishedRun, run_plan
from .plans import OVER, cell, group, plan, write_plan

LINK = "link:baud=115200,usb-frame-us=1000"
CANARY_AT = f'mips = 250, cores = 1, job = "write", chip = "W25Q128JV", hazards = "{LINK}"'
PLAN = plan(
    group("links", f'{OVER}, hazards = ["{LINK}", "fault:delay:5000@p=0.01"]', region_kib=64),
    cell("canary", f'{CANARY_AT}, corner = "max"'),
    'role = "canary"\nsubject = "canary:bus"\n',
    subjects='"bundled", "debian:trixie"',
)
SERIAL = "link-baud-115200-usb-frame-us-1000"
LATE = "fault-delay-5000-p-0-01"


@pytest.fixture(scope="module")
def run(paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    folder = tmp_path_factory.mktemp("links")
    return run_plan(paths, folder / "out", "--plan", write_plan(folder, PLAN))


def test_over_a_serial_line_full_waits_pass_and_a_short_wait_is_convicted(run: FinishedRun) -> None:
    assert run.exit_code == ExitCode.PASS, run.output
    run.need(run.results.cells)
    verdicts = {cell.id.partition(".")[0]: cell.verdict for cell in run.results.cells}
    assert verdicts == {"links": Verdict.PASS, "canary": Verdict.TOO_SHORT}


@pytest.mark.parametrize("link", [SERIAL, LATE])
def test_synchronisation_wait_is_judged_over_a_slow_link(run: FinishedRun, link: str) -> None:
    (cell,) = [
        cell
        for cell in run.results.cells
        if cell.subject.name == "debian:trixie" and f".{link}." in cell.id
    ]
    run.need([cell])
    assert "serprog-sync" in cell.judged, cell.reason


def test_job_takes_at_least_the_transfer_time_of_the_serial_line(run: FinishedRun) -> None:
    (cell,) = [
        cell for cell in run.results.cells if cell.subject.name == "bundled" and SERIAL in cell.id
    ]
    run.need([cell])
    # The 64 KiB are read, written and read again, at ten bits a byte.
    assert cell.time_ns.total > 3 * 65536 * 10 * 10**9 // 115200


def test_delayed_replies_are_in_the_events(run: FinishedRun) -> None:
    late = [cell for cell in run.results.cells if LATE in cell.id]
    assert len(late) == 2
    run.need(late)
    for result in late:
        assert of_kind(read_events(run.out / result.id), FaultMade), result.id
