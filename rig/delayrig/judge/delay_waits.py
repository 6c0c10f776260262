# SPDX-License-Identifier: GPL-2.0-or-later
"""Witness 2, the delay itself: compares requested and elapsed time of each delay call.

The times are those of QEMU's clock, from the function's first instruction to its return. The
observation costs the guest nothing. A correct delay may be early by the error of its own clock: the
rate error measured in the cell and one step of the clock, in real time also a jump of it.

In real time the host may hold up a guest's core. A loop that was calibrated while a core was held
up is too short later, and so is one that runs while the core catches up. The subject is not to
blame, so the longest possible duration of a call covers both.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import msgspec

from delayrig.base.durations import NS_PER_MS, NS_PER_US
from delayrig.judge.clock_error import CLOCK_STEPS_NS, ClockError, clock_error, clock_jump_ns
from delayrig.judge.left_time import LeftTime
from delayrig.judge.sleeps import observe_sleeps
from delayrig.model.delays import CALLERS_SHOWN, NO_LIMIT, DelayCall, Delays, End
from delayrig.model.events import Event, first
from delayrig.model.evidence import ObservedDelay
from delayrig.model.kinds.agent import Guest
from delayrig.model.kinds.pace import Pace
from delayrig.subjects.finder.candidates import CAPPED, SINCE_BEFORE
from delayrig.subjects.finder.confirm import EVEN_BY, LONG_NS, confirm

LOST = "delay (no room for some calls)"
NOT_SEEN_TO_END = "delay (some calls were not seen to end)"
NO_DELAYS = "delay (none was asked for)"
NONE_JUDGED = "delay (none could be judged)"
INTERRUPTED = "delay (some ended early, and the rest may have been waited elsewhere)"
UNREAD = "delay (what some sleeps asked for is not known)"
NO_FUNCTION = "delay (no delay function was found, and a clock is read in a loop)"
UNSURE = "delay (not sure which function it is)"
CLOCK_STEP = "delay (some ended early by less than a clock_step)"

DELAY_CLASS = "delay-from-"
CLASSES_US = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
"""The lengths at which classes of delays begin: 250 us belong to the class of 100 us."""
KEPT_PART = 0.98
CATCH_UP = 1.25
HELD_UP_PART_MAX = 0.99
"""`KEPT_PART` and `CATCH_UP` are limits of the CPU plugin: how well it holds a speed (trace.c), and
how fast a late core may catch up (struct pacer)."""


def class_of(requested_us: int) -> str:
    return f"{DELAY_CLASS}{max(us for us in CLASSES_US if us <= requested_us)}us"


def sure_calls(delays: Delays) -> list[DelayCall]:
    """Returns calls of functions that certainly delay, by identity or by their calls in this cell.

    Otherwise the meaning of their argument is a guess, which convicts no subject.
    """
    known_ns = _known_lengths_ns(delays)
    return [call for call in delays.calls if call.requested_ns <= known_ns[call.function]]


def unsure_calls(delays: Delays) -> list[DelayCall]:
    """Returns the calls that `sure_calls()` omits: their functions may not be delay functions.

    Calls for which other waits answer are omitted as well.
    """
    known_ns, left = _known_lengths_ns(delays), LeftTime(delays)
    unsure = [call for call in delays.calls if call.requested_ns > known_ns[call.function]]
    return [call for call in unsure if not left.is_explained(call)]


def _known_lengths_ns(delays: Delays) -> list[float]:
    """Returns for each function the longest request with which it certainly delays."""
    return [
        _known_up_to_ns(delays, number) if each.doubt else inf
        for number, each in enumerate(delays.header.functions)
    ]


def _known_up_to_ns(delays: Delays, function: int) -> float:
    """Returns the longest request with which a doubtful function certainly delays; -1: none.

    A function that may cap its waits (`CAPPED`) has no cap below the longest wait that it made in
    full. The calls of one that waits from a time before the call (`SINCE_BEFORE`) show nothing.
    """
    facts = delays.header.functions[function]
    calls = [
        (call.requested_ns, call.seen_ns)
        for call in delays.calls
        if call.function == function and call.seen_ns is not None
    ]
    if CAPPED in facts.doubt:
        whole = [asked_ns for asked_ns, seen_ns in calls if seen_ns >= asked_ns]
        return max(whole, default=-1)
    units = [(asked_ns // facts.unit_ns, seen_ns) for asked_ns, seen_ns in calls]
    return -1 if SINCE_BEFORE in facts.doubt or confirm(units, facts.unit_ns) else inf


def observe_calls_of(delays: Delays, events: list[Event]) -> list[ObservedDelay]:
    clock, left = _clock_of(events), LeftTime(delays)
    calls = judged_calls(delays)
    functions = [call for call in calls if not delays.function_of(call).direct]
    found = [
        _observed(call, delays, clock, is_left=left.may_be_left(call))
        for call in functions
        if call.requested_ns > 0 and call.seen_ns is not None
    ]
    sleeps = [call for call in calls if delays.function_of(call).direct]
    found += observe_sleeps(sleeps, lambda call: _observed(call, delays, clock), events)
    return sorted(found, key=lambda wait: wait.opened_ns)


def judged_calls(delays: Delays) -> list[DelayCall]:
    """Returns the calls to judge, without those for which others answer.

    A delay function may sleep in parts, and sleep the rest after an interruption. So only its own
    return shows whether it waited long enough, and its inner calls are omitted. If it may have left
    a part to others, its inner calls are judged as well.
    """
    left = LeftTime(delays)
    open_by_thread: dict[int, list[DelayCall]] = defaultdict(list)
    kept = []
    for call in sure_calls(delays):
        outer = [
            each
            for each in open_by_thread[call.thread]
            if each.end_ns is None or each.end_ns > call.t_ns
        ]
        is_left = left.may_be_left(call)
        if not any(_answers_for(each, call, delays) for each in outer) and not (
            is_left and left.is_explained(call)
        ):
            kept.append(call)
        is_whole = call.ended is not End.ABANDONED and not is_left
        if not delays.function_of(call).direct and is_whole:
            outer.append(call)
        open_by_thread[call.thread] = outer
    return kept


def _answers_for(outer: DelayCall, call: DelayCall, delays: Delays) -> bool:
    """Returns True if the outer call is judged instead of the inner one.

    This holds for every sleep in the outer call. It also holds for a call of another delay function
    that was too short and requested no more than the outer call.
    """
    if delays.function_of(call).direct:
        return True
    is_short = call.seen_ns is not None and call.seen_ns < call.requested_ns
    is_other = outer.function != call.function
    return is_short and is_other and outer.requested_ns >= call.requested_ns


def _outside(calls: Sequence[DelayCall], enclosing: Sequence[DelayCall]) -> list[DelayCall]:
    """Returns the calls that began outside of all `enclosing` calls of their thread."""
    begins: dict[int, list[int]] = defaultdict(list)
    ends: dict[int, list[float]] = defaultdict(list)
    for each in sorted(enclosing, key=lambda call: call.t_ns):
        latest = ends[each.thread][-1:] or [0.0]
        begins[each.thread].append(each.t_ns)
        ends[each.thread].append(max(*latest, inf if each.end_ns is None else each.end_ns))
    found = []
    for call in calls:
        begun = bisect_right(begins[call.thread], call.t_ns)
        # Compare with the latest end of all that had begun by then.
        if begun == 0 or ends[call.thread][begun - 1] <= call.t_ns:
            found.append(call)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clock:
    rate: ClockError
    step_ns: int
    jump_ns: int
    stretch: float
    """The longest possible duration, as a multiple of the observed one."""


def _clock_of(events: list[Event]) -> _Clock:
    guest = first(events, Guest)
    return _Clock(
        rate=clock_error(events),
        step_ns=CLOCK_STEPS_NS.get(guest.clocksource, 1) if guest else 1,
        jump_ns=clock_jump_ns(events),
        stretch=_stretch(first(events, Pace)),
    )


def _stretch(pace: Pace | None) -> float:
    """Returns 1 in virtual time, else a factor for loops calibrated and run at different speeds.

    If no window was behind, each of the two speeds is off by at most 2 %. Otherwise the calibration
    may lie in the slowest window, and the call may lie where the core catches up a quarter faster.
    """
    if pace is None:
        return 1.0
    if not pace.windows_behind:
        return 1 / KEPT_PART**2
    held_up = pace.short_ns_max / (pace.window_ms * NS_PER_MS)
    return CATCH_UP / (1 - min(held_up, HELD_UP_PART_MAX))


def _observed(
    call: DelayCall, delays: Delays, clock: _Clock, *, is_left: bool = False
) -> ObservedDelay:
    """Returns the call as a wait; it is open if it was short and `is_left`."""
    assert call.seen_ns is not None
    error_ns = clock.rate.of_wait_ns(call.requested_ns) - clock.rate.step_ns + clock.jump_ns
    function, late_ns = delays.function_of(call), delays.header.late_ns
    found = ObservedDelay(
        kind=class_of(max(call.requested_ns // NS_PER_US, 1)),
        what=f"a delay for {delays.call_site(call)}",
        requested_ns=call.requested_ns,
        shortest_ns=max(call.seen_ns - late_ns, 0),
        longest_ns=int(call.seen_ns * clock.stretch) + late_ns,
        stretch=clock.stretch,
        opened_ns=call.t_ns,
        clock_error_ns=error_ns,
        step_ns=clock.step_ns,
        has_returned=call.ended is End.RETURN or not function.setjmp,
        callers=tuple(delays.callers_of(call)[:CALLERS_SHOWN]),
        where=f"{function.name} at {call.t_ns} ns, thread {call.thread}, cpu {call.cpu_in} to"
        f" {call.cpu_out}: {' < '.join(delays.callers_of(call))}",
    )
    return msgspec.structs.replace(found, is_open=is_left and found.is_short)


def doubts_of(delays: Delays, waits: Sequence[ObservedDelay], *, must_wait: bool) -> list[str]:
    """Returns why not every delay of the subject was judged; each reason prevents a pass.

    `must_wait` is True if a subject without delays must have another way to wait.
    """
    unsure = unsure_calls(delays)
    calls = judged_calls(delays)
    asked = [call for call in calls if call.requested_ns > 0 or call.until_ns is not None]
    found = {
        LOST: delays.header.lost > 0,
        NOT_SEEN_TO_END: any(call.seen_ns is None for call in asked)
        or any(not wait.has_returned and wait.longest_ns < wait.requested_ns for wait in waits),
        NO_DELAYS: must_wait and not asked and not unsure,
        NONE_JUDGED: bool(waits) and not any(wait.is_judged for wait in waits),
        NO_FUNCTION: all(each.direct for each in delays.header.functions)
        and any(each.doubt for each in delays.header.functions),
        INTERRUPTED: any(wait.is_open for wait in waits),
        UNREAD: any(call.unread not in ("", NO_LIMIT) for call in calls),
        UNSURE: bool(unsure) and not _settled(asked, unsure),
    }
    return [doubt for doubt, holds in found.items() if holds]


def _settled(asked: Sequence[DelayCall], unsure: Sequence[DelayCall]) -> bool:
    """Returns True if the calls of unsure functions cannot hide a delay that was not judged.

    Either all of them lasted about as long as requested, and there are judged calls. Or most of
    them did not, so that they are no delays, and there are judged calls outside of them.
    """
    whole = [call for call in unsure if (call.seen_ns or 0) >= call.requested_ns]
    if len(whole) == len(unsure) and _are_near(whole, of=unsure):
        return bool(asked)
    return bool(_outside(asked, unsure)) and not _are_near(whole, of=unsure)


def _are_near(whole: Sequence[DelayCall], *, of: Sequence[DelayCall]) -> bool:
    """Returns True if at least half of the long calls lasted one to two times the requested time.

    Then the argument has no larger unit: interruptions only made the other calls longer.
    """
    long = [call for call in of if call.requested_ns >= LONG_NS]
    even = (call for call in whole if (call.seen_ns or 0) <= EVEN_BY * call.requested_ns)
    near = [call for call in even if call.requested_ns >= LONG_NS]
    return bool(long) and 2 * len(near) >= len(long)


def ended_within_step(waits: Sequence[ObservedDelay]) -> bool:
    return any(w.has_returned and not w.is_open and not w.is_judged for w in waits)
