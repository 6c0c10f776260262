# SPDX-License-Identifier: GPL-2.0-or-later
"""A run that was cut off is resumed where it stopped, by the same rig only."""

import asyncio
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from delayrig.base.errors import BadInputError
from delayrig.base.paths import Paths
from delayrig.main import main
from delayrig.model.cell import Cell
from delayrig.model.result import CellResult, Results, Verdict
from delayrig.run.resume import FILE_NAME, RESULT, Begun
from delayrig.run.runner import run_request

from tests.rig.test_host_lane import Silent, host_cell, request_of
from tests.rig.test_host_lane import paths as paths_of_the_host_lane

paths = paths_of_the_host_lane
ONE, OTHER = host_cell(name="one", corner="typ"), host_cell(name="other", corner="typ")


class Watching(Silent):
    """A reporter that records the messages before cells."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def preparing(self, what: str) -> None:
        """Records the message."""
        self.said.append(what)


def run(paths: Paths, out: Path, *cells: Cell, resume: bool, seed: int = 1) -> Results:
    request = replace(request_of(list(cells), out), resume=resume, seed=seed)
    return asyncio.run(run_request(request, paths, Silent()))


def events_of(out: Path, cell: Cell) -> bytes:
    """Returns the events of a cell of real time; no two such cells have the same."""
    return (out / cell.id / "events.jsonl").read_bytes()


def write_result(out: Path, result: CellResult) -> None:
    (out / result.id / RESULT).write_bytes(msgspec.json.encode(result))


def test_what_is_done_is_kept_and_the_rest_is_run(paths: Paths, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = run(paths, out, ONE, OTHER, resume=False)
    before = {cell.name: events_of(out, cell) for cell in (ONE, OTHER)}
    (out / OTHER.id / RESULT).unlink()
    (out / OTHER.id / "left over").write_bytes(b"")
    (out / "results.json").unlink()
    watching = Watching()
    request = replace(request_of([ONE, OTHER], out), resume=True)
    again = asyncio.run(run_request(request, paths, watching))
    assert watching.said[-1] == "the rest: 1 of 2 cells are done"
    assert [cell.id for cell in again.cells] == [ONE.id, OTHER.id]
    assert again.cells[0] == first.cells[0]
    assert events_of(out, ONE) == before["one"]
    assert events_of(out, OTHER) != before["other"]
    assert not (out / OTHER.id / "left over").exists()
    assert again.run.started == first.run.started
    assert not again.run.interrupted


def test_cell_that_the_rig_lost_is_run_again(paths: Paths, tmp_path: Path) -> None:
    (first,) = run(paths, tmp_path, ONE, resume=False).cells
    write_result(tmp_path, msgspec.structs.replace(first, verdict=Verdict.INFRA_ERROR))
    (again,) = run(paths, tmp_path, ONE, resume=True).cells
    assert again.verdict is Verdict.PASS, again.reason


def test_cell_of_other_inputs_is_run_again(paths: Paths, tmp_path: Path) -> None:
    run(paths, tmp_path, ONE, resume=False)
    before = events_of(tmp_path, ONE)
    changed = msgspec.structs.replace(ONE, seed=ONE.seed + 1)
    assert changed.id == ONE.id
    run(paths, tmp_path, changed, resume=True)
    assert events_of(tmp_path, ONE) != before


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("seed", "begun with 1, and this one has 2"),
        ("commit", "begun with 'of old'"),
        ("image_digests", "begun with others, and this one has others"),
        ("host", "begun with others"),
    ],
)
def test_run_of_another_kind_is_not_gone_on_with(
    paths: Paths, tmp_path: Path, key: str, said: str
) -> None:
    run(paths, tmp_path, ONE, resume=False)
    path = tmp_path / FILE_NAME
    begun = msgspec.json.decode(path.read_bytes(), type=Begun)
    other = {
        "commit": "of old",
        "image_digests": {},
        "host": msgspec.structs.replace(begun.run.host, kernel="0.01"),
    }
    if key in other:
        header = msgspec.structs.replace(begun.run, **{key: other[key]})
        path.write_bytes(msgspec.json.encode(msgspec.structs.replace(begun, run=header)))
    with pytest.raises(BadInputError) as caught:
        run(paths, tmp_path, ONE, resume=True, seed=2 if key == "seed" else 1)
    assert f"key 'run.{key}'" in caught.value.message
    assert said in caught.value.message


@pytest.mark.parametrize("command", [["run", "--plan", "smoke"], ["survey", "bundled"]])
@pytest.mark.parametrize(
    ("words", "said"), [([], "of which run?"), (["--out", "none"], "no run was begun there")]
)
def test_there_must_be_a_run_to_go_on_with(command: list[str], words: list[str], said: str) -> None:
    done = CliRunner().invoke(main, [*command, "--resume", *words])
    assert done.exit_code == 2
    assert said in done.output
