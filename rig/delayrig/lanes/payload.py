# SPDX-License-Identifier: GPL-2.0-or-later
"""The inputs of a guest for one cell: the specification for the agent, and other files.

images/agent/spec.h defines the format of the specification.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from delayrig.base.archive import write_archive
from delayrig.hazards.of_cell import hazards_of, is_in_library
from delayrig.model import workload
from delayrig.model.cell import Cell, Job, Programmer
from delayrig.model.chips import ChipFacts
from delayrig.model.lane import LaneName
from delayrig.model.programmers import device_of
from delayrig.model.workload import IN_GUEST, Places, Region
from delayrig.subjects import dummy
from delayrig.subjects.subject import PROGRAM, Subject

CELL_FOLDER = "/cell"
SUBJECT_ROOT = "/subject"
BRIDGE_ROOT = "/bridge"
SETTLE_MS = 200
DEADLINE_MS = 600_000
FILE_SPARE_BYTES = 8 << 20
"""The room in a file of the subject beyond the size of an image of the whole chip."""
DUMMY_SPARE_BYTES = 96 << 20
"""The same if the subject emulates the chip itself and writes its events.

Programming 64 KiB word by word makes 22 MB of events.
"""
GUEST_RECORDS_MAX = 393_216
"""The limit in a guest: some 110 MB of events, which fit into its memory and its window."""
RECORDS_MAX, RECORDS_PER_KIB = 1 << 20, 128
"""The limit on this machine, and the addition for each KiB of the region.

Together they allow 1 GB of events for a write of 16 MiB.
"""
REHEARSED, REHEARSED_EVENTS = "/tmp/rehearsed.bin", "/tmp/rehearsed.jsonl"
EVENTS_NAME, SPARSE_NAME = "events.jsonl", "image.sparse"
COLLECTED = (EVENTS_NAME, "bridge.log", "emulator.log", SPARSE_NAME, "stdout.txt")
PACKED = "cell"
"""The folder that a cell's archive is made of."""
OPENS = "opens"
"""The name of the file that lists the programmer's files, for images/agent/device_agent.c."""
BEFORE = "before.bin"
NO_FILES: Mapping[str, bytes] = {}


def emulator_words(cell: Cell, region: Region) -> list[str]:
    """Returns the emulator's arguments for this cell, without its address."""
    native_delay = cell.programmer is Programmer.SERPROG_NATIVE_DELAY
    return [
        *("--chip", cell.chip),
        *("--corner", cell.corner),
        *("--seed", str(cell.seed)),
        *("--image-in", BEFORE),
        *("--image-offset", str(region.offset_bytes)),
        *("--image-out-sparse", SPARSE_NAME),
        *("--events", EVENTS_NAME),
        *("--records-max", str(records_max(cell))),
        *(["--native-delay"] if native_delay else []),
        *(word for hazard in hazards_of(cell) for word in hazard.emulator_words(cell)),
    ]


def chip_values(cell: Cell, region: Region, scratch: Path) -> dict[str, str]:
    """Returns the settings of a chip in QEMU (emulators/programmers/session.h).

    The chip reads its content where `write_payload` left it, and writes its files to `scratch`.
    """
    return {
        "part": cell.chip,
        "corner": cell.corner,
        "seed": str(cell.seed),
        "records_max": str(records_max(cell)),
        "start_state": next(filter(None, (h.start_state for h in hazards_of(cell))), "ready"),
        "image_in": str(scratch / PACKED / BEFORE),
        "image_offset": str(region.offset_bytes),
        "image_out_sparse": str(scratch / SPARSE_NAME),
        "events": str(scratch / EVENTS_NAME),
    }


def device_entries(cell: Cell, scratch: Path) -> dict[str, bytes]:
    """Returns the files of the chip if it is in QEMU, behind a device of the guest; else none."""
    names = (SPARSE_NAME, EVENTS_NAME) if device_of(cell) else ()
    return {name: (scratch / name).read_bytes() for name in names if (scratch / name).is_file()}


def records_max(cell: Cell) -> int:
    """Returns the number of events after which the emulator no longer serves the subject."""
    if cell.lane is LaneName.VIRTUAL:
        return GUEST_RECORDS_MAX
    return RECORDS_MAX + RECORDS_PER_KIB * cell.region_kib


def spare_bytes(cell: Cell) -> int:
    return DUMMY_SPARE_BYTES if cell.programmer is Programmer.DUMMY else FILE_SPARE_BYTES


def deadline_ms(cell: Cell, usual_ms: int = DEADLINE_MS) -> int:
    """Returns the time limit: the shortest of the hazards', else the cell's own, else the usual."""
    limits = [hazard.deadline_ms for hazard in hazards_of(cell)]
    usual_ms = cell.deadline_ms or usual_ms
    return min((limit for limit in limits if limit is not None), default=usual_ms)


def bridge_lines(cell: Cell) -> list[str]:
    """Returns the specification's lines for socat, which joins a tty to the emulator's socket.

    It connects when the subject opens the tty.
    """
    if not cell.bridged or cell.in_real_time:
        return []
    return [
        f"bridge_root {BRIDGE_ROOT}",
        f"bridge_makes {IN_GUEST.device}",
        f"bridge {PROGRAM}",
        f"bridge PTY,link={IN_GUEST.device},rawer,wait-slave,pty-interval=0.001",
        f"bridge TCP:127.0.0.1:{IN_GUEST.port},nodelay",
    ]


