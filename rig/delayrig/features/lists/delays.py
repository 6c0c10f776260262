# SPDX-License-Identifier: GPL-2.0-or-later
"""The delay functions of a subject, how they were identified, and the waits outside them."""

from collections.abc import Iterator, Sequence

from delayrig.base.durations import UNITS
from delayrig.subjects.delay_function import (
    DelayFunction,
    DelayOptions,
    direct_waits,
    find_delay_functions,
)
from delayrig.subjects.finder.finding import DirectWait
from delayrig.subjects.subject import Subject

NONE_FOUND = (
    "none: its delays cannot be judged; build it unstripped, or name its delay function with"
    " --delay-symbol or --delay-offset"
)


def delay_lines(subject: Subject, options: DelayOptions) -> Iterator[str]:
    """Yields lines about the program, or about the library that a program uses."""
    found = find_delay_functions(subject, options)
    yield f"{subject.label}: {len(found)} delay function{'' if len(found) == 1 else 's'}"
    yield from _function_lines(found)
    for file, waits in direct_waits(subject, options).items():
        yield from (_wait_line(file, wait) for wait in waits)


def _function_lines(found: Sequence[DelayFunction]) -> Iterator[str]:
    if not found:
        yield f"  {NONE_FOUND}"
    for each in found:
        yield f"  {each.name} in {each.file}, found by {each.found_by}: {_about(each)}"


def _about(function: DelayFunction) -> str:
    asks = f"argument {function.argument + 1} in {UNITS[function.unit_ns]}"
    sure = f"in doubt, {function.doubt}" if function.doubt else "sure"
    asked = f"; it asks the CPU: {', '.join(function.counters)}" if function.counters else ""
    return f"{function.size} bytes at {function.address:#x}, {asks}; {sure}{asked}"


def _wait_line(file: str, wait: DirectWait) -> str:
    where = f"in {file} at {wait.site:#x}"
    asks = "" if wait.asks is None else str(wait.asks)
    if wait.why_not:
        return f"  cannot be judged: {wait.called}({asks}) {where}: {wait.why_not}"
    return f"  a direct wait: {wait.called}({asks}) {where}"
