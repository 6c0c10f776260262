# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of a guest that its snapshot fixes. Cells of one shape share a snapshot."""

from dataclasses import dataclass

from delayrig.base import digest
from delayrig.model.platform import PLATFORMS, Arch, Platform

SHIFT_MAX = 10
SPECIAL_MAX = 48
TSC = "tsc"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class GuestShape:
    """The inputs of a snapshot.

    The speed is one of them: a guest that is restored at another speed sees its clock jump.
    """

    icount_shift: int
    """One instruction takes 2**icount_shift ns of virtual time."""
    cores: int
    arch: Arch = Arch.X86_64
    kernel: str = ""
    """The kernel's name in images/recipes.toml; empty: the usual one."""
    clocksource: str = TSC
    """The clock source of the guest's kernel."""
    cpu: str = ""
    """The key in `CPU_FEATURES` of additions to the usual CPU; empty: none."""
    kernel_words: tuple[str, ...] = ()
    """Additions to the kernel's command line."""
    programmer: str = ""
    """The programmer that is a device of the guest; empty: none."""

    @property
    def platform(self) -> Platform:
        return PLATFORMS[self.arch]

    @property
    def mips(self) -> float:
        return mips_of_shift(self.icount_shift)

    @property
    def nominal_mips(self) -> int:
        return round(self.mips)

    @property
    def name(self) -> str:
        clock = "" if self.clocksource == self.platform.clocksource else self.clocksource
        words = [
            self.kernel,
            clock,
            self.cpu,
            *(word.replace("=", "-") for word in self.kernel_words),
        ]
        words += [self.programmer.replace(":", "-")]
        special = "".join(f"-{word}" for word in words if word)
        if len(special) > SPECIAL_MAX:
            special = f"-{digest.of_value(words)[:12]}"
        return f"{self.arch}-{self.nominal_mips}mips-{self.cores}c{special}"


def mips_of_shift(icount_shift: int) -> float:
    """Returns the speed in MIPS if one instruction takes 2**icount_shift ns."""
    return 1000 / (1 << icount_shift)


def shift_for_mips(mips: float) -> int | None:
    """Returns the icount shift whose speed, exact or rounded, is `mips`; None if there is none."""
    for shift in range(SHIFT_MAX + 1):
        if mips in (1000 / (1 << shift), round(1000 / (1 << shift))):
            return shift
    return None


def speeds_beside(mips: float) -> list[int]:
    """Returns the next lower and higher possible speed, rounded; only one of them at an end."""
    speeds = [round(mips_of_shift(shift)) for shift in range(SHIFT_MAX, -1, -1)]
    below = [speed for speed in speeds if speed < mips][-1:]
    return below + [speed for speed in speeds if speed > mips][:1]
