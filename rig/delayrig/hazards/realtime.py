# SPDX-License-Identifier: GPL-2.0-or-later
"""Hazards that deny the subject real-time priority, or limit it."""

from collections.abc import Sequence

from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.hazard import ANYWHERE, Concern, Hazard
from delayrig.model.cell import Cell
from delayrig.model.events import first, of_kind
from delayrig.model.kinds.agent import KernelMessage
from delayrig.model.kinds.hazard import SubjectRights


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
    here, alone on a core of its own. It measures no wake-up latency, because that would change.
    The subject has to take real-time priority, otherwise nothing is limited.

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
