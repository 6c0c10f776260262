# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules of a plan. A violation is reported with file, key and a remedy."""

import fnmatch
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

import msgspec

from delayrig.base.errors import BadInputError, UnknownNameError
from delayrig.base.paths import Paths
from delayrig.hazards import (
    KINDS,
    cores_needed,
    hazard_of,
    ordered_hazards,
    parse_hazards,
    split_words,
)
from delayrig.model.cell import Expect, Job, Programmer, Role
from delayrig.model.chips import ChipFacts, read_chips
from delayrig.model.corner import BUSY_FORMS, FORMS, Corner, is_corner
from delayrig.model.lane import LaneName
from delayrig.model.platform import Arch
from delayrig.model.shape import shift_for_mips, speeds_beside
from delayrig.plan.machines import find_machine
from delayrig.plan.schema import (
    CORES_KNOWN,
    Group,
    GuestKernel,
    Load,
    Owner,
    Plan,
    Rule,
    Single,
    Timers,
    own_subjects,
)
from delayrig.subjects.recipes import Recipes, read_recipes
from delayrig.subjects.subject import check_subject

LIVE_MIPS_MAX = 10_000
REGIONS_KIB = range(1, 16 * 1024 + 1)
PIN = re.compile(r"[0-9]{1,4}(?:-[0-9]{1,4})?(?:,[0-9]{1,4}(?:-[0-9]{1,4})?)*")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
CHOICES: dict[str, type[StrEnum]] = {
    "job": Job,
    "timers": Timers,
    "load": Load,
    "kernel": GuestKernel,
    "programmer": Programmer,
    "arch": Arch,
    "lane": LaneName,
}
OPEN: dict[str, Sequence[str]] = {"corner": FORMS, "hazards": [kind.name for kind in KINDS]}
"""By key: the forms of its values, some of which take a parameter after `:`."""

C = TypeVar("C", bound=StrEnum)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedPlan:
    """A plan without mistakes, for the subjects and the lane that were asked for."""

    plan: Plan
    source: str
    """The file, for errors."""
    lane: LaneName
    single_lanes: list[LaneName | None]
    """The lane of each single cell; None if the user asked for another lane."""
    subjects: list[str]
    chips: dict[str, ChipFacts]
    recipes: Recipes
    name: str = ""
    """The plan's name or file, as the user wrote it."""


def check_plan(
    plan: Plan,
    paths: Paths,
    *,
    source: str,
    subjects: Collection[str] = (),
    lane: LaneName | None = None,
) -> CheckedPlan:
    """Returns the checked plan. `subjects` and `lane`, if given, replace those of the plan.

    Raises `BadInputError` for the first mistake; `source` names the file in it. If `subjects` is a
    mapping, its values are the options that named them.
    """
    chips, recipes = read_chips(paths.checkout), read_recipes(paths.checkout)
    given = subjects if isinstance(subjects, Mapping) else dict.fromkeys(subjects, "--subject")
    _check_contrasts(plan, source)
    _check_questions(plan, source)
    main = lane or _lane_named(plan.lane, source, "lane")
    own_lanes = [
        _lane_named(single.lane or main, source, f"cell[{number}].lane")
        for number, single in enumerate(plan.cell)
    ]
    checked = CheckedPlan(
        plan=plan,
        source=source,
        lane=main,
        single_lanes=[own if lane in (None, own) else None for own in own_lanes],
        subjects=list(given) or plan.subjects,
        chips=chips,
        recipes=recipes,
    )
    on_main = _Check(checked, main)
    for number, group in enumerate(plan.group):
        on_main.group(group, f"group[{number}]")
    for number, (single, own) in enumerate(zip(plan.cell, checked.single_lanes, strict=True)):
        if own:
            _Check(checked, own).single(single, f"cell[{number}]")
    for number, rule in enumerate(plan.rule):
        on_main.rule(rule, f"rule[{number}]")
    _check_subjects(plan, source, given, recipes)
    return checked


def combinations_of(factors: dict[str, list[Any]], *names: str) -> Iterator[dict[str, Any]]:
    """Yields each combination of values of the named dimensions, or of all if none is named."""
    chosen = names or tuple(factors)
    for values in itertools.product(*(factors[name] for name in chosen)):
        yield dict(zip(chosen, values, strict=True))


