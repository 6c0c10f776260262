# SPDX-License-Identifier: GPL-2.0-or-later
"""The bytes that a job touches: pure functions of the cell and its chip.

Every job except `probe` and `detect` is about one region. It holds random content before the job.
A write replaces it with other random content, so everything must be erased, programmed and
verified. If the plan asks for less content than the region holds, the rest of the region is blank.
"""

import random

import msgspec

from delayrig.base.errors import BadInputError
from delayrig.model.cell import CHANGING, Cell, Job, Programmer
from delayrig.model.chips import ChipFacts
from delayrig.model.programmers import DEVICES

# The region is not at the start, so that a subject that ignores the layout is detected.
REGION_OFFSET_BYTES = 64 * 1024
REGION_NAME = "rig"
GRANULE_BYTES = 4096
BLANK = b"\xff"


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """The programmer and the files of a subject; by default those in a guest."""

    host: str = "127.0.0.1"
    port: str = "4242"
    device: str = "/dev/serprog"
    layout: str = "/tmp/layout"
    write: str = "/tmp/write.bin"
    read: str = "/tmp/read.bin"
    client_events: str = "/tmp/host.jsonl"
    """The events of the library client."""
    dummy_image: str = "/tmp/chip.bin"
    dummy_events: str = "/tmp/dummy.jsonl"


IN_GUEST = Places()


class Region(msgspec.Struct, frozen=True, kw_only=True):
    offset_bytes: int
    size_bytes: int

    @property
    def end_bytes(self) -> int:
        return self.offset_bytes + self.size_bytes


def region_of(cell: Cell, chip: ChipFacts) -> Region:
    """Returns the cell's region in that chip: from 64 KiB on if it fits there, else from 0 on.

    A region that the job changes consists of as many whole erase blocks as fit into `region_kib`,
    but at least one, and begins at the first block from 64 KiB on. If the chip is two parts, each
    with a chip select, a region of several blocks spans the border between them. Raises
    `BadInputError` if the chip is too small.
    """
    unit = chip.erase_unit_bytes if cell.job in CHANGING else 1
    size = max(cell.region_kib * 1024 // unit, 1) * unit
    offset = -(-REGION_OFFSET_BYTES // unit) * unit
    if chip.dies.by_chip_select:
        offset = (chip.size_bytes - size) // (2 * unit) * unit
    if offset + size > chip.size_bytes:
        offset = 0
    if size > chip.size_bytes:
        raise BadInputError(
            f"key 'region_kib' is {cell.region_kib}, and {chip.name} holds"
            f" {chip.size_bytes // 1024} KiB",
            hint="set 'region_kib' to a size that fits; larger chips may need another group",
        )
    return Region(offset_bytes=offset, size_bytes=size)


def layout_text(region: Region) -> str:
    return f"{region.offset_bytes:08x}:{region.end_bytes - 1:08x} {REGION_NAME}\n"


def initial_content(cell: Cell, region: Region) -> bytes:
    return _random_content("before", cell, region)


def final_content(cell: Cell, region: Region) -> bytes:
    match cell.job:
        case Job.PROBE | Job.DETECT | Job.READ | Job.VERIFY:
            return initial_content(cell, region)
        case Job.ERASE:
            return BLANK * region.size_bytes
        case Job.WRITE:
            return _random_content("after", cell, region)


def _random_content(state: str, cell: Cell, region: Region) -> bytes:
    """Returns the region's content: random bytes, as many as the plan asks for, then blank ones."""
    size = min(region.size_bytes, cell.content_bytes or cell.region_kib * 1024)
    content = random.Random(f"{state} {cell.seed}").randbytes(size)
    return content.ljust(region.size_bytes, BLANK)


def programmer_argument(cell: Cell, dummy: str = "", places: Places = IN_GUEST) -> str:
    """Returns the value of flashrom's `-p`. It is `dummy` if the subject emulates the part."""
    match cell.programmer:
        case Programmer.SERPROG_IP | Programmer.SERPROG_NATIVE_DELAY:
            return f"serprog:ip={places.host}:{places.port}"
        case Programmer.SERPROG_DEV:
            return f"serprog:dev={places.device}:115200"
        case Programmer.DUMMY:
            return dummy
        case _:
            return DEVICES[cell.programmer].argument


def subject_words(
    cell: Cell, chip_name: str, dummy: str = "", places: Places = IN_GUEST
) -> list[str]:
    """Returns the arguments for the job. `chip_name` is the chip's name in this flashrom."""
    unnamed = ["-p", programmer_argument(cell, dummy, places)]
    words = [*unnamed, "-c", chip_name]
    region = ["-l", places.layout, "-i", REGION_NAME]
    match cell.job:
        case Job.DETECT:
            return unnamed
        case Job.PROBE:
            return words
        case Job.READ:
            return [*words, *region, "-r", places.read]
        case Job.ERASE:
            return [*words, *region, "-E"]
        case Job.WRITE:
            # Without -N flashrom 1.x reads the whole chip before and after.
            return [*words, *region, "-N", "-w", places.write]
        case Job.VERIFY:
            return [*words, *region, "-v", places.write]


def wrong_granules(cell: Cell, chip: ChipFacts, sparse: bytes) -> list[int]:
    """Returns the addresses of the granules in which the emulator's image is wrong."""
    region = region_of(cell, chip)
    found = _found_granules(chip, sparse)
    right = [final_content(cell, region)]
    if cell.job is Job.ERASE and not chip.erase:
        # An EEPROM has no erased state. Releases of flashrom write zeros.
        right.append(bytes(region.size_bytes))
    return min((_differences(content, region, found) for content in right), key=len)


def _differences(content: bytes, region: Region, found: dict[int, bytes]) -> list[int]:
    """Returns the addresses of the granules that differ from that content of the region."""
    before = region.offset_bytes % GRANULE_BYTES
    after = -region.end_bytes % GRANULE_BYTES
    whole = BLANK * before + content + BLANK * after
    wanted = {
        region.offset_bytes - before + at: whole[at : at + GRANULE_BYTES]
        for at in range(0, len(whole), GRANULE_BYTES)
    }
    blank = BLANK * GRANULE_BYTES
    return [
        address
        for address in sorted(wanted.keys() | found.keys())
        if wanted.get(address, blank) != found.get(address, blank)
    ]


def _found_granules(chip: ChipFacts, sparse: bytes) -> dict[int, bytes]:
    """Parses the emulator's image: u64 offset and 4096 bytes for each granule that is not all FF.

    Raises `ValueError` if it is invalid (rig/docs/reference/serprog-emulator.md).
    """
    record = 8 + GRANULE_BYTES
    if len(sparse) % record:
        raise ValueError("the emulator's image is cut short")
    found: dict[int, bytes] = {}
    for at in range(0, len(sparse), record):
        address = int.from_bytes(sparse[at : at + 8], "little")
        if address >= chip.size_bytes or address in found:
            raise ValueError(f"the emulator's image has a granule at {address:#x}")
        found[address] = sparse[at + 8 : at + record]
    return found
