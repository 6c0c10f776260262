# SPDX-License-Identifier: GPL-2.0-or-later
"""`delays.jsonl` of a cell's folder: every call of a delay function that QEMU saw.

This is the one definition of its keys. Times are of the same clock as those of `events.jsonl`. The
header comes first, a call site before its first call, and calls in the order in which they began.
"""

import re
from enum import StrEnum
from pathlib import Path
from typing import Literal

import msgspec

from delayrig.base.errors import LostGuestError
from delayrig.model.events import decoded
from delayrig.model.kinds.kind import Count, Kind, Writer

FILE_NAME = "delays.jsonl"
CALLERS_SHOWN = 5
NO_LIMIT = "it waits without a limit"
"""The description of a direct wait without a limit, which cannot be too short."""


class End(StrEnum):
    """How a call ended."""

    RETURN = "return"
    """By a return instruction of its function."""
    SITE = "site"
    """At its return address, which was reached from another function."""
    ABANDONED = "abandoned"
    """By a jump over its stack frame (longjmp): another call took its place on the stack."""
    OPEN = "open"
    """Not before the end of the cell."""


class FunctionFacts(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One of the watched functions."""

    name: str
    """Its symbol, or else its address."""
    file: str
    """The program or library that contains it."""
    address: int
    """Its address in that file."""
    unit_ns: int
    """The unit of the requested time."""
    argument: int = 0
    """The number of the argument with the requested time, from 0."""
    found_by: str
    """How it was found."""
    doubt: str
    """Why it may be no delay function; empty if it is certain."""
    counters: tuple[str, ...] = ()
    """The instructions in or below it that depend on the CPU's model: `rdtsc at 0x...`."""
    direct: bool = False
    """True for a direct wait, `nanosleep() at 0x...`, or the reading of a clock.

    If it cannot be judged, `doubt` says why.
    """
    setjmp: bool
    """True if its file can leave a call by longjmp.

    Then an end at the return address does not prove that the call returned.
    """


class _OfRecord(Kind, frozen=True):
    writers = (Writer.RECORD,)


class DelaysHeader(_OfRecord, frozen=True, kw_only=True, tag="delays", omit_defaults=False):
    """The watched functions, and what was not seen."""

    schema: Literal[1] = 1
    """The version of the stream."""
    functions: list[FunctionFacts]
    """The watched functions."""
    late_ns: int
    """The largest error of a call's time, in either direction.

    In virtual time it is the time of one instruction.
    """
    calls: Count
    """The number of calls."""
    lost: Count
    """The number of calls that there was no room for."""


class CallSite(_OfRecord, frozen=True, kw_only=True, tag="site"):
    """A call stack from which calls came."""

    site: Count
    """Its number."""
    callers: list[str]
    """The nearest first: `function (file:line)`, else `function+offset`, else the address."""
    addresses: list[int] = msgspec.field(default_factory=list)
    """The addresses of the last bytes of these calls."""


class DelayCall(_OfRecord, frozen=True, kw_only=True, tag="delay"):
    """One call."""

    call: Count
    """Its number."""
    function: Count
    """The index of the function in the header."""
    t_ns: int
    """When it began."""
    end_ns: int | None
    """When it ended, if that was seen."""
    ended: End
    """How it ended: `return`, `site`, `abandoned` or `open`."""
    requested_ns: int
    """The requested time."""
    thread: int
    """The number of the thread, from 1 on, in the order of first calls."""
    cpu_in: int
    """The core on which it began."""
    cpu_out: int | None
    """The core on which it ended."""
    site: Count
    """The number of its call site; 0 if that is unknown."""
    until_ns: int | None = None
    """The end time of a direct wait until a moment of CLOCK_MONOTONIC."""
    result: int | None = None
    """The result of a direct wait."""
    unread: str = ""
    """Why the requested time of a direct wait is unknown."""

    @property
    def seen_ns(self) -> int | None:
        """Returns its duration, plus or minus the header's `late_ns`."""
        return None if self.end_ns is None else self.end_ns - self.t_ns


class Delays(msgspec.Struct, frozen=True, kw_only=True):
    header: DelaysHeader
    sites: dict[int, CallSite]
    """The known call sites by their number."""
    calls: list[DelayCall]

    def callers_of(self, call: DelayCall) -> list[str]:
        return self.sites[call.site].callers if call.site in self.sites else []

    def call_site(self, call: DelayCall) -> str:
        return " < ".join(self.callers_of(call)[:CALLERS_SHOWN]) or "an unknown caller"

    def function_of(self, call: DelayCall) -> FunctionFacts:
        return self.header.functions[call.function]


FRAME = re.compile(r"(?P<name>[^ (+.]+)(\.[a-z.0-9]+)?(?=$|[ +])")
"""A frame that begins with a function's name; GCC may have added a suffix (`.constprop.0`)."""


def function_of_frame(frame: str) -> str:
    """Returns the function of a frame of a call stack, without address, line and GCC's suffix.

    An address, or a line without a function, is returned as it is.
    """
    found = FRAME.match(frame)
    return found["name"] if found and ":" not in found["name"] else frame


def delays_since(delays: Delays, t_ns: int) -> Delays:
    calls = [call for call in delays.calls if call.t_ns >= t_ns]
    header = msgspec.structs.replace(delays.header, calls=len(calls))
    return msgspec.structs.replace(delays, header=header, calls=calls)


Line = DelaysHeader | CallSite | DelayCall
_DECODER: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)


def encode_delays(delays: Delays) -> bytes:
    lines = [delays.header, *delays.sites.values(), *delays.calls]
    return msgspec.json.Encoder().encode_lines(lines)


def read_delays(folder: Path) -> Delays | None:
    """Reads the delays of a cell's folder. Returns None if no delay function was watched.

    Raises `LostGuestError` if the file is damaged.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        return None
    lines = [line for _, line in decoded(path.read_bytes(), _DECODER, source=str(path))]
    if not lines or not isinstance(lines[0], DelaysHeader):
        raise LostGuestError(f"{path}: it does not begin with a header")
    calls = [line for line in lines if isinstance(line, DelayCall)]
    unknown = [call.function for call in calls if call.function >= len(lines[0].functions)]
    if unknown:
        raise LostGuestError(f"{path}: its header has no function {unknown[0]}")
    return Delays(
        header=lines[0],
        sites={line.site: line for line in lines if isinstance(line, CallSite)},
        calls=calls,
    )
