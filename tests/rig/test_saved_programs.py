# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that a gate saves beside its results, so that `repro` can run its cells again."""

import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from delayrig.base import digest
from delayrig.base.errors import BadInputError
from delayrig.base.paths import Paths, find_paths
from delayrig.decision.choice import Asked, choose
from delayrig.decision.decision import FILE_NAME
from delayrig.decision.request import cells_of
from delayrig.model.cell import Cell, Role
from delayrig.model.platform import Arch
from delayrig.model.result import Verdict, write_results
from delayrig.subjects.recipes import Recipes, read_recipes
from delayrig.subjects.saved_programs import FOLDER, is_saved, provide_program, save_programs
from delayrig.subjects.subject import Subject, provide_subject, wrong_machine

from tests.damage import HARMS
from tests.rig.builders import CHECKOUT, make_cell, make_result, run_of


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Returns a copy of Python, a program that needs libraries."""
    path = tmp_path / "built" / "flashrom"
    path.parent.mkdir()
    shutil.copy(Path(sys.executable).resolve(), path)
    return path


def state(folder: Path) -> Paths:
    """Returns paths with that folder as the state."""
    return Paths(checkout=CHECKOUT, state=folder)


def saved(program: Path, tmp_path: Path) -> tuple[Subject, Path]:
    """Saves the program as a gate does; returns its subject and the folder of saved programs."""
    name = f"path:{program}"
    here = state(tmp_path / "here")
    subject = provide_subject(name, read_recipes(CHECKOUT), here, print)
    save_programs([subject], tmp_path / "gate" / FOLDER, {name: "candidate"})
    return subject, tmp_path / "gate" / FOLDER


def provided(name: str, folder: Path, tmp_path: Path) -> Subject:
    """Provides the program on another machine, given that folder of saved programs."""
    return provide_program(name, recipes_with(folder), state(tmp_path / "there"), print)


def recipes_with(saved_programs: Path) -> Recipes:
    return msgspec.structs.replace(read_recipes(CHECKOUT), saved=str(saved_programs))


def test_program_that_was_saved_is_provided_elsewhere_when_its_file_is_gone(
    program: Path, tmp_path: Path
) -> None:
    subject, folder = saved(program, tmp_path)
    moved = tmp_path / "moved"
    folder.rename(moved)
    shutil.rmtree(tmp_path / "here")
    program.unlink()
    assert [place.name for place in moved.iterdir()] == ["candidate"]
    again = provided(subject.name, moved, tmp_path)
    assert again.archive_sha256 == subject.archive_sha256
    assert again.program_bytes != b""
    assert Path(again.archive).is_relative_to(tmp_path / "there")
    assert wrong_machine(subject.name, Arch.ARM64) == ""


def test_saved_program_is_preferred_to_the_file_that_is_now_at_its_path(
    program: Path, tmp_path: Path
) -> None:
    subject, folder = saved(program, tmp_path)
    shutil.copy(shutil.which("true") or "", program)
    assert provided(subject.name, folder, tmp_path).program_sha256 == subject.program_sha256


@pytest.mark.parametrize("harm", HARMS)
def test_damaged_copy_among_the_images_is_copied_again(
    program: Path, tmp_path: Path, harm: Callable[[Path, random.Random], None]
) -> None:
    subject, folder = saved(program, tmp_path)
    archive = Path(provided(subject.name, folder, tmp_path).archive)
    for name in ("subject.cpio", "seal.json", "parts/usr/sbin/flashrom"):
        harm(archive.parent / name, random.Random(name))
        again = provided(subject.name, folder, tmp_path)
        assert digest.of_file(archive) == subject.archive_sha256
        assert again.program_bytes == subject.program_bytes


@pytest.mark.parametrize("file", ["subject.cpio", "parts/usr/sbin/flashrom"])
def test_saved_program_that_was_changed_is_refused(
    program: Path, tmp_path: Path, file: str
) -> None:
    subject, folder = saved(program, tmp_path)
    with (folder / "candidate" / file).open("ab") as changed:
        changed.write(b"x")
    with pytest.raises(BadInputError, match="its digest differs"):
        provided(subject.name, folder, tmp_path)


def test_program_that_was_not_saved_is_provided_from_its_path(
    program: Path, tmp_path: Path
) -> None:
    _, folder = saved(program, tmp_path)
    other = program.with_name("other")
    shutil.copy(program, other)
    assert not is_saved(f"path:{other}", recipes_with(folder))
    assert not is_saved(f"path:{program}", read_recipes(CHECKOUT))
    assert provided(f"path:{other}", folder, tmp_path).name == f"path:{other}"


MEASURED = make_cell(subject="path:/somewhere/a/flashrom")
CANARY = make_cell(name="canary", role=Role.CANARY, subject="canary:bus")


def sides_of(cells: list[Cell]) -> list[str]:
    return [cell.id.split(".")[1] for cell in cells]


def test_cells_of_a_gate_name_the_side_and_neither_path_nor_digest() -> None:
    ours = cells_of(MEASURED.subject, [MEASURED, CANARY], watched=True)
    theirs = cells_of(MEASURED.subject, [MEASURED, CANARY], watched=False)
    assert sides_of(ours) == ["candidate", "canary-bus"]
    assert sides_of(theirs) == ["baseline"]
    assert ours[0].subject == MEASURED.subject


def gate_folder(folder: Path) -> Path:
    """Writes the files of a gate that `repro` reads, with one cell on each side."""
    for watched, verdict in ((False, Verdict.PASS), (True, Verdict.TOO_SHORT)):
        (cell,) = cells_of(MEASURED.subject, [MEASURED], watched=watched)
        side = folder / cell.side
        (side / cell.id).mkdir(parents=True)
        (side / cell.id / "cell.json").write_bytes(msgspec.json.encode(cell))
        result = make_result(cell, verdict=verdict, rerun="rig/rig repro --delay-symbol wait")
        write_results(run_of(result), side)
    (folder / FILE_NAME).write_text("{}")
    return folder


@pytest.mark.parametrize(
    ("cell", "side", "verdict"),
    [("candidate", "candidate", Verdict.TOO_SHORT), ("group.base", "baseline", Verdict.PASS)],
)
def test_cell_of_a_gate_is_found_on_its_side_with_the_program_that_was_saved(
    program: Path, tmp_path: Path, cell: str, side: str, verdict: Verdict
) -> None:
    subject, folder = saved(program, tmp_path)
    described = folder / "candidate" / "subject.json"
    renamed = msgspec.structs.replace(subject, name=MEASURED.subject)
    described.write_bytes(msgspec.json.encode(renamed))
    gate = gate_folder(tmp_path / "gate")
    picked = choose(Asked(cell=cell, run_folder=gate, seed=None), find_paths())
    assert picked.cell.side == side
    assert picked.before is not None
    assert picked.before.result.verdict is verdict
    assert picked.delay.symbol == "wait"
    assert picked.again == ("repro", "--from", str(gate), picked.cell.id)
    assert picked.recipes.saved == str(folder)


def test_gate_is_found_in_a_pipelines_folder_and_a_part_of_two_ids_is_refused(
    tmp_path: Path,
) -> None:
    gate, out = gate_folder(tmp_path / "gate-out" / "run"), tmp_path / "gate-out"
    picked = choose(Asked(cell="candidate", run_folder=out, subject="bundled"), find_paths())
    assert picked.again[:3] == ("repro", "--from", str(out))
    with pytest.raises(BadInputError, match="part of 2 cells"):
        choose(Asked(cell="group", run_folder=gate), find_paths())


def test_cell_of_a_gate_with_another_subject_has_no_side(tmp_path: Path) -> None:
    gate = gate_folder(tmp_path / "gate")
    asked = Asked(cell="candidate", run_folder=gate, subject="bundled", seed=7)
    picked = choose(asked, find_paths())
    assert (picked.cell.side, picked.cell.subject) == ("", "bundled")
    assert picked.again[-4:] == ("--subject", "bundled", "--seed", "7")
