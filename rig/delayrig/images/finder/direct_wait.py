# SPDX-License-Identifier: GPL-2.0-or-later
"""Waits that go past the delay functions: inlined, or made by a programmer's own code."""

from collections.abc import Iterator, Sequence

import msgspec

from delayrig.images.finder.calls import Call
from delayrig.images.finder.candidates import Candidates
from delayrig.images.finder.isa import CALL, JUMP
from delayrig.images.finder.waits import CLOCKS, NOTHING_WATCHED, PART_NS, SLEEPERS, UNITS_NS

POLLED = "a clock that is read in a loop does not say how long the loop is to last"
MAY_END_EARLY = "it also waits for files, and may end when one is ready"
CONDITIONAL = "a conditional jump leads to it"


class DirectWait(msgspec.Struct, frozen=True, kw_only=True):
    """One call of what sleeps, or of a clock that is read in a loop."""

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
    unit_ns: int = 1
    """Of that number; 1 where the argument points to a time."""
    seconds_bytes: int = 0
    """Of the seconds that the argument points to; 0 where it is a number."""
    part_bytes: int = 0
    """Of the part of a second behind them."""
    part_ns: int = 1
    """Of one unit of that part."""
    is_jump: bool = False
    """It ends its function: the call returns to that one's caller."""
    return_sites: tuple[int, ...] = ()
    """Where the call is known to return to."""
    why_not: str = ""
    """Why it cannot be judged; empty where it can."""


def direct_waits(candidates: Candidates, watched: Sequence[int]) -> Iterator[DirectWait]:
    """Those in no function that is `watched`, nor in one that only these call, by address."""
    covered = _covered(candidates, watched)
    for call in candidates.graph.calls:
        if call.caller not in covered and candidates.is_used(call.caller):
            yield from _of_call(candidates, call)


def _of_call(candidates: Candidates, call: Call) -> Iterator[DirectWait]:
    if call.name in SLEEPERS:
        yield _sleep(candidates, call)
    elif (
        call.name in CLOCKS
        and candidates.is_repeated(call)
        and not candidates.is_around_a_moment(call)
    ):
        yield DirectWait(
            called=call.name,
            site=call.step.address,
            function=call.caller,
            argument=-1,
            why_not=POLLED,
        )


def _sleep(candidates: Candidates, call: Call) -> DirectWait:
    argument = SLEEPERS[call.name]
    is_number = call.name in UNITS_NS
    word = 8 if call.is_wide else candidates.program.isa.word_bytes
    return DirectWait(
        called=call.name,
        site=call.step.address,
        function=call.caller,
        argument=argument,
        asks=candidates.constant_before(call, argument),
        unit_ns=UNITS_NS.get(call.name, 1),
        seconds_bytes=0 if is_number else word,
        part_bytes=0 if is_number else candidates.program.isa.word_bytes,
        part_ns=PART_NS.get(call.name, 1),
        is_jump=call.step.kind == JUMP,
        return_sites=_returns_to(candidates, call),
        why_not=_why_not(candidates, call),
    )


def _returns_to(candidates: Candidates, call: Call) -> tuple[int, ...]:
    if call.returns_here:
        return (call.step.end,)
    return candidates.graph.return_sites(call.caller)


def _why_not(candidates: Candidates, call: Call) -> str:
    watched = NOTHING_WATCHED.get(call.name)
    if watched is not None and candidates.constant_before(call, watched) != 0:
        return MAY_END_EARLY
    return "" if call.step.kind in (CALL, JUMP) else CONDITIONAL


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
