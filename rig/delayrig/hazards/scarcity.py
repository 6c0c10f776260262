# SPDX-License-Identifier: GPL-2.0-or-later
"""Hazards in the subject's process: refused calls, few resources or rights, a large uptime."""

import re
from collections.abc import Sequence

from delayrig.base.durations import NS_PER_MS, NS_PER_S
from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.hazard import ANYWHERE, IN_GUEST, Concern, Hazard, matched
from delayrig.model.cell import Cell
from delayrig.model.events import first, of_kind
from delayrig.model.kinds.agent import KernelMessage, SubjectEnd
from delayrig.model.kinds.hazard import SubjectRights

CALLS = ("sleep", "select", "poll", "timerfd", "clock")
ERRORS = ("eperm", "enosys", "einval")
NOT_CONFINED = 126
"""The exit code of a subject that the agent could not prepare (images/agent/process.c)."""
WRAPS_NS = {
    "i32us": 2**31 * 1_000,
    "u32us": 2**32 * 1_000,
    "i32ms": 2**31 * NS_PER_MS,
    "u32ms": 2**32 * NS_PER_MS,
    "i32s": 2**31 * NS_PER_S,
}
"""The uptimes at which a count of that width and unit wraps."""
LEAD_MS = 100
"""The time from the subject's start to the wrap, by default."""
_FEW = re.compile(r"descriptors,([1-9][0-9]{0,3})|memory,([1-9][0-9]{0,4})|threads")
_UPTIME = re.compile(rf"({'|'.join(WRAPS_NS)})(?:,([1-9][0-9]{{0,4}}))?")


class OfSubject(Hazard):
    """A hazard that the agent prepares in the subject's process before it starts."""

    preparation = "make {name}:{value}"
    """The task of the agent, for the error if it could not do it."""

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        ended = first(artifacts.events, SubjectEnd)
        if ended is None or ended.exit_code != NOT_CONFINED:
            return ""
        return f"the agent could not {self.preparation.format(name=self.name, value=self.value)}"


class Refused(OfSubject):
    """A call that fails at once, without waiting. A subject that ignores the error is too early.

    `sleep` is nanosleep() and clock_nanosleep(). A clock that is read without the kernel (vDSO) is
    never refused, so `clock` needs a `clocksource` beside it.
    """

    name = "refused"
    form = "CALL,ERROR"
    values = re.compile(f"({'|'.join(CALLS)}),({'|'.join(ERRORS)})")
    legend = f"CALL is {', '.join(CALLS[:-1])} or {CALLS[-1]}, ERROR {', '.join(ERRORS)}"
    about = "system calls of the subject that wait are refused, such as refused:sleep,eperm"
    lanes = IN_GUEST
    preparation = "refuse the calls"
    ends_waits = True
    repeatable = True

    def spec_lines(self, cell: Cell) -> Sequence[str]:
        return [f"refused {self.value.replace(',', ' ')}"]


class Few(OfSubject):
    """A lack of descriptors, memory or threads: a wait that needs one more fails at once.

    The N descriptors include 0 to 2 and the serprog connection, so 4 leave none for a wait.
    """

    name = "few"
    form = "WHAT"
    values = _FEW
    legend = "WHAT is descriptors,N or memory,MIB or threads (none but the first)"
    about = "the subject has few descriptors, little memory or no threads: few:descriptors,4"
    lanes = IN_GUEST
    repeatable = True
    may_fail = True

    def spec_lines(self, cell: Cell) -> Sequence[str]:
        what, _, most = self.value.partition(",")
        return [f"few_memory_mib {most}" if what == "memory" else f"few_{what} {most or 1}"]


class Uptime(OfSubject):
    """A monotonic clock whose count wraps at 31 or 32 bits while the subject runs."""

    name = "uptime"
    form = "LIMIT[,LEAD_MS]"
    values = _UPTIME
    legend = f"LIMIT is {', '.join(WRAPS_NS)}; the subject starts LEAD_MS before ({LEAD_MS})"
    about = "the uptime passes 2^31 or 2^32 us or ms, or 2^31 s, while it runs: uptime:u32ms"
    lanes = IN_GUEST

    def spec_lines(self, cell: Cell) -> Sequence[str]:
        limit, lead_ms = matched(_UPTIME, self.value).groups()
        return [f"uptime_ns {WRAPS_NS[limit] - int(lead_ms or LEAD_MS) * NS_PER_MS}"]


class NoRt(Hazard):
    """A subject without CAP_SYS_NICE, and with a limit of real-time priority of 0."""

    name = "no-rt"
    about = "the subject may not take real-time priority"
    concern = Concern.PERFORMANCE
    lanes = ANYWHERE
    spec = ("realtime_denied 1",)

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        rights = first(artifacts.events, SubjectRights)
        if rights is None:
            return "the subject was not served, and so its rights were not looked at"
        could = rights.cap_sys_nice or rights.rtprio_max
        return "the subject could have taken real-time priority" if could else ""


class RtThrottle(Hazard):
    """A limit of 20 ms in each second for real-time tasks of a core.

    The kernel limits all of them, including the emulator. So the emulator is an ordinary process
    here, alone on its core. It does not measure its wake-up latency, because without real-time
    priority a measured one does not bound later ones. The subject has to take real-time priority,
    otherwise nothing is limited.

    Source: Linux Documentation/scheduler/sched-rt-group.
    """

    name = "rt-throttle"
    about = "real-time tasks get 20 ms of each second; for subjects that take such a priority"
    concern = Concern.PERFORMANCE
    cores_min = 2
    spec = ("rt_runtime_us 20000",)

    def emulator_words(self, cell: Cell) -> Sequence[str]:
        return ("--cpu", "1", "--measure-wake", "0")

    def explains(self, text: str) -> bool:
        return "RT throttling activated" in text

    def missed(self, cell: Cell, artifacts: Artifacts) -> str:
        said = of_kind(artifacts.events, KernelMessage)
        met = any(self.explains(message.text) for message in said)
        return "" if met else "it was never throttled: does it take real-time priority?"
