# SPDX-License-Identifier: GPL-2.0-or-later
"""Names the C library's waits and clocks in a static program, by the system calls that they make.

A static program contains its C library, and a stripped one has no names. System calls still have
numbers: in the function that makes the call, or as an argument of a function such as syscall().
Sources: Linux arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h.
"""

from collections.abc import Iterable

from delayrig.subjects.finder.calls import CallGraph
from delayrig.subjects.finder.flow import Handed
from delayrig.subjects.finder.isa import ARM64, X86_64
from delayrig.subjects.finder.program import Function
from delayrig.subjects.finder.state import ARGUMENT, Value, constant
from delayrig.subjects.finder.waits import SLEEPERS, Waits

_X86_64 = {7: "poll", 23: "select", 35: "nanosleep", 96: "gettimeofday", 228: "clock_gettime"}
_X86_64 |= {230: "clock_nanosleep", 270: "pselect", 271: "ppoll"}
_ARM64 = {72: "pselect", 73: "ppoll", 101: "nanosleep", 113: "clock_gettime", 169: "gettimeofday"}
_ARM64 |= {115: "clock_nanosleep"}
NUMBERS = {X86_64.machine: _X86_64, ARM64.machine: _ARM64}
RELATIVE = 0
"""The flags of a clock_nanosleep() with a relative time."""


def name_system_calls(graph: CallGraph) -> dict[int, str]:
    """Returns names of the C library's functions by address; empty if it is not static."""
    numbers = NUMBERS.get(graph.program.isa.machine, {})
    if not graph.program.is_static or not numbers:
        return {}
    namer = _Namer(graph, numbers)
    namer.follow(filter(None, map(graph.function_at, graph.program.system_calls)))
    return namer.names


class _Namer:
    def __init__(self, graph: CallGraph, numbers: dict[int, str]) -> None:
        self.graph = graph
        self.numbers = numbers
        self.names: dict[int, str] = {}
        self._waits = Waits(graph)
        self._any_call: set[int] = set()
        """Functions such as syscall(): their first argument is the number of a system call."""

    def follow(self, functions: Iterable[Function]) -> None:
        """Looks at functions that make system calls, and at the callers of those it recognises."""
        todo = list(dict.fromkeys(functions))
        while todo:
            function = todo.pop()
            if self._recognises(function):
                calls = self.graph.by_target.get(function.address, ())
                todo += filter(None, (self.graph.function_at(call.caller) for call in calls))

    def _recognises(self, function: Function) -> bool:
        """Names the function if its system calls show what it is; returns True if that is new."""
        flow = self._waits.flow(function)
        before = len(self._any_call), self.names.get(function.address)
        for handed in flow.handed if flow else ():
            if self._is_system_call(handed):
                self._note_number(function, handed)
            elif handed.call is not None:
                self._note_relative(function, handed, handed.call.target)
        return before != (len(self._any_call), self.names.get(function.address))

    def _is_system_call(self, handed: Handed) -> bool:
        if handed.call is None:
            return handed.address in self.graph.program.system_calls
        return handed.call.target in self._any_call

    def _note_number(self, function: Function, handed: Handed) -> None:
        number, *given = handed.arguments
        if _is_argument(number, 0) and _is_argument(given[0], 1):
            self._any_call.add(function.address)
        name = self.numbers.get(constant(number) or 0, "")
        place = SLEEPERS.get(name)
        # A function of the C library passes one of its arguments on as the time.
        if name and (place is None or _is_argument(given[place], place)):
            self._name(function, name)
        elif name == "nanosleep" and _is_argument(given[0], SLEEPERS["clock_nanosleep"]):
            self._name(function, "clock_nanosleep")

    def _note_relative(self, function: Function, handed: Handed, target: int | None) -> None:
        """Names a nanosleep() that calls clock_nanosleep()."""
        if target is None or self.names.get(target) != "clock_nanosleep":
            return
        _, flags, time, *_ = handed.arguments
        if constant(flags) == RELATIVE and _is_argument(time, 0):
            self._name(function, "nanosleep")

    def _name(self, function: Function, name: str) -> None:
        if self.names.get(function.address) != "clock_nanosleep":
            self.names[function.address] = name


def _is_argument(value: Value, index: int) -> bool:
    return value == frozenset({(ARGUMENT, index)})
