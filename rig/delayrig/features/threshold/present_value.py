# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges if the present threshold fits a list of machines, and names the deciding machine.

It fits if it was safe on all of them, and takes no more beside the recommended value than the
rule allows: 2 % of time and 5 % of CPU time on each.
"""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from delayrig.features.threshold.figures import Cost, Standing
from delayrig.features.threshold.outliers import Common, Ground
from delayrig.features.threshold.recommend import Choice
from delayrig.features.threshold.recommendation_text import percent, us


class Fit(StrEnum):
    YES = "yes"
    NO = "no"
    UNSAFE = "unsafe"
    UNKNOWN = "unknown"


class Present(msgspec.Struct, frozen=True, kw_only=True):
    value_us: int
    fit: Fit
    decides: str
    """The profile that the answer rests on; empty where all agree."""
    words: str


def judge_present(
    ground: Ground,
    common: Common,
    alone: Mapping[str, Choice],
    value_us: int,
    names: Mapping[str, str],
) -> Present:
    """Answers by the costs; `names` has what the user calls a profile."""
    mine = [cost for cost in ground.costs if cost.value_us == value_us]
    for standing, fit in ((Standing.UNSAFE, Fit.UNSAFE), (Standing.DOUBT, Fit.UNKNOWN)):
        bad = next((cost for cost in mine if cost.standing is standing), None)
        if bad is not None:
            return _bad(bad, fit, names)
    best_us = common.choice.value_us
    assert best_us is not None, "the present value is safe, so one can be recommended"
    if best_us == value_us:
        return _is_best(value_us, alone, names)
    grave, decides = max(
        (ground.price(value_us, best_us, [name]).grave, name) for name in common.profiles
    )
    price = ground.price(value_us, best_us, [decides])
    fit, verdict = (Fit.YES, "fits") if grave <= 1 else (Fit.NO, "does not fit")
    words = (
        f"{'Yes' if fit is Fit.YES else 'No'}: {us(value_us)} {verdict}."
        f" {names.get(decides, decides)} decides: it takes {percent(price.time)} of time and"
        f" {percent(price.cpu)} of CPU time there beside {us(best_us)}"
        " (+2.0 % and +5.0 % are allowed)."
    )
    return Present(value_us=value_us, fit=fit, decides=decides, words=words)


def _bad(cost: Cost, fit: Fit, names: Mapping[str, str]) -> Present:
    where = names.get(cost.profile, cost.profile)
    told = "No" if fit is Fit.UNSAFE else "Not answered"
    what = "is unsafe" if fit is Fit.UNSAFE else "was not shown to be safe"
    return Present(
        value_us=cost.value_us,
        fit=fit,
        decides=cost.profile,
        words=f"{told}: {us(cost.value_us)} {what} on {where}, which decides: {cost.why}",
    )


def _is_best(value_us: int, alone: Mapping[str, Choice], names: Mapping[str, str]) -> Present:
    others = [name for name, choice in alone.items() if choice.value_us != value_us]
    agreeing = [name for name in alone if name not in others]
    decides = agreeing[0] if others and agreeing else ""
    told = f" {names.get(decides, decides)} decides." if decides else ""
    alike = "" if others else " Each of them alone would take it as well."
    return Present(
        value_us=value_us,
        fit=Fit.YES,
        decides=decides,
        words=f"Yes: {us(value_us)} is the value to take on these machines.{told}{alike}",
    )
