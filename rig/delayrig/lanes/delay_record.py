# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the input of the delay plugin, and reads its output for `delays.jsonl`.

The input has marks, by which QEMU finds delay functions in a running guest
(emulators/delay_plugin/request.h). emulators/delay_plugin/record.h defines the output.

QEMU counts the instructions of a block before it runs them. So each time stamp comes with the
number of instructions that were counted too early. Once their time is subtracted, the time stamp is
exact to one instruction.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import msgspec

from delayrig.base.errors import LostGuestError
from delayrig.model.delays import (
    NO_LIMIT,
    CallSite,
    DelayCall,
    Delays,
    DelaysHeader,
    End,
    FunctionFacts,
)
from delayrig.model.events import PLUGIN, decoded, of_kind
from delayrig.model.kinds.delay_plugin import (
    PLUGIN_SCHEMA,
    Abandon,
    Asking,
    Enter,
    Leave,
    Lost,
    PluginStart,
    Stack,
)
from delayrig.subjects.debug_files import lines_of
from delayrig.subjects.delay_function import WATCHED_MAX, DelayFunction, is_watchable
from delayrig.subjects.finder.finding import DirectWait
from delayrig.subjects.finder.waits import NOTHING_WATCHED
from delayrig.subjects.symbols import StackTop, Symbols, read_symbols

PAGE_BYTES = 4096
WINDOW_BYTES = 32
MARKS_MAX = 4096
JUMPERS = ("setjmp", "_setjmp", "__sigsetjmp", "sigsetjmp")
INT_BITS = 32
CLOCK_MONOTONIC = 1
TIMER_ABSTIME = 1
WALL_CLOCK = "it waits until a time of a clock that may be set"
NOT_READ = "the time that it asks for could not be read"


def read_record(text: bytes, functions: Sequence[DelayFunction], *, insn_ns: int) -> Delays:
    """Returns every call with its callers. `insn_ns` is the time of an instruction, 0 in real time.

    Raises `LostGuestError` for an invalid record.
    """
    lines = [line for _, line in decoded(text, PLUGIN, source="the delay plugin's lines")]
    if not lines or not isinstance(lines[0], PluginStart) or lines[0].schema != PLUGIN_SCHEMA:
        raise LostGuestError("the delay plugin wrote no record: it saw no block of the guest")
    entered = {line.call: line for line in of_kind(lines, Enter)}
    asking = {line.call: line for line in of_kind(lines, Asking)}
    left = {line.call: line for line in of_kind(lines, Leave)}
    abandoned = {line.call for line in of_kind(lines, Abandon)}
    threads: dict[tuple[int, int], int] = {}
    calls = []
    for call, line in entered.items():
        function, end = functions[line.function], left.get(call)
        unless_left = End.ABANDONED if call in abandoned else End.OPEN
        plain = DelayCall(
            call=call,
            function=line.function,
            t_ns=line.t_ns - line.late_insns * insn_ns,
            end_ns=end.t_ns - end.late_insns * insn_ns if end else None,
            ended=End(end.by) if end else unless_left,
            requested_ns=line.asked * function.unit_ns,
            thread=threads.setdefault((line.space, line.thread), len(threads) + 1),
            cpu_in=line.cpu,
            cpu_out=end.cpu if end else None,
            site=line.stack,
        )
        if function.wait is not None and call in asking:
            meant = _meant(function.wait, asking[call], plain.requested_ns)
            result = _as_int(end.result) if end else None
            plain = msgspec.structs.replace(plain, result=result, **meant)
        calls.append(plain)
    return Delays(
        header=DelaysHeader(
            functions=[_facts(function) for function in functions],
            late_ns=insn_ns,
            calls=len(calls),
            lost=next((line.calls for line in reversed(of_kind(lines, Lost))), 0),
        ),
        sites={line.stack: _call_site(line, functions) for line in of_kind(lines, Stack)},
        calls=calls,
    )


