# SPDX-License-Identifier: GPL-2.0-or-later
"""`--guest ARCH/MIPS/...`: which guest to measure in, and the sets of them that have a name."""

import re
from dataclasses import dataclass

from delayrig.errors import BadInputError, nearest
from delayrig.guest.platform import Arch
from delayrig.guest.shape import GuestShape, shift_for_mips
from delayrig.hazards import hazard_of
from delayrig.hazards.hazard import Hazard

CORES = re.compile(r"([1-8])c")
KERNEL_WORD = re.compile(r"(highres|nohz)=(on|off)|nohz_full=[0-9,-]+")
HAZARDS = ("low-res-timers", "no-nohz", "clocksource", "preempt-rt", "no-rt")
"""Those that change how a kernel serves timers, or who may be served first."""
FORM = "ARCH/MIPS[/CORESc][/WORD...], such as x86_64/250 or x86_64/62/2c/nohz_full=1"
SETS = {
    "speeds": ("x86_64/16", "x86_64/62", "x86_64/250", "x86_64/1000"),
    "timers": (
        *("x86_64/250/nohz=off", "x86_64/250", "x86_64/250/2c/nohz_full=1"),
        "x86_64/250/highres=off",
    ),
    "archs": ("x86_64/250", "i386/250", "arm64/250"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestProfile:
    """A guest, by the words that asked for it."""

    name: str
    shape: GuestShape
    spec_lines: tuple[str, ...] = ()
    """What its agent is told (images/agent/spec.h)."""

    @property
    def full_cpu(self) -> int:
        """The CPU to measure on: the one of `nohz_full=`, where that is asked for."""
        for word in self.shape.kernel_words:
            if word.startswith("nohz_full="):
                return int(re.findall(r"\d+", word)[0])
        return 0


def parse_guests(words: tuple[str, ...]) -> list[GuestProfile]:
    """Each guest once; names of sets are taken for what they stand for."""
    names = [name for word in words for name in SETS.get(word, (word,))]
    return [parse_guest(name) for name in dict.fromkeys(names)]


def parse_guest(name: str) -> GuestProfile:
    """Raises `BadInputError` that says what would be right."""
    arch, mips, *rest = [*name.split("/"), "", ""]
    if arch not in {str(known) for known in Arch}:
        hint = nearest(arch, [*map(str, Arch), *SETS], what="architectures and sets")
        raise BadInputError(f"--guest {name!r}: no architecture {arch!r}", hint=hint)
    shift = shift_for_mips(float(mips)) if re.fullmatch(r"[0-9.]+", mips) else None
    if shift is None:
        raise BadInputError(
            f"--guest {name!r}: {mips!r} is no speed of a guest",
            hint=f"speeds are 1000, 500, 250, 125, 62, 31, 16, 8 MIPS...; it is written {FORM}",
        )
    cores, kernel_words, hazards = 1, [], []
    for word in filter(None, rest):
        if CORES.fullmatch(word):
            cores = int(word.removesuffix("c"))
        elif KERNEL_WORD.fullmatch(word):
            kernel_words.append(word)
        else:
            hazards.append(_hazard(word, name))
    return _profile(name, Arch(arch), shift, cores, kernel_words, hazards)


def _hazard(word: str, name: str) -> Hazard:
    if word.partition(":")[0] not in HAZARDS:
        known = [*HAZARDS, "highres=off", "nohz=off", "nohz_full=CPUS"]
        raise BadInputError(
            f"--guest {name!r}: unknown word {word!r}", hint=nearest(word, known, what="words")
        )
    return hazard_of(word)


def _profile(
    name: str,
    arch: Arch,
    shift: int,
    cores: int,
    kernel_words: list[str],
    hazards: list[Hazard],
) -> GuestProfile:
    unfit = next((hazard for hazard in hazards if arch not in hazard.archs), None)
    if unfit is not None:
        raise BadInputError(
            f"--guest {name!r}: {unfit.name} needs a guest of {' or '.join(unfit.archs)}",
            hint="leave it out or change the architecture",
        )
    words = [*kernel_words, *(word for hazard in hazards for word in hazard.kernel_words)]
    plain = GuestShape(icount_shift=shift, cores=cores, arch=arch)
    shape = GuestShape(
        icount_shift=shift,
        cores=cores,
        arch=arch,
        kernel=next((hazard.kernel for hazard in hazards if hazard.kernel), ""),
        clocksource=next((h.clocksource for h in hazards if h.clocksource), "")
        or plain.platform.clocksource,
        kernel_words=tuple(words),
    )
    lines = ("realtime_denied 1",) if any(hazard.name == "no-rt" for hazard in hazards) else ()
    profile = GuestProfile(name=name, shape=shape, spec_lines=lines)
    if profile.full_cpu >= cores or (profile.full_cpu == 0 and _wants_full(shape)):
        raise BadInputError(
            f"--guest {name!r}: nohz_full= needs a core above 0 that the guest has",
            hint="core 0 keeps the time for the others: write /2c/nohz_full=1",
        )
    return profile


def _wants_full(shape: GuestShape) -> bool:
    return any(word.startswith("nohz_full=") for word in shape.kernel_words)
