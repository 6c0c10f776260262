# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps in the times of a subject over many runs."""

import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from delayrig.features.history.address import Choice
from delayrig.features.history.command import CONFIDENCE
from delayrig.features.history.steps import (
    SIDE_MIN,
    Found,
    Point,
    find_steps,
    points_of,
    series_of,
    values_min,
)
from delayrig.features.history.steps import change_points as every_change
from delayrig.features.history.terminal import history_chart
from delayrig.model.lane import LaneName
from delayrig.model.result import Results, Verdict

from tests.rig.builders import MS, make_run_header
from tests.rig.history_builders import DIGESTS, history_of, make_run

change_points = partial(every_change, confidence=CONFIDENCE)
OTHER_KERNEL = {**DIGESTS, "kernel": "0" * 64}


def points_in(tmp_path: Path, *runs: Results) -> list[Point]:
    """Stores the runs in a history; returns the points of subject `bundled`."""
    store = history_of(f"sqlite:///{tmp_path / 'history.sqlite'}", *runs)
    return points_of(store.runs(Choice()), "bundled")


def steps_of(tmp_path: Path, *runs: Results) -> Found:
    return find_steps(points_in(tmp_path, *runs), "bundled", confidence=CONFIDENCE)


def test_equal_exact_times_have_no_step(tmp_path: Path) -> None:
    found = steps_of(tmp_path, *(make_run(n, {"a": 5, "b": 6}) for n in range(4)))
    assert (found.runs, found.steps) == (4, [])


def test_exact_step_names_its_run_its_cells_and_the_other_program(tmp_path: Path) -> None:
    found = steps_of(
        tmp_path,
        make_run(1, {"a": 5, "b": 6}),
        make_run(2, {"a": 5, "b": 6}),
        make_run(3, {"a": 5, "b": 6.000001}, sha256="0" * 64),
    )
    (step,) = found.steps
    assert (step.run, step.previous, step.p) == (3, 2, None)
    assert [cell.cell.partition(".")[0] for cell in step.cells] == ["b"]
    assert step.after_ns - step.before_ns == 1
    assert (step.same_program, step.same_inputs, step.is_fault) == (False, True, False)


def test_exact_step_with_other_images_has_the_same_program_and_other_inputs(tmp_path: Path) -> None:
    runs = make_run(1, {"a": 5}), make_run(2, {"a": 7}, digests=OTHER_KERNEL)
    (step,) = steps_of(tmp_path, *runs).steps
    assert (step.same_program, step.same_inputs) == (True, False)


def test_exact_step_of_the_same_program_and_inputs_is_a_fault(tmp_path: Path) -> None:
    (step,) = steps_of(tmp_path, make_run(1, {"a": 5}), make_run(2, {"a": 7})).steps
    assert step.is_fault


def test_cell_is_compared_with_the_last_run_that_had_it(tmp_path: Path) -> None:
    found = steps_of(
        tmp_path,
        make_run(1, {"a": 5, "b": 6}),
        make_run(2, {"a": 5}),
        make_run(3, {"a": 5, "b": 7}, sha256="0" * 64),
    )
    (step,) = found.steps
    assert (step.run, step.previous) == (3, 1)


def test_step_over_a_run_without_the_cell_has_only_the_times_of_that_cell(tmp_path: Path) -> None:
    found = steps_of(
        tmp_path,
        make_run(1, {"a": 5, "b": 6}),
        make_run(2, {"a": 7}, digests=OTHER_KERNEL),
        make_run(3, {"a": 7, "b": 8}, digests=OTHER_KERNEL),
    )
    sums = [(step.run, step.previous, step.before_ns, step.after_ns) for step in found.steps]
    assert sums == [(2, 1, 5 * MS, 7 * MS), (3, 1, 6 * MS, 8 * MS)]


def test_time_of_a_cell_that_failed_is_ignored(tmp_path: Path) -> None:
    failed = make_run(2, {"a": 1})
    cell = msgspec.structs.replace(failed.cells[0], verdict=Verdict.OP_FAILED)
    failed = msgspec.structs.replace(failed, cells=[cell])
    assert steps_of(tmp_path, make_run(1, {"a": 5}), failed, make_run(3, {"a": 5})).steps == []


def real_runs(
    first: int, count: int, mean_ms: float, dice: np.random.Generator, **header: Any
) -> list[Results]:
    return [
        make_run(
            number,
            {"a": mean_ms * dice.normal(1, 0.01), "b": 3 * mean_ms * dice.normal(1, 0.01)},
            lane=LaneName.HOST,
            **header,
        )
        for number in range(first, first + count)
    ]


