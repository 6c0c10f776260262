# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that changed in any way since they were sealed are named."""

import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from delayrig.subjects.seal import SPARSE_NAME, add_to_sparse_seal, seal_sparse, sparse_fault

PAGE_BYTES = 4096
RAM_BYTES = 64 << 20
FLIPS = 100


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Makes a sealed snapshot: a RAM with holes, and a state that ends in the middle of a page."""
    made = tmp_path / "a.snapshot"
    made.mkdir()
    dice = random.Random(1)
    (made / "state").write_bytes(dice.randbytes(3 * PAGE_BYTES + 17))
    with (made / "ram").open("wb") as ram:
        ram.truncate(RAM_BYTES)
        for at in (0, 5, 900, 901, 16_000):
            ram.seek(at * PAGE_BYTES)
            ram.write(dice.randbytes(PAGE_BYTES))
    seal_sparse(made)
    return made


def flip(path: Path, at: int, bit: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ 1 << bit]))


def cut(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 1)


def grow(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"\0")


def swap_pages(path: Path) -> None:
    with path.open("r+b") as file:
        one, other = file.read(PAGE_BYTES), file.read(PAGE_BYTES)
        file.seek(0)
        file.write(other + one)


def test_what_is_as_it_was_made_is_sound_also_a_copy_whose_holes_are_filled(
    folder: Path, tmp_path: Path
) -> None:
    assert sparse_fault(folder) == ""
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    assert sparse_fault(copy) == ""


@pytest.mark.parametrize("name", ["state", "ram"])
def test_any_single_flipped_bit_is_seen(folder: Path, name: str) -> None:
    dice = random.Random(2)
    path = folder / name
    for _ in range(FLIPS):
        at, bit = dice.randrange(path.stat().st_size), dice.randrange(8)
        flip(path, at, bit)
        assert sparse_fault(folder) == f"{name} is not as it was made", (at, bit)
        flip(path, at, bit)
    assert sparse_fault(folder) == ""


@pytest.mark.parametrize("harm", [cut, grow, swap_pages])
@pytest.mark.parametrize("name", ["state", "ram"])
def test_other_damage_is_named(folder: Path, name: str, harm: Callable[[Path], None]) -> None:
    harm(folder / name)
    assert sparse_fault(folder) == f"{name} is not as it was made"


def test_missing_and_swapped_and_unknown_files_are_named(folder: Path) -> None:
    (folder / "whole").write_bytes(b"")
    assert sparse_fault(folder) == "whole has no digest"
    (folder / "whole").rename(folder.parent / "whole")
    add_to_sparse_seal(folder, folder.parent / "whole")
    assert sparse_fault(folder) == "whole is missing"
    assert sparse_fault(folder, later=["whole"]) == ""
    (folder.parent / "whole").rename(folder / "whole")
    assert sparse_fault(folder) == ""
    shutil.copyfile(folder / "ram", folder / "state")
    assert sparse_fault(folder) == "state is not as it was made"
    (folder / "ram").unlink()
    assert sparse_fault(folder) == "ram is missing"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"\xff": ""}'])
def test_damaged_digests_are_damage(folder: Path, content: bytes) -> None:
    (folder / SPARSE_NAME).write_bytes(content)
    assert sparse_fault(folder) == f"{SPARSE_NAME} is missing or damaged"


def test_holes_cost_nothing(folder: Path) -> None:
    with (folder / "ram").open("r+b") as ram:
        ram.truncate(1 << 40)
    began_s = time.process_time()
    seal_sparse(folder)
    assert sparse_fault(folder) == ""
    assert time.process_time() - began_s < 5  # Reading 1 TiB would take minutes.
