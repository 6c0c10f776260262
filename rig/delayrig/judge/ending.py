# SPDX-License-Identifier: GPL-2.0-or-later
"""How a subject ended: by itself, or ended by the rig while it worked, polled or sent a flood."""

from collections.abc import Sequence

from delayrig.model.events import Event, Request, Transaction, first, requests, transactions
from delayrig.model.kinds.agent import SubjectEnd, SubjectStart
from delayrig.model.kinds.emulator import GaveUp, Serprog
from delayrig.model.result import Ending

ALIKE_MAX = 4
"""The largest number of different commands that a poll loop repeats."""


def ending_of(events: Sequence[Event]) -> Ending | None:
    """Returns how the subject ended; None if it did not."""
    ended = first(events, SubjectEnd)
    if ended is None:
        return None
    if ended.is_success:
        return Ending.DONE
    if first(events, GaveUp) is not None:
        return Ending.CUT_OFF
    if ended.timed_out:
        return Ending.OUT_OF_TIME
    return Ending.CRASHED if ended.signal else Ending.FAILED


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


def is_flood(events: Sequence[Event]) -> bool:
    """Returns True if the emulator hung up on a subject that sent requests and ignored replies.

    Most of its requests were refused, or sent before the previous reply, so it is chance which of
    them reached the part. A subject that polls without end makes no flood, and may be convicted.
    """
    if first(events, GaveUp) is None:
        return False
    asked = requests(events)
    return sum(map(_is_blind, asked)) * 2 > len(asked)


def _is_blind(request: Request) -> bool:
    refused = isinstance(request, Serprog) and not request.ack
    return refused or (request.gap_ns or 0) < 0
