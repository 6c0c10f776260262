# SPDX-License-Identifier: GPL-2.0-or-later
"""Decides which profiles choose the value, which ones are odd, and the cost of following these.

The rule (recommend.py) needs a value that is good in every profile, so one profile could decide for
all. Such a profile is left out, and named, if three conditions are met: without it the
recommendation differs; following it costs the others more than the rule allows; and the others have
more than half of all weights. Its verdicts still count: a value that is unsafe there is never
recommended.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from delayrig.features.threshold.evidence import Evidence, Price
from delayrig.features.threshold.recommend import Choice


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


def common_choice(evidence: Evidence) -> Common:
    weighty = [name for name in evidence.profiles if evidence.weight([name]) > 0]
    kept, choice, left = weighty, evidence.choose(weighty), []
    while name := _oddest(evidence, kept, choice, evidence.weight(weighty)):
        left.append(name)
        kept = [other for other in kept if other != name]
        choice = evidence.choose(kept)
    return Common(
        choice=choice,
        profiles=tuple(kept),
        odd=tuple(_odd(evidence, name, kept, choice) for name in left),
        accurate_us=evidence.accurate_us(kept),
    )


def _oddest(evidence: Evidence, kept: Sequence[str], choice: Choice, total: int) -> str:
    """Returns the profile that costs the others most, if that is too much; else an empty text."""
    found = []
    for name in kept:
        rest = [other for other in kept if other != name]
        if 2 * evidence.weight(rest) <= total:
            continue
        without = evidence.choose(rest).value_us
        if without is not None and choice.value_us not in (None, without):
            assert choice.value_us is not None
            found.append((evidence.price(choice.value_us, without, rest).grave, name))
    worst, name = max(found, default=(0.0, ""))
    return name if worst > 1 else ""


def _odd(evidence: Evidence, name: str, kept: Sequence[str], choice: Choice) -> Odd:
    with_it = [other for other in evidence.profiles if other in (*kept, name)]
    followed = evidence.choose(with_it).value_us
    assert followed is not None
    assert choice.value_us is not None, "there are safe values, else no profile would be odd"
    return Odd(
        profile=name,
        followed_us=followed,
        others=evidence.price(followed, choice.value_us, kept),
        own=evidence.price(choice.value_us, followed, [name]),
    )
