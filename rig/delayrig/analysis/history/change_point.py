# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a series of real times steps: a test of ranks, with no assumption on how noise is spread.

For each place to cut the series in two: how far is the sum of ranks before it from what a random
order would give, in its own standard deviations? The largest of these is the statistic; the share
of random orders that reach as much is p. A step is claimed where p is below 1 - confidence; then
both parts are looked at in the same way (binary segmentation).

Under "nothing changed" the first test alone decides, so a series without any step is said to have
one with a chance of at most 1 - confidence, whatever the number of runs. Ranks make one wild value
no step: `SIDE_MIN` runs at least are on each side. What drifts slowly may be told as a step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

DRAWS = 9999
CHUNK = 500
"""Orders that are drawn at once: memory stays small."""
SIDE_MIN = 3
SEED = 1
"""Fixed, so that the same runs give the same answer."""
CONFIDENCE = 0.99

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePoint:
    """`at` is the first value that belongs to what comes after."""

    at: int
    p: float
    before: float
    """The median of the stretch before it, and of that from it on."""
    after: float


def change_points(
    values: Sequence[float], *, confidence: float = CONFIDENCE, draws: int = DRAWS
) -> list[ChangePoint]:
    """All that can be claimed, in their order."""
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


def values_min(confidence: float = CONFIDENCE) -> int:
    """The least number of values of which a step can be claimed at all.

    All orders of n values in two halves are C(n, n/2), and two of them part them as a step does.
    """
    count = 2 * SIDE_MIN
    while 2 / _halves(count) > 1 - confidence:
        count += 1
    return count


def _halves(count: int) -> float:
    half = count // 2
    return float(np.prod([(count - i) / (half - i) for i in range(half)]))


def _cuts(
    values: Floats, start: int, alpha: float, draws: int, dice: np.random.Generator
) -> list[tuple[int, float]]:
    """Places and their p, in the whole series' counting."""
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
    """How likely as much is in a random order; the order that was seen counts as one of them."""
    reached = 0
    for begin in range(0, draws, CHUNK):
        rows = min(CHUNK, draws - begin)
        shuffled = dice.permuted(np.tile(ranks, (rows, 1)), axis=1)
        reached += int(np.count_nonzero(_strongest(shuffled)[0] >= found - 1e-9))
    return (1 + reached) / (1 + draws)


def _ranks(values: Floats) -> Floats:
    """1 for the smallest; equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean: Floats = (last - (counts - 1) / 2)[inverse]
    return mean


def _strongest(rows: Floats) -> tuple[Floats, NDArray[np.integer[Any]]]:
    """Of each row the largest statistic, and where it is."""
    count = rows.shape[1]
    sizes = np.arange(SIDE_MIN, count - SIDE_MIN + 1)
    sums = np.cumsum(rows, axis=1)[:, sizes - 1]
    expected = sizes * (count + 1) / 2
    spread = np.sqrt(sizes * (count - sizes) * (count + 1) / 12)
    found = np.abs(sums - expected) / spread
    best = np.argmax(found, axis=1)
    return found[np.arange(len(rows)), best], sizes[best]
