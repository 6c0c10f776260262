# SPDX-License-Identifier: GPL-2.0-or-later
"""Limits of cost: of a cell, of its floor, and of a whole plan; and the lines about them."""

from collections.abc import Sequence
from typing import NamedTuple

import pytest
from delayrig.decision.decision import Decision
from delayrig.decision.gate_judge import decide
from delayrig.decision.performance import CELL_FLOOR_NS, TICK_NS, TOTAL_CELLS_MIN

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
            timed(subject, int(each.time[at] * MS), name=f"n{n}", cpu_ns=int(each.cpu[at] * MS))
            for n, each in enumerate(cells)
        ]
        for at, subject in enumerate((BEFORE, AFTER))
    ]
    return decided(*sides)


def cost_lines(decision: Decision) -> dict[str, str]:
    """Returns the lines about cost, by figure."""
    lines = [line.removeprefix("Cost in ") for line in decision.lines if line.startswith("Cost in")]
    return {line.partition(":")[0]: line for line in lines}


def test_dearer_read_is_no_reason_where_the_whole_became_cheaper() -> None:
    decision = gated([READ, *[Took((1000, 900), (500, 159.4))] * 9])
    assert decision.exit_code == 0
    told = cost_lines(decision)["CPU time"]
    # The line has absolute figures, the net, the worst cell, and why no candidate is refused for
    # it.
    assert "4.524 s before, 1.471 s now: -3.053 s net (-67.49 %" in told
    assert "; the worst cell is n0." in told
    assert "+54.04 % (+12.7 ms: 23.5 before, 36.2 now), 5 % or 50 ms allowed" in told
    assert told.endswith(", so that is no reason.")


@pytest.mark.parametrize("others", [0, 1, 9])
def test_few_ms_of_cpu_time_are_no_reason_whatever_the_size_of_the_plan(others: int) -> None:
    quicker = Took((200, 185), (153.8, 161.8))  # +5.2 %
    decision = gated([quicker, *[CALM] * others])
    assert decision.exit_code == 0
    assert ("so that is no reason" in cost_lines(decision)["CPU time"]) == bool(others)


def test_cost_of_one_cell_is_told_without_a_worst_one() -> None:
    assert cost_lines(gated([READ]))["CPU time"] == (
        "CPU time: 0.024 s before, 0.036 s now: +0.013 s net (+54.04 %)."
    )


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        # Legal known-bad builds, as measured: they ask twice as often, in two cells.
        (Took((553.4, 553.4), (123.0, 138.1)), 0),
        (Took((845.0, 843.1), (440.7, 478.6)), 0),
        # Wasteful builds: waits-twice, normal-priority, never-pauses.
        (Took((373.1, 385.0), (38.2, 42.1)), 3),
        (Took((1262.2, 1262.2), (1161.2, 1224.2)), 3),
        (Took((373.1, 374.4), (38.2, 146.3)), 3),
    ],
)
def test_small_plan_tells_legal_builds_from_wasteful_ones(cell: Took, code: int) -> None:
    assert gated([cell]).exit_code == code
    assert gated([cell, *[CALM] * (TOTAL_CELLS_MIN - 2)]).exit_code == code


@pytest.mark.parametrize(
    ("cells", "time_ns", "code"),
    [
        (1, TICK_NS, 0),
        (1, TICK_NS + 1, 3),
        (TOTAL_CELLS_MIN - 1, TICK_NS + 1, 3),
        (20, CELL_FLOOR_NS, 0),
        (20, CELL_FLOOR_NS + 1, 3),
    ],
)
def test_floor_of_time_is_a_tick_in_a_small_plan_and_50_ms_in_another(
    cells: int, time_ns: int, code: int
) -> None:
    dearer = Took((100, 100 + time_ns / MS), (1, 1))
    whole = [Took((10_000, 10_000), (500, 500))] * (cells - 1)
    assert gated([dearer, *whole]).exit_code == code


@pytest.mark.parametrize("cells", [1, 4, 20])
@pytest.mark.parametrize(("more_ns", "code"), [(CELL_FLOOR_NS, 0), (CELL_FLOOR_NS + 1, 3)])
def test_floor_of_cpu_time_is_50_ms_in_each_plan(cells: int, more_ns: int, code: int) -> None:
    dearer = Took((1000, 1000), (100, 100 + more_ns / MS))
    whole = [Took((1000, 1000), (10_000, 10_000))] * (cells - 1)
    assert gated([dearer, *whole]).exit_code == code


@pytest.mark.parametrize(
    ("change", "code", "figure"),
    [
        (Took((1000, 1019), (500, 500)), 3, "time"),  # 1.9 % in each
        (Took((1000, 1005), (500, 500)), 0, ""),  # 0.5 % in each: the limit
        (Took((1000, 1005.001), (500, 500)), 3, "time"),
        (Took((1000, 1000), (500, 515)), 0, ""),  # 3 % of CPU time: the limit
        (Took((1000, 1000), (500, 515.001)), 3, "CPU time"),
        (Took((1000, 1000), (1, 2)), 0, ""),  # a ms in each cell is allowed
        (Took((1000, 1000), (1, 2.001)), 3, "CPU time"),
    ],
)
def test_a_little_more_in_every_cell_is_seen(change: Took, code: int, figure: str) -> None:
    decision = gated([change] * 10)
    assert decision.exit_code == code
    if code:
        assert decision.lines[0].startswith(f"No, slower: all cells together: {figure} +")
        assert all(cell.outcome == "pass" for cell in decision.cells)


def test_answer_of_a_total_has_absolute_figures_and_its_limit() -> None:
    decision = gated([Took((1000, 1019), (500, 500))] * 10)
    words = "+1.90 % (+190.0 ms: 10000.0 before, 10190.0 now), 0.5 % or 10 ms allowed"
    assert words in decision.lines[0]
    assert "+0.190 s net (+1.90 %, 0.5 % or 10 ms allowed)" in cost_lines(decision)["time"]


def test_plan_in_which_nothing_takes_more_says_so() -> None:
    told = cost_lines(gated([Took((1000, 990), (500, 400))] * 5))
    assert all(line.endswith("; no cell takes more.") for line in told.values())
    assert len(told) == 2


def test_figures_of_real_time_are_sums_over_all_rounds() -> None:
    after = [ns * (100 if n % 2 else 101) // 100 for n, ns in enumerate(REAL)]
    decision = decide(rounds(REAL, BEFORE), rounds(after, AFTER))
    assert "(+0.44 %, over all rounds)" in cost_lines(decision)["time"]
