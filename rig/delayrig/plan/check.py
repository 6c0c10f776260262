# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules of a plan. A violation is reported with file, key and a remedy."""

import itertools
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Any, TypeVar

import msgspec

from delayrig.base.errors import BadInputError, nearest
from delayrig.hazards import cores_needed, hazard_of, parse_hazards
from delayrig.model.cell import Job, Programmer, Role
from delayrig.model.corner import FORMS, Corner, is_corner
from delayrig.model.lane import LaneName
from delayrig.model.platform import Arch
from delayrig.model.shape import shift_for_mips, speeds_beside
from delayrig.plan.machines import find_machine
from delayrig.plan.schema import (
    CORES_KNOWN,
    Contrast,
    Group,
    GuestKernel,
    Load,
    Owner,
    Plan,
    Point,
    Timers,
    hazards_of,
    is_possible,
)

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
}

C = TypeVar("C", bound=StrEnum)


class PlanCheck:
    """The checks of one plan, whose file `source` names. Each function raises `BadInputError`."""

    def __init__(self, source: str, chips: list[str], lane: LaneName) -> None:
        self._source = source
        self._chips = chips
        self._lane = lane

    def owner(self, owner: Owner, key: str) -> None:
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
                hint=f"1 to {owner.region_kib * 1024} bytes of its region, or 0 for all, hold data",
            )
        if owner.pin and not PIN.fullmatch(owner.pin):
            raise self._error(f"'{key}.pin' is {owner.pin!r}", hint="CPUs are written as 0,2-3")

    def span(self, factors: dict[str, list[Any]], key: str) -> None:
        for name, choices in factors.items():
            if not choices:
                raise self._error(f"'{key}.{name}' is empty", hint="give it a value")
            for choice in choices:
                self._value(name, choice, f"{key}.{name}")
        parts = ("timers", "load", "kernel", "hazards")
        for words in itertools.product(*(factors[part] for part in parts)):
            self._set(dict(zip(parts, words, strict=True)), key)
        if factors["machine"] == [""]:
            self._given({name: choices[0] for name, choices in factors.items()}, key)

    def strength(self, strength: int, dimensions: int, key: str) -> None:
        if not 1 <= strength <= dimensions:
            raise self._error(
                f"'{key.removesuffix('.over')}.strength' is {strength}",
                hint=f"it may be 1 to {dimensions}",
            )

    def no_strength(self, group: Group, key: str) -> None:
        if group.strength is not None:
            raise self._error(
                f"'{key.removesuffix('.over')}.strength' stands beside '{key}.machine'",
                hint="leave it out: cells of machines are run in all combinations",
            )

    def cell(self, owner: Owner, point: Point, key: str) -> None:
        row = msgspec.structs.asdict(point)
        for field, value in row.items():
            self._value(field, value, f"{key}.{field}")
        self._machine_alone(row, key)
        hazards = self._set(row, key)
        if not is_possible(row):
            demanding = "load" if is_possible({**row, "load": Load.NONE.value}) else "hazards"
            raise self._error(
                f"'{key}.{demanding}' asks for more cores than '{key}.cores' gives",
                hint=f"set '{key}.cores' to {cores_needed(hazards)} or more",
            )
        role = Role(owner.role)
        if (role is Role.FLOOR) is not (point.corner == Corner.ZERO):
            raise self._error(
                f"'{key}.corner' is {point.corner!r} in a {role} cell",
                hint="a part that is never busy judges no wait: it is for cells of role 'floor',"
                " and these cells need it",
            )
        arch = Arch(point.arch)
        for word in hazards:
            if arch not in hazard_of(word).archs:
                raise self._error(
                    f"'{key}.hazards': {word!r} is not for {arch} guests",
                    hint=f"leave it out, or set '{key}.arch' to {Arch.X86_64}",
                )

    def choice(self, kind: type[C], value: str, key: str) -> C:
        try:
            return kind(value)
        except ValueError:
            raise self._error(
                f"'{key}': unknown value {value!r}",
                hint=nearest(value, [choice.value for choice in kind], what="values"),
            ) from None

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
                raise self._error(
                    f"'{key}': unknown chip {value!r}",
                    hint=nearest(value, self._chips, what="chips", listed_by="`rig/rig chips`"),
                )
            case "corner" if not is_corner(value):
                raise self._error(
                    f"'{key}': unknown value {value!r}", hint=nearest(value, FORMS, what="values")
                )
            case "hazards":
                with self._named(key):
                    parse_hazards(value)
            case "job" | "timers" | "load" | "kernel" | "programmer" | "arch":
                self.choice(CHOICES[field], value, key)

    def _machine_alone(self, row: dict[str, Any], key: str) -> None:
        """Checks that either a machine or the point gives the number and speed of the cores."""
        if not row["machine"]:
            self._given(row, key)
            return
        if self._lane is LaneName.VIRTUAL:
            raise self._error(
                f"'{key}.machine' is {row['machine']!r}: machines are for the live lane",
                hint='begin the plan with `lane = "live"`, or run it with --lane live',
            )
        for field in ("mips", "cores"):
            if row[field] is not None:
                raise self._error(
                    f"'{key}.{field}' stands beside '{key}.machine'",
                    hint="a machine says that itself: leave one of the two out",
                )

    def _given(self, row: dict[str, Any], key: str) -> None:
        for field in ("mips", "cores"):
            if row[field] is None:
                raise self._error(f"'{key}.{field}' is missing", hint="add it")

    def _set(self, row: dict[str, Any], key: str) -> tuple[str, ...]:
        """Returns all hazards of a point; raises `BadInputError` if two exclude each other."""
        with self._named(f"{key}.hazards"):
            return hazards_of(row)

    def _error(self, what: str, *, hint: str) -> BadInputError:
        return BadInputError(f"{self._source}: key {what}", hint=hint)

    @contextmanager
    def _named(self, key: str) -> Iterator[None]:
        """Adds the file and the key to errors within the context."""
        try:
            yield
        except BadInputError as error:
            raise self._error(f"'{key}': {error.message}", hint=error.hint) from None


def check_questions(plan: Plan, source: str) -> None:
    """Raises `BadInputError` if cells of the same name must answer different questions."""
    asked: dict[str, str] = {}
    owners: list[tuple[str, Owner]] = [(f"group[{n}]", own) for n, own in enumerate(plan.group)]
    owners += [(f"cell[{n}]", own) for n, own in enumerate(plan.cell)]
    for key, owner in owners:
        before = asked.setdefault(owner.name, owner.must_answer)
        if before != owner.must_answer:
            raise BadInputError(
                f"{source}: key '{key}.must_answer' is {owner.must_answer!r}, and other cells"
                f" called {owner.name!r} have {before!r}",
                hint="give one of them another name",
            )


def check_contrast(contrast: Contrast, names: Iterable[str], where: str) -> None:
    """Raises `BadInputError` for an unknown cell or a wrong bound; `names` are the plan's cells."""
    known = list(names)
    if contrast.cell not in known:
        raise BadInputError(
            f"{where}.cell: unknown cell {contrast.cell!r}",
            hint=nearest(contrast.cell, known, what="cells"),
        )
    bounds = list(contrast.bounds.values())
    if len(bounds) != 1 or bounds[0] <= 1:
        raise BadInputError(
            f"{where}: needs one bound above 1",
            hint="set either cpu_at_least or time_at_least, a multiple of the other's figure",
        )
