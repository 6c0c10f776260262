# SPDX-License-Identifier: GPL-2.0-or-later
"""The interface of a hazard. A hazard overrides what concerns it, and nothing else."""

import re
from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import ClassVar

from delayrig.base.durations import NS_PER_S
from delayrig.hazards.artifacts import Artifacts
from delayrig.model.cell import Cell
from delayrig.model.chips import ChipFacts
from delayrig.model.events import first
from delayrig.model.kinds.agent import SubjectEnd, SubjectStart
from delayrig.model.kinds.emulator import Accept
from delayrig.model.kinds.kind import Timed
from delayrig.model.lane import LaneName
from delayrig.model.platform import Arch
from delayrig.model.speed import Origin
from delayrig.subjects.subject import Subject

LATE_NS_MAX = 20_000_000
"""The most by which an action may be late: low-resolution timers delay an agent by two jiffies."""
IN_GUEST = (LaneName.VIRTUAL, LaneName.LIVE)
"""The lanes of hazards that need a guest, with its agent and its kernel."""
ANYWHERE = tuple(LaneName)
"""The lanes of hazards that need only processes."""


class Concern(StrEnum):
    SAFETY = "safety"
    """A wait may end too early."""
    PERFORMANCE = "performance"
    """Waits, or the work between them, may take longer."""
    ROBUSTNESS = "robustness"
    """The job may fail, and the subject must report it: no delay is to blame."""


class Hazard:
    """One word of a cell's set of hazards, such as `busy-siblings` or `link:usb-high-speed`.

    The part before the colon chooses the class by `name`. The part after it, `value`, is read by
    `__init__`, which raises `ValueError` if it is invalid.
    """

    name: ClassVar[str]
    form: ClassVar[str] = ""
    """The form of its value, such as `RATE`; `[RATE]` if it is optional; empty: no value."""
    legend: ClassVar[str] = ""
    """The meaning of the words of `form`; empty: `about` explains it."""
    values: ClassVar[range | re.Pattern[str] | Collection[str] | None] = None
    """Its possible values: a range, a pattern or words; None: `__init__` checks the value."""
    about: ClassVar[str]
    """One sentence for a list."""
    concern: ClassVar[Concern] = Concern.SAFETY
    cores_min: ClassVar[int] = 1
    archs: ClassVar[tuple[Arch, ...]] = tuple(Arch)
    """The architectures of guests in which it works."""
    lanes: ClassVar[tuple[LaneName, ...]] = (LaneName.VIRTUAL,)
    """The lanes in which it can be made.

    Most hazards need a guest with its own kernel and clock.
    """
    repeatable: ClassVar[bool] = False
    """True if a set may contain it several times, with other values."""

    spec: ClassVar[Sequence[str]] = ()
    """Lines for the guest's agent (images/agent/spec.h), or for `lanes/host/session.py`.

    `{value}` is the hazard's, `{seed}` the cell's.
    """
    emulator_option: ClassVar[str] = ""
    """The emulator's option that takes the value."""
    client_option: ClassVar[str] = ""
    """The library client's option that takes the value."""
    flashrom_option: ClassVar[str] = ""
    """An option of flashrom's own command line."""
    kernel_words: Sequence[str] = ()
    """Additions to the kernel's command line; part of the guest's shape."""
    kernel: str = ""
    """The kernel that it needs, by its name in images/recipes.toml; empty: any will do."""
    clocksource: str = ""
    """The clock source of the guest; empty: the usual one."""
    cpu: str = ""
    """The additions to the guest's usual CPU, one of `CPU_FEATURES`; empty: nothing."""
    deadline_ms: int | None = None
    """The time limit of a subject that may never end; None: the usual."""
    host_limit_s: float | None = None
    """The host time after which its cell is inconclusive; None: the usual."""
    in_library: bool = False
    """True if the subject's libflashrom does the job (images/library_client/)."""
    explained_rules: Sequence[str] = ()
    """Rules that no subject can obey, because of the state in which it finds the part."""
    start_state: str = ""
    """The state in which the part is found behind a device of the guest; empty: ready."""
    phase_ns: int = 0
    """The period of events that end or shift waits independently of the program; 0: none.

    So the same wait may by chance be longer or shorter by up to this period.
    """
    ends_waits: bool = False
    """True if it may end waits of the program early (decision/faults.py)."""
    may_fail: bool = False
    """True if the subject may report a failure and end."""
    why_uncounted: str = ""
    """Why the subject's time in such a cell is not counted as its cost; empty: it is counted."""

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
        """Returns why a cell with that subject is skipped; empty if it is run."""
        return ""

    def chip_refusal(self, chip: ChipFacts) -> str:
        """Returns why it cannot act on that chip; empty if it can."""
        return ""

    def alters_data(self, artifacts: Artifacts) -> bool:
        """Returns True if it changed the subject's data, which may have made the subject fail."""
        return False

    def explains(self, text: str) -> bool:
        """Returns True if it causes this message of the guest's kernel."""
        return False

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        """Returns why it did not act as it should have; empty if it did, or that is unknown."""
        return ""

    def missed(self, cell: Cell, artifacts: Artifacts) -> str:
        """Returns why it did not act, although the rig is not at fault; empty if it acted.

        The subject may have ended before it. This is not called if `fault()` returns a fault.
        """
        return ""


def ended_before(artifacts: Artifacts, due_ns: int) -> bool:
    """Returns True if the subject ended before that time, or too soon after it for the action."""
    ended = first(artifacts.events, SubjectEnd)
    return ended is not None and ended.t_ns < due_ns + LATE_NS_MAX


def due_times(
    artifacts: Artifacts,
    rate_hz: int,
    begin: type[Timed] = SubjectStart,
    end: type[Timed] = SubjectEnd,
) -> int:
    """Returns how often something at that rate happens between two events; 0 if unknown."""
    began, ended = first(artifacts.events, begin), first(artifacts.events, end)
    return (ended.t_ns - began.t_ns) * rate_hz // NS_PER_S if began and ended else 0


def origin_ns(artifacts: Artifacts, origin: Origin) -> int | None:
    """Returns when the event that `origin` names occurred; None if it did not."""
    kind: type[Timed] = Accept if origin is Origin.ACCEPT else SubjectStart
    found = first(artifacts.events, kind)
    return found.t_ns if found else None


def number_in(value: str, numbers: range) -> int:
    """Returns the number; raises `ValueError` if it is out of range, or not in plain decimal.

    A number has one notation, so that equal hazards are equal words.
    """
    number = int(value)
    if str(number) != value or number not in numbers:
        raise ValueError(value)
    return number


def matched(pattern: re.Pattern[str], value: str) -> re.Match[str]:
    """Returns the match of the whole text; raises `ValueError` if there is none."""
    match = pattern.fullmatch(value)
    if match is None:
        raise ValueError(value)
    return match
