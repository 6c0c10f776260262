# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels and initial RAM file systems that were damaged are made again."""

from pathlib import Path

import msgspec
import pytest
from delayrig.base import digest
from delayrig.base.paths import Paths
from delayrig.model.platform import Arch
from delayrig.subjects import guest_image
from delayrig.subjects.guest_image import GuestImage, provide_guest_image
from delayrig.subjects.recipes import GuestRecipe, read_recipes

from tests.rig.builders import CHECKOUT

KERNEL, BUSYBOX = b"a kernel", b"a busybox"


class Guest:
    """A state whose archive has these two packages; all else is as shipped."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.paths = Paths(checkout=CHECKOUT, state=folder)
        self.said: list[str] = []
        for program in (self.paths.agent_of("x86_64"), self.paths.emulator_of("x86_64")):
            program.parent.mkdir(parents=True, exist_ok=True)
            program.write_bytes(b"\x7fELF")
        patch.setattr(guest_image, "_fetch", self._give)

    def _give(self, _recipe: GuestRecipe, _arch: Arch, folder: Path, _paths: Paths) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "vmlinuz").write_bytes(KERNEL)
        (folder / "busybox").write_bytes(BUSYBOX)
        parts = {
            "kernel_sha256": digest.of_bytes(KERNEL),
            "busybox_sha256": digest.of_bytes(BUSYBOX),
            "packages": {},
        }
        (folder / "parts.json").write_bytes(msgspec.json.encode(parts))

    def provide(self) -> GuestImage:
        """Provides the image; `said` then holds the messages."""
        self.said.clear()
        return provide_guest_image(read_recipes(CHECKOUT).guest, self.paths, self.said.append)


@pytest.fixture
def guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guest:
    """Returns a guest whose image was provided once."""
    made = Guest(tmp_path, monkeypatch)
    made.provide()
    assert len(made.said) == 1
    return made


def test_sound_image_is_taken_as_it_is(guest: Guest) -> None:
    first = guest.provide()
    assert guest.said == []
    assert guest.provide() == first


@pytest.mark.parametrize("name", ["vmlinuz", "busybox", "parts.json"])
@pytest.mark.parametrize("content", [b"", b"a kernfl", b'{"kernel'])
def test_damaged_part_is_named_and_fetched_again(guest: Guest, name: str, content: bytes) -> None:
    image = guest.provide()
    (Path(image.kernel).parent / name).write_bytes(content)
    assert guest.provide() == image
    (said,) = guest.said
    assert name in said
    assert Path(image.kernel).read_bytes() == KERNEL


@pytest.mark.parametrize("cut_bytes", [1, 100])
def test_damaged_archive_is_packed_again(guest: Guest, cut_bytes: int) -> None:
    image = guest.provide()
    whole = Path(image.initrd).read_bytes()
    Path(image.initrd).write_bytes(whole[:-cut_bytes])
    assert guest.provide() == image
    assert Path(image.initrd).read_bytes() == whole