def dimensions_of(factors: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Returns the dimensions of a covering array.

    Omits `arch` and `machine` if they have one value only. Otherwise they would change which
    combinations of the other dimensions the array contains.
    """
    fixed = [name for name in ("arch", "machine") if len(factors[name]) == 1]
    return {name: values for name, values in factors.items() if name not in fixed}


class _Check:
    """The checks of a plan's cells on one lane. Each function raises `BadInputError`."""

    def __init__(self, checked: CheckedPlan, lane: LaneName) -> None:
        self._source = checked.source
        self._chips = checked.chips
        self._lane = lane

    def group(self, group: Group, key: str) -> None:
        factors: dict[str, list[Any]] = msgspec.structs.asdict(group.over)
        self._owner(group, key)
        self._span(factors, f"{key}.over")
        self._corners(group, factors, f"{key}.over")
        if group.strength is None:
            return
        if factors["machine"] != [""]:
            raise self._error(
                f"'{key}.strength' cannot be used with '{key}.over.machine'",
                hint="leave 'strength' out: cells of machines are run in all combinations",
            )
        dimensions = len(dimensions_of(factors))
        if not 1 <= group.strength <= dimensions:
            raise self._error(
                f"'{key}.strength' is {group.strength}", hint=f"it may be 1 to {dimensions}"
            )

    def single(self, single: Single, key: str) -> None:
        row = msgspec.structs.asdict(single.at)
        factors = {field: [value] for field, value in row.items()}
        self._owner(single, key)
        self._span(factors, f"{key}.at")
        if not is_possible(row):
            demanding = "load" if is_possible({**row, "load": Load.NONE.value}) else "hazards"
            raise self._error(
                f"'{key}.at.{demanding}' asks for more cores than '{key}.at.cores' gives",
                hint=f"set '{key}.at.cores' to {cores_needed(hazards_of(row))} or more",
            )
        self._corners(single, factors, f"{key}.at")

    def rule(self, rule: Rule, key: str) -> None:
        self.choice(Expect, rule.expect, f"{key}.expect")
        patterns: dict[str, str] = msgspec.structs.asdict(rule.when)
        for field, pattern in patterns.items():
            for part in split_words(pattern) if field == "hazards" else [pattern]:
                self._pattern(field, part, f"{key}.when.{field}")

    def _pattern(self, field: str, pattern: str, key: str) -> None:
        """Checks that the pattern can match a valid value. Names and subjects are not checked."""
        beginning = re.split(r"[*?[]", pattern)[0]
        name, colon, _ = beginning.partition(":")
        if beginning == pattern:
            self._value(field, pattern, key)
        elif forms := OPEN.get(field):
            names = [form.partition(":")[0] for form in forms]
            if not (name in names if colon else any(one.startswith(name) for one in names)):
                raise self._unknown(key, pattern, forms)
        elif field == "chip" or field in CHOICES:
            known: Iterable[str] = self._chips if field == "chip" else CHOICES[field]
            if not fnmatch.filter(known, pattern):
                raise self._unknown(key, pattern, known)

    def _owner(self, owner: Owner, key: str) -> None:
        if not NAME.fullmatch(owner.name):
            raise self._error(
                f"'{key}.name' is {owner.name!r}",
                hint="names are made of letters, digits, - and _, as they become folders",
            )
        self.choice(Role, owner.role, f"{key}.role")
        if owner.region_kib not in REGIONS_KIB:
            raise self._error(
                f"'{key}.region_kib' is {owner.region_kib}",
                hint=f"a region has {REGIONS_KIB[0]} to {REGIONS_KIB[-1]} KiB",
            )
        if not 0 <= owner.content_bytes <= owner.region_kib * 1024:
            raise self._error(
                f"'{key}.content_bytes' is {owner.content_bytes}",
                hint=f"write 1 to {owner.region_kib * 1024} bytes, or 0 for the whole region",
            )
        if owner.pin and not PIN.fullmatch(owner.pin):
            raise self._error(f"'{key}.pin' is {owner.pin!r}", hint="CPUs are written as 0,2-3")

    def _span(self, factors: dict[str, list[Any]], key: str) -> None:
        for name, choices in factors.items():
            if not choices:
                raise self._error(f"'{key}.{name}' is empty", hint="give it a value")
            for choice in choices:
                self._value(name, choice, f"{key}.{name}")
        for speed in combinations_of(factors, "machine", "mips", "cores"):
            self._speed(speed.pop("machine"), speed, key)
        for parts in combinations_of(factors, "timers", "load", "kernel", "hazards"):
            with self._named(f"{key}.hazards"):
                together = hazards_of(parts)
            for arch in map(Arch, factors["arch"]):
                self._architecture(arch, together, key)

    def _speed(self, machine: str, given: dict[str, float | None], key: str) -> None:
        """Checks that either a machine or the point gives the number and speed of the cores."""
        if machine and self._lane is LaneName.VIRTUAL:
            raise self._error(
                f"'{key}.machine' is {machine!r}: machines are for the live lane",
                hint='begin the plan with `lane = "live"`, or run it with --lane live',
            )
        for field, value in given.items():
            if not machine and value is None:
                raise self._error(f"'{key}.{field}' is missing", hint="add it")
            if machine and value is not None:
                raise self._error(
                    f"'{key}.{field}' cannot be used with '{key}.machine'",
                    hint="a machine has its own speeds and cores: leave one of the two out",
                )

    def _architecture(self, arch: Arch, hazards: Iterable[str], key: str) -> None:
        for word in hazards:
            if arch not in hazard_of(word).archs:
                raise self._error(
                    f"'{key}.hazards': {word!r} is not for {arch} guests",
                    hint=f"leave it out, or set '{key}.arch' to {Arch.X86_64}",
                )

    def _corners(self, owner: Owner, factors: dict[str, list[Any]], key: str) -> None:
        for corner in factors["corner"]:
            if (Role(owner.role) is Role.FLOOR) is not (corner == Corner.ZERO):
                raise self._error(
                    f"'{key}.corner' is {corner!r} in a {owner.role} cell",
                    hint="parts of the corner 'zero' are never busy, so they show no wait that is"
                    " too short: cells of role 'floor' need it, such as those of the plan"
                    f" `write-time`; all others have one of {', '.join(BUSY_FORMS)}",
                )

    def choice(self, kind: type[C], value: str, key: str) -> C:
        try:
            return kind(value)
        except ValueError:
            raise self._unknown(key, value, kind) from None

    def _value(self, field: str, value: Any, key: str) -> None:
        match field:
            case "mips" | "cores" if value is None:
                pass
            case "mips" if self._lane is LaneName.LIVE and not 1 <= value <= LIVE_MIPS_MAX:
                raise self._error(
                    f"'{key}' is {value:g}", hint=f"the live lane does 1 to {LIVE_MIPS_MAX} MIPS"
                )
            case "mips" if self._lane is not LaneName.LIVE and shift_for_mips(value) is None:
                raise self._error(
                    f"'{key}' is {value:g}",
                    hint="the virtual lane does 1000, 500, 250, 125, 62, 31, 16, 8, 4, 2 or 1 MIPS,"
                    f" of which {' and '.join(map(str, speeds_beside(value)))} are the nearest;"
                    " the live lane does any",
                )
            case "machine" if value:
                with self._named(key):
                    find_machine(value)
            case "cores" if value not in CORES_KNOWN:
                raise self._error(f"'{key}' is {value}", hint="guests have 1, 2 or 4 cores")
            case "chip" if value not in self._chips:
                raise self._unknown(key, value, self._chips)
            case "corner" if not is_corner(value):
                raise self._unknown(key, value, FORMS)
            case "hazards":
                with self._named(key):
                    parse_hazards(value)
            case "job" | "timers" | "load" | "kernel" | "programmer" | "arch" | "lane":
                self.choice(CHOICES[field], value, key)

    def _unknown(self, key: str, value: str, known: Iterable[str]) -> BadInputError:
        what, listed_by = ("chip", "`rig/rig chips`") if known is self._chips else ("value", "")
        return UnknownNameError(
            f"{self._source}: key '{key}': unknown {what} {value!r}",
            value,
            known,
            what=f"{what}s",
            listed_by=listed_by,
        )

    def _error(self, what: str, *, hint: str) -> BadInputError:
        return BadInputError(f"{self._source}: key {what}", hint=hint)

    @contextmanager
    def _named(self, key: str) -> Iterator[None]:
        """Adds the file and the key to errors within the context."""
        try:
            yield
        except BadInputError as error:
            raise self._error(f"'{key}': {error.message}", hint=error.hint) from None


def _check_subjects(plan: Plan, source: str, given: Mapping[str, str], recipes: Recipes) -> None:
    owners = list(_owners(plan))
    named = [(f"subjects[{number}]", [name]) for number, name in enumerate(plan.subjects)]
    named += [(f"{key}.subject", own_subjects(owner)) for key, owner in owners]
    named += [
        (f"contrast[{number}]", [contrast.subject, contrast.against])
        for number, contrast in enumerate(plan.contrast)
    ]
    places = [(option, [name]) for name, option in given.items()]
    places += [(f"{source}: key '{key}'", names) for key, names in named]
    for where, names in places:
        for name in names:
            check_subject(name, recipes, where)
    for key, owner in owners:
        if not (given or plan.subjects or own_subjects(owner)):
            raise BadInputError(
                f"{source}: key '{key}': names no subject, and neither does the plan",
                hint='add subject = "..." there, or subjects = [...] at the top',
            )


def _owners(plan: Plan) -> Iterator[tuple[str, Owner]]:
    """Yields the key of each group and single cell, and the group or cell."""
    yield from ((f"group[{number}]", owner) for number, owner in enumerate(plan.group))
    yield from ((f"cell[{number}]", owner) for number, owner in enumerate(plan.cell))


def _lane_named(name: str, source: str, key: str) -> LaneName:
    try:
        return LaneName(name)
    except ValueError:
        raise UnknownNameError(
            f"{source}: key '{key}': unknown value {name!r}", name, LaneName, what="lanes"
        ) from None


def _check_questions(plan: Plan, source: str) -> None:
    """Raises `BadInputError` if cells of the same name must answer different questions."""
    asked: dict[str, str] = {}
    for key, owner in _owners(plan):
        before = asked.setdefault(owner.name, owner.must_answer)
        if before != owner.must_answer:
            raise BadInputError(
                f"{source}: key '{key}.must_answer' is {owner.must_answer!r}, and other cells"
                f" called {owner.name!r} have {before!r}",
                hint="give one of them another name",
            )


def _check_contrasts(plan: Plan, source: str) -> None:
    known = [owner.name for _, owner in _owners(plan)]
    for number, contrast in enumerate(plan.contrast):
        where = f"{source}: key 'contrast[{number}]"
        if contrast.cell not in known:
            raise UnknownNameError(
                f"{where}.cell': unknown cell {contrast.cell!r}",
                contrast.cell,
                known,
                what="cells",
            )
        bounds = list(contrast.bounds.values())
        if len(bounds) != 1 or bounds[0] <= 1:
            raise BadInputError(
                f"{where}': needs one bound above 1",
                hint="set either cpu_at_least or time_at_least, a multiple of what 'against' needs",
            )


def hazards_of(row: dict[str, Any]) -> tuple[str, ...]:
    """Returns all hazards of a point, including those of its timers, load and kernel."""
    words = list(parse_hazards(row["hazards"]))
    if row["timers"] == Timers.LOW_RES:
        words.append("low-res-timers")
    if row["load"] == Load.BUSY_SIBLINGS:
        words.append("busy-siblings")
    words += filter(None, [GuestKernel(row["kernel"]).hazard])
    return ordered_hazards(words)


def is_possible(row: dict[str, Any]) -> bool:
    return cores_needed(hazards_of(row)) <= _cores(row)


def _cores(row: dict[str, Any]) -> int:
    """Returns the number of cores; the maximum if it is missing, which `_Check` reports."""
    if row["machine"]:
        return len(find_machine(row["machine"]).core_mips)
    return CORES_KNOWN[-1] if row["cores"] is None else int(row["cores"])
