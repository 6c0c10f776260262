# SPDX-License-Identifier: GPL-2.0-or-later
"""`threshold.json`: what each threshold cost, which one is recommended, and why."""

from collections.abc import Sequence
from fractions import Fraction

import msgspec

from delayrig.analysis.threshold.evidence import Evidence
from delayrig.analysis.threshold.figures import Cost, trials_of, with_fronts
from delayrig.analysis.threshold.reasoning import Finding, reasoning
from delayrig.analysis.threshold.recommend import Choice, recommend
from delayrig.analysis.threshold.sleep_facts import SleepFacts, accurate_everywhere_us
from delayrig.analysis.threshold.words import answer_lines, sureness_lines
from delayrig.model.result import HostFacts

SCHEMA = 1
FILE_NAME = "threshold.json"
OTHER_TOLERANCES = (Fraction(1, 100), Fraction(3, 100), Fraction(5, 100))
"""Of time, to see whether the recommendation hangs on the 2 % of the rule."""


class ProfileFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A profile: what sleeping costs there, and what would be recommended for it alone."""

    name: str
    in_set: bool
    """False where it only shows what sleeping costs: no jobs were run there."""
    recommended_us: int | None
    sleep: SleepFacts | None


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file. `lines` say it in words."""

    schema: int = SCHEMA
    recommended_us: int | None
    lines: list[str]
    sureness: list[str]
    doubts: list[str]
    findings: list[Finding]
    """The proposal's own reasoning, put to the test in each profile."""
    subject: str
    lane: str
    rounds: int
    seed: int
    jobs: list[str]
    values_us: list[int]
    quick_us: list[int]
    frugal_us: list[int]
    profiles: list[ProfileFacts]
    costs: list[Cost]
    host: HostFacts


def answer_of(evidence: Evidence) -> Answer:
    """A pure function: the same figures give the same answer."""
    costs = with_fronts(evidence.costs)
    names = list(dict.fromkeys(cost.profile for cost in costs))
    facts = [evidence.sleep[name] for name in names if name in evidence.sleep]
    accurate_us = accurate_everywhere_us(facts)
    choice = recommend(trials_of(costs), accurate_us=accurate_us)
    alone = {name: _alone(costs, name, evidence.sleep.get(name)) for name in names}
    return Answer(
        recommended_us=choice.value_us,
        lines=answer_lines(costs, choice, alone, accurate_us),
        sureness=sureness_lines(evidence, choice, alone, _other_choices(costs, accurate_us)),
        doubts=evidence.doubts,
        findings=reasoning(evidence.sleep),
        subject=evidence.subject,
        lane=evidence.lane,
        rounds=len(evidence.costs_by_round),
        seed=evidence.seed,
        jobs=evidence.jobs,
        values_us=sorted({cost.value_us for cost in costs}),
        quick_us=list(choice.quick),
        frugal_us=list(choice.frugal),
        profiles=[
            ProfileFacts(
                name=name,
                in_set=name in names,
                recommended_us=alone[name].value_us if name in alone else None,
                sleep=evidence.sleep.get(name),
            )
            for name in dict.fromkeys([*names, *evidence.sleep])
        ],
        costs=costs,
        host=evidence.host,
    )


def _alone(costs: Sequence[Cost], profile: str, facts: SleepFacts | None) -> Choice:
    accurate_us = facts.accurate_us(facts.best_way()) if facts else None
    ours = [cost for cost in costs if cost.profile == profile]
    return recommend(trials_of(ours), accurate_us=accurate_us)


def _other_choices(costs: Sequence[Cost], accurate_us: int | None) -> dict[str, int | None]:
    """What the rule would say with other tolerances of time."""
    trials = trials_of(costs)
    return {
        f"{float(tolerance) * 100:g} %": recommend(
            trials, accurate_us=accurate_us, time_tolerance=tolerance
        ).value_us
        for tolerance in OTHER_TOLERANCES
    }
