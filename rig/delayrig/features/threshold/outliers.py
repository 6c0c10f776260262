# SPDX-License-Identifier: GPL-2.0-or-later
"""Decides which profiles choose the value, which ones are odd, and the cost of following these.

The rule (recommend.py) needs a value that is good in every profile, so one profile could decide for
all. Such a profile is left out, and named, if three conditions are met: without it the
recommendation differs; following it costs the others more than the rule allows; and the others have
more than half of all weights. Its verdicts still count: a value that is unsafe there is never
recommended.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import msgspec

from delayrig.features.threshold.figures import Cost, Standing, trials_of
from delayrig.features.threshold.recommend import (
    CPU_TOLERANCE,
    TIME_TOLERANCE,
    Choice,
    Trial,
    recommend,
)
from delayrig.features.threshold.sleep_facts import SleepFacts, accurate_everywhere_us


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


class Odd(msgspec.Struct, frozen=True, kw_only=True):
    """A profile that is not followed."""

    profile: str
    followed_us: int
    """The recommendation if it were followed."""
    others: Price
    """The cost for the others if it were followed."""
    own: Price
    """The cost for this profile because it is not followed."""


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
    """Weights of profiles, 1 by default."""
    realtime: bool
    """True if the programs request realtime priority."""

    @property
    def profiles(self) -> list[str]:
        return list(dict.fromkeys(cost.profile for cost in self.costs))

    def weight(self, profiles: Sequence[str]) -> int:
        return sum(self.weights.get(name, 1) for name in profiles)

    def trials(self, profiles: Sequence[str]) -> list[Trial]:
        """Returns the figures of those profiles.

        A value that was unsafe or in doubt in any profile, even in one of the others, is not safe.
        """
        bad = {cost.value_us for cost in self.costs if cost.standing is not Standing.SAFE}
        known = trials_of([cost for cost in self.costs if cost.profile in profiles])
        return [replace(each, safe=each.value_us not in bad) for each in known]

    def accurate_us(self, profiles: Sequence[str]) -> int | None:
        """Returns the length from which sleeps are accurate in all of those profiles."""
        facts = [self.sleep[name] for name in profiles if name in self.sleep]
        return accurate_everywhere_us(facts, realtime=self.realtime)

    def choose(self, profiles: Sequence[str]) -> Choice:
        return recommend(self.trials(profiles), accurate_us=self.accurate_us(profiles))

    def price(self, value_us: int, than_us: int, profiles: Sequence[str]) -> Price:
        """Returns the cost of `value_us` beyond `than_us`, in these profiles: one or more."""
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
    """Returns the profile that costs the others most, if that is too much; else an empty text."""
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
