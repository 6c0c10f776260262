# SPDX-License-Identifier: GPL-2.0-or-later
"""The common case: which profiles decide, which one is odd, and what each would cost the others.

The rule (recommend.py) asks for a value that is good in every profile, so one could decide alone.
It is left out, and named, where the value without it differs, where following it costs the others
more than the rule allows, and where they have more than half of all weights. Its verdicts count:
what is unsafe there is never recommended.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import msgspec

from delayrig.analysis.threshold.figures import Cost, Standing, trials_of
from delayrig.analysis.threshold.recommend import (
    CPU_TOLERANCE,
    TIME_TOLERANCE,
    Choice,
    Trial,
    recommend,
)
from delayrig.analysis.threshold.sleep_facts import SleepFacts, accurate_everywhere_us


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """What one value takes beyond another, in the profile where that is most; negative: less."""

    time: float
    time_on: str
    cpu: float
    cpu_on: str

    @property
    def grave(self) -> float:
        """In multiples of what the rule allows; above 1 it is more."""
        return max(self.time / float(TIME_TOLERANCE), self.cpu / float(CPU_TOLERANCE))


class Odd(msgspec.Struct, frozen=True, kw_only=True):
    """A profile that is not followed."""

    profile: str
    followed_us: int
    """What would be recommended if it were."""
    others: Price
    """What that would cost the others."""
    own: Price
    """What it pays because it is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    choice: Choice
    profiles: tuple[str, ...]
    odd: tuple[Odd, ...]
    accurate_us: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    costs: Sequence[Cost]
    sleep: Mapping[str, SleepFacts]
    weights: Mapping[str, int]
    """Of profiles; 1 for those that are not in it."""

    @property
    def profiles(self) -> list[str]:
        return list(dict.fromkeys(cost.profile for cost in self.costs))

    def weight(self, profiles: Sequence[str]) -> int:
        return sum(self.weights.get(name, 1) for name in profiles)

    def trials(self, profiles: Sequence[str]) -> list[Trial]:
        """Figures of those profiles. A value that was unsafe in any at all is unsafe."""
        bad = {cost.value_us for cost in self.costs if cost.standing is not Standing.SAFE}
        known = trials_of([cost for cost in self.costs if cost.profile in profiles])
        return [replace(each, safe=each.value_us not in bad) for each in known]

    def accurate_us(self, profiles: Sequence[str]) -> int | None:
        """From which length on sleeps are accurate in all of those."""
        return accurate_everywhere_us([self.sleep[name] for name in profiles if name in self.sleep])

    def choose(self, profiles: Sequence[str]) -> Choice:
        return recommend(self.trials(profiles), accurate_us=self.accurate_us(profiles))

    def price(self, value_us: int, than_us: int, profiles: Sequence[str]) -> Price:
        """Of a value beside another; at least one profile must be given."""
        known = {(cost.value_us, cost.profile): cost for cost in self.costs}

        def most(figure: str) -> tuple[Fraction, str]:
            return max(
                (
                    _beyond(
                        getattr(known[value_us, name], figure),
                        getattr(known[than_us, name], figure),
                    ),
                    name,
                )
                for name in profiles
            )

        (time, time_on), (cpu, cpu_on) = most("time_ns"), most("cpu_ns")
        return Price(time=float(time), time_on=time_on, cpu=float(cpu), cpu_on=cpu_on)


def _beyond(figure: int, other: int) -> Fraction:
    return Fraction(figure - other, other) if other > 0 else Fraction(figure)


def common_choice(ground: Ground) -> Common:
    weighty = [name for name in ground.profiles if ground.weight([name]) > 0]
    kept, choice, left = weighty, ground.choose(weighty), []
    while name := _oddest(ground, kept, choice, ground.weight(weighty)):
        left.append(name)
        kept = [other for other in kept if other != name]
        choice = ground.choose(kept)
    odd = [_odd(ground, name, kept, choice) for name in left]
    return Common(
        choice=choice,
        profiles=tuple(kept),
        odd=tuple(each for each in odd if each is not None),
        accurate_us=ground.accurate_us(kept),
    )


def _oddest(ground: Ground, kept: Sequence[str], choice: Choice, total: int) -> str:
    """Whom to follow costs the others most, and more than the rule allows; empty: nobody."""
    found = []
    for name in kept:
        rest = [other for other in kept if other != name]
        if 2 * ground.weight(rest) <= total:
            continue
        without = ground.choose(rest).value_us
        if without is not None and choice.value_us not in (None, without):
            assert choice.value_us is not None
            found.append((ground.price(choice.value_us, without, rest).grave, name))
    worst, name = max(found, default=(0.0, ""))
    return name if worst > 1 else ""


def _odd(ground: Ground, name: str, kept: Sequence[str], choice: Choice) -> Odd | None:
    with_it = [other for other in ground.profiles if other in (*kept, name)]
    followed = ground.choose(with_it).value_us
    if followed is None or choice.value_us is None:
        return None
    return Odd(
        profile=name,
        followed_us=followed,
        others=ground.price(followed, choice.value_us, kept),
        own=ground.price(choice.value_us, followed, [name]),
    )
