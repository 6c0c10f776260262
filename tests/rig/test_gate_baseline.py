# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders and names that a gate accepts as its baseline, and the messages about all others."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from delayrig.base.errors import BadInputError
from delayrig.base.paths import find_paths
from delayrig.decision.request import is_subject, read_baseline
from delayrig.main import main
from delayrig.model.cell import Role
from delayrig.model.lane import LaneName
from delayrig.model.result import FILE_NAME, SCHEMA, Results, write_results
from delayrig.plan.request import choose_cells
from delayrig.subjects.recipes import read_recipes

from tests.rig.builders import CHECKOUT, make_cell, make_result, make_run_header

HERE, THERE = make_cell(name="here"), make_cell(name="there")
CANARY = make_cell(name="canary", role=Role.CANARY, subject="canary:bus")


def kept(folder: Path, *, interrupted: bool = False) -> Path:
    folder.mkdir(exist_ok=True)
    run = make_run_header(interrupted=interrupted)
    write_results(Results(run=run, cells=[make_result(HERE), make_result(CANARY)]), folder)
    return folder


def test_run_of_one_subject_is_a_baseline_by_its_folder_or_its_file(tmp_path: Path) -> None:
    run = kept(tmp_path)
    for path in (run, run / FILE_NAME):
        assert read_baseline(path).path == run / FILE_NAME


def test_cells_of_any_subject_are_looked_for_and_canaries_are_not(tmp_path: Path) -> None:
    baseline = read_baseline(kept(tmp_path))
    theirs = msgspec.structs.replace(HERE, subject="debian:trixie")
    other = msgspec.structs.replace(CANARY, name="canary-chip")
    baseline.check_cells([theirs, other])


def candidates(*words: str) -> list[str]:
    """Returns the cells of the candidate that a gate would run."""
    asked = ["gate", "--candidate", "debian:trixie", "--plan", "smoke", "--dry-run", *words]
    lines = CliRunner().invoke(main, asked).stdout.splitlines()
    return [line.split()[1] for line in lines if line.startswith("candidate")]


def test_lane_is_what_is_asked_for_else_that_of_the_stored_run(tmp_path: Path) -> None:
    on_host = candidates("--baseline", "bundled", "--lane", "host")
    assert {cell.split(".")[2] for cell in on_host} == {"host"}
    ran = choose_cells(
        plan="smoke",
        subjects=["bundled"],
        patterns=[],
        seed=1,
        paths=find_paths(),
        lane=LaneName.HOST,
    )
    run = Results(run=make_run_header(), cells=[make_result(cell) for cell in ran.cells])
    write_results(run, tmp_path)
    assert candidates("--baseline", str(tmp_path)) == on_host
    assert candidates("--baseline", str(tmp_path), "--lane", "virtual") == []


def test_missing_cell_is_named_with_file_key_and_remedy(tmp_path: Path) -> None:
    with pytest.raises(BadInputError) as caught:
        read_baseline(kept(tmp_path)).check_cells([HERE, THERE])
    assert caught.value.message.startswith(f"{tmp_path / FILE_NAME}: key 'cells': 1 cells")
    assert "there.250mips" in caught.value.message
    assert "a run of plan smoke" in caught.value.hint


def test_interrupted_run_is_no_baseline(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"key 'run\.interrupted' is true"):
        read_baseline(kept(tmp_path, interrupted=True))


def test_run_of_several_subjects_or_of_none_is_no_baseline(tmp_path: Path) -> None:
    other = make_result(msgspec.structs.replace(HERE, subject="debian:trixie"))
    for cells, found in (([make_result(HERE), other], "2 subjects"), ([], "0 subjects")):
        write_results(Results(run=make_run_header(), cells=cells), tmp_path)
        with pytest.raises(BadInputError, match=found) as caught:
            read_baseline(tmp_path)
        assert "--subject" in caught.value.hint


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


@pytest.mark.parametrize(
    ("spoil", "said", "remedy"),
    [
        (lambda c: c.replace(b'"schema": 1', b'"schema": 2', 1), "key 'schema' is 2", "rig_ver"),
        (cut, "truncated", "run it again"),
        (lambda _: b"", "truncated", "run it again"),
        (lambda _: b"\xff\xfe{}", "malformed", "run it again"),
        (lambda _: b'{"name": "x"}', "key 'schema' is missing", "--out folder"),
        (lambda _: b'{"schema": "x"}', "key 'schema' is missing", "--out folder"),
        (lambda _: b"[1, 2]", "key 'schema' is missing", "--out folder"),
        (
            lambda c: c.replace(b'"wire_ns": 0', b'"wire_ns": "0"', 1),
            "key 'cells[0].wire_ns': Expected `int`, got `str`",
            "run it again",
        ),
        (lambda c: c.replace(b'"rerun"', b'"redo"', 1), "key 'cells[0].rerun' is missing", "again"),
    ],
)
def test_file_that_is_no_run_is_refused_with_file_key_and_remedy(
    tmp_path: Path, spoil: Callable[[bytes], bytes], said: str, remedy: str
) -> None:
    path = kept(tmp_path) / FILE_NAME
    assert f'"schema": {SCHEMA}'.encode() in path.read_bytes()
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(BadInputError) as caught:
        read_baseline(tmp_path)
    assert caught.value.message.startswith(f"{path}: ")
    assert said in caught.value.message
    assert remedy in caught.value.hint


def test_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="No such file") as caught:
        read_baseline(tmp_path)
    assert str(tmp_path / FILE_NAME) in caught.value.message


def test_run_that_was_cut_off_is_refused_and_its_cells_are_kept(tmp_path: Path) -> None:
    left = tmp_path / HERE.id / "cell.json"
    left.parent.mkdir()
    left.write_text("{}")
    with pytest.raises(BadInputError, match="cut off before its end") as caught:
        read_baseline(tmp_path)
    assert caught.value.message.startswith(f"{tmp_path}: ")
    assert "run it again" in caught.value.hint
    assert left.is_file()


def test_name_of_a_subject_is_one_even_where_a_file_has_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipes = read_recipes(CHECKOUT)
    monkeypatch.chdir(tmp_path)
    for name in ("bundled", "run"):
        (tmp_path / name).mkdir()
    assert is_subject("bundled", recipes)
    assert is_subject("path:run", recipes)
    assert is_subject("nonesuch", recipes)
    assert not is_subject("run", recipes)
