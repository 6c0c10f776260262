# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig find`: the order of the search, where it ends, and why other cells show nothing."""

import asyncio
import json
from typing import Any

import pytest
from click.testing import CliRunner
from delayrig.base.errors import ExitCode
from delayrig.base.paths import find_paths
from delayrig.decision.shrink import shrink
from delayrig.features.find.search import Searched, search, widest_first
from delayrig.features.find.space import HAZARDS, OTHER_PARTS, SOURCE, SPI_PARTS, plan_for
from delayrig.features.find.symptom import Symptom, exit_code, shows, why_not
from delayrig.main import main
from delayrig.model.cell import Cell, Job
from delayrig.model.chips import read_chips
from delayrig.model.phases import TimeSplit
from delayrig.model.result import CellResult, Verdict
from delayrig.plan.request import choose_cells_of

from tests.rig.builders import CHECKOUT, MS, make_cell, make_result

PATHS = find_paths()
HARMLESS = "waits were cut short, but the part is polled, so that is harmless here"


def cells_for(symptom: Symptom) -> list[Cell]:
    plan = plan_for(symptom, "debian:trixie")
    return choose_cells_of(plan, source=SOURCE, seed=1, paths=PATHS).cells


def result(cell: Cell | None = None, **changes: Any) -> CellResult:
    return make_result(cell or make_cell(job=Job.WRITE), **changes)


@pytest.mark.parametrize("symptom", Symptom)
def test_cells_have_each_hazard_with_each_part(symptom: Symptom) -> None:
    pairs = {("+".join(cell.hazards) or "none", cell.chip) for cell in cells_for(symptom)}
    wanted = {(hazard, chip) for hazard in HAZARDS for chip in (*SPI_PARTS, *OTHER_PARTS)}
    assert wanted <= pairs


def test_first_cells_have_many_values() -> None:
    first = widest_first(cells_for(Symptom.CORRUPT))[:16]
    assert len({cell.icount_shift for cell in first}) == 3
    assert len({cell.hazards for cell in first}) == len(HAZARDS)
    assert len({cell.chip for cell in first}) == len(SPI_PARTS + OTHER_PARTS)


def test_search_ends_at_the_first_cell_that_shows_it_and_counts_the_others() -> None:
    cells = [make_cell(name=name, job=Job.WRITE) for name in ("a", "b", "c", "d")]
    verdicts = {"a": Verdict.PASS, "b": Verdict.TOO_SHORT, "c": Verdict.CORRUPT}

    async def trial(cell: Cell) -> CellResult:
        return result(cell, verdict=verdicts[cell.name], job_done=True)

    searched = asyncio.run(search(Symptom.CORRUPT, cells, trial, lambda *_: None))
    assert searched.cell == cells[2]
    assert searched.tried == 3
    assert searched.causes == {"no wait was cut short": 1, HARMLESS: 1}


def test_search_that_finds_nothing_has_tried_all() -> None:
    async def trial(cell: Cell) -> CellResult:
        return result(cell, verdict=Verdict.PASS)

    searched = asyncio.run(search(Symptom.HUNG, [make_cell()], trial, lambda *_: None))
    assert searched == Searched(tried=1, causes=searched.causes)


@pytest.mark.parametrize(
    ("symptom", "verdict", "said_done", "job_done", "is_shown"),
    [
        (Symptom.CORRUPT, Verdict.CORRUPT, True, False, True),
        (Symptom.CORRUPT, Verdict.TOO_SHORT, True, True, False),
        (Symptom.CORRUPT, Verdict.TOO_SHORT, True, False, True),
        (Symptom.CORRUPT, Verdict.TOO_SHORT, False, False, False),
        (Symptom.VERIFY_FAILED, Verdict.OP_FAILED, False, False, True),
        (Symptom.VERIFY_FAILED, Verdict.TOO_SHORT, False, False, True),
        (Symptom.VERIFY_FAILED, Verdict.TOO_SHORT, True, False, False),
        (Symptom.VERIFY_FAILED, Verdict.TOO_SHORT, True, True, False),
        (Symptom.VERIFY_FAILED, Verdict.CORRUPT, True, False, False),
        (Symptom.HUNG, Verdict.HUNG, False, False, True),
        (Symptom.HUNG, Verdict.INFRA_ERROR, False, False, False),
    ],
)
def test_symptom_is_what_a_user_sees(
    symptom: Symptom, verdict: Verdict, said_done: bool, job_done: bool, is_shown: bool
) -> None:
    seen = result(verdict=verdict, said_done=said_done, job_done=job_done)
    assert shows(symptom, seen) is is_shown


@pytest.mark.parametrize(("total_ms", "is_slow"), [(29, False), (30, True), (300, True)])
def test_slow_is_three_times_what_part_and_link_need(total_ms: int, is_slow: bool) -> None:
    took = result(
        job_done=True,
        time_ns=TimeSplit(total=total_ms * MS),
        chip_busy_ns=8 * MS,
        wire_ns=2 * MS,
    )
    assert shows(Symptom.SLOW, took) is is_slow
    assert exit_code(Symptom.SLOW, took) is ExitCode.SLOWER


def test_job_that_needs_no_time_or_failed_is_never_slow() -> None:
    assert not shows(Symptom.SLOW, result(job_done=True, time_ns=TimeSplit(total=MS)))
    failed = result(job_done=False, time_ns=TimeSplit(total=99 * MS), chip_busy_ns=MS)
    assert not shows(Symptom.SLOW, failed)


@pytest.mark.parametrize(
    ("verdict", "job", "why"),
    [
        (Verdict.TOO_SHORT, Job.WRITE, HARMLESS),
        (Verdict.TOO_SHORT, Job.READ, "waits were cut short, but the job changes nothing"),
        (Verdict.OP_FAILED, Job.WRITE, "it failed, and said so at once"),
        (Verdict.SKIPPED, Job.WRITE, "not run: a reason"),
        (Verdict.HUNG, Job.WRITE, "it did not end in the time"),
        (Verdict.INCONCLUSIVE, Job.WRITE, "another symptom: inconclusive"),
    ],
)
def test_cause_is_said_in_words(verdict: Verdict, job: Job, why: str) -> None:
    without = result(make_cell(job=job), verdict=verdict, job_done=True, reason="a reason")
    assert why_not(Symptom.CORRUPT, without).startswith(why)


def test_cell_that_shows_another_symptom_than_a_conviction_is_shrunk() -> None:
    async def trial(cell: Cell) -> CellResult:
        return result(cell, verdict=Verdict.HUNG if cell.cores == 4 else Verdict.PASS)

    work = shrink(
        make_cell(cores=4, hazards=("low-res-timers",)),
        read_chips(CHECKOUT),
        trial,
        limit_s=60,
        watch=lambda _: None,
        shows=lambda tried: shows(Symptom.HUNG, tried),
    )
    shrunk = asyncio.run(work)
    assert (shrunk.cell.cores, shrunk.cell.hazards) == (4, ())


def test_dry_run_lists_at_most_as_many_cells_as_asked() -> None:
    done = CliRunner().invoke(
        main, ["find", "hung", "bundled", "--cells", "5", "--dry-run", "--json"]
    )
    assert done.exit_code == ExitCode.PASS, done.output
    assert len(json.loads(done.stdout)) == 5


def test_unknown_symptom_is_refused_with_those_that_there_are() -> None:
    done = CliRunner().invoke(main, ["find", "odd", "bundled"])
    assert done.exit_code == ExitCode.BAD_INPUT
    assert "'verify-failed'" in done.stderr
