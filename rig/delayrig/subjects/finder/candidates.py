# SPDX-License-Identifier: GPL-2.0-or-later
"""Decides which waiting functions are delay functions: they take a time and nothing else."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import product, takewhile

import msgspec

from delayrig.base.durations import NS_PER_US
from delayrig.subjects.finder.calls import Call, CallGraph
from delayrig.subjects.finder.flow import Flow
from delayrig.subjects.finder.isa import BRANCH, OTHER, Instruction, Place, read_instructions
from delayrig.subjects.finder.program import Function, Program
from delayrig.subjects.finder.system_calls import name_system_calls
from delayrig.subjects.finder.waits import (
    CLOCKS,
    HARMLESS,
    HELPERS_SIZE_MAX,
    SLEEPERS,
    Wait,
    Waits,
    sleeps_until,
)

ARGUMENTS_LOOKED_AT = 3
SPIN_SIZE_MAX = 256
AROUND_SIZE_MAX = 320
LOOK_AHEAD_BYTES = 48
COUNTERS = ("rdtsc", "rdtscp", "cpuid")
"""Instructions whose result depends on the model of the CPU."""
# Runs record these doubts, and the judge looks for these words in them: keep the words.
SINCE_BEFORE = "it waits since a moment before the call"
CAPPED = "it may wait for no more than a number of its own"
NO_UNIT = "the unit of its argument is unknown"
COUNTS = "it neither sleeps nor reads a clock: it counts a loop"
STORES_TIME = "it stores a time for later"


class Extent(msgspec.Struct, frozen=True, kw_only=True):
    """One function: where it returns, and the times that its callers request."""

    address: int
    size: int
    returns: tuple[int, ...]
    """Its return instructions, and those of the functions that it tail-calls."""
    return_sites: tuple[int, ...]
    """The addresses after its direct calls; empty if it ends only at `returns`."""
    leaves: bool = False
    """True if it may end by a jump into another file or through a pointer."""
    argument: int = 0
    argument_bits: int = 32
    unit_ns: int = 1000
    asks: tuple[int, ...] = ()
    """The constant times that its callers request, in its units."""
    counters: tuple[str, ...] = ()
    """The instructions in or below it that depend on the CPU's model: `rdtsc at 0x...`."""
    doubt: str = ""


