# SPDX-License-Identifier: GPL-2.0-or-later
"""Our flashrom on a faulty link ends in time, with the right exit code.

Each kind of fault has one run here; `rig/rig faults` makes any number of runs.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from delayrig.features.faults.campaign import (
    Bench,
    EmulatorEnd,
    FaultRun,
    HostSubject,
    scenarios_of,
)
from delayrig.features.faults.scenario import FaultKind, is_finding
from delayrig.model.chips import read_chips

from .emulator import LIMIT_S, PATHS, PROGRAM
from .faulty_link import Fault, FaultyOperation, faulty_link

SEED = 1
AT_ONCE = 6
SCENARIOS = scenarios_of(SEED, range(len(FaultKind)))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[FaultKind, Future[FaultRun]]]:
    """Runs all scenarios, AT_ONCE at a time."""
    bench = Bench(
        emulator=PATHS.emulator,
        chips=read_chips(PATHS.checkout),
        out=tmp_path_factory.mktemp("faults"),
        limit_s=LIMIT_S,
    )
    ours = HostSubject(name="bundled", words=[str(PROGRAM)], program=PROGRAM.read_bytes())
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {scenario.kind: pool.submit(bench.run, ours, scenario) for scenario in SCENARIOS}


@pytest.mark.parametrize("kind", FaultKind)
def test_exit_code_of_flashrom_is_right_and_the_emulator_ends_by_itself(
    kind: FaultKind, runs: dict[FaultKind, Future[FaultRun]]
) -> None:
    run = runs[kind].result()
    assert not is_finding(run.end), f"{run.end}: {run.said}\n{run.rerun}"
    assert run.emulator is EmulatorEnd.ENDED


def test_most_faults_take_effect(runs: dict[FaultKind, Future[FaultRun]]) -> None:
    """Some faults come after the end of their run."""
    assert sum(run.result().faults > 0 for run in runs.values()) > len(SCENARIOS) // 2


def test_faulty_link_without_a_client_leaves_no_thread() -> None:
    before = threading.active_count()
    with (
        pytest.raises(TimeoutError),
        faulty_link(1, FaultyOperation(fault=Fault.HANG_UP, opcode=0)),
    ):
        raise TimeoutError
    assert threading.active_count() == before
