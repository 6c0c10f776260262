# SPDX-License-Identifier: GPL-2.0-or-later
"""Follows a function's arguments: to other functions, and to comparisons with clocks."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from delayrig.subjects.finder.calls import Call, CallGraph, closure
from delayrig.subjects.finder.isa import (
    BRANCH,
    CALL,
    JUMP,
    OTHER,
    RETURN,
    Instruction,
    read_instructions,
)
from delayrig.subjects.finder.program import Function
from delayrig.subjects.finder.state import (
    ARGUMENT,
    ARGUMENTS,
    BETWEEN,
    NOTHING,
    STACK,
    Notes,
    State,
    Transfer,
    Value,
    arguments_in,
    computed,
    entry_state,
    has_clock,
    only,
    reading,
    registers_lost,
)

BYTES_MAX = 3000
ROUNDS_MAX = 20000
NEVER_BACK = ("abort", "stack_chk_fail", "exit", "_exit", "assert_fail", "longjmp")
IS_BETWEEN: Value = frozenset({(BETWEEN, 0)})
WRITTEN_THROUGH = 6
"""A call may write what this many arguments point to; more are on the stack, and often none."""
TIMESPEC_WORDS = 2
"""The number of words that may be written behind a pointer argument."""


@dataclass(frozen=True, slots=True)
class Handed:
    """One call with its arguments."""

    call: Call | None
    """None for a call through a pointer, and for a system call, whose number is argument 0."""
    address: int
    arguments: tuple[Value, ...]
    behind: tuple[Value, ...]
    """The content that each argument points to, if that is on the stack."""
    parts: tuple[Value, ...]
    """The second word there: the fraction of a second, if a time is there."""
    again: bool
    """True if the call is in a loop."""


@dataclass(slots=True)
class Flow(Notes):
    handed: list[Handed] = field(default_factory=list)
    counted: set[int] = field(default_factory=set)
    """The arguments whose product with a variable limits a loop that only counts."""
    returns_clock: bool = False
    loops: list["Loop"] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Loop:
    """Blocks that may be run again, and their effect on memory."""

    addresses: frozenset[int]
    touches_memory: bool


@dataclass(slots=True)
class _Block:
    steps: list[Instruction]
    next: list[int] = field(default_factory=list)


class Callees(Protocol):
    """The facts about called functions."""

    def reads_clock(self, call: Call) -> bool:
        """Returns True if it reads a clock."""

    def finds_place(self, call: Call) -> bool:
        """Returns True if it only returns the code's address and changes no other register."""

    def reads(self, call: Call) -> Iterable[int]:
        """Returns the arguments that it uses for its result or its writes."""


def read_flow(graph: CallGraph, function: Function, callees: Callees) -> Flow | None:
    """Returns the flow of a function; None if it is too long to follow."""
    if function.size > BYTES_MAX:
        return None
    return _Reader(graph, function, callees).read()


