# SPDX-License-Identifier: GPL-2.0-or-later
"""The marks by which QEMU finds delay functions in a running guest, as its plugin's input.

The format is in emulators/delay_plugin/request.h.
"""

from collections.abc import Iterator
from functools import cache

from delayrig.subjects.delay_function import WATCHED_MAX, DelayFunction, is_watchable
from delayrig.subjects.symbols import Symbols, read_symbols

PAGE_BYTES = 4096
WINDOW_BYTES = 32
MARKS_MAX = 4096


@cache
def request_text(functions: tuple[DelayFunction, ...]) -> str:
    """Returns a line for each function, and for each of its marks.

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
    """Returns True if it may end in another function.

    Then its calls end at their return address.
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
    """Returns code around that address, all within its page, and the address's offset in it.

    What follows code at the beginning of a page is the rest of the file there, as in memory, or
    zeros.
    """
    page = address - address % PAGE_BYTES
    last = min(page + PAGE_BYTES, symbols.text[1]) - WINDOW_BYTES
    begin = max(page, min(address, last))
    return address - begin, symbols.code(begin, WINDOW_BYTES).ljust(WINDOW_BYTES, b"\0")