def test_real_step_is_found_and_another_machine_is_a_separate_series(tmp_path: Path) -> None:
    dice = np.random.default_rng(3)
    runs = [*real_runs(0, 12, 100, dice), *real_runs(12, 10, 110, dice)]
    other_host = msgspec.structs.replace(make_run_header().host, kernel="9.9")
    elsewhere = real_runs(5, 4, 500, dice, host=other_host)
    found = steps_of(tmp_path, *runs, *elsewhere)
    (step,) = found.steps
    assert step.run == 13
    assert step.p is not None
    assert step.p < 0.01
    assert 8 < step.pct < 12
    (few,) = found.too_few
    assert (few.runs, "9.9" in few.host) == (4, True)


def test_real_noise_is_no_step(tmp_path: Path) -> None:
    found = steps_of(tmp_path, *real_runs(0, 20, 100, np.random.default_rng(4)))
    assert (found.steps, found.too_few) == ([], [])


def test_runs_with_the_same_cells_are_one_series(tmp_path: Path) -> None:
    points = points_in(
        tmp_path,
        make_run(1, {"a": 5, "b": 6}),
        make_run(2, {"a": 5}),
        make_run(3, {"a": 5, "b": 7}),
        make_run(4, {"a": 5, "b": 7}, plan="other"),
        make_run(5, {"a": 5}, subject="path:x"),
    )
    found = [
        (series.name, [point.total_ns // MS for point in series.points])
        for series in series_of(points)
    ]
    assert found == [
        ("smoke, virtual, 2 cells", [11, 12]),
        ("smoke, virtual, 1 cell", [5]),
        ("other, virtual, 2 cells", [12]),
    ]


DRAWS = 999
SERIES = 300


def test_step_far_above_the_noise_is_found() -> None:
    dice = np.random.default_rng(7)
    values = [*dice.normal(10, 0.1, 15), *dice.normal(11, 0.1, 10)]
    (found,) = change_points(values)
    assert found.at == 15
    assert found.p < 0.01


def test_two_steps_are_found_in_order() -> None:
    dice = np.random.default_rng(7)
    values = np.concatenate([dice.normal(mean, 0.1, 20) for mean in (10, 12, 11)])
    assert [point.at for point in change_points(list(values))] == [20, 40]


@pytest.mark.parametrize("count", [12, 40])
def test_false_steps_in_noise_are_as_rare_as_the_confidence_says(count: int) -> None:
    """The noise has heavy tails, as on real machines. About 3 of 300 series may show a step."""
    dice = np.random.default_rng(11)
    wrong = sum(
        bool(change_points(list(10 + np.abs(dice.standard_t(2, count))), draws=DRAWS))
        for _ in range(SERIES)
    )
    assert wrong <= 10


def test_single_outlier_is_no_step() -> None:
    values = [10.0 + 0.01 * (n * 7 % 5) for n in range(30)]
    values[17] = 1000.0
    assert change_points(values) == []


def test_too_few_values_have_no_step() -> None:
    count = values_min(CONFIDENCE) - 1
    assert change_points([1.0] * (count // 2) + [9.0] * (count - count // 2)) == []
    assert change_points([]) == []
    assert change_points([1.0] * SIDE_MIN) == []


def test_least_number_of_values_is_enough_for_a_step() -> None:
    count = values_min(CONFIDENCE)
    values = [1 + n / 100 for n in range(count // 2)]
    (found,) = change_points([*values, *(9 + value for value in values[: count - count // 2])])
    assert found.at == count // 2


def test_equal_values_have_no_step() -> None:
    assert change_points([5.0] * 50) == []


def test_search_for_steps_is_deterministic() -> None:
    dice = np.random.default_rng(5)
    values = [*dice.normal(10, 1, 20), *dice.normal(11.3, 1, 20)]
    found = change_points(values)
    assert found, "only the p of a step depends on the draws"
    assert change_points(values) == found


def test_legend_of_many_series_does_not_shrink_the_plot(tmp_path: Path) -> None:
    (one,) = series_of(points_in(tmp_path, make_run(1, {"a": 5})))
    heights = []
    for count in (1, 40):
        many = [replace(one, plan=f"plan-{number}") for number in range(count)]
        figure = history_chart(many, "bundled").figure
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            figure.draw_without_rendering()
        heights.append(figure.axes[0].get_window_extent().height)
    assert heights[1] == pytest.approx(heights[0], rel=0.2)
