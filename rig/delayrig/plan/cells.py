# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes cells from the words of a plan."""

import fnmatch
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from covertable import make as covering_array

from delayrig.base.errors import BadInputError
from delayrig.hazards import NONE, cores_needed, parse_hazards, split_words
from delayrig.hazards.of_cell import place_refusal
from delayrig.model.cell import Cell, Expect, Job, Programmer, Role, place_of
from delayrig.model.chips import ChipFacts
from delayrig.model.lane import LaneName
from delayrig.model.platform import Arch
from delayrig.model.programmers import device_of, device_refusal
from delayrig.model.shape import shift_for_mips
from delayrig.plan.check import PlanCheck, check_questions
from delayrig.plan.machines import budget_mips, find_machine, scaled_mips
from delayrig.plan.schema import (
    Group,
    GuestKernel,
    Load,
    Match,
    Plan,
    Point,
    Rule,
    Single,
    Timers,
    hazards_of,
    is_possible,
    lane_named,
    own_subjects,
)

MS_PER_S = 1000
DECIDING = ("machine", "cores", "timers", "load", "kernel", "hazards")
"""The dimensions that decide whether a combination is possible."""


def plan_cells(
    plan: Plan,
    *,
    source: str,
    subjects: Iterable[str],
    chips: Iterable[str],
    seed: int,
    lane: LaneName | None = None,
) -> list[Cell]:
    """Returns every cell of the plan in order, each id once.

    `subjects`, if given, replace the plan's. `lane`, if given, replaces the plan's, and leaves out
    cells that name another lane. `source` names the plan in errors.
    """
    check_questions(plan, source)
    main = lane or lane_named(plan.lane, source)
    own_lanes = [
        lane_named(single.lane, source, f"cell[{number}].lane") if single.lane else None
        for number, single in enumerate(plan.cell)
    ]
    names = {main, *filter(None, own_lanes)}
    readers = {
        name: _Reader(PlanCheck(source, list(chips), name), seed, name, plan.deadline_s)
        for name in names
    }
    chosen = list(dict.fromkeys(subjects)) or plan.subjects
    if not chosen:
        _check_own_subjects(plan, source)
    cells = list(readers[main].group_cells(plan, chosen))
    for number, (single, own) in enumerate(zip(plan.cell, own_lanes, strict=True)):
        if own in (None, main) or lane is None:
            cells += readers[own or main].single_cells(single, number, chosen)
    cells = [readers[cell.lane].expectation(cell, plan.rule) for cell in cells]
    unique: dict[str, Cell] = {}
    for cell in cells:
        if unique.setdefault(cell.id, cell) != cell:
            raise BadInputError(
                f"{source}: two cells are called {cell.id!r}, and differ in role or expectation",
                hint="give one of them another name",
            )
    if not unique:
        raise BadInputError(
            f"{source}: names no cell",
            hint="add a [[group]] or a [[cell]], and `subjects` where they name none themselves",
        )
    return list(unique.values())


def by_programmers(
    cells: Iterable[Cell], programmers: Sequence[Programmer], chips: Mapping[str, ChipFacts]
) -> list[Cell]:
    """Returns the cells with those programmers that reach the chip in place of serprog.

    Canaries, controls and cells with one of those programmers stay as they are. Cells with any
    other device are left out.
    """
    moved: dict[str, Cell] = {}
    for cell in cells:
        if cell.role is not Role.MEASURE or cell.programmer in programmers:
            moved[cell.id] = cell
        elif device_of(cell) is None:
            for programmer in programmers:
                there = msgspec.structs.replace(cell, programmer=programmer)
                if not (device_refusal(there) or place_refusal(there, chips[there.chip])):
                    moved[there.id] = there
    return list(moved.values())


def questions_of(plan: Plan, cells: Iterable[Cell]) -> dict[str, str]:
    """Returns the questions that the plan's cells must answer, by the place of the cell."""
    asked = {owner.name: owner.must_answer for owner in [*plan.group, *plan.cell]}
    measured = (cell for cell in cells if cell.role is Role.MEASURE)
    return {place_of(cell.id): asked[cell.name] for cell in measured if asked[cell.name]}


def _check_own_subjects(plan: Plan, source: str) -> None:
    """Raises `BadInputError` for the first group or cell that has no subject."""
    owners = [(f"group[{number}]", own_subjects(owner)) for number, owner in enumerate(plan.group)]
    owners += [(f"cell[{number}]", own_subjects(owner)) for number, owner in enumerate(plan.cell)]
    for key, own in owners:
        if not own:
            raise BadInputError(
                f"{source}: key '{key}': names no subject, and neither does the plan",
                hint='add subject = "..." there, or subjects = [...] at the top',
            )