class Candidates:
    def __init__(self, content: bytes) -> None:
        self.program = Program(content)
        self.graph = CallGraph(self.program)
        if library := name_system_calls(self.graph):
            self.graph = CallGraph(self.program, library)
        self.waits = Waits(self.graph)

    def found(self) -> list[Extent]:
        return [self._found(wait) for _, wait in sorted(self._accepted.items())]

    def facts_of(self, address: int) -> Extent:
        """Returns the facts of a known delay function. Only an unknown unit is a doubt."""
        function = self.graph.function_at(address) or Function(address, 0)
        function = Function(address, max(function.end - address, 0))
        waits = self._waits_of(function) if function.size <= HELPERS_SIZE_MAX else []
        if len(waits) != 1:
            return self._extent(function)
        found = self._found(waits[0])
        return msgspec.structs.replace(found, doubt=NO_UNIT if NO_UNIT in found.doubt else "")

    def _extent(self, function: Function) -> Extent:
        leaves = self.graph.leaves(function)
        return Extent(
            address=function.address,
            size=function.size,
            returns=self.graph.returns(function),
            return_sites=self.graph.return_sites(function.address) if leaves else (),
            leaves=leaves,
            counters=tuple(self._counters(function)),
        )

    def _counters(self, function: Function) -> Iterator[str]:
        """Yields the instructions in or below it that read the CPU's model or its counter."""
        todo, seen = [function.address], set[int]()
        while todo:
            address = todo.pop()
            inside = self.graph.function_at(address)
            if inside is None or address in seen:
                continue
            seen.add(address)
            for step in self.program.steps(address, inside.end - address):
                if step.mnemonic in COUNTERS:
                    yield f"{step.mnemonic} at {step.address:#x}"
            calls = self.graph.by_caller.get(inside.address, ())
            todo += [call.target for call in calls if call.target is not None]

    def is_polled(self, call: Call) -> bool:
        """Returns True if the call is in a loop without a sleep until an absolute time."""
        flow = self.waits.flow(self._function(call.caller))
        if flow is None:
            return False
        at = call.step.address
        sleeps = {each.address for each in flow.handed if sleeps_until(each)}
        is_repeated = any(each.again and each.address == at for each in flow.handed)
        return is_repeated and not any(
            at in each.addresses and sleeps & each.addresses for each in flow.loops
        )

    @cached_property
    def _waiting(self) -> dict[tuple[int, int], Wait]:
        """Returns the waits for an argument, by the function's address and the argument.

        The search begins at the callers of sleeps and clocks, and goes on to their callers.
        """
        found: dict[tuple[int, int], Wait] = {}
        seen: set[int] = set()
        kinds = (*SLEEPERS, *CLOCKS)
        todo = [call.caller for call in self.graph.calls if call.name in kinds]
        todo += self._spinning()
        while todo:
            address = todo.pop()
            function = self.graph.function_at(address)
            if function is None or address in seen:
                continue
            seen.add(address)
            waits = self._waits_of(function)
            found |= {(address, wait.argument): wait for wait in waits}
            # Helpers are small: they read the time, or count a loop.
            is_small = function.size <= HELPERS_SIZE_MAX
            if waits or (is_small and (self._spins(function) or self.waits.tells_time(address))):
                # Callers may be delays as well. If this function looks like a delay, only small
                # callers are tried.
                is_like_delay = any(wait.argument == 0 and self._is_plain(wait) for wait in waits)
                limit = AROUND_SIZE_MAX if is_like_delay else HELPERS_SIZE_MAX
                callers = self._callers(address)
                todo += [each for each in callers if self._function(each).size <= limit]
        return found

    def _spinning(self) -> Iterator[int]:
        """Yields small functions that call nothing and have a loop, which may count a delay."""
        for function in self.graph.functions:
            calls = self.graph.by_caller.get(function.address, ())
            # Code of i386 makes one call to find its own address.
            if function.size <= SPIN_SIZE_MAX and len(calls) <= 1:
                steps = self.program.steps(function.address, function.size)
                branches = [step for step in steps if step.kind == BRANCH]
                if any(function.address <= (each.target or 0) <= each.address for each in branches):
                    yield function.address

    def _waits_of(self, function: Function) -> list[Wait]:
        waits = (self.waits.wait(function, index) for index in range(ARGUMENTS_LOOKED_AT))
        return [wait for wait in waits if wait is not None]

    def _spins(self, function: Function) -> bool:
        return any(self.waits.spins(function, n) for n in range(ARGUMENTS_LOOKED_AT))

    def _callers(self, address: int) -> list[int]:
        return [call.caller for call in self.graph.by_target.get(address, ())]

    @cached_property
    def _accepted(self) -> dict[int, Wait]:
        """Returns the waits of delay functions, by address.

        A delay function takes only a time. Wrappers of another one, helpers that only delay
        functions call, and unused functions are omitted.
        """
        plain = {a: w for (a, n), w in self._waiting.items() if self._is_plain(w)}
        kept = {a: w for a, w in plain.items() if not self._passes_on(w, plain)}
        return {a: w for a, w in kept.items() if not self._is_inner(a, kept) and self.is_used(a)}

    def _flow(self, wait: Wait) -> Flow:
        flow = self.waits.flow(wait.function)
        assert flow is not None, "it was read to find that it waits"
        return flow

    def _is_plain(self, wait: Wait) -> bool:
        """Returns True if it uses only one argument, and no caller uses a time that it returns.

        A function that only passes its argument on must have it as the first one.
        """
        flow = self._flow(wait)
        measures = flow.returns_clock and self._is_asked_for_more(wait)
        return flow.read <= {wait.argument} and not measures and (wait.is_own or not wait.argument)

    def _is_asked_for_more(self, wait: Wait) -> bool:
        return any(map(self._uses_result, self.graph.by_target.get(wait.function.address, ())))

    def _passes_on(self, wait: Wait, plain: dict[int, Wait]) -> bool:
        """Returns True if it only calls another delay, which is watched instead.

        A function that changes the time is kept if it is the only caller of that delay.
        """
        if wait.is_own or len(wait.forwards) != 1:
            return False
        ((target, same),) = wait.forwards.items()
        others = set(self._callers(self._function(target).address)) - {wait.function.address}
        return target in plain and (same or bool(others) or target in self.graph.pointed_at)

    def _is_inner(self, address: int, kept: dict[int, Wait]) -> bool:
        if address in self.graph.pointed_at:
            return False
        callers = set(self._callers(address)) - {address}
        inside = kept[address].only_counts or callers <= {caller for caller, _ in self._waiting}
        return inside and not callers.isdisjoint(kept)

    def is_used(self, address: int) -> bool:
        return address in self.graph.reachable

    def _function(self, address: int) -> Function:
        found = self.graph.function_at(address)
        assert found is not None, "it was read to find that it waits"
        return found

    def _found(self, wait: Wait) -> Extent:
        calls = self.graph.by_target.get(wait.function.address, ())
        asked = {self.constant_before(call, wait.argument) for call in calls}
        doubts = list(self._doubts(wait))
        if doubts and wait.argument in self._flow(wait).stored:
            doubts.append(STORES_TIME)
        return msgspec.structs.replace(
            self._extent(wait.function),
            argument=wait.argument,
            argument_bits=self._bits(wait),
            unit_ns=self._unit_ns(wait) or NS_PER_US,
            asks=tuple(sorted(number for number in asked if number is not None)),
            doubt="; ".join(doubts),
        )

    def _bits(self, wait: Wait) -> int:
        return self._flow(wait).bits.get(wait.argument, 32)

    def _unit_ns(self, wait: Wait) -> int:
        """Returns the unit of the argument; 0 if it is unknown.

        An argument of 32 bits counts microseconds unless the code shows a longer unit: few
        functions count nanoseconds in 32 bits, and a source may have confused the two.
        """
        return wait.counts_ns if self._bits(wait) == 64 else max(wait.counts_ns, NS_PER_US)

    def _doubts(self, wait: Wait) -> Iterator[str]:
        flow = self._flow(wait)
        # A call that has nothing to do with waiting is a doubt. So is a call through a pointer.
        calls = (each.call for each in flow.handed)
        others = [c for c in calls if not c or (c.target is None and c.name not in HARMLESS)]
        if others:
            yield f"it also calls {_called(others[0])}"
        if self._is_asked_for_more(wait):
            yield "its callers use what it returns"
        if not (wait.sleeps or wait.polls or self._sleeps_inside(wait)):
            yield COUNTS
        if not (wait.is_own or flow.read) and all(wait.forwards.values()):
            yield "it only passes its argument on"
        if wait.since_before:
            yield SINCE_BEFORE
        if wait.is_capped:
            yield CAPPED
        if not self._unit_ns(wait):
            yield NO_UNIT
        if wait.argument:
            yield "the time is not its first argument"

    def _sleeps_inside(self, wait: Wait) -> bool:
        places = product(wait.forwards, range(ARGUMENTS_LOOKED_AT))
        inner = [self._waiting[place] for place in places if place in self._waiting]
        return any(each.sleeps or each.polls or self._sleeps_inside(each) for each in inner)

    def _uses_result(self, call: Call) -> bool:
        """Returns True if the caller reads the result's register before it is written again."""
        if not call.returns_here:
            return False
        isa, after = self.program.isa, call.step.end
        register = isa.results[0]
        for step in read_instructions(isa, self.program.code(after, LOOK_AHEAD_BYTES), after):
            if step.kind != OTHER:
                return step.kind == BRANCH and register in step.read
            if register in step.read and step.zeroed != register:
                return True
            if register in step.written:
                return False
        return False

    def constant_before(self, call: Call, argument: int) -> int | None:
        """Returns the constant argument of a call, if the few instructions before it show one."""
        isa = self.program.isa
        before = list(takewhile(lambda step: step.kind == OTHER, reversed(self._before(call))))
        if argument < len(isa.arguments):
            return _last_in(isa.arguments[argument], before)
        argument -= len(isa.arguments)
        pushed = 0  # The last pushed value is the first argument.
        for step in before:
            place = step.operands[0].place if step.operands else None
            if step.mnemonic == "push":
                if pushed == argument:
                    return step.operands[0].immediate
                pushed += 1
            at = (argument - pushed) * isa.word_bytes
            if step.mnemonic == "mov" and place == Place(isa.stack, "", at, isa.word_bytes):
                return step.operands[1].immediate
        return None

    def _before(self, call: Call) -> list[Instruction]:
        """Returns the last instructions of the function before the call, at most a dozen."""
        function = self._function(call.caller)
        steps = self.program.steps(function.address, function.size)
        at = next(n for n, s in enumerate(steps) if s.address == call.step.address)
        first = steps[max(at - 12, 0)].address
        content = self.program.code(first, call.step.address - first)
        return list(read_instructions(self.program.isa, content, first))


def _last_in(register: str, before: Iterable[Instruction]) -> int | None:
    above = 0
    for step in before:
        if register in step.written and step.mnemonic == "movk":
            above |= step.operands[1].immediate or 0
        elif register in step.written:
            moved = step.mnemonic in ("mov", "movz", "movabs") and len(step.operands) == 2
            low = 0 if step.zeroed == register else None
            low = step.operands[1].immediate if moved else low
            return None if low is None else low | above
    return None


def _called(call: Call | None) -> str:
    if call is None:
        return "through a pointer"
    return f"{call.name}()" if call.name else f"the function at {call.target:#x}"
