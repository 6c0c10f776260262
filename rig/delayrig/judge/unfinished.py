# SPDX-License-Identifier: GPL-2.0-or-later
"""Distinguishes a subject that was ended at work from one that only repeated its poll."""

from collections.abc import Sequence

from delayrig.model.events import Event, Transaction, first, transactions
from delayrig.model.kinds.agent import SubjectEnd, SubjectStart
from delayrig.model.kinds.emulator import GaveUp

ALIKE_MAX = 4
"""The most different commands that a poll repeats."""


def is_unfinished(events: Sequence[Event]) -> bool:
    """Returns True if the rig ended a subject that might have done its job with more time.

    It sent more than `ALIKE_MAX` different commands in the second half of its time. A subject that
    only repeats a poll would never end.
    """
    started, ended = first(events, SubjectStart), first(events, SubjectEnd)
    if started is None or ended is None:
        return False
    if not ended.timed_out and first(events, GaveUp) is None:
        return False
    middle_ns = (started.t_ns + ended.t_ns) // 2
    asked = {_command(each) for each in transactions(events) if each.read_ns >= middle_ns}
    return len(asked) > ALIKE_MAX


def _command(event: Transaction) -> tuple[str | None, str, int | None]:
    return event.op, event.name, event.addr
