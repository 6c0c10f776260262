# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs linked with musl: the options of the linker, whether or not /usr is merged."""

import shlex
import subprocess
from pathlib import Path

import pytest
from delayrig.base.paths import Paths
from delayrig.subjects import musl, own_programs
from delayrig.subjects.musl import MUSL, MUSL_STATIC, provide_with_musl

from tests.rig.builders import CHECKOUT

PLACES = ("lib/x86_64-linux-musl", "usr/lib/x86_64-linux-musl")


def unpack_into(root: Path, shared: str) -> None:
    """Writes the files that musl's packages contain; `shared` is the folder of libc.so."""
    for place, name in ((shared, "libc.so"), (PLACES[1], "libc.a"), (PLACES[1], "crt1.o")):
        (root / place).mkdir(parents=True, exist_ok=True)
        (root / place / name).touch()


@pytest.fixture(params=PLACES)
def paths(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """Returns paths with an empty state. Fakes unpack musl's packages, and no build fails."""

    def unpack(_suite: str, _packages: list[str], root: Path) -> None:
        unpack_into(root, request.param)

    def build(argv: list[str], _paths: Paths) -> subprocess.CompletedProcess[str]:
        if "setup" in argv:
            Path(argv[2]).mkdir()
        return subprocess.CompletedProcess(argv, 0, "", "")

    monkeypatch.setattr(musl, "unpack_packages", unpack)
    for module in (musl, own_programs):
        monkeypatch.setattr(module, "run_builder", build)
    return Paths(checkout=CHECKOUT, state=tmp_path)


def link_options(libc: str, paths: Paths) -> list[str]:
    """Provides a program; returns the linker's options in its cross file."""
    provide_with_musl(libc, "program", paths, lambda _: None)
    text = (paths.state / f"cross-{libc.rstrip(':')}.ini").read_text()
    listed = text.partition("c_link_args = [")[2].partition("]")[0]
    return shlex.split(listed.replace(",", " "))


def first_with(name: str, folders: list[str]) -> int:
    return next(at for at, place in enumerate(folders) if (Path(place) / name).is_file())


@pytest.mark.parametrize("libc", [MUSL, MUSL_STATIC])
def test_linker_finds_the_shared_library_no_later_than_the_archive(libc: str, paths: Paths) -> None:
    options = link_options(libc, paths)
    searched = [option[2:] for option in options if option.startswith("-L")]
    assert first_with("libc.so", searched) <= first_with("libc.a", searched)
    assert (Path(options[options.index("-B") + 1]) / "crt1.o").is_file()
    assert ("-static" in options) == (libc == MUSL_STATIC)
