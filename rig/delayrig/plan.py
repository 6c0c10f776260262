# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans: TOML files that name cells. `rig/README.md` describes the format.

A plan's groups span dimensions, as a covering array or as a full product, and run for each
subject; its single cells are named. Rules give cells their expectation, the last match wins.
"""

import fnmatch
import itertools
import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from covertable import make as covering_array

from delayrig.cell import REGION_KIB, Cell, Expect, Job, Probe, Programmer, Role
from delayrig.contrast import Contrast
from delayrig.corner import FORMS, Corner, is_corner
from delayrig.errors import BadInputError, nearest
from delayrig.guest.platform import Arch
from delayrig.guest.shape import shift_for_mips
from delayrig.hazards import (
    NONE,
    cores_needed,
    hazard_of,
    ordered_hazards,
    parse_hazards,
    split_words,
)
from delayrig.lanes import LaneName
from delayrig.machines import budget_mips, find_machine, scaled_mips
from delayrig.toml import read_toml

PLANS_FOLDER = Path(__file__).parent / "plans"
CORES_KNOWN = (1, 2, 4)
LIVE_MIPS_MAX = 10_000
REGIONS_KIB = range(1, 16 * 1024 + 1)
PIN = re.compile(r"[0-9]{1,4}(?:-[0-9]{1,4})?(?:,[0-9]{1,4}(?:-[0-9]{1,4})?)*")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class Timers(StrEnum):
    """Whether the guest kernel has high-resolution timers; low ones are a hazard."""

    HIGH_RES = "high-res"
    LOW_RES = "low-res"


class Load(StrEnum):
    """What else runs in the guest; siblings are a hazard."""

    NONE = "none"
    BUSY_SIBLINGS = "busy-siblings"


class Point(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One choice in every dimension."""

    mips: float | None = None
    """Left out where a machine says it, and so are the cores."""
    cores: int | None = None
    job: str
    chip: str
    corner: str = "typ"
    timers: str = "high-res"
    load: str = "none"
    hazards: str = NONE
    programmer: str = "serprog:ip"
    arch: str = "x86_64"
    machine: str = ""


