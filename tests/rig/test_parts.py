# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of parts: what each flashrom does with each of them."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from delayrig.features.figures.results import markdown_table, outcome, part_rows
from delayrig.main import main
from delayrig.model.cell import Job, Role
from delayrig.model.corner import Corner
from delayrig.model.result import CellResult, Results, SubjectFacts, Verdict, write_results

from tests.rig.builders import make_cell, make_result, make_run_header

CORNERS = (Corner.TYP, Corner.MAX)


def jobs(
    *failed: tuple[Job, Corner], verdict: Verdict = Verdict.OP_FAILED, **cell: Any
) -> list[CellResult]:
    """Returns each job at both corners; all but the given ones pass."""
    return [
        make_result(
            make_cell(job=job, corner=corner, **cell),
            verdict=verdict if (job, corner) in failed else Verdict.PASS,
        )
        for job in Job
        for corner in CORNERS
    ]


def run_of(*cells: CellResult) -> Results:
    return Results(run=make_run_header(), cells=list(cells))


def test_part_of_which_every_cell_passed_is_ok() -> None:
    assert outcome(jobs()) == "ok"


def test_part_that_was_not_run_is_neither_ok_nor_failed() -> None:
    assert outcome([]) == "-"


def test_part_of_which_every_cell_was_skipped_has_no_entry() -> None:
    skipped = make_result(make_cell(), verdict=Verdict.SKIPPED)
    assert outcome([skipped, skipped]) == "no entry"
    assert outcome([skipped, make_result(make_cell())]) == "skipped: write (typ)"


@pytest.mark.parametrize(
    ("failed", "text"),
    [
        ([(Job.WRITE, Corner.MAX)], "op_failed: write (max)"),
        ([(Job.WRITE, Corner.TYP), (Job.WRITE, Corner.MAX)], "op_failed: write"),
        (
            [(Job.ERASE, Corner.TYP), (Job.ERASE, Corner.MAX), (Job.VERIFY, Corner.TYP)],
            "op_failed: erase, verify (typ)",
        ),
    ],
)
def test_failed_jobs_are_named_with_their_corners_where_another_held(
    failed: list[tuple[Job, Corner]], text: str
) -> None:
    assert outcome(jobs(*failed)) == text


def test_unlike_verdicts_are_told_apart() -> None:
    cells = [
        make_result(make_cell(job=Job.ERASE), verdict=Verdict.CORRUPT),
        make_result(make_cell(job=Job.READ)),
        make_result(make_cell(job=Job.WRITE), verdict=Verdict.TOO_SHORT),
    ]
    assert outcome(cells) == "corrupt: erase; too_short: write"


def test_parts_stand_by_bus_and_name_and_subjects_in_the_order_of_the_run() -> None:
    cells = [
        make_result(make_cell(chip=chip, subject=subject), bus=bus)
        for chip, bus in (("SST39SF040", "parallel"), ("W25Q64JV", "spi"), ("at25", "spi"))
        for subject in ("debian:trixie", "bundled")
    ]
    rows = part_rows(run_of(*cells[1:]))
    assert [(row.chip, row.outcomes) for row in rows] == [
        ("at25", ["ok", "ok"]),
        ("W25Q64JV", ["ok", "ok"]),
        ("SST39SF040", ["ok", "-"]),
    ]


def test_canaries_are_no_parts_of_the_table() -> None:
    canary = make_result(make_cell(role=Role.CANARY), verdict=Verdict.TOO_SHORT)
    assert part_rows(run_of(canary)) == []


def test_table_names_subjects_with_the_version_that_any_of_their_cells_tells(
    tmp_path: Path,
) -> None:
    unknown = make_result(make_cell(job=Job.READ), subject=SubjectFacts(name="bundled"))
    known = make_result(make_cell(), subject=SubjectFacts(name="bundled", version="1.2"))
    lines = ["| part | bus | bundled (1.2) |", "| --- | --- | --- |", "| GD25Q16C | spi | ok |"]
    assert markdown_table(run_of(unknown, known)).splitlines() == lines
    write_results(run_of(unknown, known), tmp_path)
    done = CliRunner().invoke(main, ["parts", str(tmp_path)])
    assert (done.exit_code, done.output.splitlines()) == (0, lines)
