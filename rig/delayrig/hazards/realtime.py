# SPDX-License-Identifier: GPL-2.0-or-later
"""Real-time priority that a subject does not get, or not for as long as it would like."""

from collections.abc import Sequence

from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.hazard import ANYWHERE, Concern, Hazard
from delayrig.model.cell import Cell
from delayrig.model.events import first, of_kind
from delayrig.model.kinds.agent import KernelMessage
from delayrig.model.kinds.hazard import SubjectRights


class NoRt(Hazard):
    """The subject has neither CAP_SYS_NICE nor a limit of real-time priority above 0."""

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
    """Real-time tasks get 20 ms of each second of a core, and after that nothing until the next.

    The kernel does so to any of them, the emulator too: so that one is an ordinary process here,
    alone on a core of its own, and measures no wake-up latency, since it would be another one.
    The subject has to take real-time priority, else nothing is throttled.

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
