# SPDX-License-Identifier: GPL-2.0-or-later
"""`--lane live --guest MACHINE/...`: which guest of real time to measure in."""

import re
from dataclasses import dataclass

from delayrig.analysis.latency.profile import (
    CORES,
    HAZARDS,
    KERNEL_WORD,
    SETS,
    first_cpu,
    spec_lines_of,
)
from delayrig.base.errors import BadInputError, nearest
from delayrig.hazards import hazard_of, refusal_on
from delayrig.hazards.speed import GOVERNORS, SLOWEST_PART
from delayrig.model.lane import LaneName
from delayrig.model.platform import Arch
from delayrig.plan.machines import CORES_MAX, MIPS_MAX, budget_mips, find_machine, scaled_mips

FORM = (
    "MACHINE[/GOVERNOR][/WORD...], such as 10:40, mt8173 or 10:40/ondemand, or"
    f" {Arch.X86_64}/MIPS[/CORESc][/GOVERNOR][/WORD...]"
)
PERFORMANCE, ONDEMAND = "performance", "ondemand"
FILE_END = ".toml"
SPEED = re.compile(r"[0-9]+(?:\.[0-9]{1,3})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveProfile:
    """A guest, by the words that asked for it."""

    name: str
    core_mips: tuple[float, ...]
    """What the cores do here."""
    asked_mips: tuple[float, ...]
    governor: str = PERFORMANCE
    kernel_words: tuple[str, ...] = ()
    spec_lines: tuple[str, ...] = ()

    @property
    def cores(self) -> int:
        """How many there are."""
        return len(self.core_mips)

    @property
    def first_cpu(self) -> int:
        """The one to measure on where nothing else is asked for."""
        return first_cpu(self.kernel_words)

    @property
    def governors(self) -> tuple[str, ...]:
        """Whom to measure under besides: the one in force first."""
        return tuple(dict.fromkeys((self.governor, PERFORMANCE, ONDEMAND)))

    @property
    def about(self) -> str:
        """Speeds and governor in a sentence."""
        speeds = ":".join(f"{mips:.3g}" for mips in self.core_mips)
        said = f"cores of {speeds} MIPS under the governor {self.governor}, in real time"
        if self.governor != PERFORMANCE:
            said += f", at {SLOWEST_PART * 100:g} % of that where they are idle"
        if self.core_mips != self.asked_mips:
            factor = self.core_mips[0] / self.asked_mips[0]
            said += f"; all of them are {factor:.3g} of what was asked for, as this machine is"
            said += " too slow for more"
        return said


def parse_live_guests(words: tuple[str, ...]) -> list[LiveProfile]:
    """Each guest once."""
    return [parse_live_guest(word) for word in dict.fromkeys(words)]


def parse_live_guest(name: str) -> LiveProfile:
    """Raises `BadInputError` that says what would be right."""
    if name in SETS:
        raise BadInputError(
            f"--guest {name!r}: is a set of guests of the virtual lane",
            hint=f"leave --lane live out, or name a machine: {FORM}",
        )
    asked, rest = _machine(name)
    governor, kernel_words, hazards = PERFORMANCE, [], []
    for word in rest:
        if word in GOVERNORS:
            governor = word
        elif KERNEL_WORD.fullmatch(word):
            kernel_words.append(word)
        else:
            hazards.append(_hazard(word, name))
    kernel_words += [word for hazard in hazards for word in hazard_of(hazard).kernel_words]
    profile = LiveProfile(
        name=name,
        core_mips=scaled_mips(list(asked), budget_mips()),
        asked_mips=asked,
        governor=governor,
        kernel_words=tuple(kernel_words),
        spec_lines=spec_lines_of(hazards),
    )
    first_cpu(profile.kernel_words, cores=profile.cores, name=name)
    return profile


def _machine(name: str) -> tuple[tuple[float, ...], list[str]]:
    """The speeds that were asked for, and the words behind them."""
    path, end, rest = name.partition(FILE_END)
    if end:
        return tuple(find_machine(path + end).core_mips), _words(rest)
    first, *words = name.split("/")
    if first not in {str(arch) for arch in Arch}:
        return tuple(find_machine(first).core_mips), _words("/".join(words))
    if first != Arch.X86_64:
        raise BadInputError(
            f"--guest {name!r}: the live lane has {Arch.X86_64} guests alone",
            hint="leave --lane live out, or change the architecture",
        )
    return _alike(name, words)


def _alike(name: str, words: list[str]) -> tuple[tuple[float, ...], list[str]]:
    """Cores of one speed: ARCH/MIPS/CORESc, as in the virtual lane, but any speed."""
    mips, *rest = [*words, ""]
    if not SPEED.fullmatch(mips) or not 1 <= float(mips) <= MIPS_MAX:
        raise BadInputError(
            f"--guest {name!r}: {mips!r} is no speed of a core",
            hint=f"a core does 1 to {MIPS_MAX} million instructions a second; written {FORM}",
        )
    counts = [word for word in rest if CORES.fullmatch(word)]
    cores = int(counts[-1].removesuffix("c")) if counts else 1
    return (float(mips),) * min(cores, CORES_MAX), [w for w in rest if w and w not in counts]


def _words(text: str) -> list[str]:
    return [word for word in text.split("/") if word]


def _hazard(word: str, name: str) -> str:
    if word.partition(":")[0] not in HAZARDS:
        known = [*HAZARDS, *GOVERNORS, "highres=off", "nohz=off", "nohz_full=CPUS"]
        raise BadInputError(
            f"--guest {name!r}: unknown word {word!r}", hint=nearest(word, known, what="words")
        )
    refusal = refusal_on(LaneName.LIVE, (word,))
    if refusal:
        hint = "write nohz=off" if word == "no-nohz" else "leave it out, or leave --lane live out"
        raise BadInputError(f"--guest {name!r}: {refusal}", hint=hint)
    return word
