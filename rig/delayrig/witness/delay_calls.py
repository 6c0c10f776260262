# SPDX-License-Identifier: GPL-2.0-or-later
"""Witness 3 for the waits that our host program asks for itself: requested against actual.

Each call is timed by the raw counter and, around that, by the kernel's CLOCK_MONOTONIC. Over an
hour the two differ by more than a wait is late: by 4 ms at 1 ppm, which is the guest's doing. So
a wait is too short only where it was by both. It is good where it was long enough by the clock
that delays go by, as far as that clock keeps the rate that the agent measured; else by both.
"""

from delayrig.events import Event, of_kind
from delayrig.witness.clock_error import ClockError, clock_error
from delayrig.witness.evidence import Evidence, ObservedWait, Witness

DELAY_CALL = "delay-call"
SHORT_DELAY_CALL = "delay-call-under-1-ms"
"""Classes of these waits: on a slow guest a call alone takes as long as the shortest of them."""
SHORT_NS = 1_000_000


def observe_calls(events: list[Event]) -> list[ObservedWait]:
    """Every call, in its order."""
    calls = of_kind(events, "delay_call")
    reading_ns = max(min((_apart_ns(call) for call in calls), default=0), 0)
    error = clock_error(events)
    return [_observed(call, reading_ns, error) for call in calls]


def _apart_ns(call: Event) -> int:
    """By how much more the kernel's clock went, the time it takes to read the other included."""
    return int(call["monotonic_ns"]) - int(call["actual_ns"])


def _observed(call: Event, reading_ns: int, error: ClockError) -> ObservedWait:
    requested_ns = int(call["requested_ns"])
    actual_ns, monotonic_ns = int(call["actual_ns"]), int(call["monotonic_ns"])
    shortest_ns = monotonic_ns - reading_ns
    if abs(shortest_ns - actual_ns) > error.of_wait_ns(actual_ns):
        shortest_ns = min(shortest_ns, actual_ns)
    return ObservedWait(
        kind=SHORT_DELAY_CALL if requested_ns < SHORT_NS else DELAY_CALL,
        what=f"a delay of {requested_ns // 1000} us",
        requested_ns=requested_ns,
        shortest_ns=max(shortest_ns, 0),
        longest_ns=max(actual_ns, monotonic_ns),
        opened_ns=int(call["t_ns"]),
    )


def convict_calls(waits: list[ObservedWait]) -> list[Evidence]:
    """Each that was too short, the worst first."""
    short = [wait for wait in waits if wait.is_short]
    return [_evidence(wait) for wait in sorted(short, key=_margin_ns)]


def _margin_ns(wait: ObservedWait) -> int:
    return wait.longest_ns - wait.requested_ns


def _evidence(wait: ObservedWait) -> Evidence:
    return Evidence(
        what=f"{wait.what} was too short",
        witness=Witness.DELAY,
        requested_ns=wait.requested_ns,
        actual_ns=(wait.shortest_ns, wait.longest_ns),
        margin_ns=_margin_ns(wait),
        grade="exact",
        where=f"called at {wait.opened_ns} ns",
    )
