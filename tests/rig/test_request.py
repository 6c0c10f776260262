# SPDX-License-Identifier: GPL-2.0-or-later
"""A run is checked in full before it begins, and each of its cells can be run again alone."""

import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from delayrig.base.errors import BadInputError
from delayrig.base.paths import Paths
from delayrig.decision.decision import FILE_NAME as GATE_FILE
from delayrig.model.cell import Cell
from delayrig.model.lane import LaneName
from delayrig.model.platform import Arch
from delayrig.model.result import FILE_NAME
from delayrig.plan.request import Request, check_connect, choose_cells
from delayrig.run.cell_runner import rerun_command
from delayrig.run.out_folder import REGION_BYTES_MAX, check_out

from tests.rig.builders import CHECKOUT, make_cell, request_of
from tests.rig.running import refusal_of

PATHS = Paths(checkout=CHECKOUT, state=CHECKOUT / ".rig")


def chosen(*patterns: str, plan: str = "smoke", subjects: tuple[str, ...] = ()) -> list[Cell]:
    choice = choose_cells(
        plan=plan, subjects=list(subjects), patterns=list(patterns), seed=1, paths=PATHS
    )
    return choice.cells


def error_of(*patterns: str, plan: str = "smoke", subjects: tuple[str, ...] = ()) -> BadInputError:
    """Returns the error with which this choice of cells is refused."""
    with pytest.raises(BadInputError) as caught:
        chosen(*patterns, plan=plan, subjects=subjects)
    return caught.value


def request_for(*cells: Cell, plan: str = "smoke", seed: int = 1) -> Request:
    request = request_of(list(cells), Path("/nowhere"))
    return replace(request, plan=plan, seed=seed, lane=LaneName.VIRTUAL)


def test_patterns_choose_cells_by_id() -> None:
    assert len(chosen()) > len(chosen("canary-*", "control-*")) == 4
    (cell,) = chosen("demonstration.debian-bookworm.*")
    assert cell.subject == "debian:bookworm"


def test_pattern_that_matches_nothing_is_bad_input() -> None:
    error = error_of("nonesuch*", "none")
    assert "nonesuch*, none" in error.message
    assert "--plan smoke --dry-run" in error.hint


def test_unknown_subject_is_bad_input_that_names_its_plan(tmp_path: Path) -> None:
    assert "'debian:bookwurm'" in error_of(subjects=("debian:bookwurm",)).message
    plan = put_plan(tmp_path, subject="bundeld")
    message = error_of(plan=plan).message
    assert plan in message
    assert "'bundeld'" in message


def put_plan(folder: Path, *, subject: str = "bundled", keys: str = "", more: str = "") -> str:
    """Writes a plan of one cell with these keys and more text at the end; returns its path."""
    plan = folder / "mine.toml"
    plan.write_text(
        f'schema = 1\nabout = "mine"\nsubjects = ["{subject}"]\n[[cell]]\nname = "c"\n{keys}'
        f'at = {{ mips = 250, cores = 1, job = "read", chip = "M25P80" }}\n{more}',
        encoding="utf-8",
    )
    return str(plan)


@pytest.mark.parametrize(
    ("contrast", "message"),
    [
        ('cell = "d"\nsubject = "bundled"\nagainst = "floor"\n', "[0].cell': unknown cell 'd'"),
        ('cell = "c"\nsubject = "bundeld"\nagainst = "floor"\n', "unknown subject 'bundeld'"),
        ('cell = "c"\nsubject = "bundled"\nagainst = "flor"\n', "unknown subject 'flor'"),
    ],
)
def test_contrast_with_an_unknown_name_is_refused_with_plan_and_key(
    tmp_path: Path, contrast: str, message: str
) -> None:
    text = f'[[contrast]]\n{contrast}reason = "it polls"\ncpu_at_least = 2.0\n'
    plan = put_plan(tmp_path, more=text)
    error = error_of(plan=plan)
    assert error.message.startswith(f"{plan}: key 'contrast[0]")
    assert message in error.message


def test_unknown_subject_of_a_cell_with_several_names_the_cell(tmp_path: Path) -> None:
    plan = put_plan(tmp_path, keys='subject = ["floor", "past-mistake:wrap-23bit"]\n')
    error = error_of(plan=plan)
    assert error.message.startswith(f"{plan}: key 'cell[0].subject'")
    assert "'past-mistake:wrap-32bit'" in error.hint


