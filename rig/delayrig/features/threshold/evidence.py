# SPDX-License-Identifier: GPL-2.0-or-later
"""The evidence of a comparison, and its consequences for some of the profiles."""

from collections.abc import Sequence
from fractions import Fraction

import msgspec

from delayrig.features.threshold.figures import Cost
from delayrig.features.threshold.recommend import (
    CPU_TOLERANCE,
    TIME_TOLERANCE,
    Choice,
    recommend,
    safe_costs,
)
from delayrig.features.threshold.sleep_facts import SleepFacts, accurate_everywhere_us
from delayrig.model.result import HostFacts


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of one value beyond another, in the profile where it is largest; may be negative."""

    time: float
    time_on: str
    cpu: float
    cpu_on: str

    @property
    def grave(self) -> float:
        """Returns the cost as a multiple of what the rule allows; above 1 it is too much."""
        return max(self.time / float(TIME_TOLERANCE), self.cpu / float(CPU_TOLERANCE))


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    subject: str
    lane: str
    seed: int
    jobs: list[str]
    costs: list[Cost]
    costs_by_round: list[list[Cost]]
    """The costs of each round by itself."""
    sleep: dict[str, SleepFacts]
    """The cost of sleeping by profile, including profiles without jobs."""
    weights: dict[str, int] = {}
    """Weights by profile, 1 by default. A profile of weight 0 counts only for safety."""
    realtime: bool = True
    """True if the programs request realtime priority."""
    present_us: int | None = None
    """The threshold that the listed machines have now, if there is such a list."""
    machines: dict[str, str] = {}
    """The names of the listed machines, by profile."""
    doubts: list[str]
    host: HostFacts

    @property
    def profiles(self) -> list[str]:
        return list(dict.fromkeys(cost.profile for cost in self.costs))

    def weight(self, profiles: Sequence[str]) -> int:
        return sum(self.weights.get(name, 1) for name in profiles)

    def safe(self, profiles: Sequence[str]) -> list[Cost]:
        """Returns the costs in those profiles, of values that are safe in all profiles."""
        return [cost for cost in safe_costs(self.costs) if cost.profile in profiles]

    def accurate_us(self, profiles: Sequence[str]) -> int | None:
        """Returns the length from which sleeps are accurate in all of those profiles."""
        facts = [self.sleep[name] for name in profiles if name in self.sleep]
        return accurate_everywhere_us(facts, realtime=self.realtime)

    def choose(self, profiles: Sequence[str]) -> Choice:
        return recommend(self.safe(profiles), accurate_us=self.accurate_us(profiles))

    def price(self, value_us: int, than_us: int, profiles: Sequence[str]) -> Price:
        """Returns the cost of `value_us` beyond `than_us`, in these profiles: one or more."""
        known = {(cost.value_us, cost.profile): cost for cost in self.costs}

        def most(figure: str) -> tuple[Fraction, str]:
            figures = {key: getattr(cost, figure) for key, cost in known.items()}
            return max(
                (_beyond(figures[value_us, name], figures[than_us, name]), name)
                for name in profiles
            )

        (time, time_on), (cpu, cpu_on) = most("time_ns"), most("cpu_ns")
        return Price(time=float(time), time_on=time_on, cpu=float(cpu), cpu_on=cpu_on)


def _beyond(figure: int, other: int) -> Fraction:
    return Fraction(figure - other, other) if other > 0 else Fraction(figure)
