# SPDX-License-Identifier: GPL-2.0-or-later
"""The shipped plans: their coverage, and the stability of their cells."""

import itertools
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from delayrig.base.errors import BadInputError
from delayrig.model.cell import Cell, Expect, Job, Programmer, Role
from delayrig.model.chips import read_chips
from delayrig.model.platform import Arch
from delayrig.plan.schema import Plan, find_plan, plan_names, read_plan

from tests.rig.builders import CHECKOUT
from tests.rig.plan_texts import CHIPS, levels, shipped

PROGRAM = f"path:{sys.executable}"
SHIPPED = plan_names()
DEMONSTRATING = ["default", "full", "smoke"]


def span_of(plan: Plan) -> dict[str, list[Any]]:
    """Returns the choices in each dimension of the plan's first group, which is its main one."""
    group = plan.group[0]
    return dict(msgspec.structs.asdict(group.over))


def is_possible(*choices: tuple[str, Any]) -> bool:
    """Returns True unless the choices are busy siblings on one core."""
    return not {("load", "busy-siblings"), ("cores", 1)} <= set(choices)


def pairs_of(row: dict[str, Any]) -> set[tuple[tuple[str, Any], tuple[str, Any]]]:
    return set(itertools.combinations(row.items(), 2))


def test_releases_plan_has_every_part_and_job_and_delays_for_those_that_need_them() -> None:
    cells = [cell for cell in shipped("releases", "bundled") if cell.role is Role.MEASURE]
    facts = read_chips(CHECKOUT)
    parts = (chip.name for chip in facts.values() if not chip.dies.by_chip_select)
    wanted = itertools.product(parts, ("typ", "max"), set(Job) - {Job.DETECT})
    assert sorted((c.chip, c.corner, c.job) for c in cells) == sorted(wanted)
    for cell in cells:
        delays = cell.programmer is Programmer.SERPROG_NATIVE_DELAY
        assert delays is (facts[cell.chip].bus != "spi"), cell.id


@pytest.mark.parametrize("subject", read_plan(find_plan("default")).subjects)
def test_default_plan_covers_every_possible_pair_for_each_subject(subject: str) -> None:
    span = span_of(read_plan(find_plan("default")))
    rows = [levels(c) for c in shipped("default") if (c.name, c.subject) == ("pairs", subject)]
    wanted = {
        ((first, one), (second, other))
        for first, second in itertools.combinations(span, 2)
        for one in span[first]
        for other in span[second]
        if is_possible((first, one), (second, other))
    }
    assert set().union(*map(pairs_of, rows)) == wanted
    # Each of 3 speeds must meet each of 3 numbers of cores.
    assert 9 <= len(rows) <= 12


def test_default_plan_has_several_choices_in_these_dimensions_only() -> None:
    span = span_of(read_plan(find_plan("default")))
    several = dict.fromkeys(("mips", "cores"), 3)
    several |= dict.fromkeys(("job", "chip", "corner", "timers", "load"), 2)
    one = dict.fromkeys(("kernel", "hazards", "programmer", "arch", "machine"), 1)
    assert {name: len(choices) for name, choices in span.items()} == several | one


def test_full_plan_is_the_product_without_impossible_cells() -> None:
    plan = read_plan(find_plan("full"))
    span = span_of(plan)
    wanted = {
        tuple(zip(span, row, strict=True))
        for row in itertools.product(*span.values())
        if is_possible(*zip(span, row, strict=True))
    }
    assert set(span["chip"]) <= set(CHIPS)
    for subject in plan.subjects:
        cells = [c for c in shipped("full") if (c.name, c.subject) == ("product", subject)]
        assert {tuple(levels(cell).items()) for cell in cells} == wanted
        assert len(cells) == len(wanted)


@pytest.mark.parametrize("name", SHIPPED)
def test_ids_are_unique_and_fit_for_folders(name: str) -> None:
    ids = [cell.id for cell in shipped(name)]
    assert len(set(ids)) == len(ids)
    assert not [id_ for id_ in ids if {"/", ":", " ", "*", "["} & set(id_) or len(id_) > 200]


@pytest.mark.parametrize("name", SHIPPED)
def test_canary_and_control_of_a_witness_have_the_same_settings(name: str) -> None:
    for arch in {cell.arch for cell in shipped(name)}:
        check_canaries([cell for cell in shipped(name) if cell.arch is arch])


def check_canaries(cells: list[Cell]) -> None:
    judging = {c.name: c for c in cells if c.role in (Role.CANARY, Role.CONTROL)}
    witnesses = {name.removeprefix("canary-") for name in judging if name.startswith("canary-")}
    assert "chip" in witnesses
    assert witnesses & {"bus", "delay"}, "nothing shows that short waits are seen"
    for witness in sorted(witnesses):
        canary, control = judging.pop(f"canary-{witness}"), judging.pop(f"control-{witness}")
        assert levels(canary) == levels(control)
        assert (canary.role, canary.expect) == (Role.CANARY, Expect.TOO_SHORT)
        assert (control.role, control.expect) == (Role.CONTROL, Expect.PASS)
        assert canary.subject != control.subject
    assert judging == {}


