# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests that decide on a threshold: weights, presets, and one odd guest among several."""

import pytest
from delayrig.base.errors import BadInputError
from delayrig.features.threshold.answer import Answer, answer_of
from delayrig.features.threshold.figures import Cost, Evidence, Standing
from delayrig.features.threshold.guests import (
    PRESETS,
    check_weights,
    parse_guest,
    preset_words,
    weights_of,
)
from delayrig.model.result import HostFacts

from tests.rig.answered import make_sleep_facts

COMMON = ("1000 MIPS, 1 core", "250 MIPS, 1 core")
ODD = "62 MIPS, 1 core, low-res-timers"
VALUES = (100, 1000)


def cost(profile: str, value: int, time: int, cpu: int) -> Cost:
    return Cost(
        value_us=value,
        profile=profile,
        standing=Standing.SAFE,
        why="",
        time_ns=time,
        cpu_ns=cpu,
        chip_busy_ns=0,
        wakeups=1,
        overshoot_ns=0,
        margin_ns=None,
    )


COSTS = [
    *(cost(name, 100, 1000, 100) for name in COMMON),
    *(cost(name, 1000, 1000, 190) for name in COMMON),
    *(cost(ODD, 100, 1500, 100), cost(ODD, 1000, 1000, 110)),
]
"""On one guest of three, a sleep lasts to the next tick, so 100 us are too slow there."""


def answer(costs: list[Cost], **weights: int) -> Answer:
    names = {"fast": COMMON[0], "slow": COMMON[1], "odd": ODD}
    return answer_of(
        Evidence(
            subject="bundled",
            lane="virtual",
            seed=1,
            jobs=["write"],
            costs=costs,
            costs_by_round=[costs] * 3,
            sleep={ODD: make_sleep_facts(normal=10**7, slack=10**7, fifo=10**7)},
            weights={names[name]: weight for name, weight in weights.items()},
            doubts=[],
            host=HostFacts(cpus=2, kernel="6.1", machine="x86_64", os="Debian"),
        )
    )


def test_one_odd_guest_is_named_and_does_not_decide() -> None:
    made = answer(COSTS)
    assert made.recommended_us == 100
    assert made.lines[0].startswith(f"100 us, leaving out {ODD}: the fastest in every profile,")
    assert made.lines[1] == (
        f"{ODD} is the odd one. To follow it is to take 1,000 us, which costs the others up to"
        f" +90.0 % of CPU time (on {COMMON[1]}) and +0.0 % of time. 100 us costs it -9.1 % of CPU"
        " time and +50.0 % of time."
    )
    assert [profile.common for profile in made.profiles] == [True, True, False]
    assert [(each.profile, each.followed_us) for each in made.odd] == [(ODD, 1000)]


def test_an_odd_guest_whose_request_costs_the_others_nothing_is_followed() -> None:
    alike = [*(cost(name, 1000, 1000, 104) for name in COMMON), *COSTS[:2], *COSTS[4:]]
    made = answer(sorted(alike, key=lambda each: (each.profile == ODD, each.value_us)))
    assert made.recommended_us == 1000
    assert made.odd == []


def test_the_weightier_half_decides() -> None:
    made = answer(COSTS, odd=2)
    assert made.recommended_us == 1000
    assert [line for line in made.lines if "compromise" in line] == [
        f"It is a compromise: {name} pays +90.0 % of CPU time and +0.0 % of time beside its own"
        " best, 100 us. `--weight` says which profile counts more."
        for name in COMMON
    ]
    assert answer(COSTS, odd=5).lines[1:3] == made.lines[1:3]


def test_a_sum_does_not_hide_the_guest_that_pays() -> None:
    assert f"(on {COMMON[1]} +90.0 % beside" in answer(COSTS, odd=2).lines[0]


def test_what_is_unsafe_on_a_guest_without_weight_is_not_recommended() -> None:
    unsafe = [
        *COSTS[:4],
        Cost(**{**{k: getattr(COSTS[4], k) for k in Cost.__struct_fields__}, "standing": "unsafe"}),
        COSTS[5],
    ]
    assert answer(COSTS, odd=0).recommended_us == 100
    assert answer(COSTS, odd=0).odd == []
    assert answer(unsafe, odd=0).recommended_us == 1000


def test_each_profile_says_what_the_common_value_costs_it() -> None:
    odd = answer(COSTS).profiles[2]
    assert odd.recommended_us == 1000
    assert odd.here is not None
    assert (odd.here.time, round(odd.here.cpu, 3)) == (0.5, -0.091)
    assert odd.others is not None
    assert odd.others.cpu == 0.9


def test_presets_are_guests_that_exist_with_weights() -> None:
    for name, guests in PRESETS.items():
        assert [parse_guest(word).name for word in preset_words([name])] == list(
            weights_of([name], [])
        )
        assert all(guests.values())


def test_a_weight_replaces_that_of_a_preset() -> None:
    weights = weights_of(["sbc"], ["62x1:low-res-timers=7", "31x1=2"])
    assert weights[ODD] == 7
    assert weights["31 MIPS, 1 core"] == 2
    assert weights["250 MIPS, 4 cores"] == 3


@pytest.mark.parametrize("word", ["250x1", "250x1=", "=2", "250x1=-1", "250x1=1001", "7x1=2"])
def test_a_weight_that_is_none_is_named_with_its_option(word: str) -> None:
    with pytest.raises(BadInputError, match="--weight") as caught:
        weights_of([], [word])
    assert caught.value.hint


def test_a_weight_of_a_guest_that_has_no_jobs_is_refused() -> None:
    check_weights({ODD: 0}, [ODD, *COMMON])
    with pytest.raises(BadInputError, match="no job runs on"):
        check_weights({"4 MIPS, 1 core": 2}, COMMON)
    with pytest.raises(BadInputError, match="weight of 0"):
        check_weights({ODD: 0}, [ODD])
