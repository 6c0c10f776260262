# SPDX-License-Identifier: GPL-2.0-or-later
"""What every hazard may say of itself. A hazard overrides what it is about, and nothing else."""

import re
from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import ClassVar

from delayrig.hazards.artifacts import Artifacts
from delayrig.images.subject import Subject
from delayrig.model.cell import Cell
from delayrig.model.chips import ChipFacts
from delayrig.model.events import first
from delayrig.model.kinds.agent import SubjectEnd, SubjectStart
from delayrig.model.kinds.emulator import Accept
from delayrig.model.kinds.kind import Timed
from delayrig.model.lane import LaneName
from delayrig.model.platform import Arch
from delayrig.model.speed import Origin

NS_PER_MS, NS_PER_S = 1_000_000, 1_000_000_000
LATE_NS_MAX = 20_000_000
"""By how much what is due may come later: low-resolution timers let an agent be two jiffies late.
"""
IN_GUEST = (LaneName.VIRTUAL, LaneName.LIVE)
"""For hazards that the agent and the kernel of a guest make, whoever counts its time."""
ANYWHERE = tuple(LaneName)
"""For hazards that need nothing but processes: whoever runs the cell does what the spec says."""


class Concern(StrEnum):
    SAFETY = "safety"
    """A wait may end too early."""
    PERFORMANCE = "performance"
    """Waits, or what lies between them, may take longer."""
    ROBUSTNESS = "robustness"
    """The job may fail, and the subject must say so: no delay is to blame."""


class Hazard:
    """One word of a cell's set of hazards, such as `busy-siblings` or `link:usb-high-speed`.

    What stands before the colon chooses the class by `name`; what stands behind it, `value`, is
    read by `__init__`, which raises `ValueError` where it makes no sense of it.
    """

    name: ClassVar[str]
    form: ClassVar[str] = ""
    """How its value is written, such as `RATE`; `[RATE]` where it may be left out; empty: none."""
    legend: ClassVar[str] = ""
    """What stands for the words of `form`, for whoever wrote another; empty: `about` says it."""
    values: ClassVar[range | re.Pattern[str] | Collection[str] | None] = None
    """What its value may be: a number, a text or a word of these; None: `__init__` looks."""
    about: ClassVar[str]
    """One sentence for a list."""
    concern: ClassVar[Concern]
    cores_min: ClassVar[int] = 1
    archs: ClassVar[tuple[Arch, ...]] = tuple(Arch)
    """The guests in which it can take place."""
    lanes: ClassVar[tuple[LaneName, ...]] = (LaneName.VIRTUAL,)
    """Where it can be made: most need a guest, whose kernel and clock are nobody else's."""
    repeatable: ClassVar[bool] = False
    """Whether a set may hold it several times, with other values."""

    spec: ClassVar[Sequence[str]] = ()
    """Lines for the guest's agent (images/agent/spec.h), or for `lanes/host/session.py`; `{value}`
    is the hazard's, `{seed}` the cell's."""
    emulator_option: ClassVar[str] = ""
    """Of the emulator, which takes the value."""
    client_option: ClassVar[str] = ""
    """The same of the library client."""
    kernel_words: Sequence[str] = ()
    """What the guest's kernel is told besides the usual; part of the guest's shape."""
    kernel: str = ""
    """The kernel that it needs, by its name in images/recipes.toml; empty: any will do."""
    clocksource: str = ""
    """The clock by which the guest then keeps time; empty: the usual one."""
    deadline_ms: int | None = None
    """The virtual time that a subject gets where it may well never end; None: the usual."""
    host_limit_s: float | None = None
    """How long its cell may take this machine before nothing is said of it; None: the usual."""
    in_library: bool = False
    """Whether the subject's libflashrom does the job (images/host/)."""
    explained_rules: Sequence[str] = ()
    """Rules of the part that nobody could have kept, as it was found."""
    phase_ns: int = 0
    """The period of what ends waits at moments that have nothing to do with the program; 0: none.
    By so much may such a wait last more or less by chance."""
    why_uncounted: str = ""
    """Why what the subject takes under it is no cost of its own; empty where it is one."""

    def __init__(self, value: str) -> None:
        self.value = value
        if (value and not self.form) or (not value and self.form and not self.form.startswith("[")):
            raise ValueError(value)
        match self.values:
            case range():
                number_in(value, self.values)
            case re.Pattern():
                matched(self.values, value)
            case _ if self.values is not None and value not in self.values:
                raise ValueError(value)

    @property
    def number(self) -> int:
        return int(self.value)

    def spec_lines(self, cell: Cell) -> Sequence[str]:
        return [line.format(value=self.value, seed=cell.seed) for line in self.spec]

    def emulator_words(self, cell: Cell) -> Sequence[str]:
        return (self.emulator_option, self.value) if self.emulator_option else ()

    def subject_words(self, subject: Subject) -> Sequence[str]:
        return (self.client_option, self.value) if self.client_option else ()

    def refusal(self, subject: Subject) -> str:
        """Why a cell with that subject is skipped; empty where it is run."""
        return ""

    def chip_refusal(self, chip: ChipFacts) -> str:
        """Why it cannot take place with that chip; empty where it can."""
        return ""

    def alters_data(self, artifacts: Artifacts) -> bool:
        """Whether it changed what the subject was told: what followed may not be its fault."""
        return False

    def explains(self, text: str) -> bool:
        """Whether the guest's kernel is right to say this: it is what was done to it."""
        return False

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        """Why it did not take place as it should have; empty where it did, or cannot be told."""
        return ""

    def missed(self, cell: Cell, artifacts: Artifacts) -> str:
        """Why the subject met nothing of it, and nobody is at fault; empty where it did.

        Such as one that ended before. Where `fault()` says something, this is not asked.
        """
        return ""


def ended_before(artifacts: Artifacts, due_ns: int) -> bool:
    """Whether the subject did, or so shortly after that moment that nothing need have happened."""
    ended = first(artifacts.events, SubjectEnd)
    return ended is not None and ended.t_ns < due_ns + LATE_NS_MAX


def due_times(
    artifacts: Artifacts,
    rate_hz: int,
    begin: type[Timed] = SubjectStart,
    end: type[Timed] = SubjectEnd,
) -> int:
    """How often something comes at that rate between two events; 0 where nobody knows."""
    began, ended = first(artifacts.events, begin), first(artifacts.events, end)
    return (ended.t_ns - began.t_ns) * rate_hz // NS_PER_S if began and ended else 0


def origin_ns(artifacts: Artifacts, origin: Origin) -> int | None:
    """The moment from which others count; None where it never came."""
    kind: type[Timed] = Accept if origin is Origin.ACCEPT else SubjectStart
    found = first(artifacts.events, kind)
    return found.t_ns if found else None


def number_in(value: str, numbers: range) -> int:
    """A plain decimal number of that range: equal hazards are equal words. Else `ValueError`."""
    number = int(value)
    if str(number) != value or number not in numbers:
        raise ValueError(value)
    return number


def matched(pattern: re.Pattern[str], value: str) -> re.Match[str]:
    """All of a text that must be written like that; else `ValueError`."""
    match = pattern.fullmatch(value)
    if match is None:
        raise ValueError(value)
    return match
