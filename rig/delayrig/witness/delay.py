# SPDX-License-Identifier: GPL-2.0-or-later
"""Witness 3, the delay itself: each call of the subject's delay function, asked against given.

A call is seen from a probe on its entry to one on its return, so never too short: what it seems to
take is what it took, and what the probe cost in between. That cost is measured on a function which
returns at once; taken off, it leaves the shortest that the wait may have been. The first call of
a thread costs more, as the kernel prepares the process for probes, and is compared with such a one.
Interrupts are no part of that cost: as everywhere, what they take lengthens the delay.
"""

from dataclasses import replace

from delayrig.events import Event, first, of_kind
from delayrig.witness.clock_error import clock_error
from delayrig.witness.evidence import ObservedWait, Witness

NO_DELAYS = "delay (no call was seen)"
LOST = "delay (records were lost)"
NEVER_RETURNED = "delay (a call did not return)"
NONE_JUDGED = "delay (none could be judged)"
DELAY_DOUBTS = (LOST, NEVER_RETURNED, NO_DELAYS, NONE_JUDGED)
CALLERS_SHOWN = 5

DELAY_CLASS = "delay-from-"
CLASSES_US = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
"""Classes of waits begin at these lengths: 250 us are of the class of 100 us."""


def class_of(requested_us: int) -> str:
    """The class of a call that asks for that many microseconds, at least one."""
    return f"{DELAY_CLASS}{max(us for us in CLASSES_US if us <= requested_us)}us"


def observe_delays(events: list[Event]) -> list[ObservedWait]:
    """Every call that asked for anything and returned."""
    probe = first(events, "delay_probe")
    if probe is None:
        return []
    error = replace(clock_error(events), step_ns=probe["clock_step_ns"])
    known: set[int] = set()
    waits = []
    for call in of_kind(events, "delay"):
        cost_ns = probe["cost_ns" if call["tid"] in known else "first_cost_ns"]
        known.add(call["tid"])
        if call["end_ns"] is None or not call["requested_us"]:
            continue
        seen_ns = call["end_ns"] - call["t_ns"]
        waits.append(
            ObservedWait(
                kind=class_of(call["requested_us"]),
                what=f"a delay for {call_site(call)}",
                requested_ns=call["requested_us"] * 1000,
                shortest_ns=max(seen_ns - cost_ns, 0),
                longest_ns=seen_ns,
                opened_ns=call["t_ns"],
                clock_error_ns=error.of_wait_ns(call["requested_us"] * 1000),
                witness=Witness.DELAY,
                where=_where(call, str(probe["function"])),
            )
        )
    return waits


def call_site(call: Event) -> str:
    """Who asked for it: its callers, the nearest first."""
    return " < ".join(call["stack"][:CALLERS_SHOWN]) or "an unknown caller"


def _where(call: Event, function: str) -> str:
    callers = " < ".join(call["stack"])
    return f"{function} at {call['t_ns']} ns, cpu {call['cpu_in']} to {call['cpu_out']}: {callers}"


def delay_doubts(events: list[Event], judged: list[str]) -> list[str]:
    """Why not every delay of the subject was seen; what keeps it from a pass."""
    probe = first(events, "delay_probe") or {"lost": 0}
    calls = of_kind(events, "delay")
    waited = any(call["requested_us"] for call in calls)
    doubts = {
        LOST: probe["lost"] > 0,
        NEVER_RETURNED: any(call["end_ns"] is None for call in calls),
        NO_DELAYS: not waited,
        NONE_JUDGED: waited and not any(kind.startswith(DELAY_CLASS) for kind in judged),
    }
    return [doubt for doubt, holds in doubts.items() if holds]
