# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines of the delay plugin: calls of delay functions that QEMU saw, in raw numbers.

`lanes/delay_record.py` makes `delays.jsonl` from them, whose lines are in `model/delays.py`.
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
    """A call stack, before the first call from it."""

    stack: Count
    """Its number."""
    function: Count
    """The index of the watched function that was called."""
    base: Word
    """The base address of the subject's program."""
    sp: Word
    """The stack pointer."""
    fp: Word
    """The frame pointer."""
    lr: Word
    """The link register, 0 if the architecture has none."""
    words: list[Word]
    """The words on the stack, from `sp` on."""


class _OfCall(_OfPlugin, frozen=True, kw_only=True):
    call: Count
    """Its number."""


class Enter(_OfCall, frozen=True, kw_only=True, tag="enter"):
    """A call begins."""

    function: Count
    """The index of the function, as in `stack`."""
    t_ns: int
    """The time of QEMU's clock."""
    late_insns: Count
    """The instructions that this clock counted too early."""
    cpu: Count
    """The number of the vCPU."""
    asked: Word
    """The requested time, in the function's own unit."""
    space: Word
    """A value that distinguishes processes."""
    thread: Word
    """A value that distinguishes the threads of a process."""
    sp: Word
    """The stack pointer."""
    stack: Count
    """The number of its stack, 0 if unknown."""


class Asking(_OfCall, frozen=True, kw_only=True, tag="asking"):
    """More about a direct wait that just began."""

    is_known: bool
    """True if the requested time could be read."""
    arguments: list[Word]
    """The arguments of the call."""


class Leave(_OfCall, frozen=True, kw_only=True, tag="leave"):
    """A call ends."""

    t_ns: int
    """The time, as in `enter`."""
    late_insns: Count
    """The instructions, as in `enter`."""
    cpu: Count
    """The vCPU, as in `enter`."""
    by: Literal["return", "site"]
    """`return`, or `site` if it was seen at its return address."""
    result: Word
    """The content of the result's register."""


class Abandon(_OfCall, frozen=True, tag="abandon"):
    """A call was left unseen, because another one has its place on the stack."""


class Lost(_OfPlugin, frozen=True, kw_only=True, tag="lost"):
    """The calls that there was no room for."""

    calls: Count
    """Their number."""


PluginLine = PluginStart | Stack | Enter | Asking | Leave | Abandon | Lost
"""A line of the delay plugin."""
