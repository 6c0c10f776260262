# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests of other architectures: verdicts, the clock, and equal results of two runs."""

from pathlib import Path

import pytest
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.model.events import needed, read_events
from delayrig.model.kinds.agent import Guest
from delayrig.model.kinds.emulator import Start
from delayrig.model.platform import PLATFORMS, Arch
from delayrig.model.result import CellResult, Verdict

from .conftest import FinishedRun, assert_same_runs, repeated, run_plan

MACHINES = {Arch.I386: "i686", Arch.ARM64: "aarch64"}
NAMES = ("demonstration.bundled", "canary-bus.canary-bus", "control-bus.bundled")
CELLS = [f"{name}.{arch}.*" for arch in MACHINES for name in NAMES]
EACH_ARCH = pytest.mark.parametrize("arch", list(MACHINES))


def run_others(paths: Paths, out: Path) -> FinishedRun:
    """Runs a few cells of `default` on other architectures."""
    return run_plan(paths, out, "--plan", "default", *repeated("--cell", CELLS))


@pytest.fixture(scope="module")
def run(paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    return run_others(paths, tmp_path_factory.mktemp("others") / "out")


def of_arch(run: FinishedRun, arch: Arch) -> list[CellResult]:
    """Returns the cells of that architecture; skips if the archive did not provide their files."""
    cells = [cell for cell in run.results.cells if cell.guest.arch == arch]
    run.need(cells)
    return cells


@EACH_ARCH
def test_canary_is_convicted_and_its_control_acquitted(run: FinishedRun, arch: Arch) -> None:
    assert run.exit_code == ExitCode.PASS, run.output
    cells = of_arch(run, arch)
    verdicts = {cell.role: cell.verdict for cell in cells}
    assert verdicts == {
        "measure": Verdict.PASS,
        "canary": Verdict.TOO_SHORT,
        "control": Verdict.PASS,
    }


@EACH_ARCH
def test_emulator_and_kernel_use_the_counter_of_the_machine(run: FinishedRun, arch: Arch) -> None:
    cell = next(cell for cell in of_arch(run, arch) if cell.role == "measure")
    events = read_events(run.out / cell.id)
    guest = needed(events, Guest)
    assert guest.machine == MACHINES[arch]
    assert guest.clocksource == PLATFORMS[arch].clocksource
    assert needed(events, Start).clock == PLATFORMS[arch].counter


def test_second_run_has_equal_results(run: FinishedRun, paths: Paths, tmp_path: Path) -> None:
    again = run_others(paths, tmp_path / "out")
    assert len(again.results.cells) == len(CELLS)
    assert_same_runs(paths, run.out, again.out)
