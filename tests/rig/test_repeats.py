# SPDX-License-Identifier: GPL-2.0-or-later
"""Repeated rounds until the median is known well enough. One conviction is not outvoted."""

import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import msgspec
from delayrig.features.run.repeat import (
    FILE_NAME,
    VALUES_MIN,
    Budget,
    Summary,
    median_of,
    repeat,
    summarise,
)
from delayrig.judge.exit_code import exit_code_of_run
from delayrig.model.cell import Cell
from delayrig.model.lane import LaneName
from delayrig.model.phases import TimeSplit
from delayrig.model.result import CellResult, Results, Verdict
from delayrig.plan.request import Request

from tests.rig.builders import MS, make_cell, make_result, request_of, run_of


def timed(cell: Cell, total_ms: float, verdict: Verdict = Verdict.PASS) -> CellResult:
    return make_result(cell, verdict=verdict, time_ns=TimeSplit(total=round(total_ms * MS)))


LIVE = msgspec.structs.replace(make_cell(), lane=LaneName.LIVE, core_mips=(10.0, 40.0), cores=2)


def test_median_of_few_values_has_no_interval() -> None:
    median = median_of([5, 1, 3])
    assert median.value_ns == 3
    assert median.half_width is None
    assert not median.is_within(1.0)


def test_same_values_give_the_same_intervals() -> None:
    # If the values are few, nearly all draws give the same interval.
    samples = [random.Random(seed).sample(range(10**6), 40) for seed in range(10)]
    assert list(map(median_of, samples)) == list(map(median_of, samples))


def test_interval_holds_the_median_and_narrows_with_more_values() -> None:
    widths = []
    for times in (1, 20):
        median = median_of([90, 95, 100, 100, 105, 110] * times)
        assert median.low_ns is not None
        assert median.high_ns is not None
        assert median.low_ns <= median.value_ns <= median.high_ns
        assert median.half_width is not None
        widths.append(median.half_width)
    assert widths[1] < widths[0]


def test_one_conviction_among_many_passes_is_not_outvoted() -> None:
    results = [timed(LIVE, 100) for _ in range(19)] + [timed(LIVE, 60, Verdict.TOO_SHORT)]
    (summary,) = summarise(results)
    assert summary.verdicts == {"pass": 19, "too_short": 1}
    assert exit_code_of_run(results) == 1


def test_time_of_an_inconclusive_round_is_not_counted() -> None:
    (summary,) = summarise([timed(LIVE, 100), timed(LIVE, 9_000, Verdict.INCONCLUSIVE)])
    assert summary.timed == 1
    assert summary.total is not None
    assert summary.total.value_ns == 100 * MS


class Machine:
    """A fake of runs: each cell takes the next of the times, and each run lasts a second."""

    def __init__(self, times_ms: Iterable[float]) -> None:
        self._times = iter(times_ms)
        self.now_s = 0.0
        self.rounds: list[int] = []

    def run(self, request: Request) -> Results:
        self.now_s += 1
        self.rounds.append(len(request.cells))
        request.out.mkdir(parents=True)
        cells = [timed(cell, next(self._times)) for cell in request.cells]
        return run_of(*cells)


def repeated(
    out: Path, machine: Machine, *cells: Cell, seconds: float = 1000, rounds_max: int = 40
) -> Summary:
    budget = Budget(within=0.05, seconds=seconds, rounds_max=rounds_max)
    request = replace(request_of(list(cells), out), plan="live", lane=LaneName.LIVE)
    summary, _ = repeat(request, budget, machine.run, lambda: machine.now_s)
    return summary


def test_steady_cell_ends_with_the_fewest_rounds(tmp_path: Path) -> None:
    machine = Machine([100.0] * 100)
    summary = repeated(tmp_path, machine, LIVE)
    assert summary.rounds == VALUES_MIN
    assert not summary.budget_ended
    kept = msgspec.json.decode((tmp_path / FILE_NAME).read_bytes(), type=Summary)
    assert kept == summary


def test_restless_cell_ends_with_the_budget_and_says_so(tmp_path: Path) -> None:
    summary = repeated(tmp_path, Machine([50.0, 150.0] * 100), LIVE, seconds=9)
    assert (summary.rounds, summary.budget_ended) == (9, True)


def test_settled_cell_is_not_run_again(tmp_path: Path) -> None:
    restless = msgspec.structs.replace(LIVE, name="restless")
    machine = Machine([100.0, 50.0, 100.0, 150.0] * 100)
    repeated(tmp_path, machine, LIVE, restless, rounds_max=8)
    assert machine.rounds == [2] * VALUES_MIN + [1] * 2


def test_exact_or_skipped_cell_is_run_once(tmp_path: Path) -> None:
    exact = msgspec.structs.replace(LIVE, lane=LaneName.VIRTUAL, core_mips=())
    assert repeated(tmp_path, Machine([100.0]), exact).rounds == 1
    (summary,) = summarise([timed(LIVE, 0, Verdict.SKIPPED)])
    assert summary.is_settled(0.05)
