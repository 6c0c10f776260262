# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig images --all`: it names the parts that the archive lacks, and makes all others."""

import pytest
from delayrig.base.errors import NotProvidedError
from delayrig.base.paths import Paths, find_paths
from delayrig.features.images import command as images
from delayrig.model.platform import Arch
from delayrig.subjects.recipes import read_recipes
from delayrig.subjects.subject import CYCLICTEST

from tests.rig.builders import CHECKOUT

LOST_ARCH = Arch.I386


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Returns a list that receives each request for an image; one architecture has none."""
    found: list[object] = []

    def kernel(name: str, *_: object) -> None:
        found.append(name)

    def live(*_: object) -> None:
        found.append("live")

    def tool(name: str, _recipes: object, _paths: Paths, _say: object, arch: Arch) -> None:
        found.append((name, arch))
        if name == CYCLICTEST and arch is LOST_ARCH:
            raise NotProvidedError("rt-tests (i386)", "Mirror sync in progress?")

    monkeypatch.setattr(images, "provide_kernel", kernel)
    monkeypatch.setattr(images, "provide_live_image", live)
    monkeypatch.setattr(images, "provide_tool", tool)
    return found


def test_everything_of_the_recipes_is_asked_for_and_the_missing_is_named(
    asked: list[object], capsys: pytest.CaptureFixture[str]
) -> None:
    images.prepare_on_demand(find_paths())
    recipes = read_recipes(CHECKOUT)
    each_arch = {(name, arch) for name in (CYCLICTEST, *recipes.tools) for arch in Arch}
    assert set(asked) == {*recipes.kernels, "live", *each_arch}
    assert capsys.readouterr().err == (
        "warning: the archive did not give rt-tests (i386): Mirror sync in progress?\n"
    )
