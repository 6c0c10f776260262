# SPDX-License-Identifier: GPL-2.0-or-later
"""The determinism check: the conditions of its repeats, and its answer."""

import pytest
from delayrig.base.errors import ExitCode
from delayrig.features.selfcheck.determinism import (
    ROUND,
    SHAPES,
    Condition,
    Determinism,
    Repeat,
    condition_of,
    untried,
)
from delayrig.model.cell import Programmer
from delayrig.model.programmers import DEVICES, device_of
from delayrig.plan.cells import plan_cells
from delayrig.plan.schema import read_plan
from msgspec.structs import replace

from tests.rig.plan_texts import checked

CALM = Condition(loaded=False, libvirt=False, fresh=False)


def test_first_shapes_have_each_number_of_cores_and_two_devices() -> None:
    cells = plan_cells(checked(read_plan(SHAPES)), seed=1)
    assert len({cell.id for cell in cells}) == len(cells)
    assert {cell.cores for cell in cells[:3]} == {1, 2, 4}
    assert {device_of(cell) for cell in cells[:5]} >= {
        DEVICES[Programmer.NICINTEL],
        DEVICES[Programmer.CH341A_SPI],
    }


def test_round_has_each_condition_and_begins_with_the_plainest() -> None:
    made = [condition_of(number, has_libvirt=True) for number in range(ROUND)]
    assert sum(condition.loaded for condition in made) == ROUND // 2
    assert len(set(map(str, made[:8]))) == 8
    assert made[0] == CALM


def repeats_of(count: int, *, has_libvirt: bool, reset: int = 0) -> list[Repeat]:
    conditions = [condition_of(number, has_libvirt=has_libvirt) for number in range(count)]
    return [
        Repeat(number=number, condition=condition, compared=1, reset=reset)
        for number, condition in enumerate(conditions)
    ]


def test_missing_libvirt_is_listed_as_untried() -> None:
    missing = untried(repeats_of(8, has_libvirt=False), has_libvirt=False)
    assert any(what.startswith("libvirt") for what in missing)
    assert "fresh snapshots" not in missing


def test_other_hosts_are_always_untried() -> None:
    repeats = repeats_of(ROUND, has_libvirt=True, reset=1)
    assert untried(repeats, has_libvirt=True) == ["another host"]


SAME = Repeat(number=1, condition=CALM, compared=1)
DIFFERENT, DOUBTFUL = replace(SAME, differences=["x"]), replace(SAME, doubts=["y"])


@pytest.mark.parametrize(
    ("repeats", "interrupted", "code"),
    [
        ([SAME, SAME], False, ExitCode.PASS),
        ([SAME], True, ExitCode.INCONCLUSIVE),
        ([SAME, DOUBTFUL], False, ExitCode.INCONCLUSIVE),
        ([DIFFERENT, DOUBTFUL], False, ExitCode.RIG_FAULT),
    ],
)
def test_gravest_repeat_decides_and_an_interrupted_check_is_inconclusive(
    repeats: list[Repeat], interrupted: bool, code: ExitCode
) -> None:
    answer = Determinism(
        seed=1,
        shapes=["a"],
        repeats_planned=len(repeats),
        interrupted=interrupted,
        run=None,
        repeats=repeats,
        not_tried=[],
    )
    assert answer.exit_code is code
