# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of runs: time compared with the floor, and outcomes by part and flashrom."""

import json
from pathlib import Path
from typing import Any

import pytest
from delayrig.features.figures import markdown_table, outcome, part_rows, time_rows
from delayrig.model.cell import Job, Role
from delayrig.model.corner import Corner
from delayrig.model.phases import TimeSplit
from delayrig.model.result import CellResult, SubjectFacts, Verdict, write_results

from tests.rig.builders import MS, SECOND, make_cell, make_result, run_of
from tests.rig.running import answer_of

TRIXIE = "debian:trixie"


def timed(total_ns: int, *, cell: dict[str, Any] | None = None, **changes: Any) -> CellResult:
    """Returns a result of that duration."""
    measured = {"region_bytes": 1 << 20, "time_ns": TimeSplit(total=total_ns), **changes}
    return make_result(make_cell(**(cell or {})), **measured)


def floor(total_ns: int, *, cell: dict[str, Any] | None = None, **changes: Any) -> CellResult:
    """Returns the result of a floor cell."""
    its = {"subject": "floor", "role": Role.FLOOR, "corner": Corner.ZERO, **(cell or {})}
    return timed(total_ns, cell=its, **{"transfers": 100, **changes})


OURS = timed(6 * SECOND, chip_busy_ns=5 * SECOND, overshoot_ns=3 * MS, transfers=250)
THEIRS = timed(9 * SECOND, cell={"subject": TRIXIE}, chip_busy_ns=5 * SECOND)


def test_ratio_is_total_time_to_busy_time_plus_floor() -> None:
    (row,) = time_rows(run_of(OURS, floor(1 * SECOND)), beside=TRIXIE)
    assert (row.total_ns, row.chip_busy_ns, row.floor_ns) == (6 * SECOND, 5 * SECOND, SECOND)
    assert row.ratio == 1.0
    assert (row.overshoot_ns, row.transfers, row.floor_transfers) == (3 * MS, 250, 100)
    assert (row.subject, row.region_bytes, row.corner) == ("bundled", 1 << 20, "typ")


@pytest.mark.parametrize(("total_ns", "ratio"), [(6_300_000_000, 1.05), (6_300_600_000, 1.0501)])
def test_ratio_is_kept_to_a_hundredth_of_a_percent(total_ns: int, ratio: float) -> None:
    cell = timed(total_ns, chip_busy_ns=5 * SECOND)
    assert time_rows(run_of(cell, floor(SECOND)), beside=TRIXIE)[0].ratio == ratio


def test_each_row_has_the_time_of_the_other_subject_in_the_same_cell() -> None:
    rows = time_rows(run_of(OURS, THEIRS), beside=TRIXIE)
    assert [row.beside_ns for row in rows] == [9 * SECOND, 9 * SECOND]
    assert [row.beside_ns for row in time_rows(run_of(OURS, THEIRS), beside="other")] == [None] * 2


def test_cell_of_another_corner_has_the_same_floor_only() -> None:
    drawn = timed(7 * SECOND, cell={"corner": "draw:1"}, chip_busy_ns=6 * SECOND)
    (row, _) = time_rows(run_of(drawn, THEIRS, floor(SECOND)), beside=TRIXIE)
    assert (row.beside_ns, row.ratio) == (None, 1.0)


@pytest.mark.parametrize(
    "changes",
    [
        {"cell": {"chip": "M25P80"}},
        {"cell": {"icount_shift": 1}},
        {"cell": {"cores": 2}},
        {"cell": {"hazards": ("low-res-timers",)}},
        {"cell": {"job": "read"}},
        {"region_bytes": 65536},
        {"verdict": Verdict.CORRUPT},
        {"verdict": Verdict.INFRA_ERROR},
    ],
)
def test_floor_of_another_cell_or_that_failed_is_ignored(changes: dict[str, Any]) -> None:
    (row,) = time_rows(run_of(OURS, floor(SECOND, **changes)), beside=TRIXIE)
    assert (row.floor_ns, row.ratio, row.floor_transfers) == (None, None, None)