def test_region_that_does_not_fit_its_chip_names_plan_cell_and_key(tmp_path: Path) -> None:
    plan = put_plan(tmp_path, keys="region_kib = 1088\n")
    error = error_of(plan=plan)
    assert error.message.startswith(f"{plan}: cell c.bundled.")
    assert "'region_kib' is 1088" in error.message
    put_plan(tmp_path, keys="region_kib = 1024\n")
    assert [cell.region_kib for cell in chosen(plan=plan)] == [1024]


@pytest.mark.parametrize("plan", ["smoke", "default", "gate", "past-mistakes", "write-time"])
def test_rerun_command_of_every_cell_runs_that_cell_alone(plan: str) -> None:
    for cell in chosen(plan=plan):
        words = shlex.split(rerun_command(cell, request_for(cell, plan=plan)))
        assert words[:2] == ["rig/rig", "run"]
        options = dict(zip(words[2::2], words[3::2], strict=True))
        again = chosen(options["--cell"], plan=options["--plan"], subjects=(options["--subject"],))
        assert again == [cell]


def test_rerun_command_carries_the_seed_and_survives_a_shell() -> None:
    cell = make_cell(subject="path:/opt/my build/flash'rom", seed=7)
    command = rerun_command(cell, request_for(cell, plan="my plans/a.toml", seed=7))
    assert shlex.split(command) == [
        *("rig/rig", "run", "--plan", "my plans/a.toml", "--seed", "7"),
        *("--subject", "path:/opt/my build/flash'rom", "--cell", cell.id),
    ]
    assert "\n" not in command


def test_new_folder_is_made_and_one_that_holds_a_run_or_is_a_file_is_refused(
    tmp_path: Path,
) -> None:
    out = tmp_path / "there" / "and" / "then"
    check_out(out, [make_cell()])
    assert out.is_dir()
    assert list(out.iterdir()) == []
    file = out / FILE_NAME
    file.write_bytes(b"{}")
    with pytest.raises(BadInputError, match="holds a run already"):
        check_out(out, [make_cell()])
    assert file.read_bytes() == b"{}"
    for place in (file, file / "below"):
        with pytest.raises(BadInputError) as caught:
            check_out(place, [make_cell()])
        assert caught.value.message.startswith(f"--out {place}: ")


@pytest.mark.parametrize(
    ("words", "existing"),
    [
        (["benchmark", "cells"], "warm"),
        (["selfcheck", "determinism"], "repeat-000"),
        (["shrink", "demonstration.bundled*", "--plan", "smoke"], "001"),
    ],
)
def test_command_of_several_runs_refuses_a_folder_with_part_of_an_earlier_one(
    tmp_path: Path, words: list[str], existing: str
) -> None:
    (tmp_path / existing).mkdir()
    assert "holds a run already" in refusal_of(*words, "--out", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [existing]


@pytest.mark.parametrize(
    ("words", "existing"),
    [
        (["try", "bundled"], FILE_NAME),
        (["repro", "demonstration.bundled.62mips*"], FILE_NAME),
        (["survey", "bundled"], FILE_NAME),
        (["gate", "--baseline", "debian:trixie", "--candidate", "bundled"], GATE_FILE),
    ],
)
def test_refused_folder_is_named_as_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], existing: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there").mkdir()
    Path("there", existing).touch()
    assert "--out there: holds a run already" in refusal_of(*words, "--out", "there")


@pytest.mark.parametrize(("spare", "refused"), [(-1, True), (0, False)])
@pytest.mark.parametrize(
    "cells", [[make_cell()] * 10, [make_cell(region_kib=1)] + [make_cell(region_kib=192)] * 3]
)
def test_disk_must_hold_every_cell_by_its_region(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cells: list[Cell], spare: int, refused: bool
) -> None:
    free = 10 * REGION_BYTES_MAX + spare
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(total=1 << 40, free=free))
    if not refused:
        check_out(tmp_path, cells)
        return
    with pytest.raises(BadInputError, match=f"{len(cells)} cells may need 20 MiB"):
        check_out(tmp_path, cells)


def test_guest_that_libvirt_cannot_describe_is_refused_before_the_run() -> None:
    cells = [make_cell(arch=Arch.X86_64), make_cell(arch=Arch.I386), make_cell(arch=Arch.ARM64)]
    check_connect(None, cells)
    check_connect("embed", cells[:2])
    with pytest.raises(BadInputError, match=r"--connect embed: cell group\.bundled\.arm64\."):
        check_connect("embed", cells)
