# SPDX-License-Identifier: GPL-2.0-or-later
"""The functions of a program, their calls, and their ends."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

from delayrig.subjects.finder.isa import BRANCH, CALL, JUMP, RETURN
from delayrig.subjects.finder.program import Function, Program, Step

T = TypeVar("T", int, Function)


@dataclass(frozen=True, slots=True)
class Call:
    """One call, or one jump that ends in another function (a tail call)."""

    step: Step
    caller: int
    """The address of the calling function."""
    name: str = ""
    """The called function's name, if it is in another file or in a C library in this file."""
    target: int | None = None
    """The called function's address, if it is in this file."""
    is_wide: bool = False
    """True if that symbol ends in `64`: its times have 64 bits on every architecture."""

    @property
    def returns_here(self) -> bool:
        return self.step.kind == CALL


class CallGraph:
    def __init__(self, program: Program, library: Mapping[int, str] | None = None) -> None:
        self.program = program
        self.library = library or {}
        """The known functions of a C library in this file, by address."""

    @cached_property
    def functions(self) -> list[Function]:
        """Returns the functions, ascending, from symbols, frame information, calls and jumps."""
        sizes: dict[int, int] = {}
        for function in (*self.program.framed, *self.program.named):
            sizes[function.address] = max(sizes.get(function.address, 0), function.size)
        whole = sorted((address, size) for address, size in sizes.items() if size)
        for way in (self._called, self._jumped_to):
            for address in {*way(sorted(sizes))} - sizes.keys():
                # An address within a function of known size is no new function.
                at = bisect_right(whole, (address, 1 << 64)) - 1
                if at < 0 or address >= sum(whole[at]):
                    sizes[address] = 0
        text_ends = sorted(begin + len(content) for begin, content in self.program.stretches)
        return list(_with_sizes(sorted(sizes.items()), text_ends))

    def _called(self, _: list[int]) -> Iterator[int]:
        """Yields targets of calls, code addresses in data and code, and beginnings of stretches."""
        for step in self.program.all_steps:
            if step.kind == CALL and step.target is not None and self._in_text(step.target):
                yield step.target
        yield from filter(self._in_text, self.program.own_addresses)
        yield from filter(self._in_text, _addresses(self.program, self.program.all_steps))
        yield from (begin for begin, content in self.program.stretches if content)

    def _jumped_to(self, starts: list[int]) -> Iterator[int]:
        """Yields targets of jumps from one function to just after the end of another."""
        before = {after.address: step for step, after in pairwise(self.program.all_steps)}
        for step in self.program.all_steps:
            preceding = before.get(step.target) if step.kind == JUMP and step.target else None
            if preceding is None or step.target is None:
                continue
            # A gap between functions is filled with instructions that have no effect.
            gap = "nop" in preceding.mnemonic or preceding.mnemonic == "xchg"
            is_other = bisect_right(starts, step.target) != bisect_right(starts, step.address)
            if is_other and (gap or preceding.kind in (JUMP, RETURN)):
                yield step.target

    def _in_text(self, address: int) -> bool:
        return bool(self.program.code(address, 1)) and address not in self.program.stubs

    @cached_property
    def _begins(self) -> list[int]:
        return [function.address for function in self.functions]

    def function_at(self, address: int) -> Function | None:
        at = bisect_right(self._begins, address) - 1
        found = self.functions[at] if at >= 0 else None
        return found if found and address < max(found.end, found.address + 1) else None

    @cached_property
    def calls(self) -> list[Call]:
        """Returns all calls of the file, except those through pointers."""
        found = []
        held: dict[str, int] = {}
        inside: Function | None = None
        for step in self.program.all_steps:
            if inside is None or not inside.address <= step.address < inside.end:
                inside, held = self.function_at(step.address), {}
            slot = self.program.slot_of(step, held)
            if inside is not None and step.address not in self.program.stubs:
                found += list(self._calls_of(step, inside, slot))
        return found

    def _calls_of(self, step: Step, inside: Function, slot: int | None) -> Iterator[Call]:
        if step.kind not in (CALL, JUMP, BRANCH):
            return
        target = step.target
        if target is not None and target in self.program.stubs:
            slot = self.program.stubs[target]
        if slot is not None:
            yield from self._through(slot, step, inside)
        elif target is not None and target in self.library:
            yield Call(step, inside.address, name=self.library[target])
        elif target is not None and (
            step.kind == CALL or not inside.address <= target < inside.end
        ):
            yield Call(step, inside.address, target=target)

    def _through(self, slot: int, step: Step, inside: Function) -> Iterator[Call]:
        if slot in self.program.own_slots:
            yield Call(step, inside.address, target=self.program.own_slots[slot])
        elif slot in self.program.slots:
            is_wide = slot in self.program.wide_slots
            yield Call(step, inside.address, name=self.program.slots[slot], is_wide=is_wide)
        for implementation in self.implementations.get(slot, ()):
            yield Call(step, inside.address, target=implementation)

    @cached_property
    def implementations(self) -> dict[int, list[int]]:
        """Returns, by slot, the functions whose addresses an IFUNC's resolver takes."""
        return {
            slot: sorted(self._taken(self.function_at(resolver)))
            for slot, resolver in self.program.resolvers.items()
        }

    @cached_property
    def by_caller(self) -> dict[int, list[Call]]:
        found: dict[int, list[Call]] = {}
        for call in self.calls:
            found.setdefault(call.caller, []).append(call)
        return found

    @cached_property
    def by_target(self) -> dict[int, list[Call]]:
        found: dict[int, list[Call]] = {}
        for call in self.calls:
            if call.target is not None:
                found.setdefault(call.target, []).append(call)
        return found

    @cached_property
    def pointed_at(self) -> frozenset[int]:
        """Returns the functions that may be called through a pointer."""
        taken = self.program.own_addresses | self.program.exported | self._taken(None)
        return frozenset(self._begins) & taken

    def _taken(self, inside: Function | None) -> frozenset[int]:
        """Returns the functions whose address the code takes, in one function or anywhere."""
        steps = self._steps(inside) if inside else self.program.all_steps
        return frozenset(self._begins).intersection(_addresses(self.program, steps))

    @cached_property
    def reachable(self) -> frozenset[int]:
        """Returns the functions that calls reach from the entry points and from pointers."""

        def targets(address: int) -> list[int]:
            calls = self.by_caller.get(address, ())
            return [call.target for call in calls if call.target is not None]

        begins = {int(self.program.elf["e_entry"]), *self.pointed_at}
        return frozenset(closure(begins, targets))

    def returns(self, function: Function) -> tuple[int, ...]:
        """Returns its return instructions, and those of the functions that it tail-calls."""
        steps = (step for each in self._ending(function) for step in self._steps(each))
        return tuple(sorted(step.address for step in steps if step.kind == RETURN))

    def leaves(self, function: Function) -> bool:
        """Returns True if it may end by a jump into another file or through a pointer."""
        ending = self._ending(function)
        steps = (step for each in ending for step in self._steps(each))
        through = any(step.kind == JUMP and step.target is None for step in steps)
        return through or any(call.name for each in ending for call in self._tails(each))

    def _ending(self, function: Function) -> list[Function]:
        """Returns the function, and all functions that it reaches by tail calls."""

        def tails(inside: Function) -> list[Function]:
            targets = [call.target for call in self._tails(inside) if call.target is not None]
            return [tail for tail in map(self.function_at, targets) if tail is not None]

        return closure([function], tails)

    def _tails(self, function: Function) -> list[Call]:
        calls = self.by_caller.get(function.address, ())
        return [call for call in calls if not call.returns_here]

    def _steps(self, function: Function) -> list[Step]:
        return self.program.steps(function.address, function.size)

    def return_sites(self, address: int, depth: int = 3) -> tuple[int, ...]:
        """Returns the addresses after its direct calls, and after those of its tail callers."""
        found = set()
        for call in self.by_target.get(address, ()):
            if call.returns_here:
                found.add(call.step.end)
            elif depth and call.caller != address:
                found.update(self.return_sites(call.caller, depth - 1))
        return tuple(sorted(found))


