# SPDX-License-Identifier: GPL-2.0-or-later
"""The facts in the attachments of a bug report with their places, and the cores they describe."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from delayrig.base.errors import BadInputError

SIZE_BYTES_MAX = 32 << 20
SAME_MHZ_PART = 0.011
"""The largest relative difference by rounding: 1416 MHz is also written as 1.42 GHz."""
_QUOTE_OR_STAMP = re.compile(
    r"^(?:\s*>)*\s?"
    r"(?:(?:[A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8}|[0-9]{4}-[0-9]{2}-[0-9]{2}T\S+) \S+ kernel: )?"
    r"(?:\[ *[0-9]+\.[0-9]+\] )?"
)
"""The marks that mails, journals and dmesg put before a line."""
ARM_CORES = {
    "0xb76": ("ARM1176", 0.8),
    "0xc07": ("Cortex-A7", 1.0),
    "0xc08": ("Cortex-A8", 1.0),
    "0xc09": ("Cortex-A9", 1.3),
    "0xc0f": ("Cortex-A15", 1.9),
    "0xc0d": ("Cortex-A17", 1.8),
    "0xd04": ("Cortex-A35", 1.1),
    "0xd03": ("Cortex-A53", 1.2),
    "0xd05": ("Cortex-A55", 1.4),
    "0xd07": ("Cortex-A57", 2.0),
    "0xd08": ("Cortex-A72", 2.5),
    "0xd09": ("Cortex-A73", 2.5),
    "0xd0a": ("Cortex-A75", 2.8),
    "0xd0b": ("Cortex-A76", 3.5),
    "0xd41": ("Cortex-A78", 4.0),
    "0xd44": ("Cortex-X1", 5.0),
}
"""The cores by ARM's part number, as /proc/cpuinfo prints it (source: ARM's manuals).

Each has the instructions per clock that are assumed, as for the machines in plan/machines.
"""
PER_CLOCK = dict(ARM_CORES.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    text: str
    where: str
    """The file and the number of the line."""

    def fact(self, key: str, value: str) -> "Fact":
        """Returns a fact that the line states."""
        return Fact(key=key, value=value, where=self.where)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    key: str
    value: str
    where: str


class Facts:
    """All facts. A fact is unknown if two attachments contradict each other."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.all = list(dict.fromkeys(facts))

    def of(self, key: str) -> list[Fact]:
        """Returns the facts of that key, each value once."""
        return list({fact.value: fact for fact in reversed(self._of(key))}.values())[::-1]

    def one(self, key: str) -> Fact | None:
        """Returns the fact of that key; None if there is none, or if several differ."""
        found = self.of(key)
        return found[0] if len(found) == 1 else None

    def value(self, key: str) -> str:
        found = self.one(key)
        return found.value if found else ""

    def number(self, key: str) -> float | None:
        """Returns the largest of numbers that differ only by rounding; None if they differ more."""
        values = [float(fact.value) for fact in self._of(key)]
        if not values or max(values) - min(values) > SAME_MHZ_PART * max(values):
            return None
        return max(values)

    def differ(self, key: str) -> str:
        """Returns the values that contradict each other, with their places; empty if none do."""
        found = self.of(key)
        return " and ".join(f"{f.value} ({f.where})" for f in found) if len(found) > 1 else ""

    def _of(self, key: str) -> list[Fact]:
        return [fact for fact in self.all if fact.key == key]


def read_lines(path: Path) -> list[Line]:
    """Returns the lines of an attachment, without the marks of mails and the stamps of logs."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInputError(f"{path}: {error.strerror}", hint="name a file of text") from error
    if len(content) > SIZE_BYTES_MAX or b"\0" in content:
        raise BadInputError(
            f"{path}: is no text of a report", hint="name what users attach, such as dmesg's output"
        )
    texts = content.decode("utf-8", errors="replace").splitlines()
    return [
        Line(text=_QUOTE_OR_STAMP.sub("", text.rstrip(), count=1), where=f"{path.name}:{number}")
        for number, text in enumerate(texts, start=1)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    name: str
    mhz: float | None
    capacity: float | None
    """The work per clock relative to other cores, from a device tree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cores:
    count: int
    """The number of CPUs; 0 if unknown."""
    cores: tuple[Core, ...] = ()
    """Each core, with the facts that are known of all cores; empty if there are none."""
    mhz_max: float | None = None
    """The highest reported clock of any core."""
    clocks: tuple[float, ...] = ()
    """The different clocks if it is unknown which cores have them; else empty."""

    @property
    def kinds(self) -> list[Core]:
        return list(dict.fromkeys(self.cores))

    @property
    def are_unequal(self) -> bool:
        return len(self.kinds) > 1

    @property
    def mips(self) -> tuple[float, ...]:
        """Returns the assumed speed of each core; empty if a clock or kind is unknown."""
        capacity_max = max((core.capacity or 0 for core in self.cores), default=0)
        fastest = [PER_CLOCK.get(c.name, 0) for c in self.cores if c.capacity == capacity_max]
        per_clock_max = max(fastest, default=0) or PER_CLOCK["Cortex-A72"]
        speeds = []
        for core in self.cores:
            per_clock = PER_CLOCK.get(core.name, 0.0)
            if capacity_max and core.capacity:
                per_clock = per_clock_max * core.capacity / capacity_max
            speeds.append(float(round((core.mhz or 0) * per_clock)))
        return tuple(speeds) if all(speeds) else ()

    @property
    def described(self) -> str:
        """Returns each kind with the number of its cores, such as `2 x Cortex-A53 of 1700 MHz`."""
        return ", ".join(
            f"{self.cores.count(kind)} x {kind.name or 'core'}"
            + (f" of {kind.mhz:g} MHz" if kind.mhz else "")
            + (f", capacity {kind.capacity:g}" if kind.capacity else "")
            for kind in self.kinds
        )


def read_cores(facts: Facts) -> Cores:
    count = int(facts.value("cpus") or 0)
    if not count and facts.value("siblings") == "1":
        count = 1
    cores = tuple(
        Core(
            name=facts.value(f"core.{at}.name"),
            mhz=facts.number(f"core.{at}.held") or facts.number(f"core.{at}.mhz"),
            capacity=facts.number(f"core.{at}.capacity"),
        )
        for at in range(count)
    )
    kept = _what_all_have(cores)
    mhz = [core.mhz for core in cores if core.mhz]
    clocks = () if mhz else _clocks(facts)
    mhz_max = max([*mhz, *clocks], default=None)
    return Cores(count=count, cores=kept, mhz_max=mhz_max, clocks=clocks if len(clocks) > 1 else ())


def _clocks(facts: Facts) -> tuple[float, ...]:
    """Returns the highest clocks of the machine; empty if the facts are of two machines."""
    if facts.differ("cpus") or facts.differ("arch"):
        return ()
    clocks = facts.of("held") or facts.of("clock")
    return tuple(sorted({float(fact.value) for fact in clocks}))


def _what_all_have(cores: tuple[Core, ...]) -> tuple[Core, ...]:
    """Returns the cores with the facts that are known of all of them; empty if there are none.

    If a fact is known of some cores only, that does not make them differ from the others.
    """
    if not all(core.name for core in cores):
        cores = tuple(replace(core, name="") for core in cores)
    if not all(core.mhz for core in cores):
        cores = tuple(replace(core, mhz=None) for core in cores)
    if not all(core.capacity for core in cores):
        cores = tuple(replace(core, capacity=None) for core in cores)
    return cores if any(core.name or core.mhz or core.capacity for core in cores) else ()
