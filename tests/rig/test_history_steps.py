# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps of a subject's time: any difference in exact time, a statistical claim in real time."""

from pathlib import Path

import msgspec
import numpy as np
from delayrig.features.history.schema import Choice
from delayrig.features.history.steps import Found, find_steps, points_of, series_of
from delayrig.model.lane import LaneName
from delayrig.model.result import Results, Verdict

from tests.rig.history_builders import DIGESTS, history_of, make_run

OTHER_KERNEL = {**DIGESTS, "kernel": "0" * 64}


def steps_of(tmp_path: Path, *runs: Results, subject: str = "bundled") -> Found:
    store = history_of(f"sqlite:///{tmp_path / 'history.sqlite'}", *runs)
    return find_steps(points_of(store.entries(Choice()), subject), subject, confidence=0.99)


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


def test_exact_step_with_other_images_is_told_apart(tmp_path: Path) -> None:
    runs = make_run(1, {"a": 5}), make_run(2, {"a": 7}, digests=OTHER_KERNEL)
    (step,) = steps_of(tmp_path, *runs).steps
    assert (step.same_program, step.same_inputs) == (True, False)


def test_exact_step_of_equals_is_the_rigs_to_explain(tmp_path: Path) -> None:
    (step,) = steps_of(tmp_path, make_run(1, {"a": 5}), make_run(2, {"a": 7})).steps
    assert step.is_fault


def test_cell_is_set_beside_the_last_run_that_had_it(tmp_path: Path) -> None:
    found = steps_of(
        tmp_path,
        make_run(1, {"a": 5, "b": 6}),
        make_run(2, {"a": 5}),
        make_run(3, {"a": 5, "b": 7}, sha256="0" * 64),
    )
    (step,) = found.steps
    assert (step.run, step.previous) == (3, 1)


def test_time_of_a_cell_that_did_not_do_its_job_is_no_measure(tmp_path: Path) -> None:
    failed = make_run(2, {"a": 1})
    cell = msgspec.structs.replace(failed.cells[0], verdict=Verdict.OP_FAILED)
    failed = msgspec.structs.replace(failed, cells=[cell])
    assert steps_of(tmp_path, make_run(1, {"a": 5}), failed, make_run(3, {"a": 5})).steps == []


def real_runs(first: int, count: int, mean_ms: float, dice: np.random.Generator) -> list[Results]:
    return [
        make_run(
            number,
            {"a": mean_ms * dice.normal(1, 0.01), "b": 3 * mean_ms * dice.normal(1, 0.01)},
            lane=LaneName.HOST,
        )
        for number in range(first, first + count)
    ]


def test_real_step_is_found_with_its_chance_and_another_machine_apart(tmp_path: Path) -> None:
    dice = np.random.default_rng(3)
    runs = [*real_runs(0, 12, 100, dice), *real_runs(12, 10, 110, dice)]
    elsewhere = [
        msgspec.structs.replace(
            run,
            run=msgspec.structs.replace(
                run.run, host=msgspec.structs.replace(run.run.host, kernel="9.9")
            ),
        )
        for run in real_runs(5, 4, 500, dice)
    ]
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


def test_totals_stand_in_one_series_where_they_are_of_the_same_cells(tmp_path: Path) -> None:
    store = history_of(
        f"sqlite:///{tmp_path / 'history.sqlite'}",
        make_run(1, {"a": 5, "b": 6}),
        make_run(2, {"a": 5}),
        make_run(3, {"a": 5, "b": 7}),
        make_run(4, {"a": 5, "b": 7}, plan="other"),
        make_run(5, {"a": 5}, subject="path:x"),
    )
    series = series_of(points_of(store.entries(Choice()), "bundled"))
    found = [(one.name, [point.total_ns // 10**6 for point in one.points]) for one in series]
    assert found == [
        ("smoke, virtual, 2 cells", [11, 12]),
        ("smoke, virtual, 1 cell", [5]),
        ("other, virtual, 2 cells", [12]),
    ]