def closure(starts: Iterable[T], following: Callable[[T], Iterable[T]]) -> list[T]:
    """Returns `starts`, and everything that follows them at any distance; each once."""
    found = dict.fromkeys(starts)
    todo = list(found)
    while todo:
        new = dict.fromkeys(each for each in following(todo.pop()) if each not in found)
        found |= new
        todo += new
    return list(found)


def _addresses(program: Program, steps: list[Step]) -> Iterator[int]:
    """Yields the addresses that the instructions take, of code and of data."""
    pages: dict[str, int] = {}
    for step in steps:
        register, _, source = step.operands.partition(", ")
        if step.mnemonic == "adrp":
            pages[register] = int(source.removeprefix("#"), 16)
        elif step.mnemonic == "add" and not program.isa.is_x86 and "#" in source:
            base, _, offset = source.partition(", #")
            if base in pages and offset[:1].isdigit():
                yield pages[base] + int(offset.partition(",")[0], 16)
        elif step.mnemonic == "adr":
            yield int(source.removeprefix("#"), 16)
        elif step.mnemonic == "lea" and "[rip" in source:
            yield step.end + int(source.partition("rip")[2].strip(" +]").replace("- ", "-"), 16)
        elif step.mnemonic == "lea" and program.isa.machine == "EM_386":
            shift = source.partition(" ")[2].strip("]").replace("- ", "-").replace("+ ", "")
            if shift.startswith(("0x", "-0x")) and " " not in shift:
                yield program.offset_table + int(shift, 16)
        elif step.mnemonic in ("mov", "push") and step.target is not None:
            yield step.target


def _with_sizes(known: list[tuple[int, int]], text_ends: list[int]) -> Iterator[Function]:
    """Yields the functions. One of unknown size ends at the next one, or at the end of the code."""
    for number, (address, size) in enumerate(known):
        after = known[number + 1][0] if number + 1 < len(known) else 1 << 64
        limit = text_ends[min(bisect_right(text_ends, address), len(text_ends) - 1)]
        yield Function(address, size or max(min(after, limit) - address, 0))
