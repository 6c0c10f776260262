# SPDX-License-Identifier: GPL-2.0-or-later
"""The observed waits of a subject by class, and whether they are enough for a pass.

The delay witness judges any program with an identified delay function. The bus witness has profiles
of the waits of flashrom's releases, and convicts only programs whose waits it knows (`bus_of()`):
another program may poll as often as it likes.
"""

from dataclasses import dataclass, field

from delayrig.hazards.artifacts import Artifacts
from delayrig.judge.bus import WATCHED_LANES, Bus, SeenBus, leaves_waits
from delayrig.judge.chip import margins_ns, may_hide_an_early_one
from delayrig.judge.delay_waits import (
    CLOCK_STEP,
    UNSURE,
    doubts_of,
    ended_within_step,
    observe_calls_of,
    unsure_calls,
)
from delayrig.judge.site_waits import site_waits
from delayrig.model.cell import CHANGING, Cell, Programmer, Role
from delayrig.model.events import Event
from delayrig.model.evidence import Evidence, ObservedDelay, ObservedWait, Witness
from delayrig.model.platform import INVARIANT_TSC
from delayrig.model.result import DelayCount, SiteWaits
from delayrig.subjects.profiles.profile import Profile

# These classes of waits are in no profile.
CHIP_BUSY = "chip-busy"
NO_PROFILE = "bus (no profile for this version)"
LEFT_TO_PROGRAMMER = "own delays (left to the programmer)"
NOTHING_JUDGED = (
    "nothing could judge its waits, since no delay function was found in it: build it unstripped,"
    " or name the function with --delay-symbol or --delay-offset"
)
NO_DELAYS_SEEN = (
    "nothing could judge its waits: this lane sees no delays, and no profile tells what waits this"
    " version leaves on the bus; run the cell with --lane virtual, where QEMU sees each delay"
)
GRADES = {Witness.BUS: "profile", Witness.DELAY: "exact"}
"""The source of the requested time: a profile, or the call itself."""
COUNTER_HAZARD = f"cpu:{INVARIANT_TSC}"
"""The hazard of a CPU that declares its time stamp counter invariant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenWaits:
    bus: SeenBus
    delays: list[ObservedDelay] = field(default_factory=list)
    is_watched: bool = False
    """True if QEMU watched the calls of the delay functions."""
    doubts: list[str] = field(default_factory=list)
    """The reasons why the delay witness did not judge all delays."""
    has_clock_step: bool = False
    """True if a delay ended early by less than the step of its clock."""

    @property
    def all(self) -> list[ObservedWait]:
        return [*self.bus.waits, *self.delays]

    @property
    def count(self) -> DelayCount | None:
        if not self.is_watched:
            return None
        judged = sum(delay.is_judged for delay in self.delays)
        return DelayCount(seen=len(self.delays), judged=judged)

    @property
    def convicting(self) -> list[ObservedWait]:
        return [*self.bus.convicting, *self.delays]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedWaits:
    """The judged waits of a cell: the short ones, all classes, and the reasons against a pass."""

    evidence: list[Evidence] = field(default_factory=list)
    judged: list[str] = field(default_factory=list)
    """The classes whose waits were all judged."""
    unjudged: list[str] = field(default_factory=list)
    gap: str = ""
    """Why they do not suffice for a pass; empty if they do."""
    disagreement: str = ""
    """How the witnesses contradict each other."""
    untried: str = ""
    """A note that names instructions of the delays that depend on the CPU's model."""
    smallest_visible_short_ns: int | None = None
    by_site: list[SiteWaits] = field(default_factory=list)


def see_waits(cell: Cell, artifacts: Artifacts, bus: SeenBus) -> SeenWaits:
    if artifacts.delays is None:
        return SeenWaits(bus=bus)
    delays = observe_calls_of(artifacts.delays, artifacts.events)
    must_wait = cell.job in CHANGING and not leaves_waits(artifacts.events)
    return SeenWaits(
        bus=bus,
        delays=delays,
        is_watched=True,
        doubts=doubts_of(artifacts.delays, delays, must_wait=must_wait),
        has_clock_step=ended_within_step(delays),
    )


def judge_waits(cell: Cell, artifacts: Artifacts, seen: SeenWaits) -> JudgedWaits:
    judged, unjudged = classify_waits(seen.all, seen.bus.profile, artifacts.events)
    unjudged = sorted([*unjudged, *unjudged_delays(artifacts, seen)])
    missing = sorted(declared_classes(cell, seen.bus.profile).intersection(unjudged))
    return JudgedWaits(
        evidence=convict_waits(seen.convicting),
        judged=judged,
        unjudged=unjudged,
        gap=_not_judged(missing) if missing else waits_gap(cell, artifacts, seen),
        disagreement=disagreement(seen),
        untried=untried_counters(cell, artifacts),
        smallest_visible_short_ns=smallest_visible_short_ns(seen.all, judged),
        by_site=site_waits(seen.delays),
    )


