# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls of uncertain delay functions that may have left a part of their time to somebody else.

A driver may wait in part by its adapter: that of the ch341a puts up to 20 us into its next packet,
and sleeps the rest. If the compiler inlines that sleep, the driver's function looks like a delay
function that is too short by a constant, and skips short delays. A faulty delay function may look
the same. So a short call of an uncertain function is a doubt, and a fault only in these cases:

- It was more than `LEFT_NS_MAX` too short, which no driver leaves to its adapter.
- It was too short in proportion to its request, as all longer calls of the function were.
- A certain wait inside of it was asked for the whole time, so that it left nothing.
- The function only counts a loop.

An uncertain call is not even a doubt if other waits answer for it. That is another watched call
inside of it that was asked for the whole time. If the function stores time for later
(`STORES_TIME`), it is also the certain waits inside, if long calls of the function asked them for
as much less.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

from delayrig.model.delays import DelayCall, Delays
from delayrig.subjects.finder.candidates import COUNTS, NO_UNIT, STORES_TIME
from delayrig.subjects.finder.confirm import EVEN_BY, LONG_NS

LEFT_NS_MAX = LONG_NS
"""The longest time that an uncertain function may have left to others."""
GROWN_BY = 5
"""A time that grows by this factor with the requested time was not left to others.

An adapter takes at most a constant, and less if it has a part of an earlier delay.
"""


class LeftTime:
    """The waits inside of calls, and the times that the calls left to others."""

    def __init__(self, delays: Delays) -> None:
        self.delays = delays
        self._of_thread: dict[int, list[DelayCall]] = defaultdict(list)
        for call in delays.calls:
            self._of_thread[call.thread].append(call)
        self._left_ns: dict[int, int] = {}
        self._missing_part: dict[int, float] = {}

    def may_be_left(self, call: DelayCall) -> bool:
        """Returns True if the call was too short, and this shows no fault."""
        doubt = self.delays.function_of(call).doubt
        if doubt in ("", COUNTS) or call.seen_ns is None or call.seen_ns >= call.requested_ns:
            return False
        if any(self._is_sure(each) and _is_whole(each, call) for each in self._inside(call)):
            return False
        short_ns = call.requested_ns - call.seen_ns
        if short_ns <= EVEN_BY * self._missing(call.function) * call.requested_ns:
            return False
        return short_ns <= LEFT_NS_MAX

    def is_explained(self, call: DelayCall) -> bool:
        """Returns True if other waits answer for an uncertain call, so that it is no doubt."""
        doubt = self.delays.function_of(call).doubt
        inside = list(self._inside(call))
        if NO_UNIT in doubt or call.end_ns is None:
            return False
        if any(_is_whole(each, call) for each in inside):
            return True
        left_ns = call.requested_ns - sum(each.requested_ns for each in inside)
        return STORES_TIME in doubt and left_ns <= self._left_by(call.function)

    def _missing(self, function: int) -> float:
        """Returns the part by which all long calls of the function were too short.

        Returns 0 if it is not nearly the same part, or if the calls do not differ enough in length.
        """
        if function not in self._missing_part:
            long = [
                (call.requested_ns - call.seen_ns, call.requested_ns)
                for call in self.delays.calls
                if call.function == function
                and call.requested_ns >= LONG_NS
                and call.seen_ns is not None
            ]
            parts = [short_ns / requested_ns for short_ns, requested_ns in long]
            is_even = bool(parts) and 0 < max(parts) <= EVEN_BY * min(parts)
            has_grown = is_even and max(long)[0] >= GROWN_BY * min(long)[0]
            self._missing_part[function] = max(parts) if has_grown else 0.0
        return self._missing_part[function]

    def _left_by(self, function: int) -> int:
        """Returns the longest time that long calls of the function left to others; 0 if unknown."""
        if function not in self._left_ns:
            times = [0]
            for call in self.delays.calls:
                if call.function == function and call.requested_ns >= LONG_NS:
                    inside = [each for each in self._inside(call) if self._is_sure(each)]
                    left_ns = call.requested_ns - sum(each.requested_ns for each in inside)
                    if inside and left_ns <= LEFT_NS_MAX:
                        times.append(left_ns)
            self._left_ns[function] = max(times)
        return self._left_ns[function]

    def _is_sure(self, call: DelayCall) -> bool:
        return not self.delays.function_of(call).doubt

    def _inside(self, outer: DelayCall) -> Iterator[DelayCall]:
        """Yields the calls of other functions in the call, without those inside of them.

        Sleeps until an absolute time are omitted: their length was not asked for.
        """
        if outer.end_ns is None:
            return
        calls, end_ns = self._of_thread[outer.thread], outer.t_ns
        begun = bisect_left(calls, outer.t_ns, key=lambda each: each.t_ns)
        after = bisect_left(calls, outer.end_ns, key=lambda each: each.t_ns)
        for call in (calls[at] for at in range(begun, after)):
            is_inside = call.end_ns is not None and call.end_ns <= outer.end_ns
            is_other = call.function != outer.function
            if is_inside and is_other and call.t_ns >= end_ns and call.until_ns is None:
                end_ns = call.end_ns or end_ns
                yield call


def _is_whole(inner: DelayCall, outer: DelayCall) -> bool:
    return inner.requested_ns >= outer.requested_ns
