# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig find`: its order, its end, and the reasons why cells do not show the symptom."""

import asyncio
import json
import re
from typing import Any

import pytest
from delayrig.base.errors import BadInputError, ExitCode
from delayrig.base.paths import find_paths
from delayrig.decision.choice import line_of
from delayrig.decision.shrink import Shrunk, shrink
from delayrig.features.find.command import found_lines
from delayrig.features.find.search import (
    BesideOurs,
    Searched,
    Symptom,
    exit_code,
    pairs_of,
    search,
    shows,
    values_of,
    why_not,
    widest_first,
    work_words,
)
from delayrig.features.find.space import HAZARDS, OTHER_PARTS, SOURCE, SPI_PARTS, plan_for
from delayrig.model.cell import Cell, Job, Programmer
from delayrig.model.chips import read_chips
from delayrig.model.evidence import Witness
from delayrig.model.phases import TimeSplit
from delayrig.model.programmers import DEVICES
from delayrig.model.result import CellResult, Ending, Verdict
from delayrig.plan.request import choose_cells_of
from delayrig.subjects.subject import BUNDLED

from tests.rig.builders import CHECKOUT, MS, make_cell, make_evidence, make_result
from tests.rig.running import answer_of, refusal_of

PATHS = find_paths()
CHIPS = read_chips(CHECKOUT)
HARMLESS = "waits were cut short, but the part is polled, so that is harmless here"


def cells_for(symptom: Symptom) -> list[Cell]:
    plan = plan_for(symptom, "debian:trixie", CHIPS)
    return choose_cells_of(plan, source=SOURCE, seed=1, paths=PATHS).cells


def result(cell: Cell | None = None, **changes: Any) -> CellResult:
    return make_result(cell or make_cell(job=Job.WRITE), **changes)


@pytest.mark.parametrize("symptom", Symptom)
def test_cells_have_each_hazard_with_each_part(symptom: Symptom) -> None:
    pairs = {("+".join(cell.hazards) or "none", cell.chip) for cell in cells_for(symptom)}
    wanted = {(hazard, chip) for hazard in HAZARDS for chip in (*SPI_PARTS, *OTHER_PARTS)}
    assert wanted <= pairs


def test_first_cells_have_each_value() -> None:
    first = widest_first(cells_for(Symptom.CORRUPT))[:16]
    assert len({cell.icount_shift for cell in first}) == 3
    assert len({cell.hazards for cell in first}) == len(HAZARDS)
    assert len({cell.chip for cell in first}) == len(SPI_PARTS + OTHER_PARTS)


def test_search_ends_at_the_first_cell_with_the_symptom_and_counts_the_others() -> None:
    cells = [make_cell(name=name, job=Job.WRITE) for name in ("a", "b", "c", "d")]
    verdicts = {"a": Verdict.PASS, "b": Verdict.TOO_SHORT, "c": Verdict.CORRUPT}

    async def trial(cell: Cell) -> CellResult:
        done = cell.name != "c"
        return result(cell, verdict=verdicts[cell.name], ending=Ending.DONE, job_done=done)

    searched = asyncio.run(search(cells, BesideOurs(Symptom.CORRUPT, trial), lambda *_: None))
    assert searched.cell == cells[2]
    assert searched.tried == 3
    assert searched.causes == {"no wait was cut short": 1, HARMLESS: 1}


def test_search_without_a_result_separates_tried_cells_from_those_that_ran() -> None:
    async def trial(cell: Cell) -> CellResult:
        return result(cell, verdict=Verdict.SKIPPED if cell.chip == "M25P80" else Verdict.PASS)

    cells = [make_cell(chip="M25P80"), make_cell(chip="W25Q16JV")]
    searched = asyncio.run(search(cells, BesideOurs(Symptom.HUNG, trial), lambda *_: None))
    assert searched == Searched(tried=2, causes=searched.causes, ran=searched.ran)
    assert values_of(searched.ran)["chip"] == ["W25Q16JV"]
    assert pairs_of(searched.ran) < pairs_of(cells)


WROTE = TimeSplit(total=9 * MS, probe=5 * MS, write=4 * MS)
PROBED = TimeSplit(total=5 * MS, probe=5 * MS)
RIGHT: dict[str, Any] = {"ending": Ending.DONE, "job_done": True}
ENDINGS: dict[str, dict[str, Any]] = {
    "right": RIGHT,
    "right, with a short wait": {**RIGHT, "verdict": Verdict.TOO_SHORT},
    "wrong, not noticed": {"ending": Ending.DONE, "verdict": Verdict.CORRUPT},
    "wrong, on assumed figures": {"ending": Ending.DONE, "verdict": Verdict.INCONCLUSIVE},
    "verification failed": {"ending": Ending.FAILED, "time_ns": WROTE},
    "no part found": {"ending": Ending.FAILED, "time_ns": PROBED},
    "crashed": {"ending": Ending.CRASHED, "time_ns": WROTE},
    "polls for ever": {"ending": Ending.OUT_OF_TIME},
    "asks for ever": {"ending": Ending.CUT_OFF},
    "still at work": {"ending": Ending.OUT_OF_TIME, "unfinished": True},
    "lost": {"ending": Ending.OUT_OF_TIME, "verdict": Verdict.INFRA_ERROR},
}
SHOWN = {
    Symptom.CORRUPT: {"wrong, not noticed", "wrong, on assumed figures"},
    Symptom.VERIFY_FAILED: {"verification failed"},
    Symptom.HUNG: {"polls for ever", "asks for ever"},
    Symptom.SLOW: set(),
}


