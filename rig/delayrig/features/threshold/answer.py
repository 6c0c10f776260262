# SPDX-License-Identifier: GPL-2.0-or-later
"""`threshold.json`: the cost of each threshold, the recommended one, and the reasons.

The present threshold of a list of machines fits if it was safe on all of them, and if in each
profile that takes part it costs at most 2 % of time and 5 % of CPU time more than the recommended
value.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from fractions import Fraction

import msgspec
from msgspec.structs import replace

from delayrig.base.durations import NS_PER_S
from delayrig.features.threshold.evidence import Evidence, Price
from delayrig.features.threshold.figures import Cost, Standing
from delayrig.features.threshold.outliers import Common, Odd, common_choice
from delayrig.features.threshold.recommend import Choice, recommend, with_fronts
from delayrig.features.threshold.recommendation_text import (
    answer_lines,
    percent,
    sureness_lines,
    us,
)
from delayrig.features.threshold.sleep_facts import Finding, SleepFacts, reasoning
from delayrig.model.result import HostFacts

SCHEMA = 1
FILE_NAME = "threshold.json"
OTHER_TOLERANCES = (Fraction(1, 100), Fraction(3, 100), Fraction(5, 100))
"""Other tolerances of time. They show whether the recommendation depends on the rule's 2 %."""


class Fit(StrEnum):
    YES = "yes"
    NO = "no"
    UNSAFE = "unsafe"
    UNKNOWN = "unknown"


class Present(msgspec.Struct, frozen=True, kw_only=True):
    value_us: int
    fit: Fit
    decides: str
    """The profile that decided; empty if each profile alone chooses the value, or if none does."""
    words: str


class ProfileFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A profile: the cost of sleeping there, and the recommendation for it alone."""

    name: str
    in_set: bool
    """False if it only shows the cost of sleeping: no jobs were run there."""
    recommended_us: int | None
    weight: int = 1
    common: bool = True
    """True if it took part in the recommendation for all."""
    here: Price | None = None
    """The cost of the common value here, beyond that of this profile's own value."""
    others: Price | None = None
    """The cost of this profile's own value on the other profiles that take part."""
    sleep: SleepFacts | None


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `threshold.json`. `lines` are the recommendation in sentences."""

    schema: int = SCHEMA
    recommended_us: int | None
    present: Present | None = None
    """The judgement on the present value of a list of machines."""
    lines: list[str]
    sureness: list[str]
    doubts: list[str]
    findings: list[Finding]
    """The tests of the proposal's own reasoning in each profile."""
    subject: str
    lane: str
    rounds: int
    seed: int
    jobs: list[str]
    values_us: list[int]
    quick_us: list[int]
    frugal_us: list[int]
    profiles: list[ProfileFacts]
    odd: list[Odd]
    """Profiles that are not followed, and the cost of following them for the others."""
    costs: list[Cost]
    host: HostFacts


def answer_of(evidence: Evidence) -> Answer:
    """Returns the answer. This is a pure function: the same figures give the same answer."""
    evidence = replace(evidence, costs=with_fronts(evidence.costs))
    common = common_choice(evidence)
    names = evidence.profiles
    alone = {name: _alone(evidence, name) for name in names}
    return Answer(
        recommended_us=common.choice.value_us,
        present=_present(evidence, common, alone),
        lines=answer_lines(evidence, common, alone),
        sureness=sureness_lines(evidence, common, alone, _other_choices(evidence, common)),
        doubts=evidence.doubts,
        findings=reasoning(evidence.sleep, realtime=evidence.realtime),
        subject=evidence.subject,
        lane=evidence.lane,
        rounds=len(evidence.costs_by_round),
        seed=evidence.seed,
        jobs=evidence.jobs,
        values_us=sorted({cost.value_us for cost in evidence.costs}),
        quick_us=list(common.choice.quick),
        frugal_us=list(common.choice.frugal),
        profiles=[
            *(_profile(evidence, common, name, alone[name].value_us) for name in names),
            *(
                ProfileFacts(
                    name=name, in_set=False, recommended_us=None, common=False, sleep=facts
                )
                for name, facts in evidence.sleep.items()
                if name not in names
            ),
        ],
        odd=list(common.odd),
        costs=evidence.costs,
        host=evidence.host,
    )


