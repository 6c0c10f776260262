# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests whose CPU has features that the usual one lacks, for code that checks CPUID."""

from collections.abc import Sequence

from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.hazard import Concern, Hazard
from delayrig.hazards.scarcity import is_unprepared
from delayrig.model.cell import Cell
from delayrig.model.platform import CPU_FEATURES, INVARIANT_TSC, Arch

TSC_MHZ = 2400
NO_VDSO = "vdso=0"
"""It makes the kernel read the clocks, so only the program's own RDTSC has the other rate."""


class Cpu(Hazard):
    """A CPU with more instructions, or with a counter of its own rate.

    QEMU's counter runs at 1 GHz, whatever CPUID says. With `invariant-tsc` the agent traps and
    answers each RDTSC of the subject (images/agent/tsc.h).
    """

    name = "cpu"
    form = "|".join(CPU_FEATURES)
    values = CPU_FEATURES
    archs = (Arch.X86_64,)
    about = (
        "the guest's CPU has the instructions of x86-64-v2 or -v3, or an invariant TSC of 2.4 GHz"
    )
    concern = Concern.SAFETY

    def __init__(self, value: str) -> None:
        super().__init__(value)
        self.cpu = value
        self.kernel_words = (NO_VDSO,) if value == INVARIANT_TSC else ()

    def spec_lines(self, cell: Cell) -> Sequence[str]:
        return [f"tsc_mhz {TSC_MHZ}"] if self.value == INVARIANT_TSC else []

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        return "the agent could not change the counter" if is_unprepared(artifacts) else ""