def convict_waits(waits: list[ObservedWait]) -> list[Evidence]:
    """Returns the worst wait of each `what` that was too short, with the number of such waits."""
    evidence = []
    for what in dict.fromkeys(wait.what for wait in waits):
        short = [wait for wait in waits if wait.what == what and wait.is_short]
        if short:
            worst = min(short, key=lambda wait: wait.longest_ns - wait.requested_ns)
            found = Evidence(
                what=f"{what} was too short",
                witness=worst.witness,
                requested_ns=worst.requested_ns,
                actual_ns=(worst.shortest_ns, worst.longest_ns),
                margin_ns=worst.longest_ns - worst.requested_ns,
                grade=GRADES[worst.witness],
                where=worst.where or f"bus at {worst.opened_ns} ns",
                count=len(short),
            )
            evidence.append(found)
    return evidence


def _not_judged(classes: list[str]) -> str:
    return f"could not be judged: {', '.join(classes)}"


def untried_counters(cell: Cell, artifacts: Artifacts) -> str:
    """Returns a note for the reason of a pass if its delays may run other code on another CPU.

    Such delays contain instructions that depend on the CPU's model.
    """
    functions = artifacts.delays.header.functions if artifacts.delays else []
    found = [counter for function in functions for counter in function.counters]
    if not found or COUNTER_HAZARD in cell.hazards:
        return ""
    names = ", ".join(dict.fromkeys(found))
    return f"; its delays ask the CPU ({names}): {COUNTER_HAZARD} shows what they do on others"


def disagreement(waits: SeenWaits) -> str:
    """Returns how bus and delay witness contradict each other; empty if they agree.

    If the bus saw a short wait of a release, but the delay itself was long enough, the rig is at
    fault: a gap on the bus contains the whole call.
    """
    if waits.doubts:
        return ""
    good_ns = {wait.requested_ns for wait in waits.delays if wait.is_judged and not wait.is_short}
    other_ns = {wait.requested_ns for wait in waits.delays} - good_ns
    other_ns |= {wait.requested_ns for wait in waits.delays if wait.is_short}
    short = (wait for wait in waits.bus.waits if wait.is_short)
    unlike = next((wait for wait in short if wait.requested_ns in good_ns - other_ns), None)
    if unlike is None:
        return ""
    return (
        f"the witnesses disagree: {unlike.what} was too short on the bus at {unlike.opened_ns} ns,"
        " but every delay call with the same request was long enough"
    )


def unjudged_delays(artifacts: Artifacts, waits: SeenWaits) -> list[str]:
    found = set(waits.doubts)
    if waits.has_clock_step:
        found.add(CLOCK_STEP)
    if artifacts.delays is not None and unsure_calls(artifacts.delays):
        found.add(UNSURE)
    return sorted(found)


def waits_gap(cell: Cell, artifacts: Artifacts, waits: SeenWaits) -> str:
    """Returns why the cell's waits were not judged; empty if they were, or need not be."""
    if cell.role is Role.FLOOR:
        return ""
    if artifacts.delays is not None and not waits.doubts:
        return ""
    if waits.bus.decides is not Bus.DESCRIBES and any(wait.is_judged for wait in waits.bus.waits):
        return ""
    if artifacts.delays is not None:
        return _not_judged(waits.doubts)
    if cell.programmer is Programmer.DUMMY or leaves_waits(artifacts.events):
        return ""
    if cell.lane in WATCHED_LANES:
        return NOTHING_JUDGED
    # Without a delay witness the bus saw all waits of the profile, if there were any.
    return NO_DELAYS_SEEN if waits.bus.profile is None else ""


def declared_classes(cell: Cell, profile: Profile | None) -> set[str]:
    """Returns the classes of waits that must be judged for a pass."""
    if profile is None or cell.is_forwarded or cell.programmer is Programmer.DUMMY:
        return set()
    return {wait.kind for wait in profile.wait if wait.always_judged}


def classify_waits(
    waits: list[ObservedWait], profile: Profile | None, events: list[Event]
) -> tuple[list[str], list[str]]:
    """Returns the classes whose waits were all judged, and those with an unjudged one.

    A class that must always be judged and did not occur is unjudged as well. The part's own busy
    times are unjudged if no later command showed whether the subject waited for them, if such a
    command was read too late to show it, or if the programmer waited instead of the subject.
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
    return min((wait.visible_short_ns for wait in waits if wait.kind in judged), default=None)
