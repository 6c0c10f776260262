# SPDX-License-Identifier: GPL-2.0-or-later
"""Damaged files of subjects, images and snapshots are named; damaged images are made again."""

import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from delayrig.base.paths import Paths
from delayrig.machine import live_image
from delayrig.machine.arguments import CARD
from delayrig.machine.live_image import LiveImage, provide_live_image
from delayrig.subjects.recipes import GuestRecipe, read_recipes
from delayrig.subjects.seal import (
    FILE_NAME,
    SPARSE_NAME,
    add_to_sparse_seal,
    files_below,
    seal_sparse,
    sealed,
    sparse_fault,
    unsealed,
)
from delayrig.subjects.subject import Subject, provide_root, provide_subject

from tests.conftest import Bound
from tests.damage import HARMS, flip, swap_halves
from tests.rig.builders import CHECKOUT

DAMAGES = (12, 100)


def provide(paths: Paths, messages: list[str]) -> Subject:
    subject = provide_subject("bundled", read_recipes(CHECKOUT), paths, messages.append)
    provide_root(subject)
    return subject


def content_of(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in files_below(folder)}


@pytest.mark.bounds(damages=DAMAGES)
def test_damaged_subject_is_named_and_packed_again(paths: Paths, bound: Bound) -> None:
    messages: list[str] = []
    folder = Path(provide(paths, messages).archive).parent
    sound = content_of(folder)
    assert messages == []
    for seed in range(bound("damages")):
        draws = random.Random(f"damaged subject {seed}")
        name = draws.choice(sorted(sound))
        draws.choice(HARMS)(folder / name, draws)
        assert content_of(folder) != sound, (seed, name)
        messages.clear()
        provide(paths, messages)
        assert content_of(folder) == sound, (seed, name)
        # A damaged root is unpacked again from the checked archive, without a message. A missing
        # seal gives none either.
        unnamed = name.startswith("root") or (name == "seal.json" and not messages)
        assert unnamed or "bundled again: " in messages[0], (seed, name, messages)


def test_sound_subject_is_not_packed_again(paths: Paths) -> None:
    messages: list[str] = []
    archive = Path(provide(paths, messages).archive)
    before = archive.stat().st_ino
    provide(paths, messages)
    assert archive.stat().st_ino == before
    assert messages == []


class Live:
    """A live image whose kernel and driver come from a fake archive."""

    def __init__(self, state: Path, patch: pytest.MonkeyPatch) -> None:
        self.paths = Paths(checkout=CHECKOUT, state=state)
        self.messages: list[str] = []
        self.recipe = read_recipes(CHECKOUT).guest
        self.paths.live_agent.parent.mkdir(parents=True)
        self.paths.live_agent.write_bytes(b"agent")
        patch.setattr(live_image, "unpack_packages", self._give)
        patch.setattr(live_image, "take_kernel", self._take)

    def _give(self, _suite: str, _packages: list[str], root: Path, _arch: str) -> dict[str, str]:
        driver = root / "lib/modules/6.1/kernel/drivers/net" / f"{CARD}.ko"
        driver.parent.mkdir(parents=True)
        driver.write_bytes(random.Random("driver").randbytes(5000))
        return {"linux-image": "6.1"}

    def _take(self, _root: Path, _package: str, target: Path) -> None:
        target.write_bytes(random.Random("kernel").randbytes(5000))

    def provide(self) -> LiveImage:
        self.messages.clear()
        recipe: GuestRecipe = self.recipe
        return provide_live_image(recipe, self.paths, self.messages.append)


@pytest.mark.bounds(damages=DAMAGES)
def test_damaged_live_image_is_named_and_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: Bound
) -> None:
    live = Live(tmp_path / "state", monkeypatch)
    first = live.provide()
    folder = Path(first.kernel).parent
    sound = content_of(folder)
    for seed in range(bound("damages")):
        draws = random.Random(f"damaged live image {seed}")
        name = draws.choice(sorted(set(sound) - {"seal.json"}))
        draws.choice(HARMS)(folder / name, draws)
        assert live.provide() == first, (seed, name)
        assert content_of(folder) == sound, (seed, name)
        assert "again: " in live.messages[0], (seed, name)
        assert name.rpartition(".")[0] in live.messages[0], (seed, name)
    assert live.provide() == first
    assert live.messages == []


def test_any_flipped_bit_of_a_sealed_file_is_seen() -> None:
    content = b'{"address": 4096}'
    assert unsealed(content) == content  # Older versions of the rig wrote no digest.
    whole = sealed(content)
    assert unsealed(whole) == content
    for bit in range(8 * len(whole)):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        assert unsealed(bytes(flipped)) is None, bit


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"vmlinuz": 3}', b"\xff"])
def test_damaged_seal_of_a_live_image_has_it_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    live = Live(tmp_path / "state", monkeypatch)
    seal = Path(live.provide().kernel).parent / FILE_NAME
    sound = seal.read_bytes()
    seal.write_bytes(content)
    live.provide()
    assert "seal.json is" in live.messages[0]
    assert msgspec.json.decode(seal.read_bytes()) == msgspec.json.decode(sound)


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


def cut_one_byte(path: Path, _draws: random.Random) -> None:
    os.truncate(path, path.stat().st_size - 1)


def grow(path: Path, _draws: random.Random) -> None:
    with path.open("ab") as file:
        file.write(b"\0")


def test_unchanged_snapshot_is_sound_also_as_a_copy_without_holes(
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
    for seed in range(FLIPS):
        flip(folder / name, random.Random(seed))
        assert sparse_fault(folder) == f"{name} is not as it was made", seed
        flip(folder / name, random.Random(seed))
    assert sparse_fault(folder) == ""


@pytest.mark.parametrize("harm", [cut_one_byte, grow, swap_halves])
@pytest.mark.parametrize("name", ["state", "ram"])
def test_other_damage_is_named(
    folder: Path, name: str, harm: Callable[[Path, random.Random], None]
) -> None:
    harm(folder / name, random.Random(1))
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
def test_damaged_file_of_digests_is_a_fault(folder: Path, content: bytes) -> None:
    (folder / SPARSE_NAME).write_bytes(content)
    assert sparse_fault(folder) == f"{SPARSE_NAME} is missing or damaged"


def test_holes_are_not_read(folder: Path) -> None:
    with (folder / "ram").open("r+b") as ram:
        ram.truncate(1 << 40)
    began_s = time.process_time()
    seal_sparse(folder)
    assert sparse_fault(folder) == ""
    assert time.process_time() - began_s < 5  # Reading 1 TiB would take minutes.
