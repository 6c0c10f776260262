# SPDX-License-Identifier: GPL-2.0-or-later
"""Chooses the cell that is like a reported machine, and says what the report leaves open."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from delayrig.features.like.facts import Cores, Fact, Facts, read_cores
from delayrig.features.like.flashrom_log import UNKNOWN
from delayrig.hazards import hazard_of, ordered_hazards, refusal_on
from delayrig.hazards.kernel import CLOCKSOURCES
from delayrig.hazards.speed import GOVERNORS
from delayrig.model.cell import SEPARATOR, Programmer
from delayrig.model.chips import ChipFacts
from delayrig.model.lane import LaneName
from delayrig.model.platform import Arch
from delayrig.model.programmers import DEVICES
from delayrig.model.shape import SHIFT_MAX, mips_of_shift
from delayrig.plan.from_flags import CHIP, MIPS, Flags
from delayrig.plan.machines import CORES_MAX, Machine
from delayrig.plan.schema import CORES_KNOWN
from delayrig.subjects.subject import BUNDLED

ITS_DRIVERS = ("dummy", "linux_spi", "nicintel", "nicintel_spi", "serprog")
"""The programmers of our own flashrom (flashrom/programmers/programmer.c)."""
NO_PART = ("SFDP-capable chip", "Opaque flash chip")
"""The names in flashrom that fit any part."""
MOVED = "move:accept"
"""The hazard that is added on a machine with unequal cores."""
OWN_GOVERNOR = re.compile(r"intel_pstate|intel_cpufreq|amd[-_]pstate.*")
"""Drivers whose `powersave` follows the load."""
MIXED_CORES = re.compile(r"1[2-9]th Gen Intel|Core(?:\(TM\))? Ultra|Core(?:\(TM\))? [3579] \d{3}")
"""Intel's families in which several kinds of cores have one name."""
REPORTED_JOB = ("failing_job", "job")
ABOUT_TIME = {
    "unreliable": (
        "why its delay loop was unreliable",
        "speeds that changed, or busy siblings, do that: try --cores 2 --hazard busy-siblings",
    ),
    "throttled": (
        "how often its clock changed",
        "--lane live --hazard frequency-steps:10 is like it",
    ),
    "hypervisor": (
        "how much time its host took away",
        "--lane live --hazard steal:PERCENT is like it",
    ),
}
"""Questions about time that a fact leaves open, by the fact's key, each with what to try."""
BAUD_FORM = re.compile(r"dev=[^:,]+:([1-9][0-9]{2,6})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The things that a `try` line may name."""

    chips: Mapping[str, ChipFacts]
    machines: Mapping[str, Machine]
    releases: Mapping[str, str]
    """The subject of each release, by version."""


@dataclass(slots=True, kw_only=True)
class Likeness:
    """The options of the cell with their reasons, and what the report leaves open."""

    subject: str = BUNDLED
    given: dict[str, tuple[str, ...]] = field(default_factory=dict)
    reasons: list[tuple[str, str]] = field(default_factory=list)
    open: list[tuple[str, str]] = field(default_factory=list)
    lane: LaneName = LaneName.VIRTUAL

    def take(self, option: str, values: Iterable[str], why: str) -> None:
        self.given[option] = tuple(values)
        self.reasons.append((f"--{option} {','.join(self.given[option])}", why))

    def leave(self, what: str, why: str) -> None:
        self.open.append((what, why))

    @property
    def flags(self) -> Flags:
        return Flags(**self.given)

    @property
    def words(self) -> list[str]:
        """Returns the words after `rig/rig`."""
        words = ["try", self.subject]
        for option, values in self.given.items():
            each = values if option == "hazard" else (",".join(values),)
            words += [word for value in each for word in (f"--{option}", value)]
        return words


SYMPTOMS = {"verify failed": "verify-failed", "erase failed": "verify-failed"}
"""The symptoms of `rig/rig find`, by the value of the fact `symptom`."""


def words_of_search(found: Likeness, facts: Facts) -> list[str]:
    """Returns the command that searches around the cell, for the first symptom that `find` knows.

    Returns no words if `find` cannot search there.
    """
    known = [SYMPTOMS[fact.value] for fact in facts.of("symptom") if fact.value in SYMPTOMS]
    if not known or found.lane is not LaneName.VIRTUAL:
        return []
    words = ["rig/rig", "find", known[0], found.subject]
    for option in ("programmer", "chip"):
        if option in found.given:
            words += [f"--{option}", ",".join(found.given[option])]
    return words


def likeness(facts: Facts, known: Known) -> Likeness:
    found = Likeness()
    cores = read_cores(facts)
    hazards = dict(_reported_hazards(facts))
    _choose_machine(found, facts, cores, known)
    _choose_arch(found, facts)
    _choose_programmer(found, facts, known, hazards)
    _choose_job(found, facts)
    _say_about_time(found, facts)
    _choose_hazards(found, hazards, is_unequal=found.lane is LaneName.LIVE and cores.are_unequal)
    _choose_subject(found, facts, known)
    return found


def _choose_subject(found: Likeness, facts: Facts, known: Known) -> None:
    """Chooses the subject last, because it must have the programmer, but lists it first.

    It is our flashrom, or the newest release if ours lacks the programmer, unless the report names
    a release.
    """
    driver = found.given.get("programmer", ("serprog",))[0].partition(":")[0]
    if driver not in ITS_DRIVERS:
        found.subject = known.releases.get(max(known.releases, key=_numbers, default=""), BUNDLED)
    version = facts.one("version")
    why = f"the line takes {found.subject}"
    if version is None:
        why = f"{facts.differ('version') or 'no report says it'}; {why}"
    elif version.value == UNKNOWN:
        why = f"its banner names no version ({version.where}); {why}"
    elif version.value not in known.releases:
        why = (
            f"{version.value} ({version.where}) is none of `rig/rig subjects`; {why}: put its"
            " program, or git:REV of a tree, there"
        )
    else:
        found.subject = known.releases[version.value]
        why = f"flashrom {version.value} ({version.where}); a build of that release"
        found.reasons.insert(0, (found.subject, why))
        return
    found.open.insert(0, ("flashrom", why))


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"[0-9]+", version)]


