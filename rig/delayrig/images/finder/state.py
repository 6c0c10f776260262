# SPDX-License-Identifier: GPL-2.0-or-later
"""What registers and stack hold at one point of a function."""

from dataclasses import dataclass, field

from delayrig.images.finder.isa import Isa
from delayrig.images.finder.value import NOTHING, STACK, Value, argument, only, stack

GRANULE = 4
"""Words of the stack are told apart by four bytes."""
ARGUMENTS = 6


@dataclass(slots=True)
class State:
    """Changed by one instruction after the other."""

    registers: dict[str, Value] = field(default_factory=dict)
    words: dict[int, Value] = field(default_factory=dict)
    """Of the stack, by offset."""
    behind: dict[int, Value] = field(default_factory=dict)
    """What was put behind a pointer that the function was given, by the argument's number."""

    def copy(self) -> "State":
        return State(dict(self.registers), dict(self.words), dict(self.behind))

    def merge(self, other: "State") -> bool:
        """Takes up what another way here may hold; whether that was news."""
        news = _merge(self.registers, other.registers)
        news |= _merge(self.words, other.words)
        return _merge(self.behind, other.behind) or news

    def of(self, register: str) -> Value:
        return self.registers.get(register, NOTHING)

    def put(self, register: str, value: Value) -> None:
        if register:
            self.registers[register] = value

    def offset(self, register: str) -> int | None:
        """Where on the stack it points."""
        return only(self.of(register), STACK)

    def load(self, offset: int, size: int) -> Value:
        found = [self.words.get(at, NOTHING) for at in _granules(offset, size)]
        return NOTHING.union(*found)

    def store(self, offset: int, size: int, value: Value) -> None:
        """In place of what lay there."""
        for at in _granules(offset, size):
            self.words[at] = value

    def add(self, offset: int, size: int, value: Value) -> None:
        """To what lies there, as somebody else may have written it."""
        for at in _granules(offset, size):
            self.words[at] = self.words.get(at, NOTHING) | value


def entry_state(isa: Isa) -> State:
    state = State({isa.stack: stack(0)})
    for index in range(ARGUMENTS):
        if isa.arguments:
            state.put(isa.arguments[index], argument(index))
        else:
            state.store(isa.call_pushes + index * isa.word_bytes, isa.word_bytes, argument(index))
    return state


def _granules(offset: int, size: int) -> range:
    return range(offset - offset % GRANULE, offset + max(size, 1), GRANULE)


def _merge(into: dict[str, Value] | dict[int, Value], other: dict) -> bool:  # type: ignore[type-arg]
    news = False
    for key, value in other.items():
        known = into.get(key, NOTHING)
        if not value <= known:
            into[key] = known | value
            news = True
    return news