class Span(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The choices in every dimension of a group."""

    mips: list[float | None] = msgspec.field(default_factory=lambda: [None])
    cores: list[int | None] = msgspec.field(default_factory=lambda: [None])
    job: list[str]
    chip: list[str]
    corner: list[str] = msgspec.field(default_factory=lambda: ["typ"])
    timers: list[str] = msgspec.field(default_factory=lambda: ["high-res"])
    load: list[str] = msgspec.field(default_factory=lambda: ["none"])
    hazards: list[str] = msgspec.field(default_factory=lambda: [NONE])
    programmer: list[str] = msgspec.field(default_factory=lambda: ["serprog:ip"])
    arch: list[str] = msgspec.field(default_factory=lambda: ["x86_64"])
    machine: list[str] = msgspec.field(default_factory=lambda: [""])


class Group(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Cells over a span, for its own subjects or for each; without a strength all of them."""

    name: str
    over: Span
    strength: int | None = None
    subject: str | list[str] = []
    role: str = "measure"
    region_kib: int = REGION_KIB
    pin: str = ""
    witness: str = Probe.NONE.value


class Single(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One cell by name: for its own subjects, or for each subject of the run."""

    name: str
    at: Point
    subject: str | list[str] = []
    role: str = "measure"
    region_kib: int = REGION_KIB
    pin: str = ""
    witness: str = Probe.NONE.value


class Match(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a rule is about; keys that are left out match everything, `*` in names works."""

    name: str = "*"
    subject: str = "*"
    lane: str = "*"
    arch: str = "*"
    timers: str = "*"
    load: str = "*"
    hazards: str = "*"
    job: str = "*"
    chip: str = "*"
    corner: str = "*"


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An expectation and its reason."""

    when: Match
    expect: str
    reason: str


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole file."""

    schema: int
    about: str
    subjects: list[str]
    lane: str = LaneName.VIRTUAL.value
    group: list[Group] = []
    cell: list[Single] = []
    rule: list[Rule] = []
    contrast: list[Contrast] = []


def plan_names() -> list[str]:
    """The plans that come with the rig."""
    return sorted(file.stem for file in PLANS_FOLDER.glob("*.toml"))


def find_plan(name: str) -> Path:
    """A plan by name, or by the name of its file."""
    if name in plan_names():
        return PLANS_FOLDER / f"{name}.toml"
    if "/" in name or name.endswith(".toml"):
        return Path(name)
    raise BadInputError(
        f"unknown plan {name!r}",
        hint=nearest(name, plan_names(), what="plans") + "; a file of your own ends in .toml",
    )


def read_plan(path: Path) -> Plan:
    """The plan in a file; raises `BadInputError` that names file and key."""
    return read_toml(path, Plan)


def plan_cells(
    plan: Plan,
    *,
    source: str,
    subjects: Iterable[str],
    chips: Iterable[str],
    seed: int,
    lane: LaneName | None = None,
) -> list[Cell]:
    """Every cell of the plan, in order, each id once.

    `subjects` replace the plan's own where there are any, and `lane` the plan's. `source` names
    the plan in errors.
    """
    reader = _Reader(source, list(chips), seed, lane or lane_of_plan(plan, source))
    chosen = list(dict.fromkeys(subjects)) or plan.subjects
    cells = [
        reader.expectation(cell, plan.rule)
        for cell in itertools.chain(
            reader.group_cells(plan, chosen), reader.single_cells(plan, chosen)
        )
    ]
    unique: dict[str, Cell] = {}
    for cell in cells:
        if unique.setdefault(cell.id, cell) != cell:
            raise BadInputError(
                f"{source}: two cells are called {cell.id!r}, and differ in role or expectation",
                hint="give one of them another name",
            )
    if not unique:
        raise BadInputError(
            f"{source}: names no cell", hint="add a [[group]] or a [[cell]], and subjects"
        )
    return list(unique.values())


def lane_of_plan(plan: Plan, source: str) -> LaneName:
    """Where it is run unless somebody says otherwise; raises `BadInputError`."""
    try:
        return LaneName(plan.lane)
    except ValueError:
        raise BadInputError(
            f"{source}: key 'lane': unknown value {plan.lane!r}",
            hint=nearest(plan.lane, list(LaneName), what="lanes"),
        ) from None


def own_subjects(owner: Group | Single) -> list[str]:
    """The subjects that it names itself; none where it runs for those of the run."""
    return [owner.subject] if isinstance(owner.subject, str) else owner.subject


C = TypeVar("C", bound=StrEnum)


class _Reader:
    """Turns the plan's words into cells; knows the file, for its errors."""

    def __init__(self, source: str, chips: list[str], seed: int, lane: LaneName) -> None:
        self._source = source
        self._chips = chips
        self._seed = seed
        self._lane = lane

    def group_cells(self, plan: Plan, subjects: list[str]) -> Iterator[Cell]:
        for number, group in enumerate(plan.group):
            key = f"group[{number}]"
            points = list(self._points(group, f"{key}.over"))
            for subject in self._check_owner(group, subjects, key):
                for point in points:
                    yield self._cell(group, subject, point, f"{key}.over")

    def single_cells(self, plan: Plan, subjects: list[str]) -> Iterator[Cell]:
        for number, single in enumerate(plan.cell):
            key = f"cell[{number}]"
            for subject in self._check_owner(single, subjects, key):
                yield self._cell(single, subject, single.at, f"{key}.at")

    def _check_owner(self, owner: Group | Single, subjects: list[str], key: str) -> list[str]:
        """Whom it runs for: its own subjects, whoever the others are, or each of them."""
        if not NAME.fullmatch(owner.name):
            raise BadInputError(
                f"{self._source}: key '{key}.name' is {owner.name!r}",
                hint="names are made of letters, digits, - and _, as they become folders",
            )
        self._choice(Role, owner.role, f"{key}.role")
        self._choice(Probe, owner.witness, f"{key}.witness")
        if owner.region_kib not in REGIONS_KIB:
            raise BadInputError(
                f"{self._source}: key '{key}.region_kib' is {owner.region_kib}",
                hint=f"a region has {REGIONS_KIB[0]} to {REGIONS_KIB[-1]} KiB",
            )
        if owner.pin and not PIN.fullmatch(owner.pin):
            raise BadInputError(
                f"{self._source}: key '{key}.pin' is {owner.pin!r}",
                hint="CPUs are written as 0,2-3",
            )
        return own_subjects(owner) or subjects

    def expectation(self, cell: Cell, rules: list[Rule]) -> Cell:
        expect = Expect.TOO_SHORT if cell.role is Role.CANARY else Expect.PASS
        for number, rule in enumerate(rules):
            chosen = self._choice(Expect, rule.expect, f"rule[{number}].expect")
            # What must come of a canary or a control is not a plan's to say.
            if cell.role is Role.MEASURE and _matches(rule.when, cell):
                expect = chosen
        return msgspec.structs.replace(cell, expect=expect)

    def _points(self, group: Group, key: str) -> Iterator[Point]:
        factors: dict[str, list[Any]] = msgspec.structs.asdict(group.over)
        for name, choices in factors.items():
            if not choices:
                raise BadInputError(
                    f"{self._source}: key '{key}.{name}' is empty", hint="give it a value"
                )
            for choice in choices:
                self._check(name, choice, f"{key}.{name}")
        if factors["machine"] == [""]:
            self._check_given({name: choices[0] for name, choices in factors.items()}, key)
        for row in self._rows(group, factors, key):
            yield Point(**row)

    def _rows(self, group: Group, factors: dict[str, list[Any]], key: str) -> list[dict[str, Any]]:
        if group.strength is None or factors["machine"] != [""]:
            self._check_strength_beside_machines(group, key)
            rows = [
                dict(zip(factors, values, strict=True))
                for values in itertools.product(*factors.values())
            ]
            return [row for row in rows if _possible(row)]
        # A dimension of one value must not move the others.
        alone = {name: values[0] for name, values in factors.items() if _is_settled(name, values)}
        spread = {name: values for name, values in factors.items() if name not in alone}
        if not 1 <= group.strength <= len(spread):
            raise BadInputError(
                f"{self._source}: key '{key.removesuffix('.over')}.strength' is {group.strength}",
                hint=f"it may be 1 to {len(spread)}",
            )
        rows = covering_array(
            spread,
            strength=group.strength,
            constraints=_constraints(factors),
        )
        return sorted(
            ({name: (row | alone)[name] for name in factors} for row in rows),
            key=lambda row: [factors[name].index(row[name]) for name in factors],
        )

    def _cell(self, owner: Group | Single, subject: str, point: Point, key: str) -> Cell:
        for field, value in msgspec.structs.asdict(point).items():
            self._check(field, value, f"{key}.{field}")
        self._check_machine(point, key)
        row = msgspec.structs.asdict(point)
        if not _possible(row):
            raise BadInputError(
                f"{self._source}: key '{key}.{_demanding(row)}' asks for more cores than"
                f" '{key}.cores' gives",
                hint=f"set '{key}.cores' to {cores_needed(_hazards(row))} or more",
            )
        role = Role(owner.role)
        if (role is Role.FLOOR) is not (point.corner == Corner.ZERO):
            raise BadInputError(
                f"{self._source}: key '{key}.corner' is {point.corner!r} in a {role} cell",
                hint="a part that is never busy judges nobody: it is for cells of role 'floor',"
                " and these are for it",
            )
        arch, hazards = Arch(point.arch), self._set(row, key)
        if owner.witness != Probe.NONE and arch is not Arch.X86_64:
            raise BadInputError(
                f"{self._source}: key '{key}.arch' is {arch!r} in a cell of the delay witness",
                hint=f"its probes are for {Arch.X86_64} guests alone",
            )
        for word in hazards:
            if arch not in hazard_of(word).archs:
                raise BadInputError(
                    f"{self._source}: key '{key}.hazards': {word!r} is not for {arch} guests",
                    hint=f"leave it out, or set '{key}.arch' to {Arch.X86_64}",
                )
        on_host = self._lane is LaneName.HOST
        core_mips = _core_mips(point) if self._lane is LaneName.LIVE else ()
        return Cell(
            name=owner.name,
            role=role,
            lane=self._lane,
            subject=subject,
            arch=arch,
            # This machine's cores are as fast as they are: cells that differ in that are one.
            icount_shift=_shift(point) if self._lane is LaneName.VIRTUAL else 0,
            cores=len(core_mips) or point.cores or 1,
            machine=point.machine,
            core_mips=core_mips,
            hazards=hazards,
            chip=point.chip,
            corner=point.corner,
            job=Job(point.job),
            region_kib=owner.region_kib,
            programmer=Programmer(point.programmer),
            pin=owner.pin if on_host else "",
            witness=Probe(owner.witness),
            seed=self._seed,
        )

    def _check(self, field: str, value: Any, key: str) -> None:
        match field:
            case "mips" | "cores" if value is None:
                pass
            case "mips" if self._lane is LaneName.LIVE and not 1 <= value <= LIVE_MIPS_MAX:
                raise BadInputError(
                    f"{self._source}: key '{key}' is {value:g}",
                    hint=f"the live lane does 1 to {LIVE_MIPS_MAX} MIPS",
                )
            case "mips" if self._lane is not LaneName.LIVE and shift_for_mips(value) is None:
                raise BadInputError(
                    f"{self._source}: key '{key}' is {value:g}",
                    hint="the virtual lane does 1000, 500, 250, 125, 62, 31, 16, 8, 4, 2 or 1 MIPS",
                )
            case "machine" if value:
                self._machine(value, key)
            case "cores" if value not in CORES_KNOWN:
                raise BadInputError(
                    f"{self._source}: key '{key}' is {value}", hint="guests have 1, 2 or 4 cores"
                )
            case "chip" if value not in self._chips:
                raise BadInputError(
                    f"{self._source}: key '{key}': unknown chip {value!r}",
                    hint=nearest(value, self._chips, what="chips"),
                )
            case "corner" if not is_corner(value):
                raise BadInputError(
                    f"{self._source}: key '{key}': unknown value {value!r}",
                    hint=nearest(value, FORMS, what="values"),
                )
            case "hazards":
                self._hazards(value, key)
            case "job" | "timers" | "load" | "programmer" | "arch":
                self._choice(CHOICES[field], value, key)

    def _check_machine(self, point: Point, key: str) -> None:
        """A machine says how many cores there are, and how fast; else the point does."""
        given = [field for field in ("mips", "cores") if getattr(point, field) is not None]
        if point.machine and self._lane is LaneName.VIRTUAL:
            raise BadInputError(
                f"{self._source}: key '{key}.machine' is {point.machine!r}: machines are for the"
                " live lane",
                hint='begin the plan with `lane = "live"`, or run it with --lane live',
            )
        if point.machine and given:
            raise BadInputError(
                f"{self._source}: key '{key}.{given[0]}' stands beside '{key}.machine'",
                hint="a machine says that itself: leave one of the two out",
            )
        if not point.machine:
            self._check_given(msgspec.structs.asdict(point), key)

    def _check_given(self, row: dict[str, Any], key: str) -> None:
        for field in ("mips", "cores"):
            if row[field] is None:
                raise BadInputError(
                    f"{self._source}: key '{key}.{field}' is missing", hint="add it"
                )

    def _check_strength_beside_machines(self, group: Group, key: str) -> None:
        if group.strength is not None:
            raise BadInputError(
                f"{self._source}: key '{key.removesuffix('.over')}.strength' stands beside"
                f" '{key}.machine'",
                hint="leave it out: cells of machines are run in all combinations",
            )

    def _machine(self, name: str, key: str) -> None:
        try:
            find_machine(name)
        except BadInputError as error:
            raise self._named(error, key) from None

    def _hazards(self, text: str, key: str) -> None:
        try:
            parse_hazards(text)
        except BadInputError as error:
            raise self._named(error, key) from None

    def _set(self, row: dict[str, Any], key: str) -> tuple[str, ...]:
        try:
            return _hazards(row)
        except BadInputError as error:
            raise self._named(error, f"{key}.hazards") from None

    def _named(self, error: BadInputError, key: str) -> BadInputError:
        return BadInputError(f"{self._source}: key '{key}': {error.message}", hint=error.hint)

    def _choice(self, kind: type[C], value: str, key: str) -> C:
        try:
            return kind(value)
        except ValueError:
            raise BadInputError(
                f"{self._source}: key '{key}': unknown value {value!r}",
                hint=nearest(value, [choice.value for choice in kind], what="values"),
            ) from None


CHOICES: dict[str, type[StrEnum]] = {
    "job": Job,
    "timers": Timers,
    "load": Load,
    "programmer": Programmer,
    "arch": Arch,
}


def _hazards(row: dict[str, Any]) -> tuple[str, ...]:
    """The whole set of a point: what its timers and its load come to, and the rest."""
    words = list(parse_hazards(row["hazards"]))
    if row["timers"] == Timers.LOW_RES:
        words.append("low-res-timers")
    if row["load"] == Load.BUSY_SIBLINGS:
        words.append("busy-siblings")
    return ordered_hazards(words)


def _is_settled(name: str, values: list[Any]) -> bool:
    return name in ("arch", "machine") and len(values) == 1


def _shift(point: Point) -> int:
    shift = None if point.mips is None else shift_for_mips(point.mips)
    assert shift is not None
    return shift


def _cores(row: dict[str, Any]) -> int:
    """Where nothing says how many, that is complained of elsewhere."""
    if row["machine"]:
        return len(find_machine(row["machine"]).core_mips)
    return CORES_KNOWN[-1] if row["cores"] is None else int(row["cores"])


def _core_mips(point: Point) -> tuple[float, ...]:
    """What the cores of a live guest do here; all of it slower where this machine is too slow."""
    if point.machine:
        speeds = find_machine(point.machine).core_mips
    else:
        speeds = [float(point.mips or 0)] * (point.cores or 0)
    return scaled_mips(speeds, budget_mips())


def _possible(row: dict[str, Any]) -> bool:
    return cores_needed(_hazards(row)) <= _cores(row)


def _demanding(row: dict[str, Any]) -> str:
    """Which key asks for more cores than there are."""
    alone = {**row, "load": Load.NONE.value}
    return "load" if _possible(alone) else "hazards"


def _constraints(factors: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """What keeps a covering array off points that need more cores than they have."""
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
        "load": (Load.BUSY_SIBLINGS if "busy-siblings" in cell.hazards else Load.NONE).value,
    }
    return _all_match(hazards, cell.hazards) and all(
        fnmatch.fnmatchcase(words[field], pattern) for field, pattern in patterns.items()
    )


def _all_match(patterns: str, words: tuple[str, ...]) -> bool:
    """Whether each pattern is met by a word of the set; `none` is met by the empty set alone."""
    if patterns in ("*", NONE):
        return patterns == "*" or not words
    return all(
        any(fnmatch.fnmatchcase(word, pattern) for word in words)
        for pattern in split_words(patterns)
    )