def _choose_machine(found: Likeness, facts: Facts, cores: Cores, known: Known) -> None:
    name = _known_machine(facts, cores, known.machines)
    if name:
        found.lane = LaneName.LIVE
        found.take("machine", [name], known.machines[name].about)
    elif cores.are_unequal and cores.mips and cores.count <= CORES_MAX:
        found.lane = LaneName.LIVE
        found.take("lane", [LaneName.LIVE], "its cores are of unequal speed")
        speeds = ":".join(f"{mips:g}" for mips in cores.mips)
        found.take("mips", [speeds], f"{cores.described}; instructions per clock are assumed")
    elif cores.are_unequal:
        clocks = "not all clocks or kinds are known" if not cores.mips else "too many cores"
        found.leave("speeds", f"{cores.described}: {clocks}, so the line takes equal cores")
        _choose_count(found, facts, cores)
    else:
        if cores.clocks:
            clocks = " and ".join(f"{mhz:g}" for mhz in cores.clocks)
            found.leave("speeds", f"clocks of {clocks} MHz, but not of which cores")
        _choose_speed(found, facts, cores)
        _choose_count(found, facts, cores)


def _known_machine(facts: Facts, cores: Cores, machines: Mapping[str, Machine]) -> str:
    """Returns the name of the shipped machine that the report describes; empty if there is none."""
    keys = ("machine", "compatible", "core.0.name")
    named = " ".join(_plain(fact.value) for key in keys for fact in facts.of(key))
    for name, machine in machines.items():
        is_named = any(_plain(word) in named for word in machine.reported_as)
        if is_named and cores.count in (0, len(machine.core_mips)):
            return name
    return ""


def _plain(name: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"\((R|TM|r|tm)\)", "", name)).lower()


def _choose_speed(found: Likeness, facts: Facts, cores: Cores) -> None:
    if cores.mhz_max is None:
        why = f"no report says the highest clock; the line takes {MIPS[LaneName.VIRTUAL]} MIPS"
        then = max(facts.of("mhz_then"), key=lambda fact: float(fact.value), default=None)
        if then and float(then.value):
            mips = round(_nearest_mips(float(then.value)))
            why += f": {then.value} MHz when it was asked ({then.where}) is like --mips {mips}"
        found.leave("speed", why)
        return
    mips = round(_nearest_mips(cores.mhz_max))
    why = f"{cores.mhz_max:g} MHz, one instruction a clock assumed"
    if cores.mhz_max >= mips_of_shift(0):
        why = f"{cores.mhz_max:g} MHz; it is the fastest guest of exact time"
    found.take("mips", [f"{mips}"], why)
    name = cores.cores[0].name if cores.cores else ""
    if MIXED_CORES.search(name) or facts.of("mixed"):
        found.leave("kinds of cores", f"{name} may be one of several, and lscpu hides it")


