# SPDX-License-Identifier: GPL-2.0-or-later
"""`--guest ARCH/MIPS/...`: the guest to measure in, and named sets of guests."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from delayrig.base.errors import BadInputError, UnknownNameError
from delayrig.hazards import hazard_of, refusal_on
from delayrig.hazards.hazard import Hazard
from delayrig.hazards.speed import GOVERNORS, SLOWEST_PART
from delayrig.model.lane import LaneName
from delayrig.model.platform import Arch
from delayrig.model.shape import GuestShape, shift_for_mips
from delayrig.plan.machines import CORES_MAX, MIPS_MAX, budget_mips, find_machine, scaled_mips

CORES = re.compile(r"([1-8])c")
KERNEL_WORD = re.compile(r"(highres|nohz)=(on|off)|nohz_full=[0-9]+(?:[,-][0-9]+)*")
HAZARDS = ("low-res-timers", "no-nohz", "clocksource", "preempt-rt", "no-rt")
"""The hazards that change how a kernel serves timers, or which process runs first."""
FORM = "ARCH/MIPS[/CORESc][/WORD...], such as x86_64/250 or x86_64/62/2c/nohz_full=1"
SETS = {
    "speeds": ("x86_64/16", "x86_64/62", "x86_64/250", "x86_64/1000"),
    "timers": (
        *("x86_64/250/nohz=off", "x86_64/250", "x86_64/250/2c/nohz_full=1"),
        "x86_64/250/highres=off",
    ),
    "archs": ("x86_64/250", "i386/250", "arm64/250"),
}
LIVE_FORM = (
    "MACHINE[/GOVERNOR][/WORD...], such as 10:40, mt8173 or 10:40/ondemand, or"
    f" {Arch.X86_64}/MIPS[/CORESc][/GOVERNOR][/WORD...]"
)
PERFORMANCE, ONDEMAND = "performance", "ondemand"
FILE_END = ".toml"
SPEED = re.compile(r"[0-9]+(?:\.[0-9]{1,3})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestProfile:
    name: str
    shape: GuestShape
    spec_lines: tuple[str, ...] = ()
    """The lines about it in the agent's specification (images/agent/spec.h)."""

    @property
    def first_cpu(self) -> int:
        """Returns the CPU to measure on: the one of `nohz_full=`, if that is given."""
        return first_cpu(self.shape.kernel_words)

    @property
    def cores(self) -> int:
        return self.shape.cores


def parse_guests(words: tuple[str, ...]) -> list[GuestProfile]:
    """Returns each guest once, with names of sets replaced by their members."""
    names = [name for word in words for name in SETS.get(word, (word,))]
    return [parse_guest(name) for name in dict.fromkeys(names)]


def parse_guest(name: str) -> GuestProfile:
    """Parses a guest; raises `BadInputError` that says what would be right."""
    arch, mips, *rest = [*name.split("/"), "", ""]
    if arch not in {str(known) for known in Arch}:
        raise UnknownNameError(
            f"--guest {name!r}: no architecture {arch!r}",
            arch,
            [*Arch, *SETS],
            what="architectures and sets",
        )
    shift = shift_for_mips(float(mips)) if re.fullmatch(r"\d+(\.\d+)?", mips) else None
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


def _hazard(word: str, name: str, *, also: Iterable[str] = ()) -> Hazard:
    if word.partition(":")[0] not in HAZARDS:
        known = [*HAZARDS, *also, "highres=off", "nohz=off", "nohz_full=CPUS"]
        raise UnknownNameError(
            f"--guest {name!r}: unknown word {word!r}", word, known, what="words"
        )
    return hazard_of(word)


def _profile(
    name: str, arch: Arch, shift: int, cores: int, kernel_words: list[str], hazards: list[Hazard]
) -> GuestProfile:
    unfit = next((hazard for hazard in hazards if arch not in hazard.archs), None)
    if unfit is not None:
        raise BadInputError(
            f"--guest {name!r}: {unfit.name} needs a guest of {' or '.join(unfit.archs)}",
            hint="leave it out or change the architecture",
        )
    plain = GuestShape(icount_shift=shift, cores=cores, arch=arch)
    shape = replace(
        plain,
        kernel=next((hazard.kernel for hazard in hazards if hazard.kernel), ""),
        clocksource=next((h.clocksource for h in hazards if h.clocksource), "")
        or plain.platform.clocksource,
        kernel_words=_kernel_words(kernel_words, hazards),
    )
    first_cpu(shape.kernel_words, cores=cores, name=name)
    return GuestProfile(name=name, shape=shape, spec_lines=spec_lines_of(hazards))


def _kernel_words(words: Iterable[str], hazards: Iterable[Hazard]) -> tuple[str, ...]:
    return (*words, *(word for hazard in hazards for word in hazard.kernel_words))


def spec_lines_of(hazards: Iterable[Hazard]) -> tuple[str, ...]:
    return ("realtime_denied 1",) if any(each.name == "no-rt" for each in hazards) else ()