class _Reader:
    def __init__(self, graph: CallGraph, function: Function, callees: Callees) -> None:
        self.isa = graph.program.isa
        self.function = function
        self.callees = callees
        content = graph.program.code(function.address, function.size)
        instructions = list(read_instructions(self.isa, content, function.address))
        self.calls = {call.step.address: call for call in graph.by_caller.get(function.address, ())}
        self.blocks = dict(_blocks(instructions, function, self.calls))
        self.flow = Flow()
        self.transfer = Transfer(self.isa, self.flow)
        self._reach: dict[int, set[int]] = {}

    def read(self) -> Flow:
        entries = self._fixed_point()
        self.flow.handed.clear()
        self.flow.loops = list(self._loops())
        again = frozenset[int]().union(*(loop.addresses for loop in self.flow.loops))
        for address, state in entries.items():
            self._run(self.blocks[address], state.copy(), again)
        counting = [each.addresses for each in self.flow.loops if not each.touches_memory]
        for address, scaled in self.flow.compared.items():
            if any(address in addresses for addresses in counting):
                self.flow.counted |= scaled
        return self.flow

    def _fixed_point(self) -> dict[int, State]:
        if not self.blocks:
            return {}
        entries = {self.function.address: entry_state(self.isa)}
        waiting = [self.function.address]
        for _ in range(ROUNDS_MAX):
            if not waiting:
                break
            block = self.blocks[waiting.pop()]
            state = self._run(block, entries[block.steps[0].address].copy(), frozenset())
            for after in block.next:
                if after not in entries:
                    entries[after] = state.copy()
                    waiting.append(after)
                elif entries[after].merge(state) and after not in waiting:
                    waiting.append(after)
        return entries

    def _run(self, block: _Block, state: State, again: frozenset[int]) -> State:
        for step in block.steps:
            if step.kind == CALL or step.address in self.calls:
                self._call(step, state, step.address in again)
            elif self.isa.system_call and step.mnemonic == self.isa.system_call:
                self._system_call(step, state, step.address in again)
            elif step.kind == RETURN:
                self.flow.returns_clock |= has_clock(state.of(self.isa.results[0]))
            elif step.kind == OTHER:
                self.transfer.run(step, state)
        return state

    def _call(self, step: Instruction, state: State, again: bool) -> None:
        call = self.calls.get(step.address)
        tail = call is not None and not call.returns_here
        passed = tuple(self._arguments(state, tail=tail))
        given = passed[:WRITTEN_THROUGH]
        word = self.isa.word_bytes
        seconds = 8 if call is not None and call.is_wide else word
        behind = tuple(_behind(each, state, 0, 16) for each in given)
        parts = tuple(_behind(each, state, seconds, word) for each in given)
        self.flow.handed.append(Handed(call, step.address, passed, behind, parts, again))
        if call is not None and self.callees.finds_place(call):
            return
        clock = call is not None and self.callees.reads_clock(call)
        used = [given[n] for n in self.callees.reads(call) if n < len(given)] if call else []
        # A helper that gets the time of a start may return the time since then.
        since = computed(reading(step.address), *given, *behind)
        result = (reading(step.address) | (since & IS_BETWEEN)) if clock else computed(*used)
        self._write_behind(given, result, state)
        for register in registers_lost(self.isa):
            state.registers.pop(register, None)
        for register in self.isa.results:
            state.put(register, result)

    def _system_call(self, step: Instruction, state: State, again: bool) -> None:
        given = tuple(state.of(register) for register in self.isa.kernel_arguments)
        nothing = (NOTHING,) * len(given)
        self.flow.handed.append(Handed(None, step.address, given, nothing, nothing, again))
        state.put(self.isa.results[0], NOTHING)

    def _arguments(self, state: State, *, tail: bool) -> Iterator[Value]:
        registers = self.isa.arguments[:ARGUMENTS]
        yield from map(state.of, registers)
        top = state.offset(self.isa.stack) or 0
        top += self.isa.call_pushes if tail else 0
        for index in range(ARGUMENTS - len(registers)):
            yield state.load(top + index * self.isa.word_bytes, self.isa.word_bytes)

    def _write_behind(self, given: tuple[Value, ...], result: Value, state: State) -> None:
        """Marks what an address argument points to as possibly written."""
        for value in given:
            at = only(value, STACK)
            if at is not None and result:
                state.add(at, TIMESPEC_WORDS * self.isa.word_bytes, result)
            for n in arguments_in(value):
                if has_clock(result) and (ARGUMENT, n) in value:
                    state.behind[n] = state.behind.get(n, NOTHING) | result

    def _reached(self, address: int) -> set[int]:
        """Returns the blocks that may follow one."""
        if address not in self._reach:
            found = closure(self.blocks[address].next, lambda at: self.blocks[at].next)
            self._reach[address] = set(found)
        return self._reach[address]

    def _loops(self) -> Iterator[Loop]:
        for address in self.blocks:
            reached = self._reached(address)
            if address in reached:
                around = {each for each in reached if address in self._reached(each)}
                steps = [step for each in around for step in self.blocks[each].steps]
                yield Loop(
                    frozenset(step.address for step in steps), any(map(self._touches_memory, steps))
                )

    def _touches_memory(self, step: Instruction) -> bool:
        """Returns True if it uses memory other than its own stack; a counting loop does not."""
        places = [each.place for each in step.operands if each.place]
        own = (self.isa.stack, "rbp", "ebp", "x29")
        return step.kind == CALL or any(place.base not in own for place in places)


def _behind(value: Value, state: State, offset: int, size: int) -> Value:
    at = only(value, STACK)
    return NOTHING if at is None else state.load(at + offset, size)


def _blocks(
    instructions: list[Instruction], function: Function, calls: dict[int, Call]
) -> Iterator[tuple[int, _Block]]:
    if not instructions:
        return
    known = {step.address for step in instructions}
    ends = [step for step in instructions if step.kind in (JUMP, BRANCH, RETURN)]
    begins = {at for step in ends for at in (step.end, *_targets(step, function))}
    leaders = sorted({function.address} | (begins & known))
    blocks: dict[int, _Block] = {leader: _Block([]) for leader in leaders}
    for step in instructions:
        blocks[leaders[bisect_right(leaders, step.address) - 1]].steps.append(step)
    for leader, block in blocks.items():
        if not _never_back(block, calls):
            last = block.steps[-1]
            jumps = _targets(last, function) if last.kind in (JUMP, BRANCH) else []
            falls = [] if last.kind in (JUMP, RETURN) else [last.end]
            block.next = [at for at in (*jumps, *falls) if at in blocks]
        yield leader, block


def _targets(step: Instruction, function: Function) -> list[int]:
    found = [each.immediate for each in step.operands[-1:] if each.immediate is not None]
    return [at for at in found if function.address <= at < function.end]


def _never_back(block: _Block, calls: dict[int, Call]) -> bool:
    """Cuts a block after a call that never returns; returns True if it has one."""
    for number, step in enumerate(block.steps):
        call = calls.get(step.address)
        if call is not None and call.name in NEVER_BACK:
            del block.steps[number + 1 :]
            return True
    return False
