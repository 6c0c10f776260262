# SPDX-License-Identifier: GPL-2.0-or-later
"""Damaged files of packed subjects and live images: reported, removed and made again."""

import random
from pathlib import Path

import msgspec
import pytest
from delayrig.base.paths import Paths
from delayrig.machine import live_image
from delayrig.machine.arguments import CARD
from delayrig.machine.live_image import LiveImage, provide_live_image
from delayrig.subjects.recipes import GuestRecipe, read_recipes
from delayrig.subjects.seal import FILE_NAME, files_below, sealed, unsealed
from delayrig.subjects.subject import Subject, provide_root, provide_subject

from tests.conftest import Bound
from tests.damage import HARMS
from tests.rig.builders import CHECKOUT

DAMAGES = (12, 100)


def provide(paths: Paths, told: list[str]) -> Subject:
    subject = provide_subject("bundled", read_recipes(CHECKOUT), paths, told.append)
    provide_root(subject)
    return subject


def content_of(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in files_below(folder)}


@pytest.mark.bounds(damages=DAMAGES)
def test_damaged_subject_is_named_and_packed_again(paths: Paths, bound: Bound) -> None:
    told: list[str] = []
    folder = Path(provide(paths, told).archive).parent
    sound = content_of(folder)
    assert told == []
    for seed in range(bound("damages")):
        draws = random.Random(f"damaged subject {seed}")
        name = draws.choice(sorted(sound))
        draws.choice(HARMS)(folder / name, draws)
        assert content_of(folder) != sound, (seed, name)
        told.clear()
        provide(paths, told)
        assert content_of(folder) == sound, (seed, name)
        # A damaged root is unpacked again from the checked archive, without a message. A missing
        # seal gives none either.
        unnamed = name.startswith("root") or (name == "seal.json" and not told)
        assert unnamed or "bundled again: " in told[0], (seed, name, told)


def test_sound_subject_is_taken_as_it_is(paths: Paths) -> None:
    told: list[str] = []
    archive = Path(provide(paths, told).archive)
    before = archive.stat().st_ino
    provide(paths, told)
    assert archive.stat().st_ino == before
    assert told == []


class Live:
    """A live image whose kernel and driver come from a fake archive."""

    def __init__(self, state: Path, patch: pytest.MonkeyPatch) -> None:
        self.paths = Paths(checkout=CHECKOUT, state=state)
        self.told: list[str] = []
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
        self.told.clear()
        recipe: GuestRecipe = self.recipe
        return provide_live_image(recipe, self.paths, self.told.append)


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
        assert "again: " in live.told[0], (seed, name)
        assert name.rpartition(".")[0] in live.told[0], (seed, name)
    assert live.provide() == first
    assert live.told == []


def test_any_flipped_bit_of_a_sealed_file_is_seen() -> None:
    content = b'{"address": 4096}'
    assert unsealed(content) == content  # An older rig kept it without a digest.
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
    assert "seal.json is" in live.told[0]
    assert msgspec.json.decode(seal.read_bytes()) == msgspec.json.decode(sound)
