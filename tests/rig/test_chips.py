# SPDX-License-Identifier: GPL-2.0-or-later
"""Facts of the emulated chips, and chips that the subject itself emulates (`dummy`)."""

import tomllib
from pathlib import Path

import msgspec
import pytest
from delayrig.base.errors import RigFaultError
from delayrig.lanes.payload import dummy_lines, spare_bytes
from delayrig.model.cell import Cell, Job, Programmer
from delayrig.model.chips import read_chips
from delayrig.model.events import encode_events, parse_events
from delayrig.model.kinds.agent import ClockRate
from delayrig.model.kinds.emulator import Spi
from delayrig.model.workload import final_content, region_of, wrong_granules
from delayrig.subjects import dummy

from tests.rig.builders import CHECKOUT, make_cell, make_chip
from tests.rig.event_builders import made

GOOD = (
    'schema = 1\nname = "X1"\nvendor = "V"\nfamily = "spi_nor"\nsize_bytes = 65536\n'
    'flashrom_names = ["X.1"]\n'
)


def put_chip(checkout: Path, text: str) -> None:
    folder = checkout / "emulators" / "chips"
    folder.mkdir(parents=True)
    (folder / "X1.toml").write_text(text, encoding="utf-8")


def test_every_chip_has_a_flashrom_name_and_a_known_bus() -> None:
    chips = read_chips(CHECKOUT)
    files = (CHECKOUT / "emulators" / "chips").glob("*.toml")
    assert sorted(chips) == sorted(file.stem for file in files)
    for name, chip in chips.items():
        assert chip.name == name
        assert chip.flashrom_names
        assert region_of(make_cell(), chip).end_bytes <= chip.size_bytes
        assert chip.bus in ("spi", "parallel", "lpc", "fwh")
        assert (chip.bus == "spi") is chip.family.startswith("spi")


def test_two_parts_on_one_bus_have_the_figures_of_a_single_part() -> None:
    folder = CHECKOUT / "emulators" / "chips"
    one, two = (
        tomllib.loads((folder / f"{name}.toml").read_text("utf-8"))
        for name in ("W25Q64FV", "W25Q64FVx2")
    )
    assert two["size_bytes"] == 2 * one["size_bytes"]
    for key in ("id", "clock", "status", "busy", "wait", "page_bytes"):
        assert two[key] == one[key], key
    assert two["erase"] == [row for row in one["erase"] if row["size_bytes"] < one["size_bytes"]]


def test_chip_is_on_the_bus_that_its_file_says(tmp_path: Path) -> None:
    chips = read_chips(CHECKOUT)
    named = ("W25Q128JV", "SST39SF040", "SST49LF040", "SST49LF004B")
    assert [chips[name].bus for name in named] == ["spi", "parallel", "lpc", "fwh"]
    put_chip(tmp_path, GOOD + '[bus]\nkind = "lpc"\n')
    assert read_chips(tmp_path)["X1"].bus == "lpc"


def test_keys_that_the_rig_does_not_use_are_ignored(tmp_path: Path) -> None:
    put_chip(tmp_path, GOOD + "[clock]\nmax_hz = 5\n")
    assert read_chips(tmp_path)["X1"].size_bytes == 65536


def test_erase_unit_is_the_smallest_block_that_is_erasable_everywhere(tmp_path: Path) -> None:
    sizes = ("size_bytes = 65536", "size_bytes = 4096", "regions = [[2, 512]]")
    put_chip(tmp_path, GOOD + "".join(f"[[erase]]\n{size}\n" for size in sizes))
    assert read_chips(tmp_path)["X1"].erase_unit_bytes == 4096


@pytest.mark.parametrize(
    "text", [GOOD.replace('vendor = "V"\n', ""), GOOD.replace("65536", '"64K"'), GOOD + "="]
)
def test_broken_chip_file_is_a_rig_fault_that_names_it(tmp_path: Path, text: str) -> None:
    put_chip(tmp_path, text)
    with pytest.raises(RigFaultError, match=r"X1\.toml"):
        read_chips(tmp_path)


