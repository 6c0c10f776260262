# SPDX-License-Identifier: GPL-2.0-or-later
"""System calls that the kernel refuses a subject, as seccomp filters of containers do."""

import re
from collections.abc import Sequence

from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.hazard import IN_GUEST, Concern, Hazard
from delayrig.model.cell import Cell
from delayrig.model.events import first
from delayrig.model.kinds.agent import SubjectEnd

CALLS = ("sleep", "select", "poll", "timerfd", "clock")
ERRORS = ("eperm", "enosys", "einval")
NOT_CONFINED = 126
"""The exit code of a subject that the agent could not prepare (images/agent/process.c)."""


def is_unprepared(artifacts: Artifacts) -> bool:
    """Returns True if the agent could not prepare the subject's process."""
    ended = first(artifacts.events, SubjectEnd)
    return ended is not None and ended.exit_code == NOT_CONFINED


class Refused(Hazard):
    """A call that fails at once, without waiting. A subject that ignores the error is too early.

    `sleep` is nanosleep() and clock_nanosleep(). A clock that is read without the kernel (vDSO) is
    never refused, so `clock` needs a `clocksource` beside it.
    """

    name = "refused"
    form = "CALL,ERROR"
    values = re.compile(f"({'|'.join(CALLS)}),({'|'.join(ERRORS)})")
    legend = f"CALL is {', '.join(CALLS[:-1])} or {CALLS[-1]}, ERROR {', '.join(ERRORS)}"
    about = "system calls of the subject that wait are refused, such as refused:sleep,eperm"
    concern = Concern.SAFETY
    lanes = IN_GUEST
    ends_waits = True
    repeatable = True

    def spec_lines(self, cell: Cell) -> Sequence[str]:
        return [f"refused {self.value.replace(',', ' ')}"]

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        return "the agent could not refuse the calls" if is_unprepared(artifacts) else ""
