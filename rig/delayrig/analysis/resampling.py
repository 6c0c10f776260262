# SPDX-License-Identifier: GPL-2.0-or-later
"""The interval that a figure of measurements lies in, by drawing them anew with replacement; pure.

Nothing is assumed of how the noise is spread. Draws are seeded: same measurements, same answer.
"""

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

SEED = 1


def middle_of_draws(
    values: Sequence[T],
    figure: Callable[[Sequence[T]], float],
    *,
    draws: int,
    confidence: float,
    of: int = 1,
) -> tuple[float, float]:
    """The ends of the middle part of what `figure` gives for each draw.

    `of` is how many such intervals one decision rests on: each is made wider, so that all of them
    hold at once with that confidence.
    """
    dice = random.Random(SEED)
    drawn = sorted(figure(dice.choices(values, k=len(values))) for _ in range(draws))
    outside = round((1 - confidence) / 2 / of * draws)
    return drawn[outside], drawn[-1 - outside]
