# SPDX-License-Identifier: GPL-2.0-or-later
"""Classes of waits in a cell: which of them were judged, and which must have been."""

from delayrig.images.profiles.profile import Profile
from delayrig.judge.bus import leaves_waits
from delayrig.judge.chip import margins_ns, may_hide_an_early_one
from delayrig.model.cell import Cell, Programmer
from delayrig.model.events import Event
from delayrig.model.evidence import ObservedDelay, ObservedWait

# Classes of waits that no profile names.
CHIP_BUSY = "chip-busy"
NO_PROFILE = "bus (no profile for this version)"
LEFT_TO_PROGRAMMER = "own delays (left to the programmer)"

DELAY_CLASS = "delay-from-"
CLASSES_US = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
"""Classes of delays begin at these lengths: 250 us are of the class of 100 us."""


def class_of(requested_us: int) -> str:
    """The class of a call that asks for that many microseconds, at least one."""
    return f"{DELAY_CLASS}{max(us for us in CLASSES_US if us <= requested_us)}us"


def declared_classes(cell: Cell, profile: Profile | None) -> set[str]:
    """The classes of waits without whose judgement there is no pass."""
    if profile is None or cell.bridged or cell.programmer is Programmer.DUMMY:
        return set()
    return {wait.kind for wait in profile.wait if wait.always_judged}


def classify_waits(
    waits: list[ObservedWait], profile: Profile | None, events: list[Event]
) -> tuple[list[str], list[str]]:
    """Classes of waits of which every one was judged, and those that hold an unjudged one.

    A class that must always be judged and did not come up at all is unjudged as well; so are the
    part's own busy times where no command after one showed whether the subject kept to them, where
    one was read so late that it may not show it, or where the programmer waited in its place.
    """
    left = leaves_waits(events)
    kept = bool(margins_ns(events)) and not left and not may_hide_an_early_one(events)
    kinds = sorted({wait.kind for wait in waits})
    doubtful = {w.kind for w in waits if not w.is_judged}
    if profile is None and not any(isinstance(wait, ObservedDelay) for wait in waits):
        doubtful.add(NO_PROFILE)
    if profile is not None:
        doubtful |= {wait.kind for wait in profile.wait if wait.always_judged} - set(kinds)
    if left:
        doubtful.add(LEFT_TO_PROGRAMMER)
    judged = [kind for kind in kinds if kind not in doubtful]
    return (
        sorted([*judged, CHIP_BUSY] if kept else judged),
        sorted(doubtful if kept else {*doubtful, CHIP_BUSY}),
    )


def smallest_visible_short_ns(waits: list[ObservedWait], judged: list[str]) -> int | None:
    """By how little a judged delay could have been shorter without passing unseen."""
    return min((wait.visible_short_ns for wait in waits if wait.kind in judged), default=None)
