# SPDX-License-Identifier: GPL-2.0-or-later
"""The delays that figures are made of: what QEMU saw, each wait once."""

from delayrig.judge.delay_waits import sure_calls
from delayrig.model.delays import DelayCall, Delays


def whole_delays(delays: Delays | None) -> list[DelayCall]:
    """Calls that were seen to end, of functions that are sure to delay, in their order.

    A delay function may call another one for its wait: that one's call is a part of its own.
    """
    ends_ns: dict[int, int] = {}
    found = []
    for call in sure_calls(delays) if delays else []:
        if call.end_ns is not None and call.t_ns >= ends_ns.get(call.thread, 0):
            ends_ns[call.thread] = call.end_ns
            found.append(call)
    return found
