# SPDX-License-Identifier: GPL-2.0-or-later
"""What a job does to which bytes; pure functions of the cell and its chip.

Every job is about one region of 64 KiB. Before a job the region holds one random content; a
write puts another in its place, so that everything must be erased, programmed and verified.
"""

import random

from delayrig.cell import Cell, Job, Programmer
from delayrig.chips import ChipFacts

REGION_OFFSET_BYTES = 64 * 1024
REGION_SIZE_BYTES = 64 * 1024
REGION_END_BYTES = REGION_OFFSET_BYTES + REGION_SIZE_BYTES
REGION_NAME = "rig"

SERPROG_PORT = 4242
SERPROG_DEVICE = "/dev/serprog"
LAYOUT_PATH = "/tmp/layout"
WRITE_PATH = "/tmp/write.bin"
READ_PATH = "/tmp/read.bin"


def layout_text() -> str:
    """A flashrom layout file with the one region."""
    return f"{REGION_OFFSET_BYTES:08x}:{REGION_END_BYTES - 1:08x} {REGION_NAME}\n"


def initial_content(cell: Cell) -> bytes:
    """What the region holds before the job."""
    return random.Random(f"before {cell.seed}").randbytes(REGION_SIZE_BYTES)


def final_content(cell: Cell) -> bytes:
    """What the region must hold after the job."""
    if cell.job is Job.READ:
        return initial_content(cell)
    return random.Random(f"after {cell.seed}").randbytes(REGION_SIZE_BYTES)


def programmer_argument(cell: Cell) -> str:
    """What follows flashrom's `-p`."""
    match cell.programmer:
        case Programmer.SERPROG_IP:
            return f"serprog:ip=127.0.0.1:{SERPROG_PORT}"
        case Programmer.SERPROG_DEV:
            return f"serprog:dev={SERPROG_DEVICE}:115200"
        case Programmer.DUMMY:
            return "dummy"


def subject_words(cell: Cell, program: str, chip_name: str) -> list[str]:
    """The subject's command line. `chip_name` is what this very flashrom calls the chip."""
    words = [program, "-p", programmer_argument(cell), "-c", chip_name]
    words += ["-l", LAYOUT_PATH, "-i", REGION_NAME]
    match cell.job:
        case Job.READ:
            return [*words, "-r", READ_PATH]
        case Job.WRITE:
            # Without -N flashrom 1.x reads the whole chip before and after.
            return [*words, "-N", "-w", WRITE_PATH]


def expected_image(cell: Cell, chip: ChipFacts, sparse: bytes) -> list[int]:
    """Addresses of the granules in which the emulator's image is not what it should be.

    `sparse` is the emulator's own image: u64 offset and 4096 bytes for each granule that is not
    all FF (emulators/README.md).
    """
    granule = 4096
    final = final_content(cell)
    wanted = {
        REGION_OFFSET_BYTES + at: final[at : at + granule]
        for at in range(0, REGION_SIZE_BYTES, granule)
    }
    blank = b"\xff" * granule
    record = 8 + granule
    if len(sparse) % record:
        raise ValueError("the emulator's image is cut short")
    found: dict[int, bytes] = {}
    for at in range(0, len(sparse), record):
        address = int.from_bytes(sparse[at : at + 8], "little")
        if address >= chip.size_bytes or address in found:
            raise ValueError(f"the emulator's image has a granule at {address:#x}")
        found[address] = sparse[at + 8 : at + record]
    return [
        address
        for address in sorted(wanted.keys() | found.keys())
        if wanted.get(address, blank) != found.get(address, blank)
    ]