@pytest.mark.parametrize("symptom", Symptom)
@pytest.mark.parametrize("ending", ENDINGS)
def test_endings_that_show_a_symptom(symptom: Symptom, ending: str) -> None:
    verdict = ENDINGS[ending].get("verdict", Verdict.OP_FAILED)
    seen = result(**{**ENDINGS[ending], "verdict": verdict})
    assert shows(symptom, seen, timed(10, 10)) is (ending in SHOWN[symptom])


def timed(work_ms: int, busy_ms: int, **changes: Any) -> CellResult:
    took = TimeSplit(total=(1000 + work_ms) * MS, probe=1000 * MS)
    return result(**{"job_done": True, "time_ns": took, "chip_busy_ns": busy_ms * MS, **changes})


@pytest.mark.parametrize(
    ("took", "ours", "is_slow"),
    [
        # It takes three times as long as part and link need, and ours does not.
        ((29, 10), (10, 10), False),
        ((30, 10), (10, 10), True),
        ((300, 10), (10, 10), True),
        ((30, 10), (30, 10), False),
        ((300, 10), None, False),
        # It keeps the part busy for too long, such as by erasing in blocks of 4 KiB.
        ((700, 690), (160, 150), True),
        ((400, 390), (160, 150), False),
        ((30, 10), (0, 10), True),
        # The job needs no time.
        ((1, 0), (1, 0), False),
    ],
)
def test_work_is_slow_if_it_takes_much_more_than_it_needs_or_than_ours(
    took: tuple[int, int], ours: tuple[int, int] | None, is_slow: bool
) -> None:
    beside = timed(*ours) if ours else None
    assert shows(Symptom.SLOW, timed(*took), beside) is is_slow
    assert exit_code(Symptom.SLOW, timed(*took)) is ExitCode.SLOWER


def test_unfinished_job_is_slow_if_ours_took_much_less_than_the_limit() -> None:
    unfinished = timed(59_000, 200, job_done=False, unfinished=True, ending=Ending.OUT_OF_TIME)
    assert shows(Symptom.SLOW, unfinished, timed(1000, 900))
    assert not shows(Symptom.SLOW, unfinished, timed(30_000, 29_000))
    assert exit_code(Symptom.SLOW, unfinished) is ExitCode.SLOWER


def test_failed_job_is_not_slow() -> None:
    failed = timed(700, 10, job_done=False, ending=Ending.FAILED)
    assert not shows(Symptom.SLOW, failed, timed(10, 10))


def test_slow_cell_is_described_with_its_time_and_ours() -> None:
    words = work_words(timed(700, 690), timed(160, 150))
    assert re.findall(r"(\S+) s\b", words) == ["0.700", "0.690", "0.160", "0.150"]


@pytest.mark.parametrize(
    ("took", "said"),
    [
        ((29, 10), "its work took less than 3 times"),
        ((30, 10), "our own flashrom takes nearly as long there"),
        ((30, 0), "neither part nor link was busy"),
    ],
)
def test_cell_that_is_not_slow_says_why(took: tuple[int, int], said: str) -> None:
    assert why_not(timed(*took), timed(29, 10)).startswith(said)


def test_job_that_our_flashrom_cannot_do_is_not_slow() -> None:
    ours = timed(0, 0, job_done=False)
    assert not shows(Symptom.SLOW, timed(700, 10), ours)
    assert why_not(timed(700, 10), ours).startswith("our own flashrom cannot do that job there")


def test_search_for_a_slow_cell_runs_ours_only_if_the_job_was_done() -> None:
    runs = []

    async def trial(cell: Cell) -> CellResult:
        runs.append((cell.chip, cell.subject))
        slow = cell.chip == "M25P80" and cell.subject != BUNDLED
        took = TimeSplit(total=(9 if slow else 1) * MS)
        return result(cell, job_done=cell.chip != "W29C020", chip_busy_ns=MS, time_ns=took)

    parts = ("W29C020", "W25Q16JV", "M25P80")
    cells = [make_cell(chip=chip, subject="path:x") for chip in parts]
    beside = BesideOurs(Symptom.SLOW, trial)
    assert asyncio.run(search(cells, beside, lambda *_: None)).cell == cells[2]
    assert runs == [
        ("W29C020", "path:x"),
        *((chip, subject) for chip in parts[1:] for subject in ("path:x", BUNDLED)),
    ]


