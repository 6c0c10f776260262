# SPDX-License-Identifier: GPL-2.0-or-later
"""The recommendation in sentences. All figures come from the measured costs."""

from collections import Counter
from collections.abc import Mapping, Sequence

from delayrig.features.threshold.evidence import Evidence, Price
from delayrig.features.threshold.figures import Cost, Standing
from delayrig.features.threshold.guests import UPSTREAM_US
from delayrig.features.threshold.outliers import Common, Odd
from delayrig.features.threshold.recommend import CPU_TOLERANCE, Choice, recommend

PARTS = {2: "half", 3: "a third", 4: "a quarter", 5: "a fifth", 6: "a sixth", 7: "a seventh"}
PARTS |= {8: "an eighth", 9: "a ninth", 10: "a tenth", 11: "an eleventh", 12: "a twelfth"}


def us(value: int) -> str:
    return f"{value:,} us"


def listed(values: Sequence[int]) -> str:
    """Returns the values as text: `0, 2 and 10 us`."""
    words = [f"{value:,}" for value in values]
    return (f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]) + " us"


def build_words(value_us: int) -> tuple[str, str]:
    """Returns the lines that build a flashrom with the threshold: by meson, and by make."""
    folder = f"build-{value_us}us"
    return (
        f"meson setup {folder} -Ddelay_minimum_sleep_us={value_us} && ninja -C {folder}",
        f"make CONFIG_DELAY_MINIMUM_SLEEP_US={value_us}",
    )


def build_note(value_us: int) -> str:
    """Returns a sentence on the versions of flashrom that the lines build."""
    since = "since 1.5 it is the default, and nothing has to be changed" * (value_us == UPSTREAM_US)
    return f"For flashrom 1.4 and newer{'; ' if since else ''}{since}. Only 1.4 has a Makefile."


def answer_lines(evidence: Evidence, common: Common, alone: Mapping[str, Choice]) -> list[str]:
    """Returns the recommendation, reasons, exceptions, and other choices for profiles alone."""
    choice, value = common.choice, common.choice.value_us
    unsafe = _unsafe_lines(evidence.costs)
    if value is None:
        return ["No value can be recommended: none was shown to be safe.", *unsafe]
    costs = [cost for cost in evidence.costs if cost.profile in common.profiles]
    odd = " and ".join(each.profile for each in common.odd)
    suits = f"{us(value)}, leaving out {odd}" if odd else us(value)
    lines = [
        f"{suits}: {_slowdown(costs, value)}, with {_cpu_share(costs, value)}.",
        *(_odd_line(each, value) for each in common.odd),
        *(_compromise(evidence, name, value, alone[name]) for name in common.profiles),
        _tie(choice, common.accurate_us, realtime=evidence.realtime),
    ]
    others: dict[int | None, list[str]] = {}
    for name, other in alone.items():
        if other.value_us != value:
            others.setdefault(other.value_us, []).append(name)
    for other_us, names in others.items():
        what = "none would be safe" if other_us is None else f"{us(other_us)} would be the choice"
        lines.append(f"On {' and on '.join(names)} alone {what}.")
    return [*(line for line in lines if line), *unsafe]


def _odd_line(odd: Odd, value: int) -> str:
    return (
        f"{odd.profile} is the odd one. If it were followed, all would take {us(odd.followed_us)},"
        f" which costs the others up to {percent(odd.others.cpu)} of CPU time (on"
        f" {odd.others.cpu_on}) and {percent(odd.others.time)} of time. {us(value)} costs"
        f" it {percent(odd.own.cpu)} of CPU time and {percent(odd.own.time)} of time."
    )


def _compromise(evidence: Evidence, profile: str, value: int, own: Choice) -> str:
    """Returns a sentence if a profile pays more than the rule allows, else an empty text."""
    if own.value_us in (None, value):
        return ""
    assert own.value_us is not None
    price = evidence.price(value, own.value_us, [profile])
    if price.grave <= 1:
        return ""
    return (
        f"It is a compromise: {profile} pays {percent(price.cpu)} of CPU time and"
        f" {percent(price.time)} of time beside its own best, {us(own.value_us)}."
        f" `--weight` says which profile counts more."
    )


def percent(ratio: float) -> str:
    rounded = round(100 * ratio, 1)
    return f"{rounded or 0.0:+.1f} %"


def price_words(price: Price | None) -> tuple[str, str]:
    return (percent(price.time), percent(price.cpu)) if price else ("-", "-")


def _worst(costs: Sequence[Cost], value: int, figure: str) -> tuple[float, str]:
    """Returns the largest ratio of the value's figure to the least of a profile, and where."""
    return max(
        (_ratio(cost, costs, figure), cost.profile) for cost in costs if cost.value_us == value
    )


def _slowdown(costs: Sequence[Cost], value: int) -> str:
    worst, where = _worst(costs, value, "time_ns")
    several = len({cost.profile for cost in costs}) > 1
    if worst <= 1:
        return "the fastest in every profile" if several else "the fastest"
    place = f" in every profile ({where} is the worst)" if several else ""
    return f"within {_up(100 * (worst - 1))} % of the fastest{place}"