def _nearest_mips(mhz: float) -> float:
    speeds = [mips_of_shift(shift) for shift in range(SHIFT_MAX + 1)]
    return min(speeds, key=lambda speed: abs(math.log(speed / mhz)))


def _choose_count(found: Likeness, facts: Facts, cores: Cores) -> None:
    if not cores.count:
        why = facts.differ("cpus") or "no report says how many"
        found.leave("cores", f"{why}; the line takes as many as the hazards need")
        return
    count = max(known for known in CORES_KNOWN if known <= cores.count)
    counted = facts.one("cpus") or facts.one("siblings")
    why = f"{cores.count} CPUs" + (f" ({counted.where})" if counted else "")
    most = f"; guests of exact time have at most {CORES_KNOWN[-1]}"
    found.take("cores", [str(count)], why if count == cores.count else why + most)


def _choose_arch(found: Likeness, facts: Facts) -> None:
    system = facts.one("system")
    if system and system.value != "Linux":
        found.leave("system", f"{system.value} ({system.where}); guests run Linux")
    arch = facts.one("arch")
    if arch is None:
        found.leave("architecture", facts.differ("arch") or "no report says it")
    elif arch.value not in list(Arch):
        found.leave(
            "architecture", f"no guest is {arch.value} ({arch.where}); the line takes the usual one"
        )
    elif found.lane is LaneName.LIVE and arch.value != Arch.X86_64:
        found.leave(
            "architecture",
            f"{arch.value} ({arch.where}): guests of real time are {Arch.X86_64} alone",
        )
    else:
        found.take("arch", [arch.value], f"as {arch.where} says")


def _choose_programmer(
    found: Likeness, facts: Facts, known: Known, hazards: dict[str, str]
) -> None:
    chips = _choose_chips(found, facts, known)
    reported = _reported_programmer(found, facts)
    off_spi = {known.chips[name].bus for name in chips} - {"spi"}
    usual = Programmer.SERPROG_NATIVE_DELAY if off_spi else Programmer.SERPROG_IP
    driver, _, rest = (reported.value if reported else "").partition(":")
    if reported and driver == "serprog" and not off_spi and not rest:
        found.leave("programmer", f"serprog ({reported.where}), but not whether by dev= or ip=")
    elif reported and driver == "serprog" and not off_spi:
        kind = Programmer.SERPROG_IP if rest.startswith("ip=") else Programmer.SERPROG_DEV
        found.take("programmer", [kind], f"{reported.value} ({reported.where})")
        baud = BAUD_FORM.match(rest)
        if baud:
            hazards[f"link:baud={baud[1]}"] = reported.where
        return
    elif reported and driver != "serprog":
        ours = Programmer.INTERNAL_MEMORY if off_spi and driver == "internal" else driver
        refusal = _refusal(ours, found, chips, known)
        if driver == Programmer.INTERNAL and not chips and facts.value("bus") != "SPI":
            refusal = "what it is depends on the bus of the chip, which is unknown"
        if not refusal:
            _drop_other_arch(found, Programmer(ours))
            found.take("programmer", [ours], f"{reported.value} ({reported.where})")
            return
        found.leave(
            "programmer",
            f"{driver} ({reported.where}): {refusal}; {usual} is slower, and hides waits of less"
            " than about 100 us",
        )
    if off_spi:
        why = f"releases reach parts on {'/'.join(sorted(off_spi))} by it alone"
        found.take("programmer", [usual], why)


def _reported_programmer(found: Likeness, facts: Facts) -> Fact | None:
    """Returns the programmer of the command, else that of flashrom's output; None if they differ.

    Their options may differ, such as the speed of the bus, except serprog's, which name its link.
    """
    named = [*facts.of("programmer"), *facts.of("driver")]
    drivers = {fact.value.partition(":")[0] for fact in named}
    if len(drivers) == 1 and not (drivers == {"serprog"} and facts.differ("programmer")):
        return named[0]
    differ = " and ".join(f"{fact.value} ({fact.where})" for fact in named)
    found.leave("programmer", differ or "no report says it")
    return None


def _drop_other_arch(found: Likeness, programmer: Programmer) -> None:
    """Drops the architecture if its guests lack the programmer, which matters more for waits."""
    archs = DEVICES[programmer].archs
    arch = found.given.get("arch", archs[:1])[0]
    if arch not in archs:
        option = f"--arch {arch}"
        found.reasons = [(each, why) for each, why in found.reasons if each != option]
        del found.given["arch"]
        found.leave("architecture", f"the report names {arch}, but its guests have no {programmer}")


