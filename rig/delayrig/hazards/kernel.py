# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels that keep time or give up the CPU in another way, and CPUs with other features."""

from collections.abc import Sequence

from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.hazard import IN_GUEST, Concern, Hazard
from delayrig.hazards.scarcity import OfSubject
from delayrig.model.cell import Cell
from delayrig.model.events import first
from delayrig.model.kinds.agent import ClockRate, Guest
from delayrig.model.platform import CPU_FEATURES, INVARIANT_TSC, Arch

CLOCKSOURCES = ("tsc", "hpet", "acpi_pm")
KERNELS = ("5.10", "6.12")
# At 250 Hz the 200 ms in which the guest settles have 50 ticks; an idle kernel without ticks has
# two.
TICKS_MIN = 40
TSC_MHZ = 2400
NO_VDSO = "vdso=0"
"""The option that removes the vDSO, so that only the kernel reads the clocks.

The vDSO would execute RDTSC in the program, and get the counter of TSC_MHZ instead of the kernel's.
"""


class NoNohz(Hazard):
    """`nohz=off`: the timer interrupts each core at every jiffy, even without work.

    Source: Linux Documentation/admin-guide/kernel-parameters, "nohz=".
    """

    name = "no-nohz"
    about = "a tick at every jiffy, also while nothing is to be done"
    concern = Concern.PERFORMANCE
    archs = (Arch.X86_64, Arch.I386)
    """The architectures on which its ticks were checked (images/latency/ticks.c)."""
    kernel_words = ("nohz=off",)

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        rate = first(artifacts.events, ClockRate)
        ticks = (rate.timer_interrupts if rate else None) or 0
        return "" if ticks >= TICKS_MIN else f"an idle core had only {ticks} ticks while it settled"


class LowResTimers(Hazard):
    """`highres=off`: a sleep of 100 us takes up to two jiffies, and clock_getres() says 4 ms.

    Source: Linux Documentation/admin-guide/kernel-parameters, "highres=".
    """

    name = "low-res-timers"
    about = "timers that fire at jiffies alone; clock_getres() then says 4 ms"
    lanes = IN_GUEST
    kernel_words = ("highres=off",)


class Clocksource(Hazard):
    """The clock source of the kernel; any but the TSC costs an access to a device.

    `judge/trust.py` compares it with the one that the guest's kernel uses.
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


class OtherKernel(Hazard):
    """A kernel of another release of the distribution, by its version."""

    name = "kernel"
    form = "|".join(KERNELS)
    archs = (Arch.X86_64,)
    values = KERNELS
    about = "the guest's kernel is of that version; the usual one is 6.1"
    concern = Concern.PERFORMANCE

    def __init__(self, value: str) -> None:
        super().__init__(value)
        self.kernel = f"linux-{value}"

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        guest = first(artifacts.events, Guest)
        release = guest.kernel if guest else ""
        return "" if release.startswith(f"{self.value}.") else f"the guest's kernel is {release!r}"


class PreemptRt(Hazard):
    name = kernel = "preempt-rt"
    archs = (Arch.X86_64,)
    about = "the PREEMPT_RT kernel, in which interrupts are threads"
    concern = Concern.PERFORMANCE

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        guest = first(artifacts.events, Guest)
        version = guest.version if guest else ""
        return "" if "PREEMPT_RT" in version else f"the guest's kernel is {version!r}"


class Cpu(OfSubject):
    """A CPU with more instructions, or with a TSC of another rate.

    QEMU's TSC runs at 1 GHz, whatever CPUID says. With `invariant-tsc` the agent traps and
    answers each RDTSC of the subject (images/agent/tsc.h).
    """

    name = "cpu"
    form = "|".join(CPU_FEATURES)
    values = CPU_FEATURES
    archs = (Arch.X86_64,)
    preparation = "change the counter"
    about = (
        "the guest's CPU has the instructions of x86-64-v2 or -v3, or an invariant TSC of 2.4 GHz"
    )

    def __init__(self, value: str) -> None:
        super().__init__(value)
        self.cpu = value
        self.kernel_words = (NO_VDSO,) if value == INVARIANT_TSC else ()

    def spec_lines(self, cell: Cell) -> Sequence[str]:
        return [f"tsc_mhz {TSC_MHZ}"] if self.value == INVARIANT_TSC else []
