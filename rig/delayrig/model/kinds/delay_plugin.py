# SPDX-License-Identifier: GPL-2.0-or-later
"""What the delay plugin writes: calls of delay functions as QEMU sees them, in raw numbers.

`lanes/delay_record.py` makes `delays.jsonl` of them, whose lines are in `model/delays.py`.
"""

from typing import Literal

from delayrig.model.kinds.kind import Count, Kind, Word, Writer

PLUGIN_SCHEMA = 2


class _OfPlugin(Kind, frozen=True):
    writers = (Writer.DELAY_PLUGIN,)


class PluginStart(_OfPlugin, frozen=True, kw_only=True, tag="delays"):
    """The first line."""

    schema: int
    """The version of these lines."""


class Stack(_OfPlugin, frozen=True, kw_only=True, tag="stack"):
    """A stack from which calls come, before the first of them."""

    stack: Count
    """Its number."""
    function: Count
    """Which of the functions that are watched was called."""
    base: Word
    """Where the subject's program lies."""
    sp: Word
    """The stack pointer."""
    fp: Word
    """The frame pointer."""
    lr: Word
    """The link register, 0 where the architecture has none."""
    words: list[Word]
    """What lies on the stack, from `sp` on."""


class _OfCall(_OfPlugin, frozen=True, kw_only=True):
    call: Count
    """Its number."""


class Enter(_OfCall, frozen=True, kw_only=True, tag="enter"):
    """A call begins."""

    function: Count
    """As in `stack`."""
    t_ns: int
    """QEMU's clock."""
    late_insns: Count
    """Instructions that this clock counted too early."""
    cpu: Count
    """Which vCPU."""
    asked: Word
    """What it asks for, in the function's own unit."""
    space: Word
    """Tells processes apart."""
    thread: Word
    """Tells the threads of a process apart."""
    sp: Word
    """The stack pointer."""
    stack: Count
    """The number of its stack, 0 where it is unknown."""


class Asking(_OfCall, frozen=True, kw_only=True, tag="asking"):
    """What else is known of a direct wait that just began."""

    is_known: bool
    """Whether what it asks for could be read."""
    arguments: list[Word]
    """Of the call."""


class Leave(_OfCall, frozen=True, kw_only=True, tag="leave"):
    """A call ends."""

    t_ns: int
    """As in `enter`."""
    late_insns: Count
    """As in `enter`."""
    cpu: Count
    """As in `enter`."""
    by: Literal["return", "site"]
    """`return`, or `site` where it was seen where it returns to."""
    result: Word
    """What it returned, as its register holds it."""


class Abandon(_OfCall, frozen=True, tag="abandon"):
    """A call was left in a way that nobody saw: another one has its place."""


class Lost(_OfPlugin, frozen=True, kw_only=True, tag="lost"):
    """Calls for which there was no room."""

    calls: Count
    """How many."""


PluginLine = PluginStart | Stack | Enter | Asking | Leave | Abandon | Lost
"""A line of the delay plugin's."""
