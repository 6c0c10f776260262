# SPDX-License-Identifier: GPL-2.0-or-later
"""Times of two runs are compared only between cells that differ in nothing but the subject."""

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from delayrig.base.errors import ExitCode
from delayrig.decision.two_runs import Beside, compare_times
from delayrig.main import main
from delayrig.model.lane import LaneName
from delayrig.model.result import Results, write_results

from tests.rig.history_builders import DIGESTS, history_of, make_run


def test_equal_cells_are_compared_and_another_subject_is_what_differs() -> None:
    beside = compare_times(
        make_run(1, {"a": 10, "b": 5}), make_run(2, {"a": 11, "b": 5}, sha256="0")
    )
    assert beside.exit_code == ExitCode.PASS
    assert [pair.pct for pair in beside.pairs] == [pytest.approx(10), 0]
    assert not any(pair.same_program for pair in beside.pairs)


def test_exact_time_of_equals_that_differs_is_a_fault() -> None:
    assert compare_times(make_run(1, {"a": 10}), make_run(2, {"a": 11})).exit_code == 99


def test_real_time_of_equals_that_differs_is_no_fault() -> None:
    runs = (make_run(n, {"a": n}, lane=LaneName.HOST) for n in (1, 2))
    assert compare_times(*runs).exit_code == ExitCode.PASS


@pytest.mark.parametrize(
    ("change", "unlike"),
    [
        ({"seed": 2}, ["seed"]),
        ({"digests": {**DIGESTS, "initrd": "0"}}, ["initrd"]),
        ({"digests": {**DIGESTS, "qemu": "0", "kernel": "0"}}, ["kernel", "qemu"]),
        ({"digests": {k: v for k, v in DIGESTS.items() if k != "turns"}}, ["turns"]),
    ],
)
def test_times_of_unlike_machinery_are_not_compared(
    change: dict[str, object], unlike: list[str]
) -> None:
    beside = compare_times(make_run(1, {"a": 10}), make_run(2, {"a": 11}, **change))  # type: ignore[arg-type]
    assert (beside.exit_code, beside.comparable) == (ExitCode.INCONCLUSIVE, [])
    assert beside.pairs[0].unlike == unlike


def test_digests_that_are_not_this_cells_do_not_matter() -> None:
    more = {**DIGESTS, "kernel arm64": "0", "kernel preempt-rt": "0", "subject x": "0"}
    beside = compare_times(make_run(1, {"a": 10}), make_run(2, {"a": 10}, digests=more))
    assert beside.exit_code == ExitCode.PASS


def test_missing_cell_is_a_doubt() -> None:
    beside = compare_times(make_run(1, {"a": 10, "b": 1}), make_run(2, {"a": 10, "c": 1}))
    assert beside.exit_code == ExitCode.INCONCLUSIVE
    assert [len(cells) for cells in (beside.pairs, beside.only_first, beside.only_second)] == [
        *(1, 1, 1)
    ]


def invoke(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["compare", *words])
    return done.exit_code, done.output


def keep(run: Results, folder: Path) -> str:
    folder.mkdir()
    write_results(run, folder)
    return str(folder)


def test_runs_are_named_by_folder_or_by_number(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'h.sqlite'}"
    first, second = make_run(1, {"a": 10}), make_run(2, {"a": 11}, sha256="0")
    history_of(url, first, second)
    folder = keep(second, tmp_path / "out")
    for words in (("1", "2"), ("1", folder)):
        code, said = invoke("--history", url, *words)
        assert code == ExitCode.PASS, said
        assert "+10.00" in said
    code, said = invoke("--history", url, "--json", "1", folder)
    assert msgspec.json.decode(said, type=Beside) == compare_times(first, second)


def test_exact_comparison_of_kept_runs_goes_by_their_digests(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'h.sqlite'}"
    history_of(url, make_run(1, {"a": 10}), make_run(2, {"a": 10}), make_run(3, {"a": 11}))
    assert invoke("--history", url, "--exact", "1", "2")[0] == ExitCode.PASS
    code, said = invoke("--history", url, "--exact", "1", "3")
    assert code == ExitCode.RIG_FAULT
    assert "time_ns is" in said


def test_number_that_is_not_kept_is_said(tmp_path: Path) -> None:
    code, said = invoke("--history", f"sqlite:///{tmp_path / 'h.sqlite'}", "1", "2")
    assert code == ExitCode.BAD_INPUT
    assert "has no run 1" in said
