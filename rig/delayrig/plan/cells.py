# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes cells from a plan."""

import fnmatch
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from covertable import make as covering_array

from delayrig.base.durations import MS_PER_S
from delayrig.base.errors import BadInputError
from delayrig.hazards import (
    NONE,
    cores_needed,
    parse_hazards,
    refusal_on,
    split_words,
)
from delayrig.hazards.of_cell import check_cell, place_refusal
from delayrig.model.cell import Cell, Expect, Job, Programmer, Role, place_of
from delayrig.model.lane import LaneName
from delayrig.model.platform import Arch
from delayrig.model.programmers import device_of, device_refusal
from delayrig.model.shape import shift_for_mips
from delayrig.plan.check import CheckedPlan, combinations_of, dimensions_of, hazards_of, is_possible
from delayrig.plan.machines import budget_mips, find_machine, scaled_mips
from delayrig.plan.schema import (
    Group,
    GuestKernel,
    Load,
    Match,
    Owner,
    Plan,
    Point,
    Rule,
    Timers,
    own_subjects,
)

DECIDING = ("machine", "cores", "timers", "load", "kernel", "hazards")
"""The dimensions that decide whether a combination is possible."""


def plan_cells(
    checked: CheckedPlan, *, seed: int, programmers: Sequence[Programmer] = ()
) -> list[Cell]:
    """Returns the cells of the plan in order, each id once; raises `BadInputError`.

    Omits canaries, controls and floors with hazards that their lane does not have. `programmers`,
    if given, replace serprog, see `_by_programmers`.
    """
    plan, source = checked.plan, checked.source
    unique: dict[str, Cell] = {}
    for cell in [*_group_cells(checked, seed), *_single_cells(checked, seed)]:
        expected = _with_expectation(cell, plan.rule)
        if unique.setdefault(cell.id, expected) != expected:
            raise BadInputError(
                f"{source}: two cells are called {cell.id!r}, and differ in role or expectation",
                hint="give one of them another name",
            )
    chosen = list(unique.values())
    if programmers and chosen:
        chosen = _by_programmers(chosen, programmers, checked)
    cells = [
        cell
        for cell in chosen
        if cell.role is Role.MEASURE or not refusal_on(cell.lane, cell.hazards)
    ]
    if not cells:
        raise BadInputError(
            f"{source}: names no cell",
            hint="add a [[group]] or [[cell]] to measure, and `subjects` if they name none",
        )
    for cell in cells:
        check_cell(cell, checked.chips[cell.chip], source)
    return cells


def _by_programmers(
    cells: Iterable[Cell], programmers: Sequence[Programmer], checked: CheckedPlan
) -> list[Cell]:
    """Returns the cells with serprog replaced by each of `programmers` that supports the chip.

    Cells that do not measure, and cells with one of `programmers`, stay as they are. Cells with any
    other device are omitted. Raises `BadInputError` if no cell that measures remains.
    """
    moved: dict[str, Cell] = {}
    for cell in cells:
        if cell.role is not Role.MEASURE or cell.programmer in programmers:
            moved[cell.id] = cell
        elif device_of(cell) is None:
            for programmer in programmers:
                there = msgspec.structs.replace(cell, programmer=programmer)
                if not (device_refusal(there) or place_refusal(there, checked.chips[there.chip])):
                    moved[there.id] = there
    if not any(cell.role is Role.MEASURE for cell in moved.values()):
        raise BadInputError(
            f"--programmer {' '.join(programmers)}: reaches no chip of {checked.source} on its"
            " lane",
            hint="`rig/rig chips` lists which programmers reach which chip",
        )
    return list(moved.values())


def questions_of(plan: Plan, cells: Iterable[Cell]) -> dict[str, str]:
    """Returns the questions that the plan's cells must answer, by the cell's place."""
    asked = {owner.name: owner.must_answer for owner in [*plan.group, *plan.cell]}
    measured = (cell for cell in cells if cell.role is Role.MEASURE)
    return {place_of(cell.id): asked[cell.name] for cell in measured if asked[cell.name]}


def count_cells(checked: CheckedPlan) -> int:
    """Returns an upper bound of the number of cells, without making any.

    Cells with the same id are counted separately. Cells that `plan_cells` omits are counted, too.
    """
    points = [(len(own_subjects(group)), _count_points(group)) for group in checked.plan.group]
    points += [(len(own_subjects(single)), 1) for single in checked.plan.cell]
    return sum((subjects or len(checked.subjects)) * count for subjects, count in points)


def _count_points(group: Group) -> int:
    """Returns the number of a group's points.

    Only the combinations of the `DECIDING` dimensions are enumerated; the other sizes are factors.
    """
    if group.strength is not None:
        return len(_rows(group))
    factors: dict[str, list[Any]] = msgspec.structs.asdict(group.over)
    possible = sum(map(is_possible, combinations_of(factors, *DECIDING)))
    others = [len(values) for name, values in factors.items() if name not in DECIDING]
    return possible * math.prod(others)


