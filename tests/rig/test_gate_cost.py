# SPDX-License-Identifier: GPL-2.0-or-later
"""Limits of cost for a cell and for a plan; intervals of real time."""

import random
from collections.abc import Sequence
from typing import NamedTuple

import pytest
from delayrig.decision.decision import Decision
from delayrig.decision.gate_judge import decide
from delayrig.decision.performance import (
    CELL_FLOOR_NS,
    PAIRS_MIN,
    TICK_NS,
    TOTAL_CELLS_MIN,
    Interval,
    excess_interval,
)

from tests.rig.builders import MS
from tests.rig.test_gate_judge import AFTER, BEFORE, REAL, decided, rounds, timed


class Took(NamedTuple):
    """The times of a cell before and now, in ms."""

    time: tuple[float, float]
    cpu: tuple[float, float]


CALM = Took((1000, 1000), (500, 500))
READ = Took((140, 140), (23.5, 36.2))
"""Measured: +54 % of CPU time in one read."""


def gated(cells: Sequence[Took]) -> Decision:
    """Decides a gate of these cells; the first one is called n0."""
    sides = [
        [
            timed(subject, int(took.time[at] * MS), name=f"n{n}", cpu_ns=int(took.cpu[at] * MS))
            for n, took in enumerate(cells)
        ]
        for at, subject in enumerate((BEFORE, AFTER))
    ]
    return decided(*sides)


def cost_lines(decision: Decision) -> dict[str, str]:
    """Returns the lines about cost, by figure."""
    lines = [line.removeprefix("Cost in ") for line in decision.lines if line.startswith("Cost in")]
    return {line.partition(":")[0]: line for line in lines}


def test_costlier_cell_passes_if_the_plan_became_much_cheaper() -> None:
    decision = gated([READ, *[Took((1000, 900), (500, 159.4))] * 9])
    assert decision.exit_code == 0
    line = cost_lines(decision)["CPU time"]
    assert "4.524 s before, 1.471 s now: -3.053 s net (-67.49 %" in line
    assert "; the worst cell is n0." in line
    assert "+54.04 % (+12.7 ms: 23.5 before, 36.2 now), 5 % or 50 ms allowed" in line
    assert line.endswith(", so that is allowed.")


@pytest.mark.parametrize("others", [0, 1, 9])
def test_few_ms_of_cpu_time_pass_in_a_plan_of_any_size(others: int) -> None:
    quicker = Took((200, 185), (153.8, 161.8))  # +5.2 %
    decision = gated([quicker, *[CALM] * others])
    assert decision.exit_code == 0
    assert ("so that is allowed" in cost_lines(decision)["CPU time"]) == bool(others)


def test_cost_line_of_one_cell_names_no_worst_cell() -> None:
    assert cost_lines(gated([READ]))["CPU time"] == (
        "CPU time: 0.024 s before, 0.036 s now: +0.013 s net (+54.04 %)."
    )


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        # A legal known-bad build, as measured in two cells: it polls twice as often.
        (Took((553.4, 553.4), (123.0, 138.1)), 0),
        (Took((845.0, 843.1), (440.7, 478.6)), 0),
        # Wasteful builds: waits-twice, normal-priority, never-pauses.
        (Took((373.1, 385.0), (38.2, 42.1)), 3),
        (Took((1262.2, 1262.2), (1161.2, 1224.2)), 3),
        (Took((373.1, 374.4), (38.2, 146.3)), 3),
    ],
)
def test_small_plan_separates_legal_from_wasteful_builds(cell: Took, code: int) -> None:
    assert gated([cell]).exit_code == code
    assert gated([cell, *[CALM] * (TOTAL_CELLS_MIN - 2)]).exit_code == code


@pytest.mark.parametrize(
    ("cells", "figure", "more_ns", "code"),
    [
        # The floor of time is a tick in a plan of few cells, and 50 ms in others.
        (1, "time", TICK_NS, 0),
        (1, "time", TICK_NS + 1, 3),
        (TOTAL_CELLS_MIN - 1, "time", TICK_NS + 1, 3),
        (20, "time", CELL_FLOOR_NS, 0),
        (20, "time", CELL_FLOOR_NS + 1, 3),
        # The floor of CPU time is 50 ms in any plan.
        *((cells, "cpu", CELL_FLOOR_NS, 0) for cells in (1, 4, 20)),
        *((cells, "cpu", CELL_FLOOR_NS + 1, 3) for cells in (1, 4, 20)),
    ],
)
def test_cost_up_to_the_floor_is_allowed(cells: int, figure: str, more_ns: int, code: int) -> None:
    dearer, others = (100, 100 + more_ns / MS), (10_000, 10_000)
    same = (1000, 1000)
    of_time = [Took(dearer, same), *[Took(others, same)] * (cells - 1)]
    of_cpu = [Took(same, dearer), *[Took(same, others)] * (cells - 1)]
    assert gated(of_time if figure == "time" else of_cpu).exit_code == code


