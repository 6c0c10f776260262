# SPDX-License-Identifier: GPL-2.0-or-later
"""The host time of a cell, split by the ends of its stages."""

import pytest
from delayrig.lanes.stages import GUEST, LOAD, PACK, READ_BACK, STAGES, read_marks, stage_lengths

LOG = """\
123@100.000000:fw_cfg_select 0x55 key 0x0019 'file_dir', ret: 1
123@100.500000:fw_cfg_select 0x55 key 0x3f01 'unknown', ret: 0
qemu: something else
123@101.250000:fw_cfg_select 0x55 key 0x3f08 'unknown', ret: 0
123@101.500000:fw_cfg_select 0x55 key 0x3fff 'unknown', ret: 0
"""


def test_marks_of_the_guest_are_told_from_its_other_requests() -> None:
    assert read_marks(LOG) == [(GUEST[1], 100.5), (GUEST[8], 101.25)]


def test_stages_of_the_guest_stand_between_those_of_the_host() -> None:
    moments = [("", 99.0), (PACK, 99.5), (LOAD, 100.0), (READ_BACK, 102.0)]
    lengths = stage_lengths([*moments, *read_marks(LOG)])
    assert list(lengths) == [PACK, LOAD, GUEST[1], GUEST[8], READ_BACK]
    assert lengths[GUEST[1]] == pytest.approx(0.5)
    assert sum(lengths.values()) == pytest.approx(3.0)


def test_every_mark_of_the_guest_is_a_stage() -> None:
    assert [name for name in STAGES if name.startswith("guest: ")] == list(GUEST.values())
