# SPDX-License-Identifier: GPL-2.0-or-later
"""The rule that recommends a threshold: a pure function of the measurements.

1. Take the values that were safe everywhere. One unsafe or doubtful result excludes a value.

2. Of these, take the quick ones, whose time is within 2 % of the quickest in every profile. If
there is none, each value's worst ratio to the quickest counts: the limit is the smallest of these
ratios, plus 2 %.

3. Of these, take the frugal ones, by the same rule for CPU time with 5 %. The jobs show no
difference between the values that are left.

4. Of these, take the smallest whose sleeps are accurate (`accurate_us`). This is the proposal's own
argument. If no value is that large, take the largest.

Ratios are exact fractions, so that equal figures give equal answers on every machine.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from msgspec.structs import replace

from delayrig.features.threshold.figures import Cost, Standing

TIME_TOLERANCE = Fraction(2, 100)
"""The tolerance of a gate. The phase of polls alone changes totals by up to 1 % at 62 MIPS."""
CPU_TOLERANCE = Fraction(5, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The result of the rule; `value_us` is None if no value was safe."""

    value_us: int | None
    quick: tuple[int, ...]
    frugal: tuple[int, ...]

    @property
    def by_accuracy(self) -> bool:
        """Returns True if step 4 had a choice."""
        return len(self.frugal) > 1


def recommend(
    costs: Sequence[Cost], *, accurate_us: int | None, time_tolerance: Fraction = TIME_TOLERANCE
) -> Choice:
    """Returns the recommended value. `accurate_us` is the shortest accurate sleep, if known.

    `costs` has each value in each profile.
    """
    quick = _within(safe_costs(costs), time_tolerance, lambda cost: cost.time_ns)
    frugal = _values(_within(quick, CPU_TOLERANCE, lambda cost: cost.cpu_ns))
    accurate = [us for us in frugal if accurate_us is not None and us >= accurate_us]
    return Choice(
        value_us=accurate[0] if accurate else max(frugal, default=None),
        quick=_values(quick),
        frugal=frugal,
    )


def safe_costs(costs: Sequence[Cost]) -> list[Cost]:
    """Returns the costs of the values that are safe in all of these profiles."""
    bad = {cost.value_us for cost in costs if cost.standing is not Standing.SAFE}
    return [cost for cost in costs if cost.value_us not in bad]


def _values(costs: Sequence[Cost]) -> tuple[int, ...]:
    return tuple(sorted({cost.value_us for cost in costs}))


def _within(
    costs: Sequence[Cost], tolerance: Fraction, figure: Callable[[Cost], int]
) -> list[Cost]:
    """Returns the costs of values whose ratio to the least is within the limit in every profile."""
    least: dict[str, int] = {}
    for cost in costs:
        least[cost.profile] = min(figure(cost), least.get(cost.profile, figure(cost)))
    worst: dict[int, Fraction] = {}
    for cost in costs:
        ratio = _ratio(figure(cost), least[cost.profile])
        worst[cost.value_us] = max(ratio, worst.get(cost.value_us, ratio))
    smallest, limit = min(worst.values(), default=Fraction(1)), 1 + tolerance
    if smallest > limit:
        limit *= smallest
    return [cost for cost in costs if worst[cost.value_us] <= limit]


def _ratio(figure: int, least: int) -> Fraction:
    """Returns the ratio of two figures; 1 if both are 0, a large one if only `least` is 0."""
    return Fraction(figure, least) if least > 0 else Fraction(1 if figure == 0 else figure + 1)


def with_fronts(costs: Sequence[Cost]) -> list[Cost]:
    """Marks the Pareto front of each profile, which has only safe values."""
    safe = [cost for cost in costs if cost.standing is Standing.SAFE]
    beaten = [cost for cost in safe if any(_beats(other, cost) for other in safe)]
    return [
        replace(cost, on_front=cost.standing is Standing.SAFE and cost not in beaten)
        for cost in costs
    ]


def _beats(cost: Cost, other: Cost) -> bool:
    """Returns True if `cost` takes less of time or CPU in that profile, and no more of either."""
    mine, others = (cost.time_ns, cost.cpu_ns), (other.time_ns, other.cpu_ns)
    no_more = all(left <= right for left, right in zip(mine, others, strict=True))
    return cost.profile == other.profile and no_more and mine != others