@pytest.mark.parametrize("name", DEMONSTRATING)
def test_demonstration_expects_a_conviction_of_only_one_subject(name: str) -> None:
    cells = [cell for cell in shipped(name) if cell.name == "demonstration"]
    for arch in {cell.arch for cell in shipped(name)}:
        assert {cell.subject: cell.expect for cell in cells if cell.arch is arch} == {
            "bundled": Expect.PASS,
            "debian:bookworm": Expect.TOO_SHORT,
            "debian:trixie": Expect.PASS,
        }


def test_plans_leave_out_architectures_that_take_most_to_fetch_or_lack_a_subject() -> None:
    assert {cell.arch for cell in shipped("default")} == set(Arch) - {Arch.ARMHF, Arch.RISCV64}
    assert {cell.arch for cell in shipped("full")} == set(Arch) - {Arch.RISCV64}


def test_newest_has_guests_of_riscv64_with_canaries_and_controls() -> None:
    cells = [cell for cell in shipped("newest") if cell.arch is Arch.RISCV64]
    assert {(cell.subject, cell.expect) for cell in cells} == {
        ("bundled", Expect.PASS),
        ("debian:trixie", Expect.ANY),
        ("canary:bus", Expect.TOO_SHORT),
        ("canary:chip", Expect.TOO_SHORT),
        ("control:chip", Expect.PASS),
    }


def test_smoke_plan_is_small_and_its_ids_stay_as_they_are() -> None:
    ids = {cell.id for cell in shipped("smoke")}
    assert len(ids) <= 20
    assert {
        "write.debian-trixie.250mips.1c.calm.GD25Q16C-typ.write",
        "demonstration.bundled.62mips.4c.low-res-timers+busy-siblings.W25Q128JV-typ.write",
        "canary-bus.canary-bus.250mips.1c.calm.W25Q128JV-max.write",
    } <= ids


def test_other_process_gives_the_same_cells_in_the_same_order() -> None:
    program = (
        "import msgspec, sys\n"
        "from delayrig.base.paths import find_paths\n"
        "from delayrig.plan.request import choose_cells\n"
        "cells = choose_cells(plan='default', paths=find_paths()).cells\n"
        "sys.stdout.buffer.write(msgspec.json.encode(cells))\n"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert answers == {msgspec.json.encode(shipped("default"))}


def test_seed_goes_into_cells_and_changes_nothing_else() -> None:
    plain, seeded = shipped("default"), shipped("default", seed=7)
    assert {cell.seed for cell in seeded} == {7}
    assert [msgspec.structs.replace(cell, seed=1) for cell in seeded] == plain


def test_subject_replaces_those_of_the_plan_and_canaries_and_controls_stay() -> None:
    usual, cells = shipped("default"), shipped("default", PROGRAM)
    judging = [cell for cell in usual if cell.role is not Role.MEASURE]
    assert [cell for cell in cells if cell.role is not Role.MEASURE] == judging
    measured = {cell.subject for cell in cells if cell.role is Role.MEASURE}
    assert measured == {PROGRAM}
    theirs = [levels(c) for c in usual if c.subject == "debian:trixie"]
    assert [levels(c) for c in cells if c.role is Role.MEASURE] == theirs
    assert shipped("smoke", "bundled", "bundled") == shipped("smoke", "bundled")


def test_plan_is_found_by_name_and_by_file_and_an_unknown_one_gets_the_nearest_name() -> None:
    assert find_plan("smoke").name == "smoke.toml"
    assert find_plan("mine.toml") == Path("mine.toml")
    assert find_plan("there/mine") == Path("there/mine")
    with pytest.raises(BadInputError) as caught:
        find_plan("defualt")
    assert "did you mean 'default'?" in caught.value.hint


def test_every_measured_cell_of_the_write_time_plan_has_one_floor() -> None:
    cells = shipped("write-time")

    def work(cell: Cell) -> dict[str, Any]:
        return {**levels(cell), "corner": "", "region_kib": cell.region_kib}

    floors = [work(cell) for cell in cells if cell.role is Role.FLOOR]
    measured = [cell for cell in cells if cell.role is Role.MEASURE]
    assert {cell.subject for cell in measured} == {"bundled", "debian:trixie"}
    assert {cell.region_kib for cell in measured} == {1024}
    assert all(floors.count(work(cell)) == 1 for cell in measured)
    by_corner = Counter(cell.corner.partition(":")[0] for cell in measured)
    assert by_corner["draw"] > by_corner["typ"] > 0


def test_gate_has_cells_in_which_nothing_hides_a_missing_last_wait() -> None:
    cells = shipped("gate")
    words = [cell for cell in cells if cell.chip == "SST25VF040B"]
    assert {cell.programmer for cell in words} == {Programmer.LINUX_SPI}
    assert any("unverified" in cell.hazards for cell in cells)
