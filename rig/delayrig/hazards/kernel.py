# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels that keep time in another way, or give up the CPU in another way."""

from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.hazard import Concern, Hazard
from delayrig.model.cell import Cell
from delayrig.model.events import first
from delayrig.model.kinds.agent import ClockRate, Guest
from delayrig.model.platform import Arch

CLOCKSOURCES = ("tsc", "hpet", "acpi_pm")
# At 250 Hz the 200 ms in which the guest settles hold 50; a kernel that is idle has two.
TICKS_MIN = 40


class NoNohz(Hazard):
    """`nohz=off`: the timer interrupts each core at every jiffy, also where nothing is to be done.

    Source: Linux Documentation/admin-guide/kernel-parameters, "nohz=".
    """

    name = "no-nohz"
    about = "a tick at every jiffy, also while nothing is to be done"
    concern = Concern.PERFORMANCE
    archs = (Arch.X86_64, Arch.I386)
    """Ticks are counted by a row that /proc/interrupts has on x86 (images/agent/report.c)."""
    kernel_words = ("nohz=off",)

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        rate = first(artifacts.events, ClockRate)
        ticks = (rate.timer_interrupts if rate else None) or 0
        return "" if ticks >= TICKS_MIN else f"an idle core had only {ticks} ticks while it settled"


class Clocksource(Hazard):
    """The clock by which the kernel keeps time; any but the TSC costs an access to a device.

    `judge/trust.py` compares it with the one in force.
    """

    name = "clocksource"
    form = "|".join(CLOCKSOURCES)
    archs = (Arch.X86_64, Arch.I386)
    values = CLOCKSOURCES
    about = "the guest keeps time by another clock, which takes longer to read"
    concern = Concern.PERFORMANCE

    def __init__(self, value: str) -> None:
        super().__init__(value)
        self.clocksource = value


class PreemptRt(Hazard):
    name = kernel = "preempt-rt"
    archs = (Arch.X86_64,)
    about = "the PREEMPT_RT kernel, in which interrupts are threads"
    concern = Concern.PERFORMANCE

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        guest = first(artifacts.events, Guest)
        version = guest.version if guest else ""
        return "" if "PREEMPT_RT" in version else f"the guest's kernel is {version!r}"
