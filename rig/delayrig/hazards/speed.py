# SPDX-License-Identifier: GPL-2.0-or-later
"""Hazards that change the speed of a live guest's cores: steps, a governor, a busy sibling."""

import itertools
import random
import re
from collections.abc import Iterable, Iterator, Sequence

from delayrig.base.durations import MS_PER_S, NS_PER_MS
from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.hazard import Hazard, matched, number_in, origin_ns
from delayrig.model.cell import Cell
from delayrig.model.events import first, of_kind
from delayrig.model.kinds.agent import SubjectEnd
from delayrig.model.kinds.pace import Pace, Speed
from delayrig.model.lane import LaneName
from delayrig.model.speed import Moment, Origin, SpeedChange, moment_in

RATES_HZ = range(1, 101)
PERCENT = range(1, 100)
SLOWEST_PART = 0.25
"""The default fraction of its full speed that a core has at its lowest frequency."""
SIBLING_PART = 0.6
"""The fraction of its full speed that a core has while its sibling is busy."""
STOLEN_PART = 0.02
"""The fraction of its full speed that a stolen core has: practically nothing."""
GOVERNORS = ("ondemand", "schedutil", "powersave", "performance")
_FREQUENCY = re.compile(r"([^,]+)(?:,([1-9][0-9]?))?(?:,ramp=([1-9][0-9]{0,3}))?")


class SpeedHazard(Hazard):
    lanes = (LaneName.LIVE,)
    first_part: float = 1.0
    """The fraction of its full speed that each core has from the subject's first instruction on."""

    def speed_changes(self, cell: Cell) -> Iterator[SpeedChange]:
        """Yields the changes in order of time; the sequence may be infinite."""
        return iter(())

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        """Returns a fault if less than half of the due changes took place."""
        ended = first(artifacts.events, SubjectEnd)
        origins = {origin: origin_ns(artifacts, origin) for origin in (Origin.START, Origin.ACCEPT)}
        if ended is None or origins[Origin.START] is None:
            return ""
        due = 0
        for change in self.speed_changes(cell):
            since_ns = origins[change.when.origin]
            if since_ns is None or since_ns + change.when.after_ms * NS_PER_MS > ended.t_ns:
                break
            due += cell.cores if change.core is None else 1
        came = len(of_kind(artifacts.events, Speed))
        if 2 * came < due:
            return f"the cores changed their speed {came} times where {due} were due"
        return ""


class Frequency(SpeedHazard):
    """Cores that are slow until a moment, and run at full speed afterwards.

    A delay loop that was calibrated while they were slow is then too short.
    """

    name = "frequency"
    form = "WHEN[,PERCENT][,ramp=MS]"
    about = (
        "cores at PERCENT (25) of their speed until WHEN: accept, accept+MS or MS; then full speed"
    )

    def __init__(self, value: str) -> None:
        super().__init__(value)
        match = matched(_FREQUENCY, value)
        self.when = moment_in(match[1])
        self.first_part = int(match[2]) / 100 if match[2] else SLOWEST_PART
        self.ramp_ms = int(match[3] or 0)

    def speed_changes(self, cell: Cell) -> Iterator[SpeedChange]:
        yield SpeedChange(when=self.when, part=1.0, ramp_ms=self.ramp_ms)


class FrequencySteps(SpeedHazard):
    name = "frequency-steps"
    form = "RATE"
    values = RATES_HZ
    about = "RATE times a second (1 to 100) each core is set to 25 to 100 % of its speed, at random"

    def speed_changes(self, cell: Cell) -> Iterator[SpeedChange]:
        draws = random.Random(f"frequency {cell.seed}")
        for beat in itertools.count():
            when = Moment(origin=Origin.START, after_ms=beat * MS_PER_S / self.number)
            for core in range(cell.cores):
                yield SpeedChange(when=when, core=core, part=draws.uniform(SLOWEST_PART, 1.0))


class Smt(SpeedHazard):
    """A sibling thread of each core. While busy, it leaves the core 60 % of its speed."""

    name = "smt"
    form = "RATE"
    values = RATES_HZ
    about = "RATE times a second (1 to 100) each core's sibling gets busy and idle, at random"
    first_part = SIBLING_PART
    """The sibling is busy at first, while delay loops are calibrated."""

    def speed_changes(self, cell: Cell) -> Iterator[SpeedChange]:
        draws = random.Random(f"smt {cell.seed}")
        period_ms = MS_PER_S / self.number
        for beat in itertools.count():
            goes, comes = sorted(draws.random() for _ in range(2))
            at_ms = beat * period_ms
            yield SpeedChange(when=_after_start(at_ms + goes * period_ms), part=1.0)
            yield SpeedChange(when=_after_start(at_ms + comes * period_ms), part=SIBLING_PART)


class Steal(SpeedHazard):
    name = "steal"
    form = "PERCENT[@RATE]"
    about = "the host takes all cores away for PERCENT of the time, RATE times a second (20)"

    def __init__(self, value: str) -> None:
        super().__init__(value)
        percent, at, rate = value.partition("@")
        self.percent = number_in(percent, PERCENT)
        self.rate_hz = number_in(rate, RATES_HZ) if at else 20

    def speed_changes(self, cell: Cell) -> Iterator[SpeedChange]:
        draws = random.Random(f"steal {cell.seed}")
        period_ms = MS_PER_S / self.rate_hz
        stolen_ms = period_ms * self.percent / 100
        for beat in itertools.count():
            at_ms = beat * period_ms + draws.uniform(0, period_ms - stolen_ms)
            yield SpeedChange(when=_after_start(at_ms), part=STOLEN_PART)
            yield SpeedChange(when=_after_start(at_ms + stolen_ms), part=1.0)


class Governor(SpeedHazard):
    """A frequency governor, which sets each core between a quarter of its speed and all of it."""

    name = "governor"
    form = "NAME"
    values = GOVERNORS
    about = f"the governor that sets frequencies: {', '.join(GOVERNORS)}"

    def pace_words(self, core_mips: Sequence[float]) -> Sequence[str]:
        return (
            f"governor={self.value}",
            f"min_mips={_speeds(mips * SLOWEST_PART for mips in core_mips)}",
            f"max_mips={_speeds(core_mips)}",
        )

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        pace = first(artifacts.events, Pace)
        changes = pace.governor_changes if pace else 0
        if self.value in ("ondemand", "schedutil") and not changes:
            return f"the governor {self.value} never changed the speed of a core"
        return ""


def _speeds(speeds: Iterable[float]) -> str:
    return ":".join(f"{speed:.3f}" for speed in speeds)


def _after_start(ms: float) -> Moment:
    return Moment(origin=Origin.START, after_ms=ms)
