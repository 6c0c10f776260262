# SPDX-License-Identifier: GPL-2.0-or-later
"""The results of one run of the smoke plan."""

from pathlib import Path

import msgspec
import pytest
from delayrig.base.durations import NS_PER_S
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.features.report.document import LIMIT_BYTES
from delayrig.features.report.facts import cell_facts
from delayrig.judge.delay_waits import DELAY_CLASS
from delayrig.model.cell import Cell
from delayrig.model.chips import read_chips
from delayrig.model.delays import read_delays
from delayrig.model.events import needed, read_events
from delayrig.model.evidence import Witness
from delayrig.model.kinds.agent import SubjectStart
from delayrig.model.kinds.emulator import Accept
from delayrig.model.kinds.hazard import SiblingsRunning, SiblingsStopped
from delayrig.model.result import Verdict
from delayrig.model.workload import wrong_granules

from .conftest import FinishedRun, launch

WITHOUT_CALIBRATION = ("bundled", "debian:trixie")


def test_smoke_exits_with_0_and_has_each_planned_cell(smoke: FinishedRun) -> None:
    assert smoke.exit_code == ExitCode.PASS, smoke.output
    assert len(smoke.results.cells) == smoke.results.run.cells_planned


def test_demonstration_convicts_the_calibrated_loop_by_its_1_s_wait(smoke: FinishedRun) -> None:
    cell = smoke.cell("demonstration", "debian:bookworm")
    assert cell.verdict is Verdict.TOO_SHORT
    sync = [item for item in cell.evidence if item.requested_ns == NS_PER_S]
    assert {item.witness for item in sync} == {Witness.BUS, Witness.DELAY}
    for item in sync:
        assert item.actual_ns is not None
        shortest_ns, longest_ns = item.actual_ns
        assert 0 < shortest_ns <= longest_ns < NS_PER_S // 2
    assert "1 s synchronisation wait" in smoke.output


@pytest.mark.parametrize("subject", WITHOUT_CALIBRATION)
def test_demonstration_acquits_other_subjects(smoke: FinishedRun, subject: str) -> None:
    assert smoke.cell("demonstration", subject).verdict is Verdict.PASS


def test_siblings_run_during_the_calibration_and_stop_after_it(smoke: FinishedRun) -> None:
    cell = smoke.cell("demonstration", "debian:bookworm")
    events = read_events(smoke.out / cell.id)
    times = [
        needed(events, SiblingsRunning).t_ns,
        needed(events, SubjectStart).t_ns,
        needed(events, Accept).t_ns,
        needed(events, SiblingsStopped).t_ns,
    ]
    assert times == sorted(times)
    assert times[2] - times[1] > NS_PER_S  # The subject calibrates between its start and accept.


def test_canaries_are_convicted_and_controls_acquitted(smoke: FinishedRun) -> None:
    for witness, name, control in (
        (Witness.DELAY, "bus", "bundled"),
        (Witness.CHIP, "chip", "control:chip"),
    ):
        cell = smoke.cell(f"canary-{name}", f"canary:{name}")
        assert cell.verdict is Verdict.TOO_SHORT
        assert witness in {item.witness for item in cell.evidence}
        assert smoke.cell(f"control-{name}", control).verdict is Verdict.PASS


def test_each_delay_is_recorded_with_its_source_line_and_duration(smoke: FinishedRun) -> None:
    cell = smoke.cell("control-bus", "bundled")
    assert any(kind.startswith(DELAY_CLASS) for kind in cell.judged)
    delays = read_delays(smoke.out / cell.id)
    assert delays
    assert delays.calls
    lines = [" ".join(delays.callers_of(call)) for call in delays.calls]
    assert all("(flashrom/" in line.split(" < ")[0] for line in lines)
    assert sum("flashrom/core/busy.c:" in line for line in lines) > len(lines) / 2
    assert all((call.seen_ns or 0) >= call.requested_ns for call in delays.calls)


def test_chip_has_the_right_image_after_each_write(smoke: FinishedRun, paths: Paths) -> None:
    chips = read_chips(paths.checkout)
    written = [cell for cell in smoke.results.cells if cell.verdict is Verdict.PASS]
    assert len(written) > 5
    for result in written:
        folder = smoke.out / result.id
        cell = msgspec.json.decode((folder / "cell.json").read_bytes(), type=Cell)
        sparse = (folder / "image.sparse").read_bytes()
        assert len(sparse) > 64 * 1024
        assert wrong_granules(cell, chips[cell.chip], sparse) == []


def test_each_cell_has_its_witnesses_and_its_phases_add_up(smoke: FinishedRun) -> None:
    for cell in smoke.results.cells:
        assert cell.judged or cell.unjudged, cell.id
        if cell.judged:
            assert cell.smallest_visible_short_ns is not None
        split = cell.time_ns
        phases = split.probe + split.read + split.erase + split.write + split.verify
        assert phases == split.total > 0


def test_sleeping_uses_less_cpu_time_than_polling(smoke: FinishedRun) -> None:
    polled = smoke.cell("write", "debian:bookworm")
    slept = smoke.cell("write", "debian:trixie")
    assert polled.cpu_ns.user + polled.cpu_ns.sys > 5 * (slept.cpu_ns.user + slept.cpu_ns.sys)
    assert polled.time_ns.total > slept.time_ns.total


def test_report_has_the_phases_and_the_command_of_each_cell_and_the_convicted_timeline(
    smoke: FinishedRun, paths: Paths, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    done = launch(paths, "report", str(smoke.out), "--out", str(page))
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert len(text) < LIMIT_BYTES
    convicted = smoke.cell("demonstration", "debian:bookworm")
    assert f"Timeline of {convicted.id}<" in text
    for cell in smoke.results.cells:
        facts = cell_facts(smoke.out / cell.id, cell)
        assert facts.split.total_ns == cell.time_ns.total
        assert cell.rerun in text