WITH_MODEL = b"\0emulate\0corner\0GD25Q16C\0"
WITHOUT_MODEL = b"\0emulate\0W25Q128FV\0"
CHIP = make_chip(name="GD25Q16C", size_bytes=1 << 20)
CELL = make_cell(programmer=Programmer.DUMMY, corner="max", seed=3)
REGION = region_of(CELL, CHIP)


def test_parts_and_busy_times_of_a_dummy_are_found_in_its_program() -> None:
    assert dummy.keeps_busy_times(WITH_MODEL)
    assert not dummy.keeps_busy_times(WITHOUT_MODEL)
    assert dummy.refusal(CHIP, WITH_MODEL) == ""
    assert dummy.refusal(make_chip(name="W25Q128FV"), WITHOUT_MODEL) == ""
    assert "GD25Q16C" in dummy.refusal(CHIP, WITHOUT_MODEL)


def test_only_a_dummy_with_the_model_gets_a_corner_and_a_file_for_events() -> None:
    assert dummy.argument(CELL, WITH_MODEL) == (
        "dummy:emulate=GD25Q16C,image=/tmp/chip.bin,corner=max,seed=3,events=/tmp/dummy.jsonl"
    )
    assert dummy.argument(CELL, WITHOUT_MODEL) == "dummy:emulate=GD25Q16C,image=/tmp/chip.bin"


def test_guest_makes_and_collects_an_image_only_for_a_dummy() -> None:
    assert dummy_lines(make_cell(), CHIP, REGION) == []
    lines = dummy_lines(CELL, CHIP, REGION)
    assert lines[0].startswith("image /subject/tmp/chip.bin 1048576 65536 ")
    assert [line.split()[1] for line in lines[1:]] == ["chip.bin", "dummy.jsonl"]


AGENT = encode_events([made(ClockRate, t_ns=5_000, monotonic_at_ns=1_200, raw_ns_min=1)])


def test_times_are_converted_to_the_clock_of_the_agent_and_durations_are_not() -> None:
    event = made(
        Spi, read_ns=2_000, reply_ns=2_500, gap_ns=7, busy_until_ns=0, margin_ns=-3, wire_ns=4
    )
    (moved,) = parse_events(dummy.on_the_clock_of(AGENT, encode_events([event])), source="x")
    assert moved == msgspec.structs.replace(event, read_ns=5_800, reply_ns=6_300)
    assert dummy.on_the_clock_of(b"", encode_events([event])) == b""


def raw_after(cell: Cell, content: bytes) -> bytes:
    region = region_of(cell, CHIP)
    return bytes(region.offset_bytes) + content + bytes(CHIP.size_bytes - region.end_bytes)


@pytest.mark.parametrize("region_kib", [1, 3, 64])
@pytest.mark.parametrize("job", [Job.READ, Job.WRITE, Job.ERASE])
def test_correct_image_of_a_dummy_has_no_wrong_granules(job: Job, region_kib: int) -> None:
    cell = msgspec.structs.replace(CELL, job=job, region_kib=region_kib)
    raw = raw_after(cell, final_content(cell, region_of(cell, CHIP)))
    assert wrong_granules(cell, CHIP, dummy.sparse_image(raw, region_of(cell, CHIP))) == []


@pytest.mark.parametrize("at", [0, REGION.offset_bytes - 1, REGION.offset_bytes, REGION.end_bytes])
def test_one_wrong_byte_of_a_dummy_is_found(at: int) -> None:
    raw = bytearray(raw_after(CELL, final_content(CELL, REGION)))
    raw[at] ^= 0xA5
    assert wrong_granules(CELL, CHIP, dummy.sparse_image(bytes(raw), REGION))


def test_guest_has_memory_for_the_events_of_a_dummy() -> None:
    one_word = '{"ev":"spi","op":"0xAD","name":"AAI","read_ns":1,"violation":null}'
    # Each word needs a program command and a poll; a real event is 5 times as long as this one.
    events_of_64_kib = 2 * 5 * len(one_word) * 32 * 1024
    assert spare_bytes(CELL) > events_of_64_kib > spare_bytes(make_cell())
