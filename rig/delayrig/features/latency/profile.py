# SPDX-License-Identifier: GPL-2.0-or-later
"""`--guest ARCH/MIPS/...`: the guest to measure in, and named sets of guests."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from delayrig.base.errors import BadInputError, UnknownNameError
from delayrig.features.latency.place import PlaceFacts
from delayrig.hazards import hazard_of, refusal_on
from delayrig.hazards.hazard import Hazard
from delayrig.hazards.speed import GOVERNORS, SLOWEST_PART
from delayrig.model.lane import LaneName
from delayrig.model.platform import PLATFORMS, Arch
from delayrig.model.shape import GuestShape, shift_for_mips
from delayrig.plan.machines import MIPS_MAX, budget_mips, find_machine, scaled_mips

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
class Profile(PlaceFacts):
    """A guest to measure in, of the live lane unless it is a `GuestProfile`."""

    kernel_words: tuple[str, ...]
    spec_lines: tuple[str, ...]
    """The lines about it in the agent's specification (images/agent/spec.h)."""

    def __post_init__(self) -> None:
        """Raises `BadInputError` if `nohz_full=` names core 0, or a core that it has not."""
        if not all(0 < cpu < self.cores for cpu in self._nohz_cpus):
            raise BadInputError(
                f"--guest {self.name!r}: nohz_full= needs a core above 0 that the guest has",
                hint="core 0 keeps the time for the others: write /2c/nohz_full=1",
            )

    @property
    def cores(self) -> int:
        return len(self.core_mips)

    @property
    def _nohz_cpus(self) -> list[int]:
        full = " ".join(word for word in self.kernel_words if word.startswith("nohz_full="))
        return [int(number) for number in re.findall(r"\d+", full)]

    def measured_cpus(self, *, all_cores: bool, core: int | None) -> tuple[int, ...]:
        """Returns the CPUs in the order of the measurements; the first of `nohz_full=` leads."""
        first = next(iter(self._nohz_cpus), 0)
        if all_cores:
            return (first, *(cpu for cpu in range(self.cores) if cpu != first))
        if core is not None and core >= self.cores:
            raise BadInputError(
                f"--core {core}: {self.name!r} has no such core",
                hint=f"it has {self.cores} of them, and the first is core 0",
            )
        return (first if core is None else core,)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestProfile(Profile):
    """A guest of the virtual lane."""

    shape: GuestShape


def parse_guests(words: tuple[str, ...]) -> list[GuestProfile]:
    """Returns each guest once, with names of sets replaced by their members."""
    names = [name for word in words for name in SETS.get(word, (word,))]
    return [parse_guest(name) for name in dict.fromkeys(names)]


def parse_guest(name: str) -> GuestProfile:
    """Parses a guest; raises `BadInputError` that says what would be right."""
    arch, mips, *rest = [*name.split("/"), ""]
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
    cores, words = _split_cores(rest)
    kernel_words, hazards = _split_hazards(words, name)
    if unfit := next((hazard for hazard in hazards if arch not in hazard.archs), None):
        raise BadInputError(
            f"--guest {name!r}: {unfit.name} needs a guest of {' or '.join(unfit.archs)}",
            hint="leave it out or change the architecture",
        )
    shape = GuestShape(
        icount_shift=shift,
        cores=cores,
        arch=Arch(arch),
        kernel=next((hazard.kernel for hazard in hazards if hazard.kernel), ""),
        clocksource=next(
            (hazard.clocksource for hazard in hazards if hazard.clocksource),
            PLATFORMS[Arch(arch)].clocksource,
        ),
        kernel_words=kernel_words,
    )
    return GuestProfile(
        name=name,
        lane=LaneName.VIRTUAL,
        arch=shape.arch,
        core_mips=(shape.mips,) * cores,
        kernel_words=kernel_words,
        spec_lines=_spec_lines(hazards),
        shape=shape,
    )


