# SPDX-License-Identifier: GPL-2.0-or-later
"""The rule by which a threshold is recommended: a pure function of what was measured.

1. Only values that were safe everywhere: one conviction, or one doubt, and a value is out.
2. Of these, the quick ones: whose time is within 2 % of the quickest in every profile. Where none
   is, the bar is raised to the least that some value keeps to in every profile, and 2 % on top.
3. Of these, the frugal ones, by the same rule for CPU time with 5 %. What is left differs in
   nothing that these jobs could show.
4. Of these, the smallest whose sleeps are accurate (`accurate_us`), which is the proposal's own
   argument; the largest where all are below that.

Ratios are exact fractions, so that equal figures give equal answers on every machine.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

TIME_TOLERANCE = Fraction(2, 100)
"""As of a gate. Where polls meet the end of a busy time moves totals by up to 1 % at 62 MIPS."""
CPU_TOLERANCE = Fraction(5, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What one value came to, with a figure for each profile, always in the same order."""

    value_us: int
    safe: bool
    time_ns: tuple[int, ...]
    cpu_ns: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What the rule came to; `value_us` is None where no value was safe."""

    value_us: int | None
    safe: tuple[int, ...]
    quick: tuple[int, ...]
    frugal: tuple[int, ...]
    by_accuracy: bool
    """Whether step 4 had anything to choose from."""


def recommend(
    trials: Sequence[Trial], *, accurate_us: int | None, time_tolerance: Fraction = TIME_TOLERANCE
) -> Choice:
    """The value to take. `accurate_us` is the shortest sleep known to be accurate, if any is."""
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
    """Those whose worst ratio to the least of each profile is within the bar."""
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
    kept_to, limit = min(worst.values()), 1 + tolerance
    if kept_to > limit:
        limit *= kept_to
    return [trial for trial in trials if worst[trial.value_us] <= limit]


def _ratio(figure: int, least: int) -> Fraction:
    """Of two figures; a profile in which nothing was measured tells nobody apart."""
    return Fraction(figure, least) if least > 0 else Fraction(1 if figure == 0 else figure + 1)


def pareto(points: Sequence[tuple[int, int, int]]) -> list[int]:
    """Of (value, time, CPU) the values that no other beats in one and equals in the other."""
    return [
        value
        for value, time, cpu in points
        if not any(
            other_time <= time and other_cpu <= cpu and (other_time < time or other_cpu < cpu)
            for _, other_time, other_cpu in points
        )
    ]
