# SPDX-License-Identifier: GPL-2.0-or-later
"""The functions of one file with the calls of delay functions in each; stored by its digest.

A call of a delay function is a delay site. A function that only passes one of its arguments on to a
delay function as the time is a delay function as well, so calls of it are sites. A function that
does more, and computes the time of a delay from one of its arguments, is a carrier: the calls of it
say how long it waits.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path

import msgspec

from delayrig.base import digest
from delayrig.subjects.finder.bodies import Bodies
from delayrig.subjects.finder.calls import Call
from delayrig.subjects.finder.candidates import AROUND_SIZE_MAX, Candidates
from delayrig.subjects.finder.isa import CALL, JUMP
from delayrig.subjects.finder.program import Function, Step, is_read
from delayrig.subjects.finder.state import ARGUMENT, Value, arguments_in
from delayrig.subjects.finder.waits import LEAF_SIZE_MAX
from delayrig.subjects.seal import stored
from delayrig.subjects.symbols import Symbols

READING = 5
"""Raise this number when reading changes, so that files are read again."""
OTHER_CALLS_MAX = 1
"""A function that passes a time on may call this many others, which print errors."""
PLACE_FINDER_SIZE_MAX = 16
PLACE_FINDER_STEPS = 2


class Watched(msgspec.Struct, frozen=True, order=True):
    """A known delay function, or the call of a direct wait (`direct`)."""

    address: int
    argument: int = 0
    """The argument that is the time."""
    direct: bool = False


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """A call of a delay function."""

    address: int
    """The address of its last byte, as in call chains."""
    target: int
    """The address of the delay function, or of the call itself for a direct wait."""
    line: int
    """Its number among the function's lines."""
    is_tail: bool = False
    """True if it is a tail call: then its function is missing in call chains."""
    asks: int | None = None
    """The requested time, if it is a constant that the code shows."""
    hands_on: bool = False
    """True if its function only passes a time on, and so is a delay function itself."""
    through: bool = False
    """True if the called function passes a time on through a pointer: it may be no delay."""
    carries: bool = False
    """True if the called function is a carrier."""
    where: str = ""
    """The place of the call, as in call chains."""
    own_line: bool = False
    """True if its source line is not before its function, as those of most inlined functions."""


class CodeFunction(msgspec.Struct, frozen=True, kw_only=True):
    address: int
    size: int
    shape: str
    """Equal for code that differs at most in the names of functions."""
    names: tuple[str, ...] = ()
    """The functions of its file that its code names, in their order."""
    name: str = ""
    """Its symbol without suffixes of compilers; empty if there is none."""
    sites: tuple[Site, ...] = ()
    lines: tuple[str, ...] = ()
    """Its code; empty if it has no sites."""
    pointed: bool = False
    """True if it may be called through a pointer."""
    is_delay: bool = False
    """True if it is a delay function, or passes a time on to one."""

    @property
    def key(self) -> str:
        """Returns a text that is equal for equal code."""
        return f"{self.shape} {' '.join(self.names)}"


class CodeMap(msgspec.Struct, frozen=True, kw_only=True):
    named: bool
    """True if functions have names."""
    functions: tuple[CodeFunction, ...]
    callers: dict[int, int]
    """The functions that may end in a jump to a delay, by the address of a call's last byte."""
    leaving: tuple[int, ...]
    """The addresses of functions that pass a time on and may end in a jump through a pointer."""


def read_code_map(
    part: Path, watched: Sequence[Watched], *, named: bool, kept: Path | None = None
) -> CodeMap:
    """Reads a program or a library; `kept` is a folder that stores results."""
    return _read(part, tuple(sorted(set(watched))), named, kept, digest.of_file(part))


@cache
def _read(
    part: Path, watched: tuple[Watched, ...], named: bool, kept: Path | None, sha256: str
) -> CodeMap:
    key = digest.of_value(["code", READING, sha256, watched, named])[:24]
    return stored(kept, key, lambda: map_code(part.read_bytes(), watched, named=named), CodeMap)