def test_cells_without_a_measurement_have_no_row() -> None:
    judging = [timed(SECOND, cell={"role": role}) for role in Role if role is not Role.MEASURE]
    skipped = timed(0, verdict=Verdict.SKIPPED)
    assert time_rows(run_of(*judging, skipped), beside=TRIXIE) == []


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    write_results(run_of(OURS, THEIRS, floor(SECOND)), tmp_path)
    return tmp_path


def test_command_prints_a_line_for_each_cell(kept: Path) -> None:
    lines = [line.split() for line in answer_of("times", kept, "--no-color").splitlines()]
    assert lines[1][:5] == ["bundled", "GD25Q16C", "typ", "write", "pass"]
    assert lines[1][5:] == [
        *("1024", "250", "1", "6.000", "5.000", "1.000", "1.000", "0.003", "250/100", "9.000")
    ]
    assert lines[2][0] == TRIXIE
    assert lines[2][11] == "1.500"


def test_command_prints_the_verdict_of_a_cell_that_failed(tmp_path: Path) -> None:
    corrupt = timed(SECOND, verdict=Verdict.CORRUPT)
    write_results(run_of(corrupt, floor(SECOND)), tmp_path)
    assert "corrupt" in answer_of("times", tmp_path, "--no-color").splitlines()[1].split()


def test_command_prints_the_rows_as_json_with_units_in_keys(kept: Path) -> None:
    rows = json.loads(answer_of("times", kept, "--json"))
    assert [row["ratio"] for row in rows] == [1.0, 1.5]
    assert rows[0]["floor_ns"] == SECOND
    assert {"total_ns", "chip_busy_ns", "overshoot_ns", "beside_ns", "region_bytes"} <= set(rows[0])


CORNERS = (Corner.TYP, Corner.MAX)


def jobs(*failed: tuple[Job, Corner]) -> list[CellResult]:
    """Returns each job at both corners; all but the given ones pass."""
    return [
        make_result(
            make_cell(job=job, corner=corner),
            verdict=Verdict.OP_FAILED if (job, corner) in failed else Verdict.PASS,
        )
        for job in Job
        for corner in CORNERS
    ]


SKIPPED = make_result(make_cell(), verdict=Verdict.SKIPPED)
UNLIKE = [
    make_result(make_cell(job=Job.ERASE), verdict=Verdict.CORRUPT),
    make_result(make_cell(job=Job.READ)),
    make_result(make_cell(job=Job.WRITE), verdict=Verdict.TOO_SHORT),
]
BOTH_ERASES = [(Job.ERASE, Corner.TYP), (Job.ERASE, Corner.MAX)]


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        (jobs(), "ok"),
        ([], "-"),
        ([SKIPPED, SKIPPED], "no entry"),
        ([SKIPPED, make_result(make_cell())], "skipped: write (typ)"),
        # Failed jobs are named with their corner if the other one passed.
        (jobs((Job.WRITE, Corner.MAX)), "op_failed: write (max)"),
        (jobs((Job.WRITE, Corner.TYP), (Job.WRITE, Corner.MAX)), "op_failed: write"),
        (jobs(*BOTH_ERASES, (Job.VERIFY, Corner.TYP)), "op_failed: erase, verify (typ)"),
        (UNLIKE, "corrupt: erase; too_short: write"),
    ],
)
def test_outcome_of_a_part_names_failed_jobs(cells: list[CellResult], text: str) -> None:
    assert outcome(cells) == text


def test_parts_are_sorted_by_bus_and_name_and_subjects_as_in_the_run() -> None:
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


def test_canaries_are_not_in_the_table_of_parts() -> None:
    canary = make_result(make_cell(role=Role.CANARY), verdict=Verdict.TOO_SHORT)
    assert part_rows(run_of(canary)) == []


def test_table_has_the_version_that_any_cell_of_the_subject_knows(tmp_path: Path) -> None:
    unknown = make_result(make_cell(job=Job.READ), subject=SubjectFacts(name="bundled"))
    known = make_result(make_cell(), subject=SubjectFacts(name="bundled", version="1.2"))
    lines = ["| part | bus | bundled (1.2) |", "| --- | --- | --- |", "| GD25Q16C | spi | ok |"]
    assert markdown_table(run_of(unknown, known)).splitlines() == lines
    write_results(run_of(unknown, known), tmp_path)
    assert answer_of("parts", tmp_path).splitlines() == lines