def _meant(wait: DirectWait, asking: Asking, asked_ns: int) -> dict[str, Any]:
    """Returns the fields of a direct wait's call that its arguments change, such as `until_ns`."""
    arguments = asking.arguments
    if not asking.is_known:
        is_null = arguments[wait.argument] == 0 and wait.called in NOTHING_WATCHED
        return {"requested_ns": 0, "unread": NO_LIMIT if is_null else NOT_READ}
    if wait.called == "poll" and _as_int(arguments[wait.argument]) < 0:
        return {"requested_ns": 0, "unread": NO_LIMIT}
    if wait.called == "clock_nanosleep" and arguments[1] & TIMER_ABSTIME:
        is_monotonic = _as_int(arguments[0]) == CLOCK_MONOTONIC
        until = {"until_ns": asked_ns} if is_monotonic else {"unread": WALL_CLOCK}
        return {"requested_ns": 0, **until}
    return {}


def _as_int(value: int) -> int:
    """Returns the C `int` in a register or in a word of the stack."""
    low = value & ((1 << INT_BITS) - 1)
    return low - (1 << INT_BITS) if low >> (INT_BITS - 1) else low


@cache
def _facts(function: DelayFunction) -> FunctionFacts:
    symbols = read_symbols(function.part)
    return FunctionFacts(
        name=function.name,
        file=function.file,
        address=function.address,
        unit_ns=function.unit_ns,
        argument=function.argument,
        found_by=function.found_by,
        doubt=function.doubt,
        counters=function.counters,
        direct=function.wait is not None,
        setjmp=any(symbols.names(name) for name in JUMPERS),
    )


def _call_site(stack: Stack, functions: Sequence[DelayFunction]) -> CallSite:
    """Returns the callers on the stack, in the file of the function that was called."""
    part = functions[stack.function].part
    top = StackTop(sp=stack.sp, bp=stack.fp, words=stack.words, lr=stack.lr)
    addresses = read_symbols(part).callers(top, stack.base)
    callers = [lines_of(part).where(address) for address in addresses]
    return CallSite(site=stack.stack, callers=callers, addresses=addresses)


@cache
def request_text(functions: tuple[DelayFunction, ...]) -> str:
    """Returns the plugin's input: a line for each function and mark, up to the plugin's limits.

    It is cached, because most cells share it.
    """
    functions = functions[:WATCHED_MAX]
    lines = [_function_line(function) for function in functions]
    watched = [(number, each) for number, each in enumerate(functions) if is_watchable(each)]
    marks = [line for number, each in watched for line in _mark_lines(number, each)]
    return "".join(f"{line}\n" for line in (*lines, *marks[:MARKS_MAX]))


def _function_line(function: DelayFunction) -> str:
    wait, numbers = function.wait, list[int]()
    if wait is not None:
        word = "sleep"
        numbers += [wait.site, max(wait.argument, 0), wait.seconds_bytes, wait.part_bytes]
        numbers += [wait.part_ns, wait.is_jump]
    else:
        word = "function"
        numbers += [function.address, function.size, function.argument, function.argument_bits]
        numbers += [may_jump(function)]
    numbers += read_symbols(function.part).text
    return f"{word} {' '.join(f'{number:x}' for number in numbers)}"


def may_jump(function: DelayFunction) -> bool:
    """Returns True if the function may end in another one, or if it is not known how it ends.

    A call of such a function ends when its return address is reached.
    """
    return function.leaves or bool(function.return_sites) or not function.returns


def _mark_lines(number: int, function: DelayFunction) -> Iterator[str]:
    symbols = read_symbols(function.part)
    marks = [("call" if function.wait else "entry", function.address)]
    marks += [("return", address) for address in function.returns]
    marks += [("site", address) for address in function.return_sites]
    for kind, address in marks:
        back, window = _window(symbols, address)
        yield f"{kind} {number:x} {address:x} {back:x} {window.hex()}"


def _window(symbols: Symbols, address: int) -> tuple[int, bytes]:
    """Returns the address's offset in a window of code around it, and the window, within one page.

    If the code ends inside the window, the rest is what follows it in the file, as in memory. Zeros
    follow the end of the file.
    """
    page = address - address % PAGE_BYTES
    last = min(page + PAGE_BYTES, symbols.text[1]) - WINDOW_BYTES
    begin = max(page, min(address, last))
    return address - begin, symbols.code(begin, WINDOW_BYTES).ljust(WINDOW_BYTES, b"\0")
