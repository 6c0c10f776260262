# SPDX-License-Identifier: GPL-2.0-or-later
"""The hazards that act on a subject while it runs. One module a topic, one class a hazard.

A cell has a set of them, written `NAME` or `NAME:VALUE` and joined by `+`. CONTRIBUTING.md tells
how to add one.
"""

import re
from functools import cache

from delayrig.base.errors import BadInputError, UnknownNameError
from delayrig.hazards.busy_siblings import BusySiblings
from delayrig.hazards.cores import Hotplug, Migrate, Move
from delayrig.hazards.hazard import Hazard
from delayrig.hazards.kernel import Clocksource, Cpu, LowResTimers, NoNohz, OtherKernel, PreemptRt
from delayrig.hazards.library_client import InLibrary, LongWaits, ShortWaits, Signals, Threads
from delayrig.hazards.link import Fault, Link, PowerCut
from delayrig.hazards.load import Hogs, HogsEach, MemoryPressure, StopCont
from delayrig.hazards.scarcity import Few, NoRt, Refused, RtThrottle, Uptime
from delayrig.hazards.speed import Frequency, FrequencySteps, Governor, Smt, SpeedHazard, Steal
from delayrig.hazards.start_state import Starts
from delayrig.hazards.unverified import Unverified
from delayrig.hazards.wall_clock import LeapSecond, WallClockStep
from delayrig.model.lane import LaneName

KINDS: tuple[type[Hazard], ...] = (
    *(Cpu, PreemptRt, OtherKernel, Clocksource, NoNohz, LowResTimers, BusySiblings),
    *(InLibrary, Signals, Threads, ShortWaits, LongWaits),
    *(StopCont, Migrate, Move, Frequency, FrequencySteps, Governor, Smt, Steal, Hotplug),
    *(HogsEach, Hogs, MemoryPressure, NoRt, RtThrottle, Refused, Few, Uptime),
    *(WallClockStep, LeapSecond, Link, Fault, PowerCut, Starts, Unverified),
)
"""All hazards, in the order in which ids list them."""
NONE = "none"


@cache
def hazard_of(word: str) -> Hazard:
    """Returns the hazard of that word; raises `BadInputError` with the right form as its hint."""
    name, colon, value = word.partition(":")
    by_name = {kind.name: kind for kind in KINDS}
    kind = by_name.get(name)
    if kind is None:
        raise UnknownNameError(f"unknown hazard {word!r}", name, [NONE, *by_name], what="hazards")
    try:
        if colon and not value:
            raise ValueError(word)
        return kind(value)
    except ValueError:
        hint = f"it is written {written(kind)}: {kind.legend or kind.about}"
        raise BadInputError(f"hazard {word!r}", hint=hint) from None


def written(kind: type[Hazard]) -> str:
    """Returns the form in which a plan names the hazard, such as `hogs:N`."""
    if kind.form.startswith("["):
        return f"{kind.name}[:{kind.form[1:]}"
    return f"{kind.name}:{kind.form}" if kind.form else kind.name


def split_words(text: str) -> list[str]:
    """Returns the words that `+` joins. A `+` before a digit is the sign of a value."""
    return re.split(r"\+(?![0-9])", text)


def parse_hazards(text: str) -> tuple[str, ...]:
    """Returns the words of a set such as `low-res-timers+busy-siblings`, or of `none`, in order.

    Raises `BadInputError` for an unknown hazard, or for two that exclude each other.
    """
    words = [] if text == NONE else split_words(text)
    return ordered_hazards(words)


def ordered_hazards(words: list[str]) -> tuple[str, ...]:
    """Returns each word once, in the order of `KINDS`; raises as `parse_hazards` does."""
    kinds = {word: type(hazard_of(word)) for word in words}
    for kind in KINDS:
        if not kind.repeatable:
            _check_alone([word for word in kinds if kinds[word] is kind], "leave one of them out")
    kernels = [word for word in kinds if hazard_of(word).kernel]
    _check_alone(kernels, "a guest has one kernel: leave one of them out")
    speeds = [word for word in kinds if issubclass(kinds[word], SpeedHazard)]
    if any(kinds[word] is Governor for word in speeds):
        _check_alone(speeds, "a governor alone decides on speeds: leave it out, or the others")
    return tuple(sorted(kinds, key=lambda word: (KINDS.index(kinds[word]), word)))


def _check_alone(words: list[str], hint: str) -> None:
    if len(words) > 1:
        raise BadInputError(f"hazards {' and '.join(words)} exclude each other", hint=hint)


def refusal_on(lane: LaneName, words: tuple[str, ...]) -> str:
    """Returns why that lane cannot make all of them; empty if it can."""
    for word in words:
        lanes = hazard_of(word).lanes
        if lane not in lanes:
            return f"{word} is a hazard of the {' and '.join(lanes)} lane alone"
    return ""


def cores_needed(words: tuple[str, ...]) -> int:
    return max((hazard_of(word).cores_min for word in words), default=1)