@pytest.mark.parametrize(
    ("change", "code", "figure"),
    [
        (Took((1000, 1019), (500, 500)), 3, "time"),  # 1.9 % in each
        (Took((1000, 1005), (500, 500)), 0, ""),  # 0.5 % in each: the limit
        (Took((1000, 1005.001), (500, 500)), 3, "time"),
        (Took((1000, 1000), (500, 515)), 0, ""),  # 3 % of CPU time: the limit
        (Took((1000, 1000), (500, 515.001)), 3, "CPU time"),
        (Took((1000, 1000), (1, 2)), 0, ""),  # 1 ms for each cell is allowed
        (Took((1000, 1000), (1, 2.001)), 3, "CPU time"),
    ],
)
def test_total_of_small_costs_has_a_limit(change: Took, code: int, figure: str) -> None:
    decision = gated([change] * 10)
    assert decision.exit_code == code
    if code:
        assert decision.lines[0].startswith(f"No, slower: all cells together: {figure} +")
        assert all(cell.outcome == "pass" for cell in decision.cells)


def test_answer_about_the_total_has_figures_and_limit() -> None:
    decision = gated([Took((1000, 1019), (500, 500))] * 10)
    words = "+1.90 % (+190.0 ms: 10000.0 before, 10190.0 now), 0.5 % or 10 ms allowed"
    assert words in decision.lines[0]
    assert "+0.190 s net (+1.90 %, 0.5 % or 10 ms allowed)" in cost_lines(decision)["time"]


def test_cost_lines_of_a_cheaper_plan_name_no_cell() -> None:
    lines = cost_lines(gated([Took((1000, 990), (500, 400))] * 5))
    assert all(line.endswith("; no cell takes more.") for line in lines.values())
    assert len(lines) == 2


def test_cost_in_real_time_is_the_sum_over_all_rounds() -> None:
    after = [ns * (100 if n % 2 else 101) // 100 for n, ns in enumerate(REAL)]
    decision = decide(rounds(REAL, BEFORE), rounds(after, AFTER))
    assert "(+0.44 %, over all rounds)" in cost_lines(decision)["time"]


def noisy_pairs(excess: float, *, noise: float, count: int, seed: int) -> list[tuple[float, float]]:
    """Returns pairs of times; both of a pair drift alike, and each has its own noise."""
    dice = random.Random(seed)
    pairs = []
    for number in range(count):
        machine = 1 + number / count
        first, second = (dice.gauss(0, noise) for _ in range(2))
        pairs.append((machine * (1 + first), machine * (1 + excess) * (1 + second)))
    return pairs


def test_interval_of_pairs_without_noise_is_the_excess() -> None:
    interval = excess_interval([(100.0 * n, 103.0 * n) for n in range(1, PAIRS_MIN + 1)])
    assert interval is not None
    assert [interval.low, interval.high] == pytest.approx([0.03, 0.03])
    assert excess_interval([(5.0, 5.0)] * PAIRS_MIN) == Interval(low=0.0, high=0.0)


@pytest.mark.parametrize("count", [0, 1, PAIRS_MIN - 1])
def test_too_few_pairs_or_a_baseline_without_time_have_no_interval(count: int) -> None:
    assert excess_interval([(1.0, 2.0)] * count) is None
    assert excess_interval([(1.0, 2.0)] * PAIRS_MIN) is not None
    assert excess_interval([(0.0, 1.0), *[(1.0, 1.0)] * PAIRS_MIN]) is None


def test_interval_is_deterministic() -> None:
    pairs = noisy_pairs(0.01, noise=0.02, count=8, seed=1)
    assert excess_interval(pairs) == excess_interval(pairs)


def test_drift_of_the_machine_does_not_widen_the_interval() -> None:
    interval = excess_interval(noisy_pairs(0.03, noise=0.0, count=10, seed=1))
    assert interval is not None
    assert interval.high - interval.low < 1e-9


def test_interval_holds_the_true_excess_nearly_always() -> None:
    """Intervals of few pairs are a little narrow: of 99 % intervals at least 90 % must hold."""
    held = 0
    for seed in range(60):
        interval = excess_interval(noisy_pairs(0.02, noise=0.01, count=12, seed=seed))
        assert interval is not None
        held += interval.low <= 0.02 <= interval.high
    assert held >= 54


def test_interval_is_wider_among_many() -> None:
    pairs = noisy_pairs(0.0, noise=0.05, count=10, seed=3)
    alone, among = excess_interval(pairs), excess_interval(pairs, of=20)
    assert alone is not None
    assert among is not None
    assert among.low < alone.low
    assert alone.high < among.high


def test_interval_excludes_values_outside_it_only() -> None:
    interval = Interval(low=0.01, high=0.03)
    values = (0.005, 0.01, 0.02, 0.03, 0.04)
    assert [interval.excludes(value) for value in values] == [True, False, False, True, True]
