# SPDX-License-Identifier: GPL-2.0-or-later
"""The museum: pieces, plan and README name the same mistakes, and each is to be seen somewhere."""

import re
from itertools import groupby

import pytest
from delayrig.images.recipes import read_recipes
from delayrig.images.subject import MUSEUM, OWN_PROGRAMS, check_subject
from delayrig.model.cell import Cell, Expect, Role
from delayrig.model.chips import read_chips
from delayrig.plan.cells import plan_cells
from delayrig.plan.words import find_plan, own_subjects, read_plan

from tests.rig.builders import CHECKOUT

FOLDER = CHECKOUT / "flashrom" / "museum"
PLAN = read_plan(find_plan("museum"))
CELLS = plan_cells(PLAN, source="museum", subjects=[], chips=read_chips(CHECKOUT), seed=1)
SHIPPED = {"bundled", "control:chip"}


def measured() -> list[Cell]:
    return [cell for cell in CELLS if cell.role is Role.MEASURE]


def test_pieces_of_the_rig_are_those_that_are_built() -> None:
    built = re.findall(r"^  '([a-z0-9-]+)': \{", (FOLDER / "meson.build").read_text(), re.MULTILINE)
    assert built == sorted(MUSEUM) == list(MUSEUM)


@pytest.mark.parametrize("piece", MUSEUM)
def test_piece_is_a_subject_and_has_its_lines_in_the_readme(piece: str) -> None:
    check_subject(f"museum:{piece}", read_recipes(CHECKOUT), "--subject")
    assert OWN_PROGRAMS[f"museum:{piece}"].endswith(f"museum-{piece}")
    rows = re.findall(rf"^\| `{piece}` \|", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert len(rows) == 2


def test_each_piece_is_convicted_or_costs_more_somewhere() -> None:
    convicted = {cell.subject for cell in measured() if cell.expect is Expect.TOO_SHORT}
    contrasted = {contrast.subject for contrast in PLAN.contrast}
    pieces = {f"museum:{piece}" for piece in MUSEUM}
    assert (convicted | contrasted) == pieces
    assert {cell.subject for cell in measured()} == pieces | SHIPPED


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
