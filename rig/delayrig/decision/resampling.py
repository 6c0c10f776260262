# SPDX-License-Identifier: GPL-2.0-or-later
"""The interval of a figure, computed by drawing its measurements again with replacement.

The distribution of the noise is not assumed. Draws are seeded, so the same measurements give the
same answer.
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
    """Returns the ends of the middle part of `figure` over all draws.

    `of` is the number of such intervals behind one decision. Each is made wider, so that all of
    them hold at once with that confidence.
    """
    dice = random.Random(SEED)
    drawn = sorted(figure(dice.choices(values, k=len(values))) for _ in range(draws))
    outside = round((1 - confidence) / 2 / of * draws)
    return drawn[outside], drawn[-1 - outside]
