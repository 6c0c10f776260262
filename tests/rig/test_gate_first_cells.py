# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells that reach a changed function run first, if it is known which functions a cell reaches."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from delayrig.features.gate.first_cells import (
    FirstCells,
    Reached,
    keep_reached,
    reached_in,
    read_reached,
)
from delayrig.model.platform import Arch
from delayrig.subjects.subject import PARTS

from tests.rig import delay_programs as programs
from tests.rig.builders import SECOND
from tests.rig.test_gate_faults import SYNC, cell, site
from tests.rig.test_gate_judge import BEFORE

FASTER = programs.FLASHROM.replace("programmer_delay(flash, 500)", "programmer_delay(flash, 50)")
REACHED: Reached = {"spi.write": {"poll_status"}, "id.probe": {"probe"}, "canary.write": set()}
Saved = Callable[..., Path]


@pytest.fixture
def saved(tmp_path: Path) -> Saved:
    def save(name: str, text: str, *flags: str) -> Path:
        parts = tmp_path / name / PARTS
        parts.mkdir(parents=True)
        shutil.copy(programs.build(tmp_path / f"{name}-built", text, *flags), parts)
        return parts.parent

    return save


def places(baseline: Path, candidate: Path, reached: Reached = REACHED) -> set[str]:
    chosen = FirstCells(
        sides=(baseline, candidate), reached=reached, watching={"canary.write"}, kept=baseline
    )
    return set(chosen.places())


@pytest.mark.skipif(not programs.compiles(Arch.X86_64), reason="needs gcc")
def test_cells_of_a_changed_function_run_first_with_the_canaries(saved: Saved) -> None:
    before, after = saved("before", programs.FLASHROM), saved("after", FASTER)
    assert places(before, after) == {"id.probe", "canary.write"}
    assert places(before, before) == set()
    assert places(before, after, {}) == set()
    assert places(before.with_name("gone"), after) == set()


@pytest.mark.skipif(not programs.compiles(Arch.X86_64), reason="needs gcc")
def test_nothing_is_first_where_names_are_missing(saved: Saved) -> None:
    before, after = saved("before", programs.FLASHROM), saved("after", FASTER, "-s")
    assert places(before, after) == set()


def test_what_cells_reached_is_kept_and_added_to(tmp_path: Path) -> None:
    file = tmp_path / "reached.json"
    seen = cell(BEFORE, site(SYNC, SECOND, SECOND))
    assert read_reached(file) == {}
    keep_reached(file, [seen])
    assert read_reached(file) == reached_in([seen])
    (names,) = reached_in([seen]).values()
    assert "sp_synchronize" in names
    file.write_text('{"id.probe": ["probe"]}')
    keep_reached(file, [seen])
    assert len(read_reached(file)) == 2


@pytest.mark.parametrize("broken", ["", "[]", '{"a": 1}'])
def test_file_that_cannot_be_read_is_as_none(tmp_path: Path, broken: str) -> None:
    file = tmp_path / "reached.json"
    file.write_text(broken)
    assert read_reached(file) == {}
