# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds steps in a series of real times by a rank test, without assumptions on the noise.

A cut splits the series in two. Its score is the distance of the sum of ranks before the cut from
the mean over random orders, in standard deviations. The largest score is the statistic; p is the
share of random orders that reach it. A step is claimed if p is at most 1 - confidence; then both
parts are examined in the same way (binary segmentation).

If nothing changed, the first test alone decides. So a series without a step is reported to have one
with a probability of at most 1 - confidence, whatever the number of runs. One wild value makes no
step, because ranks are used and at least `SIDE_MIN` runs are on each side. A slow drift may be
reported as a step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

DRAWS = 9999
CHUNK = 500
"""The number of orders drawn at once, which limits the memory."""
SIDE_MIN = 3
SEED = 1
"""A fixed seed, so that the same runs give the same answer."""

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePoint:
    """A step. `at` is the index of the first value after it."""

    at: int
    p: float
    before: float
    """The medians of the stretches before and after the step."""
    after: float


def change_points(
    values: Sequence[float], *, confidence: float, draws: int = DRAWS
) -> list[ChangePoint]:
    """Returns all steps that can be claimed, in order."""
    series = np.asarray(values, dtype=float)
    dice = np.random.default_rng(SEED)
    cuts = sorted(_cuts(series, 0, 1 - confidence, draws, dice))
    edges = [0, *(at for at, _ in cuts), len(series)]
    return [
        ChangePoint(
            at=at,
            p=p,
            before=float(np.median(series[edges[number] : at])),
            after=float(np.median(series[at : edges[number + 2]])),
        )
        for number, (at, p) in enumerate(cuts)
    ]


def values_min(confidence: float) -> int:
    """Returns the least number of values in which a step can be claimed.

    n different values can be split into halves in C(n, n/2) ways. In two of them, one half has all
    the large values, as after a step. So no p is less than 2 / C(n, n/2).
    """
    count = 2 * SIDE_MIN
    while 2 / comb(count, count // 2) > 1 - confidence:
        count += 1
    return count


def _cuts(
    values: Floats, start: int, alpha: float, draws: int, dice: np.random.Generator
) -> list[tuple[int, float]]:
    """Returns the position of each step in the whole series, with its p."""
    if len(values) < 2 * SIDE_MIN:
        return []
    ranks = _ranks(values)
    found, cut = _strongest(ranks[np.newaxis, :])
    p = _chance(ranks, float(found[0]), draws, dice)
    if p > alpha:
        return []
    at = int(cut[0])
    return [
        (start + at, p),
        *_cuts(values[:at], start, alpha, draws, dice),
        *_cuts(values[at:], start + at, alpha, draws, dice),
    ]


def _chance(ranks: Floats, found: float, draws: int, dice: np.random.Generator) -> float:
    """Returns the share of random orders whose statistic is at least `found`.

    The observed order counts as one of them.
    """
    reached = 0
    for begin in range(0, draws, CHUNK):
        rows = min(CHUNK, draws - begin)
        shuffled = dice.permuted(np.tile(ranks, (rows, 1)), axis=1)
        reached += int(np.count_nonzero(_strongest(shuffled)[0] >= found - 1e-9))
    return (1 + reached) / (1 + draws)


def _ranks(values: Floats) -> Floats:
    """Returns the ranks, 1 for the smallest; equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean: Floats = (last - (counts - 1) / 2)[inverse]
    return mean


def _strongest(rows: Floats) -> tuple[Floats, NDArray[np.integer[Any]]]:
    """Returns the largest statistic of each row, and its position."""
    count = rows.shape[1]
    sizes = np.arange(SIDE_MIN, count - SIDE_MIN + 1)
    sums = np.cumsum(rows, axis=1)[:, sizes - 1]
    expected = sizes * (count + 1) / 2
    spread = np.sqrt(sizes * (count - sizes) * (count + 1) / 12)
    found = np.abs(sums - expected) / spread
    best = np.argmax(found, axis=1)
    return found[np.arange(len(rows)), best], sizes[best]
