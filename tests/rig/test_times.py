# SPDX-License-Identifier: GPL-2.0-or-later
"""The time of a cell, compared with the least time that it needs."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from delayrig.base.errors import ExitCode
from delayrig.features.figures.results import time_rows
from delayrig.main import main
from delayrig.model.cell import Role
from delayrig.model.corner import Corner
from delayrig.model.phases import TimeSplit
from delayrig.model.result import CellResult, Results, Verdict, write_results

from tests.rig.builders import MS, SECOND, make_cell, make_result, make_run_header

TRIXIE = "debian:trixie"


def timed(total_ns: int, *, cell: dict[str, Any] | None = None, **changes: Any) -> CellResult:
    """Returns a result of that duration."""
    measured = {"region_bytes": 1 << 20, "time_ns": TimeSplit(total=total_ns), **changes}
    return make_result(make_cell(**(cell or {})), **measured)


def floor(total_ns: int, *, cell: dict[str, Any] | None = None, **changes: Any) -> CellResult:
    """Returns the result of a floor cell."""
    its = {"subject": "floor", "role": Role.FLOOR, "corner": Corner.ZERO, **(cell or {})}
    return timed(total_ns, cell=its, **{"transfers": 100, **changes})


def run_of(*cells: CellResult) -> Results:
    return Results(run=make_run_header(), cells=list(cells))


OURS = timed(6 * SECOND, chip_busy_ns=5 * SECOND, overshoot_ns=3 * MS, transfers=250)
THEIRS = timed(9 * SECOND, cell={"subject": TRIXIE}, chip_busy_ns=5 * SECOND)


def test_ratio_is_that_to_busy_time_and_floor() -> None:
    (row,) = time_rows(run_of(OURS, floor(1 * SECOND)), beside=TRIXIE)
    assert (row.total_ns, row.chip_busy_ns, row.floor_ns) == (6 * SECOND, 5 * SECOND, SECOND)
    assert row.ratio == 1.0
    assert (row.overshoot_ns, row.transfers, row.floor_transfers) == (3 * MS, 250, 100)
    assert (row.subject, row.region_bytes, row.corner) == ("bundled", 1 << 20, "typ")


@pytest.mark.parametrize(("total_ns", "ratio"), [(6_300_000_000, 1.05), (6_300_600_000, 1.0501)])
def test_ratio_is_kept_to_a_hundredth_of_a_percent(total_ns: int, ratio: float) -> None:
    cell = timed(total_ns, chip_busy_ns=5 * SECOND)
    assert time_rows(run_of(cell, floor(SECOND)), beside=TRIXIE)[0].ratio == ratio


def test_every_subject_stands_beside_the_same_cell_of_the_other() -> None:
    rows = time_rows(run_of(OURS, THEIRS), beside=TRIXIE)
    assert [row.beside_ns for row in rows] == [9 * SECOND, 9 * SECOND]
    assert [row.beside_ns for row in time_rows(run_of(OURS, THEIRS), beside="other")] == [None] * 2


def test_cell_of_another_corner_is_not_the_same_and_its_floor_is() -> None:
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
def test_floor_of_other_work_or_one_that_failed_is_none(changes: dict[str, Any]) -> None:
    (row,) = time_rows(run_of(OURS, floor(SECOND, **changes)), beside=TRIXIE)
    assert (row.floor_ns, row.ratio, row.floor_transfers) == (None, None, None)


def test_cells_that_measured_nobody_have_no_row() -> None:
    judging = [timed(SECOND, cell={"role": role}) for role in Role if role is not Role.MEASURE]
    skipped = timed(0, verdict=Verdict.SKIPPED)
    assert time_rows(run_of(*judging, skipped), beside=TRIXIE) == []


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    write_results(run_of(OURS, THEIRS, floor(SECOND)), tmp_path)
    return tmp_path


def test_command_prints_a_line_for_each_cell(kept: Path) -> None:
    done = CliRunner().invoke(main, ["times", str(kept), "--no-color"])
    assert done.exit_code == ExitCode.PASS, done.output
    lines = [line.split() for line in done.output.splitlines()]
    assert lines[1][:5] == ["bundled", "GD25Q16C", "typ", "write", "pass"]
    assert lines[1][5:] == [
        *("1024", "250", "1", "6.000", "5.000", "1.000", "1.000", "0.003", "250/100", "9.000")
    ]
    assert lines[2][0] == TRIXIE
    assert lines[2][11] == "1.500"


def test_command_says_of_a_fast_cell_that_it_was_wrong(tmp_path: Path) -> None:
    corrupt = timed(SECOND, verdict=Verdict.CORRUPT)
    write_results(run_of(corrupt, floor(SECOND)), tmp_path)
    done = CliRunner().invoke(main, ["times", str(tmp_path), "--no-color"])
    assert "corrupt" in done.output.splitlines()[1].split()


def test_command_gives_the_same_rows_as_json_with_units_in_their_keys(kept: Path) -> None:
    done = CliRunner().invoke(main, ["times", str(kept), "--json"])
    rows = json.loads(done.output)
    assert [row["ratio"] for row in rows] == [1.0, 1.5]
    assert rows[0]["floor_ns"] == SECOND
    assert {"total_ns", "chip_busy_ns", "overshoot_ns", "beside_ns", "region_bytes"} <= set(rows[0])


def test_command_without_a_run_names_the_file(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["times", str(tmp_path)])
    assert done.exit_code == ExitCode.BAD_INPUT
    assert "results.json" in done.output
