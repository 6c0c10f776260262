# SPDX-License-Identifier: GPL-2.0-or-later
"""Witness 1, the chip: commands that came before the part was ready for them."""

from collections.abc import Iterator

import msgspec

from delayrig.base.durations import rounded
from delayrig.base.errors import LostGuestError
from delayrig.judge.bus import wake_bound_ns
from delayrig.judge.clock_error import ClockError, clock_error
from delayrig.model.events import Event, Transaction, first, transactions
from delayrig.model.evidence import Evidence, Witness
from delayrig.model.kinds.agent import SubjectEnd
from delayrig.model.kinds.emulator import Busy, Cycle, PowerLost, Spi, Start, StateBegins

# The rules about commands that came too early. Other broken rules are reported, but they are not
# short waits. For example, a cycle breaks the rule `window` if it comes too late.
RULES_OF_TIME = ("busy", "tres", "tdp", "reset", "tsus", "tvsl", "tpuw", "tida")
LEFT_BUSY = "left-busy"
"""The rule that a subject breaks if it reports success before the part is ready."""
CHANGES = ("erase", "program", "write_status")
"""The kinds of work that a loss of power may spoil."""
RULES_OF_POWER = ("tvsl", "tpuw")
WITHIN_CLOCK_ERROR = "clock"
"""The grade of a margin that is smaller than the error of the clock."""
DOUBTFUL_FIGURES = ("assumed",)
DOUBTFUL_GRADES = (*DOUBTFUL_FIGURES, WITHIN_CLOCK_ERROR)
TOO_LONG_MAX = 64
"""The largest factor by which a doubtful figure of our tables may exceed the true time.

The largest ratio of a longest to a typical time in our sources is 24 (MT25QL128ABA, a page).
"""
ANY_FIGURE = "any-figure"
"""The grade of a command that came too early whatever the true figure is."""


def convict_commands(events: list[Event]) -> list[Evidence]:
    """Returns the worst early command per rule, opcode and grade, with their number."""
    groups: dict[tuple[str | None, str | None, str], list[Evidence]] = {}
    for event, found in _early_commands(events):
        groups.setdefault((event.violation, event.op, found.grade), []).append(found)
    return [
        msgspec.structs.replace(min(same, key=lambda early: early.margin_ns or 0), count=len(same))
        for same in groups.values()
    ]


def _early_commands(events: list[Event]) -> Iterator[tuple[Transaction, Evidence]]:
    """Yields each command that came too early, with the evidence.

    A wait for the end of a busy time is as long as that. A wait after power-up began at power-up.
    Any other wait began with the last transaction that was not too early.
    """
    error = clock_error(events)
    busy_ns = opened_ns = powered_ns = 0
    for event in events:
        if isinstance(event, Busy):
            busy_ns = event.nominal_ns
        elif isinstance(event, StateBegins):
            opened_ns = powered_ns = event.t_ns
        elif isinstance(event, (Spi, Cycle)):
            since_power = powered_ns > 0 and event.violation in RULES_OF_POWER
            early = _early(event, busy_ns, powered_ns if since_power else opened_ns, error)
            if early is None:
                opened_ns = event.read_ns
            else:
                yield event, early


def _early(event: Transaction, busy_ns: int, opened_ns: int, error: ClockError) -> Evidence | None:
    """Returns the evidence of an early command; None if it broke no rule of time."""
    if event.violation not in RULES_OF_TIME:
        return None
    if event.margin_ns is None or event.grade is None:
        raise LostGuestError(
            f"a command at {event.read_ns} ns came too early, without margin or grade"
        )
    short_ns = -event.margin_ns
    wait_ns = busy_ns if event.violation == "busy" else event.read_ns - opened_ns + short_ns
    # A read of a part that is not on an SPI bus has no opcode.
    command = event.name if event.op is None else f"{event.name} ({event.op})"
    early = rounded(short_ns)
    return Evidence(
        what=f"{command} came {early} before the part was ready (rule {event.violation})",
        witness=Witness.CHIP,
        requested_ns=None,
        actual_ns=None,
        margin_ns=event.margin_ns,
        grade=_grade(event.grade, short_ns, wait_ns, error),
        where=f"bus at {event.read_ns} ns",
        rule=event.violation,
        command=command,
    )


def _grade(figure: str, short_ns: int, wait_ns: int, error: ClockError) -> str:
    """Returns the grade of the evidence, which is that of the part's figure except in two cases.

    It is `WITHIN_CLOCK_ERROR` if the error of the clock may explain the evidence, and `ANY_FIGURE`
    if the figure is doubtful, but the command came too early for any true one.
    """
    if short_ns < error.of_wait_ns(wait_ns):
        return WITHIN_CLOCK_ERROR
    is_beyond = 0 <= (wait_ns - short_ns) * TOO_LONG_MAX < wait_ns
    return ANY_FIGURE if figure in DOUBTFUL_FIGURES and is_beyond else figure


def convict_end(events: list[Event]) -> list[Evidence]:
    """Returns the evidence if the subject reports success while the part still changes its data.

    A user who then cuts the power, as after an update, loses the data.
    """
    ended, work = first(events, SubjectEnd), first(reversed(events), Busy)
    if ended is None or work is None or first(events, PowerLost) is not None:
        return []
    short_ns = work.until_ns - ended.t_ns
    if not ended.is_success or short_ns <= 0 or work.kind not in CHANGES:
        return []
    early = rounded(short_ns)
    what = f"the subject ended {early} before the part was ready (rule {LEFT_BUSY})"
    return [
        Evidence(
            what=what,
            witness=Witness.CHIP,
            requested_ns=None,
            actual_ns=None,
            margin_ns=-short_ns,
            grade=_grade(work.grade, short_ns, work.nominal_ns, clock_error(events)),
            where=f"end of the subject at {ended.t_ns} ns",
            rule=LEFT_BUSY,
            command=f"the end, during {work.kind} ({work.op}),",
        )
    ]


def margins_ns(events: list[Event]) -> list[int]:
    """Returns the margin of each wait that the part needed, negative if it was too short."""
    return [
        event.margin_ns
        for event in transactions(events)
        if event.margin_ns is not None and event.violation in (None, *RULES_OF_TIME)
    ]


def may_hide_an_early_one(events: list[Event]) -> bool:
    """Returns True if a command that was in time when it was read may have arrived too early.

    If the emulator reads a command late, the wait before it seems longer than it was.
    """
    wake_ns = wake_bound_ns(first(events, Start))
    return any(
        0 <= event.margin_ns < _read_late_ns(event, wake_ns)
        for event in transactions(events)
        if event.margin_ns is not None and event.violation is None
    )


def _read_late_ns(event: Transaction, wake_ns: int | None) -> int:
    late_ns = event.read_ns - event.empty_ns
    return late_ns if wake_ns is None else min(late_ns, wake_ns)


def doubt_of(item: Evidence) -> str:
    """Returns why evidence of a doubtful grade does not convict the subject."""
    if item.grade == WITHIN_CLOCK_ERROR:
        return "less than the error of the clock"
    return f"rests on {item.grade} figures alone"


def broken_rules(events: list[Event]) -> list[str]:
    return sorted(
        {
            event.violation
            for event in transactions(events)
            if event.violation and event.violation not in RULES_OF_TIME
        }
    )