def _up(percent: float) -> str:
    """Returns the percentage rounded up to a tenth, because it is a bound."""
    return f"{-(-percent // 0.1) * 0.1:.1f}"


def _ratio(cost: Cost, costs: Sequence[Cost], figure: str) -> float:
    least = min(
        getattr(other, figure)
        for other in costs
        if other.profile == cost.profile and other.standing is Standing.SAFE
    )
    return float(getattr(cost, figure) / least) if least else 1.0


def _cpu_share(costs: Sequence[Cost], value: int) -> str:
    safe = [cost for cost in costs if cost.standing is Standing.SAFE]
    fastest: dict[str, tuple[int, int]] = {}
    sums = Counter[int]()
    for cost in safe:
        figures = (cost.time_ns, cost.cpu_ns)
        fastest[cost.profile] = min(figures, fastest.get(cost.profile, figures))
        sums[cost.value_us] += cost.cpu_ns
    ours, least = sums[value], sum(cpu_ns for _, cpu_ns in fastest.values())
    ((hungriest_us, most),) = sums.most_common(1)
    words = f"{share(ours, least)} of the CPU time of the fastest"
    if most > ours:
        words += f" and {share(ours, most)} of that of {us(hungriest_us)}"
    worst, where = _worst(costs, value, "cpu_ns")
    if worst > 1 + CPU_TOLERANCE:
        # Name the profile that pays most, which a sum hides.
        words += (
            f" (on {where} {percent(worst - 1)} beside the least that a safe value takes there)"
        )
    return words


def share(part: int, whole: int) -> str:
    """Returns a fraction in words if there is one, else in percent."""
    if whole == 0:
        return "all"
    times = whole / part if part else 0
    if times >= 1.5 and round(times) in PARTS and abs(times - round(times)) < 0.15 * times:
        return PARTS[round(times)]
    return f"{100 * part / whole:.0f} %"


def _tie(choice: Choice, accurate_us: int | None, *, realtime: bool) -> str:
    if not choice.by_accuracy:
        return ""
    same = f"These jobs cannot tell {listed(choice.frugal)} apart (time within 2 %, CPU within 5 %)"
    how = "" if realtime else " at normal priority, which this flashrom keeps"
    if accurate_us is None:
        return f"{same}; no length tried makes an accurate sleep{how}, so the largest is taken."
    if choice.value_us is not None and choice.value_us >= accurate_us:
        return (
            f"{same}; it is the smallest of them whose sleeps are late by no more than 10 %{how}."
        )
    return f"{same}; sleeps are accurate from {us(accurate_us)} on{how}, so the largest is taken."


def _unsafe_lines(costs: Sequence[Cost]) -> list[str]:
    """Returns a line for each value that is never recommended, with its first reason."""
    found: dict[int, Cost] = {}
    for cost in sorted(costs, key=lambda cost: cost.standing is not Standing.UNSAFE):
        if cost.standing is not Standing.SAFE:
            found.setdefault(cost.value_us, cost)
    words = {Standing.UNSAFE: "is unsafe", Standing.DOUBT: "was not shown to be safe"}
    return [
        f"{us(value)} {words[cost.standing]} on {cost.profile} and is not considered: {cost.why}"
        for value, cost in sorted(found.items())
    ]


def sureness_lines(
    evidence: Evidence,
    common: Common,
    alone: Mapping[str, Choice],
    others: Mapping[str, int | None],
) -> list[str]:
    """Says how sure the choice is: by repetition, by profile, and by the rule's own figures."""
    value_us = common.choice.value_us
    if value_us is None:
        return []
    lines = [_repetition(evidence, common.profiles, value_us)]
    if len(alone) > 1:
        agreeing = sum(other.value_us == value_us for other in alone.values())
        lines.append(f"It is the choice of {agreeing} of {len(alone)} profiles alone as well.")
    moved = [
        f"with {name} it would be {us(value)}"
        for name, value in others.items()
        if value is not None and value != value_us
    ]
    same = (
        "It does not depend on the 2 % of the rule: with " + ", ".join(others) + " it is the same."
    )
    lines.append("The rule allows 2 % of time; " + ", ".join(moved) + "." if moved else same)
    lines.append(
        "`safe` holds in these profiles: `rig/rig gate` also sets clocks and sends signals."
    )
    return lines


def _repetition(evidence: Evidence, profiles: Sequence[str], value: int) -> str:
    exact = "Time is virtual: another run gives the same figures and the same answer."
    if len(evidence.costs_by_round) == 1:
        only = "One round was made: nothing shows how much these figures vary."
        return exact if evidence.lane == "virtual" else only
    rounds = [
        recommend([cost for cost in costs if cost.profile in profiles], accurate_us=None).frugal
        for costs in evidence.costs_by_round
    ]
    count = sum(value in frugal for frugal in rounds)
    among = f"In {count} of {len(rounds)} rounds with other data it is among the best by itself."
    return f"{exact} {among}" if evidence.lane == "virtual" else among
