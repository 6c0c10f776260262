# SPDX-License-Identifier: GPL-2.0-or-later
"""Waits that go past the delay functions: inlined, or made by a programmer's own code."""

from collections.abc import Iterator, Sequence

import msgspec

from delayrig.witness.finder.calls import Call
from delayrig.witness.finder.candidates import Candidates
from delayrig.witness.finder.waits import CLOCKS, NOTHING_WATCHED, SLEEPERS


class DirectWait(msgspec.Struct, frozen=True, kw_only=True):
    """One call of what sleeps, or of a clock that is read in a loop.

    A call of what sleeps can be watched at its site: nanosleep() and clock_nanosleep() point to
    their time, the others are given a number. A clock that is polled says nothing of how long.
    """

    called: str
    """The C library's function, such as nanosleep."""
    site: int
    """The address of the call."""
    function: int
    """The address of the function that it is in."""
    argument: int
    """Which of the call's arguments says how long; -1 for a clock."""
    asks: int | None = None
    """What that argument is, where it is a number that the code shows."""


def direct_waits(candidates: Candidates, watched: Sequence[int]) -> Iterator[DirectWait]:
    """Those in no function that is `watched`, nor in one that only these call, by address."""
    covered = _covered(candidates, watched)
    for call in candidates.graph.calls:
        if call.caller not in covered and candidates.is_used(call.caller):
            yield from _of_call(candidates, call)


def _of_call(candidates: Candidates, call: Call) -> Iterator[DirectWait]:
    if call.name in SLEEPERS and _waits_for_time_alone(candidates, call):
        argument = SLEEPERS[call.name]
        asks = candidates.constant_before(call, argument)
        yield _direct(call, argument, asks)
    elif call.name in CLOCKS and candidates.is_repeated(call):
        yield _direct(call, -1, None)


def _direct(call: Call, argument: int, asks: int | None) -> DirectWait:
    return DirectWait(
        called=call.name, site=call.step.address, function=call.caller, argument=argument, asks=asks
    )


def _waits_for_time_alone(candidates: Candidates, call: Call) -> bool:
    """What also waits for a file may well end early."""
    watched = NOTHING_WATCHED.get(call.name)
    return watched is None or candidates.constant_before(call, watched) == 0


def _covered(candidates: Candidates, watched: Sequence[int]) -> set[int]:
    """Delay functions with all that they call to wait, but for what others call as well."""
    covered = set(watched)
    todo = list(watched)
    while todo:
        for call in candidates.graph.by_caller.get(todo.pop(), ()):
            if call.target is not None and call.target not in covered:
                callers = {each.caller for each in candidates.graph.by_target[call.target]}
                if callers <= covered and call.target not in candidates.graph.pointed_at:
                    covered.add(call.target)
                    todo.append(call.target)
    return covered
