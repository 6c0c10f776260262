# SPDX-License-Identifier: GPL-2.0-or-later
"""The search for the simplest convicted cell; each test decides which cells are convicted."""

import asyncio
import shlex
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import msgspec
import pytest
from delayrig.base.errors import BadInputError
from delayrig.base.toml import parse_toml
from delayrig.decision.shrink import Shrunk, Step, first_conviction, plan_of, shrink
from delayrig.features.repro import command
from delayrig.features.repro.command import show_shrunk
from delayrig.model.cell import Cell, Expect, Job, Programmer, Role
from delayrig.model.chips import read_chips
from delayrig.model.result import CellResult, Verdict
from delayrig.plan.cells import plan_cells
from delayrig.plan.from_flags import plan_text, words_of_cell
from delayrig.plan.schema import Plan

from tests.rig.builders import CHECKOUT, make_cell, make_result, run_of
from tests.rig.plan_texts import checked
from tests.rig.running import refusal_of

CHIPS = read_chips(CHECKOUT)
LARGE = make_cell(
    name="product",
    cores=4,
    hazards=("low-res-timers", "busy-siblings", "link:baud=9600"),
    chip="W25Q128JV",
    corner="max",
    job=Job.WRITE,
    programmer=Programmer.SERPROG_DEV,
    role=Role.CANARY,
    expect=Expect.TOO_SHORT,
    region_kib=1024,
)


def shrunk_by(
    is_convicted: Callable[[Cell], bool],
    *,
    verdict: Verdict = Verdict.TOO_SHORT,
    limit_s: float = 1000,
) -> tuple[Shrunk, list[Step]]:
    steps: list[Step] = []
    clock = iter(range(10**9))

    async def trial(cell: Cell) -> CellResult:
        return make_result(cell, verdict=verdict if is_convicted(cell) else Verdict.PASS)

    work = shrink(
        LARGE, CHIPS, trial, limit_s=limit_s, watch=steps.append, now_s=lambda: next(clock)
    )
    return asyncio.run(work), steps


def test_chips_that_do_not_hold_the_region_do_not_count_among_those_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("delayrig.decision.shrink.CHIPS_MAX", 1)
    shrunk, _ = shrunk_by(lambda cell: cell.region_kib == LARGE.region_kib)
    assert CHIPS[shrunk.cell.chip].size_bytes == LARGE.region_kib * 1024


def test_conviction_without_conditions_ends_in_the_smallest_cell() -> None:
    shrunk, _ = shrunk_by(lambda _: True)
    cell = shrunk.cell
    assert shrunk.complete
    assert (cell.hazards, cell.cores, cell.job, cell.corner) == ((), 1, Job.PROBE, "typ")
    assert (cell.region_kib, cell.programmer) == (1, Programmer.SERPROG_IP)
    nor = [chip.size_bytes for chip in CHIPS.values() if chip.family == "spi_nor"]
    assert CHIPS[cell.chip].size_bytes == min(nor)
    assert (cell.name, cell.role, cell.expect) == ("shrunk", Role.MEASURE, Expect.PASS)


@pytest.mark.parametrize(
    ("needs", "kept"),
    [
        (lambda cell: "busy-siblings" in cell.hazards, {"hazards": ("busy-siblings",), "cores": 2}),
        (lambda cell: len(cell.hazards) >= 2, {"hazards": ("low-res-timers", "busy-siblings")}),
        (lambda cell: cell.cores == 4, {"cores": 4, "hazards": ()}),
        (lambda cell: cell.job in (Job.ERASE, Job.WRITE), {"job": Job.ERASE}),
        (lambda cell: cell.corner == "max", {"corner": "max"}),
        (lambda cell: cell.region_kib >= 64, {"region_kib": 64}),
        (lambda cell: cell.chip == "W25Q128JV", {"chip": "W25Q128JV"}),
        (
            lambda cell: cell.programmer is Programmer.SERPROG_DEV,
            {"programmer": Programmer.SERPROG_DEV},
        ),
    ],
)
def test_settings_that_the_conviction_needs_are_kept(
    needs: Callable[[Cell], bool], kept: dict[str, object]
) -> None:
    shrunk, _ = shrunk_by(needs)
    assert shrunk.complete
    assert {name: getattr(shrunk.cell, name) for name in kept} == kept
    assert needs(shrunk.cell)


def test_no_cell_is_tried_twice_and_every_step_is_reported() -> None:
    shrunk, steps = shrunk_by(lambda cell: cell.cores == 4 and cell.corner == "max")
    ids = [step.cell.id for step in steps]
    assert len(set(ids)) == len(ids)
    assert steps == shrunk.steps
    assert [step for step in steps if step.kept][-1].cell == shrunk.cell


def test_time_limit_keeps_the_simplest_cell_and_marks_it_incomplete() -> None:
    shrunk, steps = shrunk_by(lambda _: True, limit_s=4)
    assert not shrunk.complete
    assert shrunk.cell == steps[-1].cell


def test_corrupt_cell_can_be_shrunk_and_a_passing_one_is_refused() -> None:
    shrunk, _ = shrunk_by(lambda cell: cell.cores == 4, verdict=Verdict.CORRUPT)
    assert shrunk.result.verdict is Verdict.CORRUPT
    with pytest.raises(BadInputError, match="nothing to shrink"):
        shrunk_by(lambda _: False)


def test_the_last_line_runs_the_cell_without_a_plan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shrunk, _ = shrunk_by(lambda cell: cell.cores == 4)
    delay = ["--delay-offset", "0x3e0"]
    rerun = shlex.join(["rig/rig", "run", *delay])
    shrunk.result = msgspec.structs.replace(shrunk.result, rerun=rerun)
    show_shrunk(shrunk, tmp_path / "shrunk.toml")
    *_, by_plan, by_flags = capsys.readouterr().out.splitlines()
    assert by_plan.startswith("rig/rig run --plan ")
    assert by_plan.split()[-2:] == delay
    words = shlex.split(by_flags.partition(": ")[2])
    assert words == ["rig/rig", *words_of_cell(shrunk.cell), *delay]


def test_plan_of_the_shrunk_cell_has_that_cell_alone() -> None:
    cell = msgspec.structs.replace(LARGE, name="shrunk", role=Role.MEASURE, expect=Expect.PASS)
    plan = parse_toml(plan_text(plan_of(cell)), Plan, source="shrunk.toml")
    assert plan_cells(checked(plan), seed=cell.seed) == [cell]


def test_unexpected_conviction_is_preferred_to_an_expected_one() -> None:
    def first(*cells: CellResult) -> str:
        return first_conviction(run_of(*cells), "x")

    def convicted(expect: Expect) -> CellResult:
        return make_result(make_cell(name=expect), verdict=Verdict.TOO_SHORT, expect=expect)

    expected, unexpected = convicted(Expect.TOO_SHORT), convicted(Expect.PASS)
    canary = make_result(make_cell(role=Role.CANARY), verdict=Verdict.TOO_SHORT)
    assert first(canary, expected, unexpected) == unexpected.id
    assert first(canary, expected) == expected.id
    with pytest.raises(BadInputError, match="no cell was convicted"):
        first(canary)


def test_run_has_its_plan_already_and_takes_another_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shrink_run = ("shrink", "--from", tmp_path)
    assert "a run has its plan already" in refusal_of(*shrink_run, "--plan", "full")
    choose = Mock(side_effect=BadInputError("enough"))
    monkeypatch.setattr(command, "choose", choose)
    assert "enough" in refusal_of(*shrink_run, "--seed", "7")
    assert choose.call_args.args[0].seed == 7
