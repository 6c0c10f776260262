# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds functions that wait for as long as an argument says."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from delayrig.subjects.finder.calls import Call, CallGraph
from delayrig.subjects.finder.flow import Flow, Handed, read_flow
from delayrig.subjects.finder.program import Function
from delayrig.subjects.finder.state import (
    ARGUMENT,
    BEFORE,
    BETWEEN,
    MEMORY,
    SCALED,
    Value,
    arguments_in,
    constant,
    factors,
    has_clock,
    is_capped,
)

SLEEPERS = {
    "nanosleep": 0,
    "clock_nanosleep": 2,
    "usleep": 0,
    "sleep": 0,
    "thrd_sleep": 0,
    "poll": 2,
    "ppoll": 2,
    "select": 4,
    "pselect": 4,
}
"""The sleeping functions, and the number of the argument with the time."""
NOTHING_WATCHED = {"poll": 1, "ppoll": 1, "select": 0, "pselect": 0}
"""The number of the argument that is 0 if the function only waits for time."""
CLOCKS = ("gettimeofday", "clock_gettime", "clock_getres", "time", "times", "clock", "timespec_get")
UNITS_NS = {"usleep": 1000, "poll": 1_000_000, "sleep": 1_000_000_000}
"""The units of sleeping functions that take a number."""
PART_NS = {"select": 1000}
"""The unit of the fraction in a struct of seconds and a fraction, if it is not nanoseconds."""
TO_NS = (1, 1000, 1_000_000)
"""The factors that turn a fraction of a second into nanoseconds."""
ABSOLUTE = 1
"""The flag TIMER_ABSTIME of clock_nanosleep()."""
HELPERS_SIZE_MAX = 1500
LEAF_SIZE_MAX = 400
DEPTH_MAX = 6
HARMLESS = (
    *SLEEPERS,
    *CLOCKS,
    *("errno_location", "prctl", "sched_yield", "abort", "stack_chk_fail", "exit"),
    *("printf", "fprintf", "vfprintf", "perror", "puts", "tls_get_addr", "memset", "memcpy"),
)
"""Functions of other files that a delay may call and still be only a delay."""


@dataclass(slots=True)
class Wait:
    """How one function waits for one of its arguments."""

    function: Function
    argument: int
    sleeps: bool = False
    polls: bool = False
    """True if it compares the time with a clock repeatedly."""
    counts: bool = False
    """True if it counts a loop up to the time multiplied by a variable."""
    forwards: dict[int, bool] = field(default_factory=dict)
    """The functions that it passes the time to; True if the time is unchanged."""
    since_before: bool = False
    """True if it waits from a start that it did not read from a clock itself."""
    is_capped: bool = False
    """True if it may wait for a constant of the code instead."""
    unit_ns: int = 0
    """The unit of an argument that is passed unchanged; 0 if unknown."""
    part_factors: set[int] = field(default_factory=set)
    """The factors by which the code multiplies the argument to get nanoseconds."""

    @property
    def counts_ns(self) -> int:
        """Returns the unit of its argument, if the code shows it, else 0."""
        units = [factor for factor in sorted(self.part_factors) if factor in TO_NS]
        return self.unit_ns or (units[0] if len(units) == 1 else 0)

    @property
    def is_own(self) -> bool:
        """Returns True if it waits itself, at least in part."""
        return self.sleeps or self.polls or self.counts

    @property
    def only_counts(self) -> bool:
        """Returns True if it only counts a loop."""
        return self.counts and not (self.sleeps or self.polls or self.forwards)