@pytest.mark.parametrize(
    ("ending", "job", "why"),
    [
        ("right", Job.WRITE, "no wait was cut short"),
        ("right, with a short wait", Job.WRITE, HARMLESS),
        ("right, with a short wait", Job.PROBE, "waits were cut short, but the job changes"),
        ("wrong, not noticed", Job.WRITE, "the data is wrong, and it did not notice"),
        (
            "verification failed",
            Job.WRITE,
            "it reported a failure after it had begun to change the part",
        ),
        ("no part found", Job.WRITE, "it reported a failure before it changed the part"),
        ("crashed", Job.WRITE, "it crashed"),
        ("polls for ever", Job.WRITE, "it hung"),
        ("still at work", Job.WRITE, "it was still at work"),
        ("lost", Job.WRITE, "not run: a reason"),
    ],
)
def test_reason_why_a_cell_does_not_show_the_symptom(ending: str, job: Job, why: str) -> None:
    seen = {"verdict": Verdict.PASS, "reason": "a reason", **ENDINGS[ending]}
    assert why_not(result(make_cell(job=job), **seen)).startswith(why)


def test_failed_job_that_changes_nothing_is_no_failed_verification() -> None:
    """A search once shrank to such a failure: \"Please specify which chip definition to use\"."""
    detected = result(make_cell(job=Job.DETECT), **ENDINGS["verification failed"])
    assert not shows(Symptom.VERIFY_FAILED, detected)
    assert why_not(detected) == "it reported a failure before it changed the part"


def test_early_command_without_data_loss_has_its_own_reason() -> None:
    early = make_evidence(witness=Witness.CHIP)
    seen = result(**ENDINGS["right, with a short wait"], evidence=[early])
    assert why_not(seen) == "a command came too early, but no data was lost"


def test_cell_is_shrunk_by_a_symptom_that_is_no_conviction() -> None:
    async def trial(cell: Cell) -> CellResult:
        ending = Ending.OUT_OF_TIME if cell.cores == 4 else Ending.DONE
        return result(cell, verdict=Verdict.PASS, ending=ending)

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


def test_dry_run_lists_the_requested_number_of_cells() -> None:
    listed = answer_of("find", "hung", "bundled", "--cells", "5", "--dry-run", "--json")
    assert len(json.loads(listed)) == 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["odd", "bundled"], "'verify-failed'"),
        (["hung", "bundled", "--chip", "MX25L64", "--dry-run"], "--chip: unknown chip 'MX25L64'"),
    ],
)
def test_unknown_symptom_or_chip_is_refused(words: list[str], message: str) -> None:
    assert message in refusal_of("find", *words)


def chips_behind(programmer: str, *parts: str) -> set[str]:
    plan = plan_for(Symptom.CORRUPT, "bundled", CHIPS, programmers=[programmer], parts=parts)
    return {cell.chip for cell in choose_cells_of(plan, source=SOURCE, seed=1, paths=PATHS).cells}


@pytest.mark.parametrize("programmer", DEVICES)
def test_programmer_gets_only_parts_that_it_reaches(programmer: str) -> None:
    parts = chips_behind(programmer)
    assert parts
    assert not any(DEVICES[Programmer(programmer)].chip_refusal(CHIPS[part]) for part in parts)


def test_slow_cell_on_spi_writes_64_kib_and_other_cells_1_kib() -> None:
    sizes = {CHIPS[cell.chip].bus == "spi": cell.region_kib for cell in cells_for(Symptom.SLOW)}
    assert sizes == {True: 64, False: 1}
    assert {cell.region_kib for cell in cells_for(Symptom.CORRUPT)} == {1}


def test_named_part_that_the_programmer_reaches_is_the_only_one() -> None:
    assert chips_behind("ch341a_spi", "MX25L6406E", "W29C020") == {"MX25L6406E"}


def test_programmer_that_reaches_no_named_part_is_refused() -> None:
    with pytest.raises(BadInputError, match="--programmer nicintel: reaches none of W25Q128JV"):
        chips_behind("nicintel", "W25Q128JV")


def test_repro_line_keeps_the_option_for_the_delay_function() -> None:
    cell = make_cell(subject="path:a b")
    found = result(cell, rerun="rig/rig run --delay-symbol nap --cell x")
    assert line_of(Shrunk(result=found, cell=cell))[-2:] == ["--delay-symbol", "nap"]


def test_incomplete_shrinking_is_reported() -> None:
    """Without that line, a reader would take each of its hazards for a cause."""
    cell = make_cell()
    found = Shrunk(result=result(cell, verdict=Verdict.HUNG), cell=cell)
    assert found_lines(Symptom.HUNG, found, ["a reason"]) == [
        f"hung: hung {cell.id}",
        "  a reason",
        "  the time was up: there may be a simpler one (--limit-s)",
    ]
    found.complete = True
    assert found_lines(Symptom.SLOW, found, ["a reason"]) == [f"slow: {cell.id}", "  a reason"]
