# SPDX-License-Identifier: GPL-2.0-or-later
"""The conditions of repeats, and the claims that they allow."""

from delayrig.base.errors import ExitCode
from delayrig.base.paths import find_paths
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
from delayrig.model.chips import read_chips
from delayrig.model.programmers import DEVICES, device_of
from delayrig.plan.cells import plan_cells
from delayrig.plan.schema import read_plan

CALM = Condition(loaded=False, libvirt=False, fresh=False)


def answered(*repeats: Repeat, interrupted: bool = False) -> Determinism:
    return Determinism(
        seed=1,
        shapes=["a"],
        repeats_planned=len(repeats),
        interrupted=interrupted,
        run=None,
        repeats=list(repeats),
        not_tried=[],
    )


def repeated(*, differences: list[str] | None = None, doubts: list[str] | None = None) -> Repeat:
    return Repeat(
        number=1, condition=CALM, compared=1, differences=differences or [], doubts=doubts or []
    )


def test_shapes_have_every_number_of_cores_and_devices_among_the_first() -> None:
    chips = read_chips(find_paths().checkout)
    cells = plan_cells(read_plan(SHAPES), source="", subjects=[], chips=chips, seed=1)
    assert len({cell.id for cell in cells}) == len(cells)
    assert {cell.cores for cell in cells[:3]} == {1, 2, 4}
    assert {device_of(cell) for cell in cells[:5]} >= {
        DEVICES[Programmer.NICINTEL],
        DEVICES[Programmer.CH341A_SPI],
    }


def test_half_of_a_round_is_loaded_and_every_condition_comes_up_in_eight() -> None:
    made = [condition_of(number, has_libvirt=True) for number in range(ROUND)]
    assert sum(condition.loaded for condition in made) == ROUND // 2
    assert len(set(map(str, made[:8]))) == 8


def test_first_repeat_is_the_plainest() -> None:
    assert condition_of(0, has_libvirt=True) == CALM


def test_without_libvirt_nothing_is_said_of_it() -> None:
    repeats = [
        Repeat(number=number, condition=condition_of(number, has_libvirt=False), compared=1)
        for number in range(8)
    ]
    missing = untried(repeats, has_libvirt=False)
    assert any(what.startswith("libvirt") for what in missing)
    assert "fresh snapshots" not in missing


def test_another_host_is_never_claimed() -> None:
    repeats = [
        Repeat(number=number, condition=condition_of(number, has_libvirt=True), compared=1, reset=1)
        for number in range(ROUND)
    ]
    assert untried(repeats, has_libvirt=True) == ["another host"]


def test_difference_is_a_fault_of_the_rig_even_beside_doubts() -> None:
    answer = answered(repeated(differences=["x"]), repeated(doubts=["y"]))
    assert answer.exit_code is ExitCode.RIG_FAULT


def test_missing_cell_is_a_doubt() -> None:
    assert answered(repeated(), repeated(doubts=["y"])).exit_code is ExitCode.INCONCLUSIVE


def test_interrupted_check_claims_nothing() -> None:
    assert answered(repeated(), interrupted=True).exit_code is ExitCode.INCONCLUSIVE


def test_repeats_that_are_the_same_pass() -> None:
    assert answered(repeated(), repeated()).exit_code is ExitCode.PASS