def count_cells(
    plan: Plan, *, source: str, subjects: Iterable[str], chips: Iterable[str], lane: LaneName | None
) -> int:
    """Returns how many cells the plan has at most, without making any.

    Cells of the same id are counted each time, and so are those that a lane leaves out.
    """
    main = lane or lane_named(plan.lane, source)
    reader = _Reader(PlanCheck(source, list(chips), main), 0, main)
    chosen = list(dict.fromkeys(subjects)) or plan.subjects
    groups = sum(
        reader.count_points(group, f"group[{number}].over") * len(own_subjects(group) or chosen)
        for number, group in enumerate(plan.group)
    )
    return groups + sum(len(own_subjects(single) or chosen) for single in plan.cell)


class _Reader:
    def __init__(self, check: PlanCheck, seed: int, lane: LaneName, deadline_s: int = 0) -> None:
        self._deadline_ms = MS_PER_S * deadline_s
        self._check = check
        self._seed = seed
        self._lane = lane

    def group_cells(self, plan: Plan, subjects: list[str]) -> Iterator[Cell]:
        for number, group in enumerate(plan.group):
            key = f"group[{number}]"
            factors: dict[str, list[Any]] = msgspec.structs.asdict(group.over)
            self._check.span(factors, f"{key}.over")
            points = [Point(**row) for row in self._rows(group, factors, f"{key}.over")]
            self._check.owner(group, key)
            for subject in own_subjects(group) or subjects:
                for point in points:
                    yield self._cell(group, subject, point, f"{key}.over")

    def single_cells(self, single: Single, number: int, subjects: list[str]) -> Iterator[Cell]:
        key = f"cell[{number}]"
        self._check.owner(single, key)
        for subject in own_subjects(single) or subjects:
            yield self._cell(single, subject, single.at, f"{key}.at")

    def expectation(self, cell: Cell, rules: list[Rule]) -> Cell:
        expect = Expect.TOO_SHORT if cell.role is Role.CANARY else Expect.PASS
        for number, rule in enumerate(rules):
            chosen = self._check.choice(Expect, rule.expect, f"rule[{number}].expect")
            # A plan cannot change the expectation of a canary or a control.
            if cell.role is Role.MEASURE and _matches(rule.when, cell):
                expect = chosen
        return msgspec.structs.replace(cell, expect=expect)

    def count_points(self, group: Group, key: str) -> int:
        """Counts the points. Only some dimensions decide whether a combination is possible."""
        factors: dict[str, list[Any]] = msgspec.structs.asdict(group.over)
        self._check.span(factors, key)
        if group.strength is not None:
            return len(self._rows(group, factors, key))
        deciding = {name: factors.pop(name) for name in DECIDING}
        possible = sum(map(is_possible, _combinations(deciding)))
        return possible * math.prod(map(len, factors.values()))

    def _rows(self, group: Group, factors: dict[str, list[Any]], key: str) -> list[dict[str, Any]]:
        if group.strength is None or factors["machine"] != [""]:
            self._check.no_strength(group, key)
            return list(filter(is_possible, _combinations(factors)))
        # A dimension with one value must not change the choice of the others.
        settled = [name for name in ("arch", "machine") if len(factors[name]) == 1]
        alone = {name: factors[name][0] for name in settled}
        spread = {name: values for name, values in factors.items() if name not in alone}
        self._check.strength(group.strength, len(spread), key)
        rows = covering_array(spread, strength=group.strength, constraints=_constraints(factors))
        return sorted(
            ({name: (row | alone)[name] for name in factors} for row in rows),
            key=lambda row: [factors[name].index(row[name]) for name in factors],
        )

    def _cell(self, owner: Group | Single, subject: str, point: Point, key: str) -> Cell:
        self._check.cell(owner, point, key)
        shift = shift_for_mips(point.mips or 0) if self._lane is LaneName.VIRTUAL else 0
        assert shift is not None, "it was checked"
        core_mips = _core_mips(point) if self._lane is LaneName.LIVE else ()
        return Cell(
            name=owner.name,
            role=Role(owner.role),
            lane=self._lane,
            subject=subject,
            arch=Arch(point.arch),
            # It is 0 in real time. On the host lane, cells that differ only in speed are the same.
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
            pin=owner.pin if self._lane is LaneName.HOST else "",
            deadline_ms=MS_PER_S * owner.deadline_s or self._deadline_ms,
            seed=self._seed,
        )


def _combinations(factors: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    for values in itertools.product(*factors.values()):
        yield dict(zip(factors, values, strict=True))


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
            each.value for each in reversed(GuestKernel) if each.hazard in ("", *cell.hazards)
        ),
        "load": (Load.BUSY_SIBLINGS if "busy-siblings" in cell.hazards else Load.NONE).value,
    }
    return _all_match(hazards, cell.hazards) and all(
        fnmatch.fnmatchcase(words[field], pattern) for field, pattern in patterns.items()
    )


def _all_match(patterns: str, words: tuple[str, ...]) -> bool:
    """Returns True if each pattern matches a word of the set. `none` matches only the empty set."""
    if patterns in ("*", NONE):
        return patterns == "*" or not words
    return all(
        any(fnmatch.fnmatchcase(word, pattern) for word in words)
        for pattern in split_words(patterns)
    )
