# SPDX-License-Identifier: GPL-2.0-or-later
"""The name of a cell, and its guest."""

import pytest
from delayrig.hazards.busy_siblings import BusySiblings
from delayrig.hazards.low_res_timers import LowResTimers
from delayrig.hazards.of_cell import hazards_of
from delayrig.model.cell import Job, Programmer
from delayrig.model.corner import Corner
from delayrig.model.shape import GuestShape, shift_for_mips

from tests.rig.builders import make_cell


def test_id_says_all_that_tells_cells_of_a_plan_apart() -> None:
    plain = make_cell()
    assert plain.id == "group.bundled.250mips.1c.calm.GD25Q16C-typ.write"
    others = [
        make_cell(name="other"),
        make_cell(subject="debian:trixie"),
        make_cell(icount_shift=4),
        make_cell(cores=2),
        make_cell(hazards=("low-res-timers",)),
        make_cell(hazards=("busy-siblings",)),
        make_cell(hazards=("low-res-timers", "busy-siblings")),
        make_cell(chip="M25P80"),
        make_cell(corner=Corner.MAX),
        make_cell(corner=Corner.ZERO),
        make_cell(corner="draw:1"),
        make_cell(corner="draw:2"),
        make_cell(corner="slow:2"),
        make_cell(region_kib=1024),
        make_cell(job=Job.READ),
        make_cell(programmer=Programmer.SERPROG_DEV),
        make_cell(programmer=Programmer.DUMMY),
    ]
    assert len({plain.id, *(cell.id for cell in others)}) == 1 + len(others)


def test_programmer_is_in_the_id_only_where_it_is_not_the_usual_one() -> None:
    cell = make_cell(programmer=Programmer.SERPROG_DEV)
    assert cell.id == "group.bundled.250mips.1c.calm.GD25Q16C-typ.serprog-dev.write"


def test_corner_with_a_number_is_a_plain_word_of_the_id() -> None:
    assert make_cell(corner="draw:17").id == "group.bundled.250mips.1c.calm.GD25Q16C-draw-17.write"


def test_region_is_in_the_id_only_where_it_is_not_the_usual_one() -> None:
    assert make_cell(region_kib=64).id == make_cell().id
    cell = make_cell(region_kib=1024)
    assert cell.id == "group.bundled.250mips.1c.calm.GD25Q16C-typ.1024kib.write"


def test_paths_that_end_alike_have_ids_of_their_own() -> None:
    ids = [make_cell(subject=f"path:{path}").id for path in ("/a/flashrom", "/b/flashrom")]
    assert ids[0] != ids[1]
    for id_ in ids:
        assert id_.startswith("group.path-flashrom-")
        assert "/" not in id_


def test_path_with_odd_characters_gives_a_plain_id() -> None:
    id_ = make_cell(subject="path:/tmp/my flashrom[1]*,ü").id
    assert set(id_.split(".")[1]) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_")


def test_hazards_are_what_is_not_plain() -> None:
    assert make_cell().hazards == ()
    cell = make_cell(hazards=("low-res-timers", "busy-siblings"))
    assert [type(hazard) for hazard in hazards_of(cell)] == [LowResTimers, BusySiblings]


@pytest.mark.parametrize("programmer", Programmer)
def test_only_a_tty_has_a_bridge(programmer: Programmer) -> None:
    bridged = make_cell(programmer=programmer).bridged
    assert bridged is (programmer is Programmer.SERPROG_DEV)


@pytest.mark.parametrize(
    ("shift", "mips", "nominal"),
    [(0, 1000, 1000), (2, 250, 250), (4, 62.5, 62), (5, 31.25, 31), (6, 15.625, 16), (10, 0, 1)],
)
def test_speed_is_halved_with_every_shift(shift: int, mips: float, nominal: int) -> None:
    shape = GuestShape(icount_shift=shift, cores=1)
    assert shape.mips == (mips or 1000 / 1024)
    assert shape.nominal_mips == nominal
    assert shift_for_mips(shape.mips) == shift_for_mips(nominal) == shift


@pytest.mark.parametrize("mips", [0, -1, 0.4, 3, 63, 249, 999, 2000])
def test_speed_that_no_shift_gives_is_none(mips: float) -> None:
    assert shift_for_mips(mips) is None


def test_shapes_that_differ_have_snapshots_of_their_own() -> None:
    shapes = [
        GuestShape(icount_shift=shift, cores=cores, kernel=kernel, kernel_words=words)
        for shift in range(11)
        for cores in (1, 2, 4)
        for kernel in ("", "rt")
        for words in ((), ("highres=off",), ("highres=off", "nohz=off"), ("x" * 60,), ("y" * 60,))
    ]
    assert len({shape.name for shape in shapes}) == len(shapes)
    assert shapes[0].name == "x86_64-1000mips-1c"