def map_code(content: bytes, watched: Sequence[Watched], *, named: bool) -> CodeMap:
    if not is_read(content):
        return CodeMap(named=False, functions=(), callers={}, leaving=())
    return _Mapper(content, watched, named=named).map()


class _Mapper:
    def __init__(self, content: bytes, watched: Sequence[Watched], *, named: bool) -> None:
        self.candidates = Candidates(content)
        self.graph = self.candidates.graph
        self.bodies = Bodies(self.graph, named=named)
        self.symbols = Symbols(content)
        self.functions = {each.address: each.argument for each in watched if not each.direct}
        self.direct = {each.address for each in watched if each.direct}

    def map(self) -> CodeMap:
        functions = tuple(map(self._function, self.graph.functions))
        tails = {f.address for f in functions if any(site.is_tail for site in f.sites)}
        tails |= set(self._leaving)
        return CodeMap(
            named=bool(self.bodies.names),
            functions=functions,
            callers={
                call.step.end - 1: target
                for target in tails
                for call in self.graph.by_target.get(target, ())
                if call.step.kind == CALL
            },
            leaving=self._leaving,
        )

    def _function(self, function: Function) -> CodeFunction:
        steps = self.bodies.steps(function)
        lines = self.bodies.lines(function, steps)
        sites = tuple(self._sites(function, steps))
        for site in sites:
            # The lines do not show a number that may be an address.
            if site.asks is not None:
                lines[site.line] += f" {site.asks}"
        unnamed, names = self.bodies.without_names(lines)
        return CodeFunction(
            address=function.address,
            size=function.size,
            shape=self.bodies.shape(function, steps, unnamed),
            names=tuple(names),
            name=self.bodies.names.get(function.address, ""),
            sites=sites,
            lines=tuple(lines) if sites else (),
            pointed=function.address in self.graph.pointed_at,
            is_delay=function.address in self._delays,
        )

    def _sites(self, function: Function, steps: list[Step]) -> Iterator[Site]:
        calls = self.graph.by_caller.get(function.address, ())
        at = [step.address for step in steps]
        for call in calls:
            target = call.step.address if call.step.address in self.direct else call.target
            argument = self._times.get(target) if target is not None else None
            if target is None or (argument is None and target not in self.direct):
                continue
            if target == function.address:  # it calls itself
                continue
            is_function = target not in self.direct
            yield Site(
                address=call.step.end - 1,
                target=target,
                line=bisect_left(at, call.step.address),
                is_tail=not call.returns_here and is_function,
                asks=None if argument is None else self.candidates.constant_before(call, argument),
                hands_on=self._passes_on(function.address),
                through=target in self._through,
                carries=is_function and not self._passes_on(target),
                where=self.symbols.where(call.step.address),
                own_line=self._is_own_line(call.step.address, function),
            )

    def _is_own_line(self, address: int, function: Function) -> bool:
        lines = map(self.symbols.line_of, (function.address, address))
        (first_file, _, first), (file, _, line) = (each.rpartition(":") for each in lines)
        return file == first_file != "" and int(line) >= int(first)

    def _passes_on(self, address: int) -> bool:
        """Returns True for a delay function, or one that only passes a time on."""
        return address in self._delays or address in self._through

    @cached_property
    def _delays(self) -> dict[int, int]:
        """Returns all delay functions with the argument that is the time."""
        return self._with_callers(self.functions, self._handed_on)

    @cached_property
    def _times(self) -> dict[int, int]:
        """Returns all functions that wait, with the argument from which the time is made.

        They are the delay functions, those that pass a time on through a pointer, and the carriers.
        """
        return self._with_callers(self._through | self._delays, self._computed_from)

    def _with_callers(
        self,
        known: dict[int, int],
        argument_of: Callable[[Call, dict[int, int]], int | None],
    ) -> dict[int, int]:
        """Returns the known functions, and the callers at any distance that have such an argument.

        `argument_of` returns the caller's argument for a call of a function that is known by then.
        """
        found = dict(known)
        todo = list(found)
        while todo:
            target = todo.pop()
            for call in self.graph.by_target.get(target, ()):
                argument = None if call.caller in found else argument_of(call, found)
                if argument is not None:
                    found[call.caller] = argument
                    todo.append(call.caller)
        return found

    def _computed_from(self, call: Call, times: dict[int, int]) -> int | None:
        """Returns the only argument of the caller from which it computes the time of the call."""
        assert call.target is not None
        time = times[call.target]
        function = self.graph.function_at(call.caller)
        flow = self.candidates.waits.flow(function) if function else None
        handed = flow.handed if flow else ()
        given = next((each.arguments for each in handed if each.call is call), tuple[Value, ...]())
        own = arguments_in(given[time]) if time < len(given) else set[int]()
        return own.pop() if len(own) == 1 else None

    def _handed_on(self, call: Call, delays: dict[int, int]) -> int | None:
        """Returns the only argument that the caller passes on to delays as it is.

        Returns None if there are several, and for a call in a loop.
        """
        function = self.graph.function_at(call.caller)
        if function is None or function.size > AROUND_SIZE_MAX:
            return None
        calls = self.graph.by_caller.get(call.caller, ())
        others = {each.target for each in calls if not self._finds_place(each)}
        others -= {None, *delays, call.caller}
        flow = self.candidates.waits.flow(function) if len(others) <= OTHER_CALLS_MAX else None
        at = {each.step.address: delays[each.target] for each in calls if each.target in delays}
        found = {
            _argument_in(handed.arguments[at[handed.address] :][:1], again=handed.again)
            for handed in (flow.handed if flow else ())
            if handed.address in at
        }
        return found.pop() if len(found) == 1 else None

    def _finds_place(self, call: Call) -> bool:
        """Returns True if it calls a helper that returns the code's address (i386)."""
        function = None if call.target is None else self.graph.function_at(call.target)
        if function is None or function.size > PLACE_FINDER_SIZE_MAX:
            return False
        return len(self.bodies.steps(function)) <= PLACE_FINDER_STEPS

    @cached_property
    def _through(self) -> dict[int, int]:
        """Returns the functions that only pass their argument on through a pointer."""
        if not self.graph.pointed_at.intersection(self._delays):
            return {}
        return {
            function.address: argument
            for function in self.graph.functions
            if function.size <= LEAF_SIZE_MAX and function.address not in self._delays
            for argument in self._handed_through(function)
        }

    def _handed_through(self, function: Function) -> Iterator[int]:
        steps = self.bodies.steps(function)
        if sum(step.kind in (CALL, JUMP) and step.target is None for step in steps) != 1:
            return
        if any(step.kind == CALL and step.target is not None for step in steps):
            return
        flow = self.candidates.waits.flow(function)
        for handed in flow.handed if flow else ():
            values = [value for value in handed.arguments[:1] if handed.call is None]
            own = {n for value in values for what, n in value if what == ARGUMENT}
            if flow and own and not handed.again and flow.read <= own:
                yield from sorted(own)[:1]

    @cached_property
    def _leaving(self) -> tuple[int, ...]:
        """Returns the functions that pass a time on and may end in a jump through a pointer."""
        ways = (*self._delays, *self._through)
        functions = (self.graph.function_at(address) for address in ways)
        return tuple(
            each.address
            for each in functions
            if each is not None
            and any(
                step.kind == JUMP and step.target is None and self._is_unknown(step, each)
                for step in self.bodies.steps(each)
            )
        )

    def _is_unknown(self, step: Step, function: Function) -> bool:
        """Returns True if the graph does not know where the jump goes."""
        calls = self.graph.by_caller.get(function.address, ())
        return all(call.step.address != step.address for call in calls)


def _argument_in(values: Sequence[Value], *, again: bool) -> int | None:
    """Returns the argument that was passed on as it is, and not in a loop; else None."""
    own = [number for value in values for what, number in value if what == ARGUMENT]
    return own[0] if len(own) == 1 and not again else None
