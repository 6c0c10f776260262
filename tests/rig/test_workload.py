# SPDX-License-Identifier: GPL-2.0-or-later
"""The effect of a job on the chip's bytes, and the files that the guest needs for it."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from delayrig.base.errors import BadInputError
from delayrig.lanes.payload import emulator_words, spec_text, write_payload
from delayrig.model.cell import Job, Programmer
from delayrig.model.chips import DiesFacts, EraseFacts
from delayrig.model.corner import Corner
from delayrig.model.workload import (
    REGION_OFFSET_BYTES,
    Region,
    final_content,
    initial_content,
    layout_text,
    region_of,
    subject_words,
    wrong_granules,
)

from tests.rig.builders import make_cell, make_chip, make_subject, sparse_image

CELL = make_cell()
CHIP = make_chip()
REGION = region_of(CELL, CHIP)
RIGHT = sparse_image(final_content(CELL, REGION))


def test_content_depends_on_the_seed_alone() -> None:
    other = make_cell(subject="debian:trixie", chip="M25P80", corner=Corner.MAX, cores=4)
    assert initial_content(other, REGION) == initial_content(CELL, REGION)
    assert final_content(other, REGION) == final_content(CELL, REGION)
    seeded = [make_cell(seed=seed) for seed in range(10)]
    contents = {initial_content(cell, REGION) for cell in seeded}
    contents |= {final_content(cell, REGION) for cell in seeded}
    assert len(contents) == 20


def test_write_replaces_every_granule_erase_blanks_it_and_other_jobs_keep_it() -> None:
    before, after = initial_content(CELL, REGION), final_content(CELL, REGION)
    assert len(before) == len(after) == 65536
    for at in range(0, 65536, 256):
        assert before[at : at + 256] != after[at : at + 256]
    for job in (Job.PROBE, Job.READ, Job.VERIFY):
        assert final_content(make_cell(job=job), REGION) == before
    assert final_content(make_cell(job=Job.ERASE), REGION) == b"\xff" * 65536


def test_region_of_two_parts_is_in_both() -> None:
    chip = make_chip(
        size_bytes=1 << 20, erase=[EraseFacts(size_bytes=4096)], dies=DiesFacts(by_chip_select=True)
    )
    region = region_of(make_cell(region_kib=8), chip)
    assert region == Region(offset_bytes=(1 << 19) - 4096, size_bytes=8192)


@pytest.mark.parametrize(
    ("keys", "erase_bytes", "content_bytes"),
    [({"region_kib": 4}, 65536, 4096), ({"region_kib": 1, "content_bytes": 64}, 0, 64)],
)
def test_region_is_blank_after_the_requested_content(
    keys: dict[str, int], erase_bytes: int, content_bytes: int
) -> None:
    cell = make_cell(**keys)
    erase = [EraseFacts(size_bytes=erase_bytes)] if erase_bytes else []
    region = region_of(cell, make_chip(erase=erase))
    assert region.size_bytes == (erase_bytes or 1024)
    for content in (initial_content(cell, region), final_content(cell, region)):
        assert content[content_bytes:] == b"\xff" * (region.size_bytes - content_bytes)
        assert content[:content_bytes].count(0xFF) < 100
        assert content[:content_bytes] != b"\xff" * content_bytes


def test_layout_names_the_region_with_its_last_byte() -> None:
    assert layout_text(REGION) == "00010000:0001ffff rig\n"
    high = Region(offset_bytes=0x1FF0000, size_bytes=0x10000)
    assert layout_text(high) == "01ff0000:01ffffff rig\n"


@pytest.mark.parametrize(
    ("region_kib", "chip_kib", "offset"),
    [
        (64, 2048, 65536),
        (64, 128, 65536),  # The region ends where the part ends.
        (64, 127, 0),
        (64, 64, 0),  # The region is the whole part.
        (1024, 2048, 65536),
        (1024, 1088, 65536),
        (1024, 1087, 0),
        (1024, 1024, 0),
        (1024, 64 * 1024, 65536),
    ],
)
def test_region_begins_at_64_kib_if_it_fits_there_else_at_0(
    region_kib: int, chip_kib: int, offset: int
) -> None:
    region = region_of(make_cell(region_kib=region_kib), make_chip(size_bytes=chip_kib * 1024))
    assert (region.offset_bytes, region.size_bytes) == (offset, region_kib * 1024)


@pytest.mark.parametrize(("region_kib", "chip_kib"), [(64, 63), (1024, 1023), (1024, 64)])
def test_region_beyond_the_part_is_refused_with_its_key(region_kib: int, chip_kib: int) -> None:
    with pytest.raises(BadInputError, match=f"'region_kib' is {region_kib}, and GD25Q16C holds"):
        region_of(make_cell(region_kib=region_kib), make_chip(size_bytes=chip_kib * 1024))


@pytest.mark.parametrize(
    ("unit", "offset", "size"),
    [(4096, 65536, 65536), (264, 65736, 65472), (65536, 65536, 65536), (262144, 262144, 262144)],
)
def test_region_is_aligned_to_the_erase_blocks_of_the_part(
    unit: int, offset: int, size: int
) -> None:
    chip = make_chip(erase=[EraseFacts(size_bytes=2 << 20), EraseFacts(size_bytes=unit)])
    assert region_of(CELL, chip) == Region(offset_bytes=offset, size_bytes=size)


@pytest.mark.parametrize("job", [Job.PROBE, Job.READ, Job.VERIFY])
def test_region_that_is_not_changed_need_not_be_aligned(job: Job) -> None:
    chip = make_chip(erase=[EraseFacts(size_bytes=2 << 20)])
    region = region_of(make_cell(job=job, region_kib=4), chip)
    assert region == Region(offset_bytes=65536, size_bytes=4096)


def test_region_may_begin_inside_a_granule() -> None:
    chip = make_chip(erase=[EraseFacts(size_bytes=264)])
    region = region_of(CELL, chip)
    whole = bytearray(b"\xff" * (2 << 20))
    whole[region.offset_bytes : region.end_bytes] = final_content(CELL, region)
    right = sparse_image(bytes(whole), offset=0)
    assert wrong_granules(CELL, chip, right) == []
    whole[region.offset_bytes - 1] = 0
    assert wrong_granules(CELL, chip, sparse_image(bytes(whole), offset=0)) == [65536]
    whole[region.offset_bytes - 1] = 0xFF
    whole[region.end_bytes] = 0
    assert wrong_granules(CELL, chip, sparse_image(bytes(whole), offset=0)) == [131072]


def test_erase_may_leave_zeros_or_ones_in_a_part_without_an_erase_command() -> None:
    cell = make_cell(job=Job.ERASE)
    eeprom, flash = make_chip(), make_chip(erase=[EraseFacts(size_bytes=4096)])
    region = region_of(cell, flash)
    zeros = sparse_image(bytes(region.size_bytes))
    assert wrong_granules(cell, eeprom, zeros) == wrong_granules(cell, eeprom, b"") == []
    assert wrong_granules(cell, flash, b"") == []
    assert len(wrong_granules(cell, flash, zeros)) == 16
    mixed = sparse_image(bytes(4096))
    assert len(wrong_granules(cell, eeprom, mixed)) == 1
    assert len(wrong_granules(make_cell(), eeprom, zeros)) == 16


def test_every_granule_of_a_larger_region_is_compared() -> None:
    cell = make_cell(region_kib=1024)
    region = region_of(cell, CHIP)
    right = sparse_image(final_content(cell, region))
    assert wrong_granules(cell, CHIP, right) == []
    assert wrong_granules(cell, CHIP, right[:-4104]) == [region.end_bytes - 4096]


REGION_WORDS = ("-c", "W25Q128.V", "-l", "/tmp/layout", "-i", "rig")


@pytest.mark.parametrize(
    ("programmer", "argument"),
    [
        (Programmer.SERPROG_IP, "serprog:ip=127.0.0.1:4242"),
        (Programmer.SERPROG_DEV, "serprog:dev=/dev/serprog:115200"),
        (Programmer.SERPROG_NATIVE_DELAY, "serprog:ip=127.0.0.1:4242"),
        (Programmer.DUMMY, "dummy:emulate=W25Q128JV"),
    ],
)
def test_subject_gets_programmer_chip_and_region(programmer: Programmer, argument: str) -> None:
    cell = make_cell(programmer=programmer)
    words = subject_words(cell, "W25Q128.V", "dummy:emulate=W25Q128JV")
    assert words[:8] == ["-p", argument, *REGION_WORDS]


@pytest.mark.parametrize(
    ("job", "tail"),
    [
        (Job.READ, [*REGION_WORDS, "-r", "/tmp/read.bin"]),
        (Job.ERASE, [*REGION_WORDS, "-E"]),
        (Job.WRITE, [*REGION_WORDS, "-N", "-w", "/tmp/write.bin"]),
        (Job.VERIFY, [*REGION_WORDS, "-v", "/tmp/write.bin"]),
        (Job.PROBE, ["-c", "W25Q128.V"]),
        (Job.DETECT, []),
    ],
)
def test_words_name_the_region_unless_the_job_only_finds_the_chip(
    job: Job, tail: list[str]
) -> None:
    words = subject_words(make_cell(job=job), "W25Q128.V")
    assert words == ["-p", "serprog:ip=127.0.0.1:4242", *tail]


GRANULE = 8 + 4096
GRANULES = [RIGHT[at : at + GRANULE] for at in range(0, len(RIGHT), GRANULE)]


@pytest.mark.parametrize(
    "image",
    [RIGHT, b"".join(reversed(GRANULES)), RIGHT + sparse_image(b"\xff" * 4096, offset=0)],
    ids=["usual", "in another order", "with a blank granule"],
)
def test_right_image_has_no_difference(image: bytes) -> None:
    assert wrong_granules(CELL, CHIP, image) == []


@pytest.mark.parametrize("granule", [0, 7, 15])
def test_missing_granule_is_a_difference(granule: int) -> None:
    image = b"".join(GRANULES[:granule] + GRANULES[granule + 1 :])
    assert wrong_granules(CELL, CHIP, image) == [REGION_OFFSET_BYTES + granule * 4096]
    assert len(wrong_granules(CELL, CHIP, sparse_image(initial_content(CELL, REGION)))) == 16
    assert len(wrong_granules(CELL, CHIP, b"")) == 16


@pytest.mark.parametrize("offset", [0, REGION_OFFSET_BYTES - 4096, 0x20000, (2 << 20) - 4096])
def test_anything_outside_the_region_is_a_difference(offset: int) -> None:
    stray = sparse_image(b"\xff" * 4095 + b"\xfe", offset=offset)
    assert wrong_granules(CELL, CHIP, RIGHT + stray) == [offset]


@pytest.mark.parametrize(
    "image",
    [
        RIGHT[:-1],
        RIGHT + b"\0",
        RIGHT + sparse_image(b"\0" * 4096, offset=2 << 20),
        RIGHT + sparse_image(b"\0" * 4096),
    ],
)
def test_invalid_image_is_refused(image: bytes) -> None:
    with pytest.raises(ValueError, match="the emulator's image"):
        wrong_granules(CELL, CHIP, image)


def lines_of(spec: str, key: str) -> list[str]:
    return [
        line.removeprefix(f"{key} ") for line in spec.splitlines() if line.startswith(f"{key} ")
    ]


def test_spec_begins_with_its_schema_and_holds_both_command_lines() -> None:
    spec = spec_text(CELL, CHIP, "GD25Q16(B)", make_subject())
    assert spec.startswith("schema 1\n")
    assert lines_of(spec, "emulator") == emulator_words(CELL, REGION)
    words = subject_words(CELL, "GD25Q16(B)")
    assert lines_of(spec, "subject") == ["/usr/sbin/flashrom", *words]
    assert lines_of(spec, "deadline_ms") == ["600000"]


@pytest.mark.parametrize(
    ("changes", "key", "values"),
    [
        ({"cores": 4}, "siblings", []),
        ({"hazards": ("busy-siblings",), "cores": 2}, "siblings", ["1"]),
        ({"hazards": ("busy-siblings",), "cores": 4}, "siblings", ["3"]),
        ({"hazards": ("stop-cont:10",)}, "stops_hz", ["10"]),
        ({}, "bridge_root", []),
        ({"programmer": Programmer.SERPROG_DEV}, "bridge_root", ["/bridge"]),
    ],
)
def test_spec_has_the_numbers_of_hazards_and_of_the_bridge_to_a_tty(
    changes: dict[str, Any], key: str, values: list[str]
) -> None:
    spec = spec_text(make_cell(**changes), CHIP, "x", make_subject())
    assert lines_of(spec, key) == values


@pytest.mark.parametrize("job", Job)
def test_content_is_collected_only_after_a_read(job: Job) -> None:
    collected = lines_of(spec_text(make_cell(job=job), CHIP, "x", make_subject()), "collect")
    names = [line.split()[0] for line in collected]
    assert {"events.jsonl", "emulator.log", "image.sparse", "stdout.txt"} <= set(names)
    read = "read.bin /subject/tmp/read.bin 65536 65536"
    assert (read in collected) is (job is Job.READ)


@pytest.mark.parametrize("corner", ["max", "zero", "draw:7", "slow:3"])
def test_emulator_gets_chip_corner_and_seed_of_the_cell(corner: str) -> None:
    words = emulator_words(make_cell(chip="M25P80", corner=corner, seed=77), REGION)
    given = dict(pairwise(words))
    assert (given["--chip"], given["--corner"], given["--seed"]) == ("M25P80", corner, "77")
    assert given["--image-offset"] == "65536"


@pytest.mark.parametrize("programmer", Programmer)
def test_emulator_offers_delays_only_for_native_delays(programmer: Programmer) -> None:
    words = emulator_words(make_cell(programmer=programmer), REGION)
    offered = programmer is Programmer.SERPROG_NATIVE_DELAY
    assert ("--native-delay" in words) is offered


def test_emulator_image_and_collection_have_the_region_of_the_cell() -> None:
    cell = make_cell(region_kib=1024, job=Job.READ)
    chip = make_chip(size_bytes=1 << 20)
    spec = spec_text(cell, chip, "x", make_subject())
    assert "emulator --image-offset\nemulator 0\n" in spec
    assert "image /subject/tmp/write.bin 1048576 0 /cell/after.bin" in spec.splitlines()
    assert "read.bin /subject/tmp/read.bin 0 1048576" in lines_of(spec, "collect")


def test_payload_has_the_same_bytes_in_any_folder(tmp_path: Path) -> None:
    contents = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        spec = spec_text(CELL, CHIP, "x", make_subject())
        archive = write_payload(CELL, CHIP, spec, tmp_path / name)
        contents.append(archive.read_bytes())
    assert contents[0] == contents[1]
    assert str(tmp_path).encode() not in contents[0]


def test_library_client_gets_its_options_and_its_events_are_collected() -> None:
    cell = make_cell(hazards=("signals:20",), job=Job.PROBE)
    spec = spec_text(cell, CHIP, "x", make_subject(library=True))
    words = lines_of(spec, "subject")
    assert words[-4:] == ["--events", "/tmp/host.jsonl", "--signals", "20"]
    assert "host.jsonl /subject/tmp/host.jsonl 0 0" in lines_of(spec, "collect")
    plain = spec_text(make_cell(job=Job.PROBE), CHIP, "x", make_subject())
    assert not any("host.jsonl" in line for line in plain.splitlines())