def _profile(evidence: Evidence, common: Common, name: str, own_us: int | None) -> ProfileFacts:
    value_us = common.choice.value_us
    others = [other for other in common.profiles if other != name]
    return ProfileFacts(
        name=name,
        in_set=True,
        recommended_us=own_us,
        weight=evidence.weight([name]),
        common=name in common.profiles,
        here=_price(evidence, value_us, own_us, [name]),
        others=_price(evidence, own_us, value_us, others),
        sleep=evidence.sleep.get(name),
    )


def _price(
    evidence: Evidence, value_us: int | None, than_us: int | None, profiles: Sequence[str]
) -> Price | None:
    if value_us is None or than_us is None or not profiles:
        return None
    return evidence.price(value_us, than_us, profiles)


def _alone(evidence: Evidence, profile: str) -> Choice:
    ours = [cost for cost in evidence.costs if cost.profile == profile]
    return recommend(ours, accurate_us=evidence.accurate_us([profile]))


def _other_choices(evidence: Evidence, common: Common) -> dict[str, int | None]:
    """Returns the results of the rule with other tolerances of time."""
    costs = evidence.safe(common.profiles)
    return {
        f"{float(tolerance) * 100:g} %": recommend(
            costs, accurate_us=common.accurate_us, time_tolerance=tolerance
        ).value_us
        for tolerance in OTHER_TOLERANCES
    }


def _present(evidence: Evidence, common: Common, alone: Mapping[str, Choice]) -> Present | None:
    """Returns the judgement on the present value."""
    value_us = evidence.present_us
    if value_us is None:
        return None
    fit, decides, words = _judged(value_us, evidence, common, alone)
    return Present(value_us=value_us, fit=fit, decides=decides, words=words)


def _judged(
    value_us: int, evidence: Evidence, common: Common, alone: Mapping[str, Choice]
) -> tuple[Fit, str, str]:
    """Returns whether the value fits, the profile that decided, and the judgement in words."""
    names = evidence.machines
    mine = [cost for cost in evidence.costs if cost.value_us == value_us]
    for standing, fit, words in (
        (Standing.UNSAFE, Fit.UNSAFE, f"No: {us(value_us)} is unsafe"),
        (Standing.DOUBT, Fit.UNKNOWN, f"Not answered: {us(value_us)} was not shown to be safe"),
    ):
        if bad := next((cost for cost in mine if cost.standing is standing), None):
            where = names.get(bad.profile, bad.profile)
            return fit, bad.profile, f"{words} on {where}, which decides: {bad.why}"
    best_us = common.choice.value_us
    assert best_us is not None, "the present value is safe, so one can be recommended"
    if best_us == value_us:
        others = [name for name, choice in alone.items() if choice.value_us != value_us]
        agreeing = [name for name in alone if name not in others]
        decides = agreeing[0] if others and agreeing else ""
        decided = f" {names.get(decides, decides)} decides." if decides else ""
        alike = "" if others else " Each of them alone would take it as well."
        best = f"Yes: {us(value_us)} is the value to take on these machines.{decided}{alike}"
        return Fit.YES, decides, best
    grave, decides = max(
        (evidence.price(value_us, best_us, [name]).grave, name) for name in common.profiles
    )
    price = evidence.price(value_us, best_us, [decides])
    fit, verdict = (Fit.YES, "Yes: {} fits") if grave <= 1 else (Fit.NO, "No: {} does not fit")
    cpu_s = {
        cost.value_us: cost.cpu_ns / NS_PER_S for cost in evidence.costs if cost.profile == decides
    }
    return (
        fit,
        decides,
        f"{verdict.format(us(value_us))}."
        f" Decided by {names.get(decides, decides)}: it takes {percent(price.time)} of time and"
        f" {percent(price.cpu)} of CPU time there beside {us(best_us)}"
        f" ({cpu_s[value_us]:.3f} s beside {cpu_s[best_us]:.3f} s; +2.0 % and +5.0 % are allowed).",
    )
