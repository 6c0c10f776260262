# SPDX-License-Identifier: GPL-2.0-or-later
"""The common part of all kinds of events.

A kind is a struct. Its tag is the line's `ev`, its fields are the other keys in the order in which
they are written, and the text below a field is its meaning. A key that may be missing has a default
and is read as that default; every other key is always there, perhaps as null.
"""

from enum import StrEnum
from typing import Annotated, ClassVar

import msgspec

NUMBER_MAX = (1 << 63) - 1
"""The largest number in results: the columns of a history hold no larger one."""
Ns = Annotated[int, msgspec.Meta(ge=0, le=NUMBER_MAX)]
"""Nanoseconds: a moment of the stream's clock, or a length."""
Count = Annotated[int, msgspec.Meta(ge=0, le=NUMBER_MAX)]
Word = Annotated[int, msgspec.Meta(ge=0)]
"""A number of up to 64 bits: an address, a seed, the content of a register."""
Octet = Annotated[str, msgspec.Meta(pattern="^0x[0-9a-f]{2}$")]
"""A byte as a text such as "0x9f"."""


class Writer(StrEnum):
    """The writer of a kind."""

    EMULATOR = "emulator"
    """`serprog-emu`, or the emulators' model inside our dummy programmer."""
    AGENT = "agent"
    """The agent of a guest."""
    SESSION = "session"
    """The session of the host lane, which does what an agent does in a guest."""
    LIBRARY_CLIENT = "library client"
    """The program that has loaded a subject's library."""
    LIVE_LANE = "live lane"
    CPU_PLUGIN = "CPU plugin"
    DELAY_PLUGIN = "delay plugin"
    RECORD = "delay record"
    """The rig, from the delay plugin's lines."""


SOURCES = {
    Writer.EMULATOR: "emulators/record/jsonl.c",
    Writer.AGENT: "images/agent/",
    Writer.SESSION: "rig/delayrig/lanes/host/",
    Writer.LIBRARY_CLIENT: "images/library_client/main.c",
    Writer.LIVE_LANE: "rig/delayrig/lanes/live/",
    Writer.CPU_PLUGIN: "emulators/cpu_plugin/trace.c",
    Writer.DELAY_PLUGIN: "emulators/delay_plugin/record.c",
    Writer.RECORD: "rig/delayrig/lanes/delay_record.py",
}
"""The file of each writer."""


class Kind(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    tag_field="ev",
):
    """One line of a stream."""

    writers: ClassVar[tuple[Writer, ...]]


def name_of(kind: type[Kind]) -> str:
    """Returns the value of `ev`."""
    return str(kind.__struct_config__.tag)


class Timed(Kind, frozen=True, kw_only=True):
    """A kind whose first key is its moment."""

    t_ns: Ns
