# SPDX-License-Identifier: GPL-2.0-or-later
"""The findings from the code of one file, stored by its digest because reading takes seconds.

They are delay functions, and direct waits: inlined delays, or sleeps of a programmer's own code.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import msgspec

from delayrig.base import digest
from delayrig.subjects.finder.calls import Call
from delayrig.subjects.finder.candidates import Candidates, Extent
from delayrig.subjects.finder.isa import CALL, JUMP
from delayrig.subjects.finder.program import is_read
from delayrig.subjects.finder.waits import CLOCKS, NOTHING_WATCHED, PART_NS, SLEEPERS, UNITS_NS
from delayrig.subjects.seal import stored

READING = 12
"""Raise this number when reading changes, so that files are read again."""
POLLED = "the loop that reads this clock does not show how long it is to wait"
MAY_END_EARLY = "it also waits for files, and may end when one is ready"
CONDITIONAL = "a conditional jump leads to it"


class DirectWait(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a sleeping function, or of a clock that is read in a loop."""

    called: str
    """The C library's function, such as nanosleep."""
    site: int
    function: int
    argument: int
    """The number of the argument with the time; -1 for a clock."""
    asks: int | None = None
    """The value of that argument, if it is a constant."""
    unit_ns: int = 1
    """The unit of that constant; 1 if the argument points to a time."""
    seconds_bytes: int = 0
    """The size of the seconds in the time that the argument points to; 0 if it is a number."""
    part_bytes: int = 0
    """The size of the fraction of a second after them."""
    part_ns: int = 1
    """The unit of that fraction."""
    is_jump: bool = False
    """True if it is a tail call, which returns to the caller of its function."""
    return_sites: tuple[int, ...] = ()
    """The known return addresses of the call."""
    why_not: str = ""
    """Why it cannot be judged; empty if it can."""


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    found: tuple[Extent, ...]
    named: tuple[Extent, ...]
    """The known functions, in the order of the argument `named`."""
    direct: tuple[DirectWait, ...]
    """The waits outside of the functions that are delays without doubt."""


@cache
def read_findings(part: Path, named: tuple[int, ...] = (), kept: Path | None = None) -> Findings:
    """Returns the findings. `named` are known functions; `kept` is a folder that stores results."""
    key = digest.of_value(["findings", READING, digest.of_file(part), named])[:24]
    return stored(kept, key, lambda: find_in(part.read_bytes(), named), Findings)


def find_in(content: bytes, named: Iterable[int] = ()) -> Findings:
    """Returns the findings; only the known functions if the finder cannot read the code."""
    if not is_read(content):
        return Findings(found=(), named=tuple(map(_unread, named)), direct=())
    candidates = Candidates(content)
    found = tuple(candidates.found())
    known = tuple(map(candidates.facts_of, named))
    # Sleeps in a doubtful delay function are direct waits, judged if it is not confirmed.
    watched = [each.address for each in (*found, *known) if not each.doubt]
    return Findings(found=found, named=known, direct=tuple(_direct_waits(candidates, watched)))


def _unread(address: int) -> Extent:
    """Returns a known function without facts from its code: where it returns is unknown."""
    return Extent(address=address, size=0, returns=(), return_sites=(), leaves=True)


def _direct_waits(candidates: Candidates, watched: Sequence[int]) -> Iterator[DirectWait]:
    """Yields the waits outside of the `watched` functions and of helpers that only they call."""
    covered = _covered(candidates, watched)
    for call in candidates.graph.calls:
        if call.caller in covered or not candidates.is_used(call.caller):
            continue
        if call.name in SLEEPERS:
            yield _sleep(candidates, call)
        elif call.name in CLOCKS and candidates.is_polled(call):
            at, caller = call.step.address, call.caller
            yield DirectWait(
                called=call.name, site=at, function=caller, argument=-1, why_not=POLLED
            )


def _sleep(candidates: Candidates, call: Call) -> DirectWait:
    graph, argument = candidates.graph, SLEEPERS[call.name]
    is_number = call.name in UNITS_NS
    word = 8 if call.is_wide else candidates.program.isa.word_bytes
    why_not = "" if call.step.kind in (CALL, JUMP) else CONDITIONAL
    watched = NOTHING_WATCHED.get(call.name)
    if watched is not None and candidates.constant_before(call, watched) != 0:
        why_not = MAY_END_EARLY
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
        return_sites=(call.step.end,) if call.returns_here else graph.return_sites(call.caller),
        why_not=why_not,
    )


def _covered(candidates: Candidates, watched: Sequence[int]) -> set[int]:
    """Returns the delay functions with their helpers, except helpers that others call as well."""
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
