# SPDX-License-Identifier: GPL-2.0-or-later
"""The QEMU that is fetched for the first cell: its source, and the error if there is none."""

import os
from pathlib import Path

import pytest
from delayrig.base.errors import NotProvidedError
from delayrig.base.paths import Paths, find_paths
from delayrig.model.platform import PLATFORMS, Arch
from delayrig.subjects import own_programs
from delayrig.subjects.own_programs import provide_qemu

QEMU = PLATFORMS[Arch.RISCV64].program
WORKS, FAILS = "#!/bin/sh\n", "#!/bin/sh\necho no libcapstone >&2\nexit 127\n"


class Archive:
    """An archive whose release has no such package; its backports have `program`."""

    def __init__(self, program: str) -> None:
        self.program = program
        self.requests: list[tuple[str, str]] = []

    def unpack(self, suite: str, packages: list[str], folder: Path, *, release: str = "") -> None:
        self.requests.append((suite, release))
        if not release:
            raise NotProvidedError(packages[0], "Unable to locate package")
        place = folder / "usr" / "bin" / QEMU
        place.parent.mkdir(parents=True)
        place.write_text(self.program)
        place.chmod(0o755)


def provide(archive: Archive, folder: Path, patch: pytest.MonkeyPatch) -> list[str]:
    """Provides QEMU from the archive, with `folder` as the state; returns the messages."""
    made: list[str] = []
    patch.setattr(own_programs, "unpack_packages", archive.unpack)
    patch.setattr(own_programs, "debian_codename", lambda _: "bookworm")
    paths = Paths(checkout=find_paths().checkout, state=folder)
    provide_qemu(Arch.RISCV64, paths, made.append)
    return made


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the only folder of the PATH, which is empty."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_missing_package_is_fetched_from_backports_once(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = Archive(WORKS)
    assert provide(archive, tmp_path, monkeypatch) == ["QEMU for riscv64"]
    assert archive.requests == [("bookworm", ""), ("bookworm-backports", "bookworm")]
    last = Path(os.environ["PATH"].split(os.pathsep)[-1])
    assert (last / QEMU).is_file()
    assert (last / "qemu-bundle/usr/bin" / QEMU).is_file()
    monkeypatch.setenv("PATH", str(path))
    assert provide(archive, tmp_path, monkeypatch) == []


def test_local_qemu_is_used(tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path / QEMU).write_text(WORKS)
    (path / QEMU).chmod(0o755)
    archive = Archive(WORKS)
    assert provide(archive, tmp_path, monkeypatch) == []
    assert archive.requests == []


@pytest.mark.parametrize(
    ("program", "cause"),
    [(FAILS, "no libcapstone"), ("#!/nowhere/sh\n", "No such file or directory")],
)
def test_qemu_that_does_not_run_is_not_provided_and_its_error_is_the_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, cause: str
) -> None:
    with pytest.raises(NotProvidedError) as raised:
        provide(Archive(program), tmp_path, monkeypatch)
    assert (raised.value.what, raised.value.cause) == (QEMU, cause)
    assert QEMU not in os.environ["PATH"]


def test_qemu_that_set_up_installs_is_not_fetched(tmp_path: Path) -> None:
    paths = Paths(checkout=find_paths().checkout, state=tmp_path)
    provide_qemu(Arch.ARMHF, paths, lambda _: pytest.fail("fetched"))
