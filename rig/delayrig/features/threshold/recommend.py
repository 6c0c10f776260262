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

TIME_TOLERANCE = Fraction(2, 100)
"""The tolerance of a gate. The phase of polls alone changes totals by up to 1 % at 62 MIPS."""
CPU_TOLERANCE = Fraction(5, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The figures of one value, one for each profile, always in the same order."""

    value_us: int
    safe: bool
    time_ns: tuple[int, ...]
    cpu_ns: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The result of the rule; `value_us` is None if no value was safe."""

    value_us: int | None
    safe: tuple[int, ...]
    quick: tuple[int, ...]
    frugal: tuple[int, ...]
    by_accuracy: bool
    """True if step 4 had a choice."""


def recommend(
    trials: Sequence[Trial], *, accurate_us: int | None, time_tolerance: Fraction = TIME_TOLERANCE
) -> Choice:
    """Returns the recommended value. `accurate_us` is the shortest accurate sleep, if known."""
    safe = sorted((trial for trial in trials if trial.safe), key=lambda trial: trial.value_us)
    quick = _within(safe, time_tolerance, lambda trial: trial.time_ns)
    frugal = _within(quick, CPU_TOLERANCE, lambda trial: trial.cpu_ns)
    values = [trial.value_us for trial in frugal]
    accurate = [us for us in values if accurate_us is not None and us >= accurate_us]
    return Choice(
        value_us=accurate[0] if accurate else max(values, default=None),
        safe=_values(safe),
        quick=_values(quick),
        frugal=tuple(values),
        by_accuracy=len(values) > 1,
    )


def _values(trials: Sequence[Trial]) -> tuple[int, ...]:
    return tuple(trial.value_us for trial in trials)


def _within(
    trials: Sequence[Trial], tolerance: Fraction, figures: Callable[[Trial], tuple[int, ...]]
) -> list[Trial]:
    """Returns the trials whose ratio to the least figure is within the limit in every profile."""
    if not trials:
        return []
    least = [min(column) for column in zip(*map(figures, trials), strict=True)]
    worst = {
        trial.value_us: max(
            (_ratio(figure, low) for figure, low in zip(figures(trial), least, strict=True)),
            default=Fraction(1),
        )
        for trial in trials
    }
    smallest, limit = min(worst.values()), 1 + tolerance
    if smallest > limit:
        limit *= smallest
    return [trial for trial in trials if worst[trial.value_us] <= limit]


def _ratio(figure: int, least: int) -> Fraction:
    """Returns the ratio of two figures; 1 if both are 0, a large one if only `least` is 0."""
    return Fraction(figure, least) if least > 0 else Fraction(1 if figure == 0 else figure + 1)


def pareto(points: Sequence[tuple[int, int, int]]) -> list[int]:
    """Returns the Pareto-optimal values of (value, time, CPU)."""
    return [
        value
        for value, time, cpu in points
        if not any(
            other_time <= time and other_cpu <= cpu and (other_time < time or other_cpu < cpu)
            for _, other_time, other_cpu in points
        )
    ]