def _split_cores(words: Sequence[str]) -> tuple[int, list[str]]:
    """Returns the number of cores, 1 by default, and the words that are left."""
    counts = [word for word in words if CORES.fullmatch(word)]
    cores = int(counts[-1].removesuffix("c")) if counts else 1
    return cores, [word for word in words if word and word not in counts]


def _split_hazards(
    words: Sequence[str], name: str, *, lane: LaneName = LaneName.VIRTUAL, also: Iterable[str] = ()
) -> tuple[tuple[str, ...], list[Hazard]]:
    """Returns the words for the kernel's command line, and the hazards; some add such words."""
    hazards = []
    kernel_words = [word for word in words if KERNEL_WORD.fullmatch(word)]
    for word in words:
        if word in kernel_words:
            continue
        if word.partition(":")[0] not in HAZARDS:
            known = [*HAZARDS, *also, "highres=off", "nohz=off", "nohz_full=CPUS"]
            raise UnknownNameError(
                f"--guest {name!r}: unknown word {word!r}", word, known, what="words"
            )
        hazards.append(hazard_of(word))
        if refusal := refusal_on(lane, (word,)):
            hint = "leave it out, or leave --lane live out"
            raise BadInputError(
                f"--guest {name!r}: {refusal}",
                hint="write nohz=off" if word == "no-nohz" else hint,
            )
    return (*kernel_words, *(word for each in hazards for word in each.kernel_words)), hazards


def _spec_lines(hazards: Iterable[Hazard]) -> tuple[str, ...]:
    return ("realtime_denied 1",) if any(each.name == "no-rt" for each in hazards) else ()


def parse_live_guests(words: tuple[str, ...]) -> list[Profile]:
    return [parse_live_guest(word) for word in dict.fromkeys(words)]


def parse_live_guest(name: str) -> Profile:
    """Parses a guest of the live lane; raises `BadInputError` that says what would be right."""
    if name in SETS:
        raise BadInputError(
            f"--guest {name!r}: is a set of guests of the virtual lane",
            hint=f"leave --lane live out, or name a machine: {LIVE_FORM}",
        )
    asked, rest = _machine(name)
    governor = next((word for word in reversed(rest) if word in GOVERNORS), PERFORMANCE)
    words = [word for word in rest if word not in GOVERNORS]
    kernel_words, hazards = _split_hazards(words, name, lane=LaneName.LIVE, also=GOVERNORS)
    core_mips = scaled_mips(list(asked), budget_mips())
    return Profile(
        name=name,
        lane=LaneName.LIVE,
        arch=Arch.X86_64,
        core_mips=core_mips,
        about=_about(core_mips, asked, governor),
        governors=tuple(dict.fromkeys((governor, PERFORMANCE, ONDEMAND))),
        kernel_words=kernel_words,
        spec_lines=_spec_lines(hazards),
    )


def _about(core_mips: tuple[float, ...], asked: tuple[float, ...], governor: str) -> str:
    speeds = ":".join(f"{mips:.3g}" for mips in core_mips)
    text = f"cores of {speeds} MIPS under the governor {governor}, in real time"
    if governor != PERFORMANCE:
        text += f", at {SLOWEST_PART * 100:g} % of that where they are idle"
    if core_mips != asked:
        text += f"; all of them are {core_mips[0] / asked[0]:.3g} of what was asked for, as this"
        text += " machine is too slow for more"
    return text


def _machine(name: str) -> tuple[tuple[float, ...], list[str]]:
    """Returns the speed of each core, and the words after the speeds.

    Cores of one speed are written as in the virtual lane, but any speed up to MIPS_MAX is possible.
    """
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
    mips, *words = rest.split("/")
    if not SPEED.fullmatch(mips) or not 1 <= float(mips) <= MIPS_MAX:
        raise BadInputError(
            f"--guest {name!r}: {mips!r} is no speed of a core",
            hint=f"a core does 1 to {MIPS_MAX} million instructions a second; written {LIVE_FORM}",
        )
    cores, words = _split_cores(words)
    return (float(mips),) * cores, words
