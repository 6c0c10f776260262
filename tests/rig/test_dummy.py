# SPDX-License-Identifier: GPL-2.0-or-later
"""A part inside the subject: its parameters, and the reading of its events."""

import msgspec
import pytest
from delayrig.lanes.payload import dummy_lines, spare_bytes
from delayrig.model.cell import Cell, Job, Programmer
from delayrig.model.events import encode_events, parse_events
from delayrig.model.kinds.agent import ClockRate
from delayrig.model.kinds.emulator import End, Spi
from delayrig.model.workload import expected_image, final_content, region_of
from delayrig.subjects.dummy import (
    argument,
    keeps_busy_times,
    on_the_clock_of,
    refusal,
    sparse_image,
)

from tests.rig.builders import make_cell, make_chip
from tests.rig.event_builders import made

OURS = b"\0emulate\0corner\0GD25Q16C\0"
OTHER = b"\0emulate\0W25Q128FV\0"
CHIP = make_chip(name="GD25Q16C", size_bytes=1 << 20)
CELL = make_cell(programmer=Programmer.DUMMY, corner="max", seed=3)
REGION = region_of(CELL, CHIP)


def test_part_with_busy_times_is_told_by_what_its_programmer_takes() -> None:
    assert keeps_busy_times(OURS)
    assert not keeps_busy_times(OTHER)


def test_part_that_the_dummy_programmer_has_not_is_refused() -> None:
    assert refusal(CHIP, OURS) == ""
    assert refusal(make_chip(name="W25Q128FV"), OTHER) == ""
    assert "GD25Q16C" in refusal(CHIP, OTHER)


def test_only_a_model_is_given_a_corner_and_asked_for_events() -> None:
    assert argument(CELL, OURS) == (
        "dummy:emulate=GD25Q16C,image=/tmp/chip.bin,corner=max,seed=3,events=/tmp/dummy.jsonl"
    )
    assert argument(CELL, OTHER) == "dummy:emulate=GD25Q16C,image=/tmp/chip.bin"


def test_guest_makes_and_collects_an_image_for_a_dummy_alone() -> None:
    assert dummy_lines(make_cell(), CHIP, REGION) == []
    lines = dummy_lines(CELL, CHIP, REGION)
    assert lines[0].startswith("image /subject/tmp/chip.bin 1048576 65536 ")
    assert [line.split()[1] for line in lines[1:]] == ["chip.bin", "dummy.jsonl"]


AGENT = encode_events([made(ClockRate, t_ns=5_000, monotonic_at_ns=1_200, raw_ns_min=1)])


def test_moments_move_to_the_clock_of_the_agent_and_lengths_stay() -> None:
    event = made(
        Spi, read_ns=2_000, reply_ns=2_500, gap_ns=7, busy_until_ns=0, margin_ns=-3, wire_ns=4
    )
    (moved,) = parse_events(on_the_clock_of(AGENT, encode_events([event])), source="x")
    assert moved == msgspec.structs.replace(event, read_ns=5_800, reply_ns=6_300)


def test_without_a_common_moment_nothing_is_moved() -> None:
    assert on_the_clock_of(b"", encode_events([made(End, t_ns=1)])) == b""


def raw_after(cell: Cell, content: bytes) -> bytes:
    region = region_of(cell, CHIP)
    return bytes(region.offset_bytes) + content + bytes(CHIP.size_bytes - region.end_bytes)


@pytest.mark.parametrize("region_kib", [1, 3, 64])
@pytest.mark.parametrize("job", [Job.READ, Job.WRITE, Job.ERASE])
def test_right_image_of_a_dummy_is_the_right_image(job: Job, region_kib: int) -> None:
    cell = msgspec.structs.replace(CELL, job=job, region_kib=region_kib)
    raw = raw_after(cell, final_content(cell, region_of(cell, CHIP)))
    assert expected_image(cell, CHIP, sparse_image(raw, region_of(cell, CHIP))) == []


@pytest.mark.parametrize("at", [0, REGION.offset_bytes - 1, REGION.offset_bytes, REGION.end_bytes])
def test_one_wrong_byte_of_a_dummy_is_seen(at: int) -> None:
    raw = bytearray(raw_after(CELL, final_content(CELL, REGION)))
    raw[at] ^= 0xA5
    assert expected_image(CELL, CHIP, sparse_image(bytes(raw), REGION))


def test_subject_that_holds_the_part_has_room_for_its_events() -> None:
    one_word = '{"ev":"spi","op":"0xAD","name":"AAI","read_ns":1,"violation":null}'
    events_of_64_kib = 2 * 5 * len(one_word) * 32 * 1024  # each word is programmed, then polled for
    assert spare_bytes(CELL) > events_of_64_kib > spare_bytes(make_cell())
