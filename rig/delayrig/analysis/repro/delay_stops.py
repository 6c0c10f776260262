# SPDX-License-Identifier: GPL-2.0-or-later
"""Where gdb is to stop: in the subject's delay functions, by name or by address."""

from collections.abc import Sequence
from pathlib import Path

from delayrig.images.delay_function import (
    BY_DEBUG_INFORMATION,
    BY_SYMBOL,
    DelayFunction,
    DelayWish,
    find_delay_functions,
)
from delayrig.images.profiles.profile import known_delay_symbols
from delayrig.images.subject import Subject
from delayrig.images.symbols import read_symbols

COMMANDS = Path(__file__).with_name("gdb_delay_break.py")
NONE_KNOWN = (
    "echo No delay function of this program is known, so there is no breakpoint. Name it:"
    " --delay-symbol NAME or --delay-offset HEX\\n"
)


def delay_stops(subject: Subject, wish: DelayWish) -> list[str]:
    """What gdb is told once the subject's process is the subject.

    A function that has a name for gdb is stopped in by that; else all that are surely known are, by
    their addresses.
    """
    found = find_delay_functions(subject, wish)
    if name := _first_name(found, wish):
        return [f"break {name}"]
    sure = [function for function in found if not function.doubt]
    if not sure:
        return [NONE_KNOWN]
    return [f"source {COMMANDS}", *map(_by_address, sure)]


def _first_name(found: Sequence[DelayFunction], wish: DelayWish) -> str:
    named = {each.name for each in found if each.found_by in (BY_SYMBOL, BY_DEBUG_INFORMATION)}
    named |= set(wish.symbols)
    return next((name for name in [*wish.symbols, *known_delay_symbols()] if name in named), "")


def _by_address(function: DelayFunction) -> str:
    linked_at = read_symbols(function.part).linked_at
    return f"delay-break {Path(function.file).name} {function.address:#x} {linked_at:#x}"
