# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans: TOML files that name cells. `rig/docs/reference/plans.md` describes the format.

A group of a plan spans dimensions, as a covering array or as a full product, and runs for each
subject. A single cell is one point. Rules set the expected verdict of cells; the last match wins.
"""

from enum import StrEnum
from pathlib import Path

import msgspec

from delayrig.base.errors import UnknownNameError
from delayrig.base.toml import read_toml
from delayrig.hazards import NONE
from delayrig.model.cell import REGION_KIB, Role
from delayrig.model.lane import LaneName

PLANS_FOLDER = Path(__file__).with_name("plans")
CORES_KNOWN = (1, 2, 4)


class Timers(StrEnum):
    """The timers of the guest kernel; low-resolution ones are a hazard."""

    HIGH_RES = "high-res"
    LOW_RES = "low-res"


class GuestKernel(StrEnum):
    """The guest's kernel; any but the usual one is a hazard."""

    USUAL = "6.1"
    OLDER = "5.10"
    NEWER = "6.12"
    PREEMPT_RT = "preempt-rt"

    @property
    def hazard(self) -> str:
        """Returns the word of the hazard; empty for the usual kernel."""
        if self is GuestKernel.USUAL:
            return ""
        return self.value if self is GuestKernel.PREEMPT_RT else f"kernel:{self.value}"


class Load(StrEnum):
    """The load in the guest; busy siblings are a hazard."""

    NONE = "none"
    BUSY_SIBLINGS = "busy-siblings"


class Point(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    mips: float | None = None
    """The speed. `mips` and `cores` are omitted if `machine` names a machine."""
    cores: int | None = None
    job: str
    chip: str
    corner: str = "typ"
    timers: str = "high-res"
    load: str = "none"
    kernel: str = "6.1"
    hazards: str = NONE
    programmer: str = "serprog:ip"
    arch: str = "x86_64"
    machine: str = ""


class Span(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    mips: list[float | None] = msgspec.field(default_factory=lambda: [None])
    cores: list[int | None] = msgspec.field(default_factory=lambda: [None])
    job: list[str]
    chip: list[str]
    corner: list[str] = msgspec.field(default_factory=lambda: ["typ"])
    timers: list[str] = msgspec.field(default_factory=lambda: ["high-res"])
    load: list[str] = msgspec.field(default_factory=lambda: ["none"])
    kernel: list[str] = msgspec.field(default_factory=lambda: ["6.1"])
    hazards: list[str] = msgspec.field(default_factory=lambda: [NONE])
    programmer: list[str] = msgspec.field(default_factory=lambda: ["serprog:ip"])
    arch: list[str] = msgspec.field(default_factory=lambda: ["x86_64"])
    machine: list[str] = msgspec.field(default_factory=lambda: [""])


class Owner(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A source of cells, for its own subjects or for each subject of the run."""

    name: str
    subject: str | list[str] = []
    role: str = "measure"
    region_kib: int = REGION_KIB
    content_bytes: int = 0
    pin: str = ""
    deadline_s: int = 0
    """The deadline; 0: the plan's."""
    must_answer: str = ""
    """The question that its cells ask. A gate says Yes only if they have answered it."""


class Group(Owner, frozen=True, kw_only=True):
    """Cells over a span: a covering array of that strength, or all combinations if it is None."""

    over: Span
    strength: int | None = None


class Single(Owner, frozen=True, kw_only=True):
    at: Point
    lane: str = ""
    """The cell's own lane, if it is not the plan's."""


class Match(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The condition of a rule. Values are patterns with `*`; a missing key matches everything."""

    name: str = "*"
    subject: str = "*"
    lane: str = "*"
    arch: str = "*"
    timers: str = "*"
    load: str = "*"
    kernel: str = "*"
    hazards: str = "*"
    job: str = "*"
    chip: str = "*"
    corner: str = "*"


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    when: Match
    expect: str
    reason: str


class Contrast(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A requirement that one subject costs a multiple of another. Exactly one bound must be set."""

    cell: str
    subject: str
    against: str
    reason: str
    cpu_at_least: float | None = None
    time_at_least: float | None = None

    @property
    def bounds(self) -> dict[str, float]:
        both = {"cpu": self.cpu_at_least, "time": self.time_at_least}
        return {figure: bound for figure, bound in both.items() if bound is not None}


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    schema: int
    about: str
    subjects: list[str] = []
    """The subjects of groups and cells that name none themselves."""
    canaries_of: str = ""
    """A shipped plan whose canaries and controls follow the plan's own cells."""
    lane: str = LaneName.VIRTUAL.value
    deadline_s: int = 0
    """The time limit of a subject in each cell, by the clock of the lane; 0: the default."""
    group: list[Group] = []
    cell: list[Single] = []
    rule: list[Rule] = []
    contrast: list[Contrast] = []


def shipped_names(folder: Path) -> list[str]:
    """Returns the names of the plans or machines that come with the rig."""
    return sorted(file.stem for file in folder.glob("*.toml"))


def plan_names() -> list[str]:
    return shipped_names(PLANS_FOLDER)


def find_file(name: str, folder: Path, *, what: str, own: str) -> Path:
    """Returns a shipped file of the folder, or a user's own; `own` is the end of the hint."""
    names = shipped_names(folder)
    if name in names:
        return folder / f"{name}.toml"
    if "/" in name or name.endswith(".toml"):
        return Path(name)
    raise UnknownNameError(f"unknown {what} {name!r}", name, names, what=f"{what}s", note=own)


def find_plan(name: str) -> Path:
    return find_file(name, PLANS_FOLDER, what="plan", own="a file of your own ends in .toml")


def read_plan(path: Path) -> Plan:
    """Returns the plan in a file; raises `BadInputError` that names file and key."""
    plan = read_toml(path, Plan)
    if plan.canaries_of in ("", *plan_names()):
        return msgspec.structs.replace(plan, cell=[*plan.cell, *judging_cells(plan.canaries_of)])
    raise UnknownNameError(
        f"{path}: key 'canaries_of': unknown plan {plan.canaries_of!r}",
        plan.canaries_of,
        plan_names(),
        what="plans",
    )


def judging_cells(name: str) -> list[Single]:
    """Returns the canaries and controls of a shipped plan; none for an empty name."""
    cells = read_plan(find_plan(name)).cell if name else []
    return [one for one in cells if one.role in (Role.CANARY, Role.CONTROL)]


def own_subjects(owner: Owner) -> list[str]:
    """Returns the subjects that it names itself; none if it runs for those of the run."""
    return [owner.subject] if isinstance(owner.subject, str) else owner.subject
