# SPDX-License-Identifier: GPL-2.0-or-later
"""serprog-floor writes the given bytes with the fewest possible transfers."""

import random
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from delayrig.model.chips import read_chips
from delayrig.model.events import of_kind, read_events
from delayrig.model.kinds.emulator import Spi
from delayrig.subjects.subject import OWN_PROGRAMS

from .emulator import PATHS, emulator, run

CHIPS = read_chips(PATHS.checkout)
CHIP = CHIPS["GD25Q16C"]
READ_BYTES = 61440  # the longest read of the emulator
PAGE_BYTES = 256
ERASES = ("0x20", "0x52", "0xd8", "0x60", "0xc7")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A finished write: its exit code, output and commands, and the content of the part."""

    exit_code: int
    output: str
    commands: Counter[str]
    part: bytes


def write(
    folder: Path,
    content: bytes,
    *,
    at: int,
    corner: str = "zero",
    chip: str = CHIP.name,
    program: str = "floor",
) -> Written:
    """Writes the content at an address of a part full of zeros, with the agent's arguments."""
    facts = CHIPS[chip]
    (folder / "layout").write_text(
        f"00000000:00000fff other\n{at:08x}:{at + len(content) - 1:08x} rig\n"
    )
    blank = b"\xff" * facts.size_bytes
    (folder / "write.bin").write_bytes(blank[:at] + content + blank[at + len(content) :])
    with emulator(chip, corner, folder, bytes(facts.size_bytes)) as port:
        done = floor(
            *("-p", f"serprog:ip=127.0.0.1:{port}", "-c", facts.flashrom_names[0]),
            *("-l", str(folder / "layout"), "-i", "rig", "-N", "-w", str(folder / "write.bin")),
            program=program,
        )
    return Written(
        exit_code=done.returncode,
        output=done.stdout + done.stderr,
        commands=Counter(event.op for event in of_kind(read_events(folder), Spi)),
        part=(folder / "after.img").read_bytes(),
    )


def floor(*words: str, program: str = "floor") -> subprocess.CompletedProcess[str]:
    return run(PATHS.build / OWN_PROGRAMS[program], *words)


def bytes_of(size: int) -> bytes:
    return random.Random(size).randbytes(size)


@pytest.mark.parametrize("chip", sorted(name for name, c in CHIPS.items() if c.family == "spi_nor"))
def test_region_is_written_and_nothing_else_is_touched(chip: str, tmp_path: Path) -> None:
    unit = CHIPS[chip].erase_unit_bytes
    content = bytes_of(2 * unit)
    done = write(tmp_path, content, at=unit, chip=chip)
    assert done.exit_code == 0, done.output
    assert done.part[unit : 3 * unit] == content
    assert not any(done.part[:unit] + done.part[3 * unit :])


def test_write_takes_two_reads_and_three_transfers_for_each_change(tmp_path: Path) -> None:
    size = 128 * 1024
    done = write(tmp_path, bytes_of(size), at=64 * 1024)
    pages, blocks, reads = size // PAGE_BYTES, 2, -(-size // READ_BYTES)
    assert done.commands == {
        "0x03": 2 * reads,
        "0xd8": blocks,
        "0x02": pages,
        "0x06": pages + blocks,
        "0x05": pages + blocks,
    }


@pytest.mark.parametrize(
    ("chip", "at_kib", "size_kib", "erases"),
    [
        (CHIP.name, 28, 108, {"0x20": 3, "0x52": 1, "0xd8": 1}),
        # The first 32 KiB of this part are small sectors.
        ("S25FS128S", 0, 64, {"0x20": 8, "0xd8": 1}),
    ],
)
def test_erases_are_the_largest_that_begin_and_end_in_the_region(
    chip: str, at_kib: int, size_kib: int, erases: dict[str, int], tmp_path: Path
) -> None:
    done = write(tmp_path, bytes_of(size_kib * 1024), at=at_kib * 1024, chip=chip)
    assert done.exit_code == 0, done.output
    assert {op: done.commands[op] for op in ERASES if op in done.commands} == erases


def test_whole_part_takes_one_erase(tmp_path: Path) -> None:
    content = bytes_of(4096).ljust(CHIP.size_bytes, b"\xff")
    done = write(tmp_path, content, at=0)
    assert done.part == content
    assert done.commands["0x60"] + done.commands["0xc7"] == 1
    assert done.commands["0xd8"] == 0


def test_last_block_of_16_mib_is_written(tmp_path: Path) -> None:
    content = bytes_of(4096)
    done = write(tmp_path, content, at=(16 << 20) - 4096, chip="W25Q128JV")
    assert done.exit_code == 0, done.output
    assert done.part[-4096:] == content


def test_blank_pages_are_not_programmed(tmp_path: Path) -> None:
    content = bytearray(b"\xff" * 4096)
    content[PAGE_BYTES - 1] = content[2 * PAGE_BYTES] = 0
    done = write(tmp_path, bytes(content), at=0)
    assert done.exit_code == 0, done.output
    assert done.commands["0x02"] == 2
    assert done.part[:4096] == content


def test_write_to_a_busy_part_fails(tmp_path: Path) -> None:
    done = write(tmp_path, bytes_of(4096), at=0, corner="typ")
    assert done.exit_code == 1
    assert "the part is busy" in done.output
    assert done.commands["0x05"] == 1


@pytest.mark.parametrize(("at", "size"), [(2048, 4096), (4096, 6144)])
def test_region_that_does_not_consist_of_erase_blocks_is_refused(
    at: int, size: int, tmp_path: Path
) -> None:
    done = write(tmp_path, bytes_of(size), at=at)
    assert (done.exit_code, done.commands.total()) == (1, 0)
    assert "no erase that fits" in done.output


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["-p", "dummy", "-c", "GD25Q16(B)", "-l", "l", "-i", "rig", "-w", "w"],
        ["-p", "serprog:ip=127.0.0.1:1", "-c", "nonesuch", "-l", "l", "-i", "rig", "-w", "w"],
        ["-p", "serprog:ip=127.0.0.1:1", "-c", "GD25Q16(B)", "-l", "l", "-i", "rig"],
        ["-p", "serprog:ip=127.0.0.1:1", "-c", "GD25Q16(B)", "-l", "l", "-r", "r"],
    ],
)
def test_wrong_command_line_prints_the_usage(words: list[str]) -> None:
    done = floor(*words)
    assert done.returncode == 2
    assert "Usage: serprog-floor -p serprog:ip=" in done.stderr


@pytest.mark.parametrize("layout", ["", "00000000:00000fff other\n", "00000000:00ffffff rig\n"])
def test_layout_without_a_region_rig_inside_the_part_is_refused(
    layout: str, tmp_path: Path
) -> None:
    (tmp_path / "layout").write_text(layout)
    done = floor(
        *("-p", "serprog:ip=127.0.0.1:1", "-c", CHIP.flashrom_names[0]),
        *("-l", str(tmp_path / "layout"), "-i", "rig", "-w", "/dev/null"),
    )
    assert done.returncode == 1
    assert f"{tmp_path}/layout" in done.stderr


def test_yardstick_waits_the_longest_times_and_never_polls(tmp_path: Path) -> None:
    unit = CHIP.erase_unit_bytes
    content = bytes_of(unit)
    done = write(tmp_path, content, at=unit, corner="max", program="control:yardstick")
    assert done.part[unit : 2 * unit] == content
    assert "0x05" not in done.commands
    assert not any(event.violation for event in of_kind(read_events(tmp_path), Spi))