def subject_words(
    cell: Cell, chip_name: str, subject: Subject, places: Places = IN_GUEST
) -> list[str]:
    """Returns the subject's arguments: for its job, for its hazards, and for the library client."""
    own = cell.programmer is Programmer.DUMMY
    inside = dummy.argument(cell, subject.program_bytes, places) if own else ""
    words = workload.subject_words(cell, chip_name, inside, places)
    if not is_in_library(cell):
        options = [hazard.flashrom_option for hazard in hazards_of(cell)]
        return [*words, *filter(None, options)]
    of_hazards = (word for hazard in hazards_of(cell) for word in hazard.subject_words(subject))
    return [*words, "--events", places.client_events, *of_hazards]


def dummy_lines(cell: Cell, chip: ChipFacts, region: Region) -> list[str]:
    if cell.programmer is not Programmer.DUMMY:
        return []
    image = f"{SUBJECT_ROOT}{IN_GUEST.dummy_image}"
    return [
        f"image {image} {chip.size_bytes} {region.offset_bytes} {CELL_FOLDER}/{BEFORE}",
        f"collect chip.bin {image} 0 0",
        f"collect dummy.jsonl {SUBJECT_ROOT}{IN_GUEST.dummy_events} 0 0",
    ]


def spec_text(
    cell: Cell,
    chip: ChipFacts,
    chip_name: str,
    subject: Subject,
    places: Places = IN_GUEST,
    usual_ms: int = DEADLINE_MS,
    rehearsal: Sequence[str] = (),
) -> str:
    """Returns the agent's specification. If `rehearsal` is given, that command runs first."""
    region = workload.region_of(cell, chip)
    emulator = [f"emulator {word}" for word in emulator_words(cell, region)]
    is_outside = cell.lane is LaneName.LIVE or device_of(cell) is not None
    lines = [
        "schema 1",
        f"settle_ms {SETTLE_MS}",
        f"deadline_ms {deadline_ms(cell, usual_ms)}",
        f"file_bytes_max {chip.size_bytes + spare_bytes(cell)}",
        *(line for hazard in hazards_of(cell) for line in hazard.spec_lines(cell)),
        f"root {SUBJECT_ROOT}",
        *(["emulator_outside 1"] if is_outside else emulator),
        f"subject {PROGRAM}",
        *(f"subject {word}" for word in subject_words(cell, chip_name, subject, places)),
        *bridge_lines(cell),
        *dummy_lines(cell, chip, region),
        f"image {SUBJECT_ROOT}{IN_GUEST.layout} 0 0 {CELL_FOLDER}/layout",
        f"image {SUBJECT_ROOT}{IN_GUEST.write} {chip.size_bytes}"
        f" {region.offset_bytes} {CELL_FOLDER}/after.bin",
        *(f"collect {name} {CELL_FOLDER}/{name} 0 0" for name in COLLECTED),
        *(f"rehearsal {word}" for word in rehearsal),
    ]
    if is_in_library(cell):
        lines.append(f"collect host.jsonl {SUBJECT_ROOT}{IN_GUEST.client_events} 0 0")
    if cell.job is Job.READ:
        lines.append(
            f"collect read.bin {SUBJECT_ROOT}{IN_GUEST.read}"
            f" {region.offset_bytes} {region.size_bytes}"
        )
    return "\n".join(lines) + "\n"


def rehearsal_words(cell: Cell, chip_name: str, subject: Subject, places: Places) -> Sequence[str]:
    """Returns the command of a rehearsal; empty if the subject emulates the chip itself.

    It is the same job with other files, so that its results are not mistaken for the cell's.
    """
    if cell.programmer is Programmer.DUMMY:
        return []
    elsewhere = msgspec.structs.replace(places, read=REHEARSED, client_events=REHEARSED_EVENTS)
    over_network = msgspec.structs.replace(cell, programmer=Programmer.SERPROG_IP)
    return [PROGRAM, *subject_words(over_network, chip_name, subject, elsewhere)]


def write_payload(cell: Cell, chip: ChipFacts, spec: str, scratch: Path) -> Path:
    """Returns an archive with the specification and the files of the cell."""
    region = workload.region_of(cell, chip)
    files = {
        BEFORE: workload.initial_content(cell, region),
        "after.bin": workload.final_content(cell, region),
        "layout": workload.layout_text(region).encode(),
    }
    if device := device_of(cell):
        files[OPENS] = "".join(f"{path}\n" for path in device.opens).encode()
    return pack_spec(spec, scratch, files)


def pack_spec(spec: str, scratch: Path, files: Mapping[str, bytes] = NO_FILES) -> Path:
    """Returns an archive with the specification and those files, written below `scratch`."""
    folder = scratch / PACKED
    folder.mkdir()
    for name, content in {**files, "spec": spec.encode()}.items():
        (folder / name).write_bytes(content)
    archive = scratch / "cell.cpio"
    write_archive(folder, archive)
    return archive