def first_cpu(kernel_words: Sequence[str], *, cores: int | None = None, name: str = "") -> int:
    """Returns the first CPU of `nohz_full=`, else 0.

    Raises `BadInputError` if it names core 0, or a core that is not one of `cores`.
    """
    full = " ".join(word for word in kernel_words if word.startswith("nohz_full="))
    cpus = [int(number) for number in re.findall(r"\d+", full)]
    if cores is not None and not all(0 < cpu < cores for cpu in cpus):
        raise BadInputError(
            f"--guest {name!r}: nohz_full= needs a core above 0 that the guest has",
            hint="core 0 keeps the time for the others: write /2c/nohz_full=1",
        )
    return cpus[0] if cpus else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveProfile:
    name: str
    core_mips: tuple[float, ...]
    asked_mips: tuple[float, ...]
    governor: str = PERFORMANCE
    kernel_words: tuple[str, ...] = ()
    spec_lines: tuple[str, ...] = ()

    @property
    def cores(self) -> int:
        return len(self.core_mips)

    @property
    def first_cpu(self) -> int:
        return first_cpu(self.kernel_words)

    @property
    def governors(self) -> tuple[str, ...]:
        """Returns the governors to measure with, the present one first."""
        return tuple(dict.fromkeys((self.governor, PERFORMANCE, ONDEMAND)))

    @property
    def about(self) -> str:
        speeds = ":".join(f"{mips:.3g}" for mips in self.core_mips)
        text = f"cores of {speeds} MIPS under the governor {self.governor}, in real time"
        if self.governor != PERFORMANCE:
            text += f", at {SLOWEST_PART * 100:g} % of that where they are idle"
        if self.core_mips != self.asked_mips:
            factor = self.core_mips[0] / self.asked_mips[0]
            text += f"; all of them are {factor:.3g} of what was asked for, as this machine is"
            text += " too slow for more"
        return text


def parse_live_guests(words: tuple[str, ...]) -> list[LiveProfile]:
    return [parse_live_guest(word) for word in dict.fromkeys(words)]


def parse_live_guest(name: str) -> LiveProfile:
    """Parses a guest of the live lane; raises `BadInputError` that says what would be right."""
    if name in SETS:
        raise BadInputError(
            f"--guest {name!r}: is a set of guests of the virtual lane",
            hint=f"leave --lane live out, or name a machine: {LIVE_FORM}",
        )
    asked, rest = _machine(name)
    governor, kernel_words, hazards = PERFORMANCE, [], []
    for word in rest:
        if word in GOVERNORS:
            governor = word
        elif KERNEL_WORD.fullmatch(word):
            kernel_words.append(word)
        else:
            hazards.append(_live_hazard(word, name))
    profile = LiveProfile(
        name=name,
        core_mips=scaled_mips(list(asked), budget_mips()),
        asked_mips=asked,
        governor=governor,
        kernel_words=_kernel_words(kernel_words, hazards),
        spec_lines=spec_lines_of(hazards),
    )
    first_cpu(profile.kernel_words, cores=profile.cores, name=name)
    return profile


def _machine(name: str) -> tuple[tuple[float, ...], list[str]]:
    """Returns the speed of each core, and the words after the speeds."""
    path, end, rest = name.partition(FILE_END)
    if not end:
        path, _, rest = name.partition("/")
    if end or path not in {str(arch) for arch in Arch}:
        return tuple(find_machine(path + end).core_mips), [w for w in rest.split("/") if w]
    if path != Arch.X86_64:
        raise BadInputError(
            f"--guest {name!r}: the live lane has only {Arch.X86_64} guests",
            hint="leave --lane live out, or change the architecture",
        )
    return _alike(name, rest.split("/"))


def _alike(name: str, words: list[str]) -> tuple[tuple[float, ...], list[str]]:
    """Returns the speeds of equal cores, and the words that are left.

    The form is that of the virtual lane, but any speed up to MIPS_MAX is possible.
    """
    mips, *rest = [*words, ""]
    if not SPEED.fullmatch(mips) or not 1 <= float(mips) <= MIPS_MAX:
        raise BadInputError(
            f"--guest {name!r}: {mips!r} is no speed of a core",
            hint=f"a core does 1 to {MIPS_MAX} million instructions a second; written {LIVE_FORM}",
        )
    counts = [word for word in rest if CORES.fullmatch(word)]
    cores = int(counts[-1].removesuffix("c")) if counts else 1
    return (float(mips),) * min(cores, CORES_MAX), [w for w in rest if w and w not in counts]


def _live_hazard(word: str, name: str) -> Hazard:
    hazard = _hazard(word, name, also=GOVERNORS)
    if refusal := refusal_on(LaneName.LIVE, (word,)):
        hint = "write nohz=off" if word == "no-nohz" else "leave it out, or leave --lane live out"
        raise BadInputError(f"--guest {name!r}: {refusal}", hint=hint)
    return hazard


def measured_cpus(
    profile: GuestProfile | LiveProfile, *, all_cores: bool, core: int | None
) -> tuple[int, ...]:
    """Returns the CPUs in the order of the measurements."""
    first = profile.first_cpu
    if all_cores:
        return (first, *(cpu for cpu in range(profile.cores) if cpu != first))
    if core is not None and core >= profile.cores:
        raise BadInputError(
            f"--core {core}: {profile.name!r} has no such core",
            hint=f"it has {profile.cores} of them, and the first is core 0",
        )
    return (first if core is None else core,)
