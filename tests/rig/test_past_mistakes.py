# SPDX-License-Identifier: GPL-2.0-or-later
"""Past mistakes: builds, plan and page name the same ones, and a cell shows each."""

import re
from itertools import groupby
from pathlib import Path

import pytest
from delayrig.cli.option_types import PLAN_NAME, SUBJECT
from delayrig.model.cell import Cell, Expect, Role
from delayrig.model.chips import read_chips
from delayrig.plan.cells import plan_cells
from delayrig.plan.schema import find_plan, own_subjects, read_plan
from delayrig.subjects.recipes import read_recipes
from delayrig.subjects.subject import OWN_PROGRAMS, PAST_MISTAKES, check_subject, current_name

from tests.rig.builders import CHECKOUT

FOLDER = CHECKOUT / "flashrom" / "past_mistakes"
PLAN = read_plan(find_plan("past-mistakes"))
CELLS = plan_cells(PLAN, source="past-mistakes", subjects=[], chips=read_chips(CHECKOUT), seed=1)
SHIPPED = {"bundled", "control:chip"}


def measured() -> list[Cell]:
    return [cell for cell in CELLS if cell.role is Role.MEASURE]


def test_mistakes_of_the_rig_are_those_that_are_built() -> None:
    built = re.findall(r"^  '([a-z0-9-]+)': \{", (FOLDER / "meson.build").read_text(), re.MULTILINE)
    assert built == sorted(PAST_MISTAKES) == list(PAST_MISTAKES)


@pytest.mark.parametrize("name", PAST_MISTAKES)
def test_mistake_is_a_subject_and_has_its_line_on_the_page(name: str) -> None:
    check_subject(f"past-mistake:{name}", read_recipes(CHECKOUT), "--subject")
    assert OWN_PROGRAMS[f"past-mistake:{name}"].endswith(f"past-mistake-{name}")
    page = (FOLDER.parent / "known_bad" / "README.md").read_text(encoding="utf-8")
    assert len(re.findall(rf"^- `{name}`: ", page, re.MULTILINE)) == 1


def test_each_mistake_is_convicted_or_costs_more_somewhere() -> None:
    convicted = {cell.subject for cell in measured() if cell.expect is Expect.TOO_SHORT}
    contrasted = {contrast.subject for contrast in PLAN.contrast}
    mistakes = {f"past-mistake:{name}" for name in PAST_MISTAKES}
    assert (convicted | contrasted) == mistakes
    assert {cell.subject for cell in measured()} == mistakes | SHIPPED


def test_shipped_layer_is_acquitted_in_each_cell() -> None:
    for name, same in groupby(measured(), key=lambda cell: cell.name):
        expects = {cell.subject: cell.expect for cell in same}
        assert expects.keys() > SHIPPED, name
        assert {expects[subject] for subject in SHIPPED} == {Expect.PASS}


@pytest.mark.parametrize("contrast", PLAN.contrast, ids=lambda contrast: contrast.subject)
def test_contrast_stands_in_a_cell_of_both(contrast: object) -> None:
    (single,) = (c for c in PLAN.cell if c.name == contrast.cell)  # type: ignore[attr-defined]
    assert {contrast.subject, contrast.against} < set(own_subjects(single))  # type: ignore[attr-defined]


def test_what_takes_a_hazard_is_acquitted_without_it() -> None:
    calm = {c.subject for c in measured() if not c.hazards and c.expect is Expect.PASS}
    for cell in measured():
        if cell.hazards and cell.expect is Expect.TOO_SHORT:
            assert cell.subject in calm


def test_plan_and_subjects_are_found_by_the_names_that_they_once_had(tmp_path: Path) -> None:
    assert find_plan("museum") == find_plan("past-mistakes")
    assert current_name("museum:wall-clock") == "past-mistake:wall-clock"
    own = tmp_path / "own.toml"
    own.write_text(find_plan("museum").read_text().replace("past-mistake:", "museum:"))
    assert read_plan(own) == PLAN


def test_old_name_on_the_command_line_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert PLAN_NAME.convert("museum", None, None) == "past-mistakes"
    assert "museum is called past-mistakes now" in capsys.readouterr().err
    assert SUBJECT.convert("museum:wall-clock", None, None) == "past-mistake:wall-clock"
    assert "past-mistake:wall-clock now" in capsys.readouterr().err
