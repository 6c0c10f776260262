# SPDX-License-Identifier: GPL-2.0-or-later
"""What one call of a function that sleeps asks for: its arguments, as the plugin read them."""

import msgspec

from delayrig.images.finder.finding import DirectWait
from delayrig.images.finder.waits import NOTHING_WATCHED
from delayrig.model.delays import NO_LIMIT, DelayCall

INT_BITS = 32
CLOCK_REALTIME, CLOCK_MONOTONIC = 0, 1
TIMER_ABSTIME = 1
WALL_CLOCK = "it waits until a moment of a clock that may be set"
NOT_READ = "the time that it asks for could not be read"


def of_direct_wait(
    plain: DelayCall,
    wait: DirectWait,
    arguments: list[int],
    is_known: bool,
    result: int | None,
) -> DelayCall:
    """The call with what it means."""
    told = msgspec.structs.replace(plain, result=result)
    if not is_known:
        is_null = arguments[wait.argument] == 0 and wait.called in NOTHING_WATCHED
        why = NO_LIMIT if is_null else NOT_READ
        return msgspec.structs.replace(told, requested_ns=0, unread=why)
    if wait.called == "poll" and as_int(arguments[wait.argument]) < 0:
        return msgspec.structs.replace(told, requested_ns=0, unread=NO_LIMIT)
    if wait.called == "clock_nanosleep" and arguments[1] & TIMER_ABSTIME:
        return _until(told, clock=as_int(arguments[0]))
    return told


def _until(told: DelayCall, clock: int) -> DelayCall:
    if clock != CLOCK_MONOTONIC:
        return msgspec.structs.replace(told, requested_ns=0, unread=WALL_CLOCK)
    return msgspec.structs.replace(told, requested_ns=0, until_ns=told.requested_ns)


def as_int(value: int) -> int:
    """What a C `int` is whose register, or word of the stack, holds that."""
    low = value & ((1 << INT_BITS) - 1)
    return low - (1 << INT_BITS) if low >> (INT_BITS - 1) else low