class Waits:
    """The waits of one program, cached by function."""

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self._flows: dict[int, Flow | None] = {}
        # The keys include the remaining depth, because a deeper search may find more.
        self._waits: dict[tuple[int, int, int], Wait | None] = {}
        self._clocks: dict[tuple[int, int], bool] = {}

    def flow(self, function: Function) -> Flow | None:
        if function.address not in self._flows:
            # The entry is None during the reading, in case the function calls itself.
            self._flows[function.address] = None
            self._flows[function.address] = read_flow(self.graph, function, self)
        return self._flows[function.address]

    def reads_clock(self, call: Call, depth: int = 3) -> bool:
        """Returns True if the called function reads a clock.

        A large function of this file counts as one that does not.
        """
        if call.name:
            return call.name in CLOCKS
        return call.target is not None and self.tells_time(call.target, depth)

    def tells_time(self, address: int, depth: int = 3) -> bool:
        """Returns True if the function there reads a clock, itself or through a few others."""
        key = (address, depth)
        if key not in self._clocks:
            function = self.graph.function_at(address)
            is_helper = function is not None and function.size <= HELPERS_SIZE_MAX and depth > 0
            calls = self.graph.by_caller.get(address, ()) if is_helper else ()
            self._clocks[key] = any(self.reads_clock(call, depth - 1) for call in calls)
        return self._clocks[key]

    def reads(self, call: Call) -> Iterable[int]:
        """Returns the arguments that a small function of this file uses; none for others."""
        function = None if call.target is None else self.graph.function_at(call.target)
        if function is None or function.size > LEAF_SIZE_MAX:
            return ()
        flow = self.flow(function)
        return flow.read if flow else ()

    def wait(self, function: Function, argument: int, depth: int = DEPTH_MAX) -> Wait | None:
        """Returns how it waits for that argument; None if it does not."""
        key = (function.address, argument, depth)
        if key not in self._waits:
            found = self._read_wait(function, argument, depth) if depth else None
            self._waits[key] = found if found and (found.is_own or found.forwards) else None
        return self._waits[key]

    def _read_wait(self, function: Function, argument: int, depth: int) -> Wait | None:
        flow = self.flow(function)
        if flow is None or argument in flow.pointers:
            return None
        found = Wait(function, argument)
        for handed in flow.handed:
            call = handed.call
            if call and call.name in SLEEPERS:
                _note_sleep(found, handed, call.name, flow)
            elif call and call.target is not None and call.target != function.address:
                self._note_forward(found, handed, call.target, depth, flow)
        found.polls = argument in flow.met_clock and any(
            each.again and each.call and self.reads_clock(each.call) for each in flow.handed
        )
        if found.polls:
            found.since_before |= argument not in flow.met_since
            found.is_capped |= argument in flow.met_capped
        found.since_before |= argument in flow.met_before
        found.counts = argument in flow.counted
        return found

    def _note_forward(
        self, found: Wait, handed: Handed, target: int, depth: int, flow: Flow
    ) -> None:
        """Notes a call that passes the argument on to a function that waits for it."""
        function = self.graph.function_at(target)
        for index, value in enumerate(handed.arguments):
            if function is None or found.argument not in arguments_in(value):
                continue
            inner = self.wait(function, index, depth - 1)
            is_scaled = (SCALED, found.argument) in value
            if inner is None and is_scaled and self.spins(function, index):
                inner = Wait(function, index, counts=True)
            if inner is not None:
                same = (ARGUMENT, found.argument) in value
                found.forwards[target] = same or found.forwards.get(target, False)
                is_since = inner.since_before and not has_clock(value)
                found.since_before |= is_since or (not inner.since_before and _is_rest(value))
                found.is_capped |= inner.is_capped or _is_cap(value, handed, found, flow)
                if same:
                    found.unit_ns = found.unit_ns or inner.unit_ns
                    found.part_factors |= inner.part_factors

    def spins(self, function: Function, index: int) -> bool:
        """Returns True if it counts a loop up to the argument and does nothing else."""
        flow = self.flow(function)
        if flow is None or index in flow.pointers or not flow.loops:
            return False
        if any(each.call is None or not self.finds_place(each.call) for each in flow.handed):
            return False
        return index in flow.read and not any(loop.touches_memory for loop in flow.loops)

    def finds_place(self, call: Call) -> bool:
        """Returns True for a helper of i386's position-independent code that finds its address."""
        code = b"" if call.target is None else self.graph.program.code(call.target, 4)
        loads_return_address = code[:1] == b"\x8b" and code[2:] == b"\x24\xc3"
        return loads_return_address and self.graph.program.isa.machine == "EM_386"


def _is_rest(value: Value) -> bool:
    """Returns True if it is a remaining time whose start this function did not read itself."""
    return (BEFORE, 0) in value or (has_clock(value) and (BETWEEN, 0) not in value)


def _is_cap(value: Value, handed: Handed, found: Wait, flow: Flow) -> bool:
    """Returns True if a constant of the code may cap the whole wait.

    If the loop of this call also compares the argument, the constant is only the length of a part.
    """
    loops = (each.addresses for each in flow.loops if handed.address in each.addresses)
    compared = {at for at, arguments in flow.looked_at.items() if found.argument in arguments}
    return is_capped(value) and not any(compared & addresses for addresses in loops)


def _note_sleep(found: Wait, handed: Handed, name: str, flow: Flow) -> None:
    watched = NOTHING_WATCHED.get(name)
    if watched is not None and constant(handed.arguments[watched]) != 0:
        return
    place = SLEEPERS[name]
    # An argument that is no number points to a time, which must be made from `found.argument`.
    time = handed.arguments[place] if name in UNITS_NS else handed.behind[place]
    # Without a clock reading, the argument of a sleep until an absolute time is that time.
    is_absolute = sleeps_until(handed) and not (has_clock(time) or (MEMORY, 0) in time)
    if found.argument not in arguments_in(time) or is_absolute:
        return
    found.sleeps = True
    is_since = (BEFORE, 0) in time or not has_clock(time)
    found.since_before |= is_since if sleeps_until(handed) else _is_rest(time)
    found.is_capped |= _is_cap(time | handed.parts[place], handed, found, flow)
    if (ARGUMENT, found.argument) in handed.arguments[place]:
        found.unit_ns = UNITS_NS.get(name, 0)
    made = factors(handed.parts[place], found.argument)
    found.part_factors |= {PART_NS.get(name, 1) * factor for factor in made}


def sleeps_until(handed: Handed) -> bool:
    """Returns True if it is a sleep until an absolute time."""
    is_sleep = handed.call is not None and handed.call.name == "clock_nanosleep"
    return is_sleep and constant(handed.arguments[1]) == ABSOLUTE