def _refusal(driver: str, found: Likeness, chips: list[str], known: Known) -> str:
    """Returns why the cell cannot have that programmer; empty if it can."""
    device = DEVICES.get(Programmer(driver)) if driver in list(Programmer) else None
    if device is None:
        return "no guest has it"
    if found.lane is not LaneName.VIRTUAL:
        return "no guest of real time has it"
    arch = Arch(found.given.get("arch", (Arch.X86_64,))[0])
    if not chips and arch not in device.archs:
        return f"no guest of {arch} has it"
    return next(filter(None, (device.chip_refusal(known.chips[name]) for name in chips)), "")


def _choose_chips(found: Likeness, facts: Facts, known: Known) -> list[str]:
    """Takes and returns the emulated parts that flashrom cannot tell from the reported one."""
    reported = facts.of("asked_chip") or facts.of("chip")
    if not reported:
        found.leave("chip", f"no report says it; the line takes {CHIP}")
        return []
    fits = [
        name
        for name, chip in known.chips.items()
        if any(_is_called(chip, fact.value) for fact in reported)
    ]
    names = " and ".join(f"{fact.value} ({fact.where})" for fact in reported)
    if not fits:
        verb = "are" if len(reported) > 1 else "is"
        found.leave("chip", f"{names} {verb} none of `rig/rig chips`; the line takes {CHIP}")
        return []
    many = "; flashrom does not tell them apart" if len(fits) > 1 else ""
    found.take("chip", fits, f"{names}{many}")
    return fits


def _is_called(chip: ChipFacts, reported: str) -> bool:
    """Returns True if flashrom has that name for the part, alone or in a list of names."""
    if reported in NO_PART:
        return False
    names = {part for name in chip.flashrom_names if name not in NO_PART for part in _parts(name)}
    return reported == chip.name or bool(names & _parts(reported))


def _parts(name: str) -> set[str]:
    """Returns the names in a list such as `MX25L6406E/MX25L6408E`, without short suffixes."""
    return {part for part in name.split("/") if len(part) > 3}


def _choose_job(found: Likeness, facts: Facts) -> None:
    job = next((fact for key in REPORTED_JOB if (fact := facts.one(key))), None)
    if job is None:
        found.leave("job", facts.differ("job") or "no report says it; the line writes")
    else:
        found.take("job", [job.value], f"as {job.where} says")


def _reported_hazards(facts: Facts) -> Iterator[tuple[str, str]]:
    """Yields the hazards that the report shows, with their places."""
    for fact in facts.of("hazard"):
        yield fact.value, fact.where
    timers = facts.one("timers")
    if timers and timers.value == "coarse":
        yield "low-res-timers", timers.where
    clock = facts.one("clocksource")
    if clock and clock.value in CLOCKSOURCES[1:]:
        yield f"clocksource:{clock.value}", clock.where
    governor = facts.one("governor")
    is_fixed = facts.of("fixed") or not facts.of("scales")
    if governor is None or is_fixed or governor.value not in GOVERNORS:
        return
    own = OWN_GOVERNOR.fullmatch(facts.value("cpufreq_driver"))
    name = "schedutil" if own and governor.value == "powersave" else governor.value
    if name != "performance":
        yield f"governor:{name}", governor.where


def _say_about_time(found: Likeness, facts: Facts) -> None:
    if not facts.of("timers") and not facts.of("clocksource"):
        found.leave("timers", "no report says the clock's resolution; the line takes fine ones")
    for key, (what, hint) in ABOUT_TIME.items():
        if places := ", ".join(fact.where for fact in facts.of(key)[:3]):
            found.leave(what, f"{places}: {hint}")


def _choose_hazards(found: Likeness, reported: dict[str, str], *, is_unequal: bool) -> None:
    arch = Arch(found.given.get("arch", (Arch.X86_64,))[0])
    fits = []
    for word, where in reported.items():
        refusal = refusal_on(found.lane, (word,))
        if not refusal and arch not in hazard_of(word).archs:
            refusal = f"{word} is not for {arch} guests"
        if refusal:
            found.leave(f"hazard {word}", f"{where}: {refusal}")
        else:
            fits.append(word)
    sets = [SEPARATOR.join(ordered_hazards(fits))] if fits else []
    why = ", ".join(f"{word} ({reported[word]})" for word in fits)
    if is_unequal:
        sets = [*(sets or ["none"]), SEPARATOR.join(ordered_hazards([*fits, MOVED]))]
        why = f"{why}; " if why else ""
        why += "a kernel moves programs between unequal cores"
    if sets:
        found.take("hazard", sets, why)