def _group_cells(checked: CheckedPlan, seed: int) -> Iterator[Cell]:
    for group in checked.plan.group:
        points = [Point(**row) for row in _rows(group)]
        for subject in own_subjects(group) or checked.subjects:
            for point in points:
                yield _cell(checked, group, subject, point, checked.lane, seed)


def _single_cells(checked: CheckedPlan, seed: int) -> Iterator[Cell]:
    for single, lane in zip(checked.plan.cell, checked.single_lanes, strict=True):
        if lane:
            for subject in own_subjects(single) or checked.subjects:
                yield _cell(checked, single, subject, single.at, lane, seed)


def _with_expectation(cell: Cell, rules: list[Rule]) -> Cell:
    expect = Expect.TOO_SHORT if cell.role is Role.CANARY else Expect.PASS
    # A plan cannot change the expectation of a canary or a control.
    matching = [rule for rule in rules if cell.role is Role.MEASURE and _matches(rule.when, cell)]
    if matching:
        expect = Expect(matching[-1].expect)
    return msgspec.structs.replace(cell, expect=expect)


def _rows(group: Group) -> list[dict[str, Any]]:
    """Returns the points of a group: a covering array, or all possible combinations."""
    factors: dict[str, list[Any]] = msgspec.structs.asdict(group.over)
    if group.strength is None:
        return list(filter(is_possible, combinations_of(factors)))
    spread = dimensions_of(factors)
    fixed = {name: factors[name][0] for name in factors if name not in spread}
    rows = covering_array(spread, strength=group.strength, constraints=_constraints(factors))
    return sorted(
        ({name: (row | fixed)[name] for name in factors} for row in rows),
        key=lambda row: [factors[name].index(row[name]) for name in factors],
    )


def _cell(
    checked: CheckedPlan, owner: Owner, subject: str, point: Point, lane: LaneName, seed: int
) -> Cell:
    shift = shift_for_mips(point.mips or 0) if lane is LaneName.VIRTUAL else 0
    assert shift is not None, "check_plan() checked the speed"
    core_mips = _core_mips(point) if lane is LaneName.LIVE else ()
    return Cell(
        name=owner.name,
        role=Role(owner.role),
        lane=lane,
        subject=subject,
        arch=Arch(point.arch),
        # 0 in real time: on the host lane, cells that differ only in speed are the same cell.
        icount_shift=shift,
        cores=len(core_mips) or point.cores or 1,
        machine=point.machine,
        core_mips=core_mips,
        hazards=hazards_of(msgspec.structs.asdict(point)),
        chip=point.chip,
        corner=point.corner,
        job=Job(point.job),
        region_kib=owner.region_kib,
        content_bytes=owner.content_bytes,
        programmer=Programmer(point.programmer),
        pin=owner.pin if lane is LaneName.HOST else "",
        deadline_ms=MS_PER_S * (owner.deadline_s or checked.plan.deadline_s),
        seed=seed,
    )


def _core_mips(point: Point) -> tuple[float, ...]:
    """Returns the speeds of a live guest's cores, scaled down if this machine is too slow."""
    if point.machine:
        speeds = find_machine(point.machine).core_mips
    else:
        speeds = [float(point.mips or 0)] * (point.cores or 0)
    return scaled_mips(speeds, budget_mips())


def _constraints(factors: dict[str, list[Any]]) -> list[dict[str, Any]]:
    wanted = {("load", load): cores_needed(parse_hazards(load)) for load in factors["load"]} | {
        ("hazards", words): cores_needed(parse_hazards(words)) for words in factors["hazards"]
    }
    return [
        {
            "operator": "or",
            "conditions": [
                {"operator": "ne", "left": field, "value": value},
                {"operator": "gte", "left": "cores", "value": cores},
            ],
        }
        for (field, value), cores in wanted.items()
        if cores > 1
    ]


def _matches(when: Match, cell: Cell) -> bool:
    patterns = msgspec.structs.asdict(when)
    hazards = patterns.pop("hazards")
    words = {
        **{field: str(getattr(cell, field, "")) for field in patterns},
        "timers": (Timers.LOW_RES if "low-res-timers" in cell.hazards else Timers.HIGH_RES).value,
        "kernel": next(
            kernel.value for kernel in reversed(GuestKernel) if kernel.hazard in ("", *cell.hazards)
        ),
        "load": (Load.BUSY_SIBLINGS if "busy-siblings" in cell.hazards else Load.NONE).value,
    }
    return _all_match(hazards, cell.hazards) and all(
        fnmatch.fnmatchcase(words[field], pattern) for field, pattern in patterns.items()
    )


def _all_match(patterns: str, words: tuple[str, ...]) -> bool:
    """Returns True if each pattern matches one of the words. `none` matches if there is no word."""
    if patterns in ("*", NONE):
        return patterns == "*" or not words
    return all(
        any(fnmatch.fnmatchcase(word, pattern) for word in words)
        for pattern in split_words(patterns)
    )
