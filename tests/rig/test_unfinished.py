# SPDX-License-Identifier: GPL-2.0-or-later
"""A subject whose time ran out: it was still at work, or repeated the same request."""

import pytest
from delayrig.judge.unfinished import is_unfinished
from delayrig.model.events import Event
from delayrig.model.kinds.agent import SubjectEnd, SubjectStart
from delayrig.model.kinds.emulator import Cycle

from tests.rig.event_builders import changed, cycle, made, subject_end


def reads(*addresses: int) -> list[Event]:
    """Makes reads at these addresses, one every 10 ns."""
    return [
        changed([cycle("READ", read=10 * number, rlen=1)], Cycle, addr=address)[0]
        for number, address in enumerate(addresses, start=1)
    ]


SAME, OTHERS = reads(*[0] * 9), reads(*range(9))


@pytest.mark.parametrize(
    ("asked", "timed_out", "unfinished"),
    [(SAME, True, False), (OTHERS, True, True), (OTHERS, False, False)],
)
def test_who_goes_on_to_other_commands_was_at_work(
    asked: list[Event], timed_out: bool, unfinished: bool
) -> None:
    ended = changed([subject_end(100)], SubjectEnd, timed_out=timed_out)
    assert is_unfinished([made(SubjectStart, t_ns=0), *asked, *ended]) == unfinished
