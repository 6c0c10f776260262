# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders that a command in a container sees: at the same path, with the least rights."""

from pathlib import Path

import pytest
from delayrig.setup.errors import UsageError
from delayrig.setup.mounts import Mount, plan_mounts


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("rig/rig", "rig/emulators", "rig/images", "work/build", "data/old", "tree/bin"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path


def planned(home: Path, working: str, *arguments: str) -> dict[str, bool]:
    mounts = plan_mounts(arguments, working=home / working, checkout=home / "rig")
    return {str(mount.place.relative_to(home)): mount.writable for mount in mounts}


def test_working_folder_is_written_and_checkout_is_not(home: Path) -> None:
    assert planned(home, "work", "run", "--plan", "smoke") == {"rig": False, "work": True}


def test_sources_are_protected_where_the_checkout_is_the_working_folder(home: Path) -> None:
    sources = {f"rig/{name}": False for name in ("emulators", "images", "rig")}
    assert planned(home, "rig", "run") == {"rig": True, **sources}


def test_checkout_inside_the_working_folder_is_protected(home: Path) -> None:
    assert planned(home, ".", "run") == {".": True, "rig": False}


def test_working_folder_inside_the_checkout_is_written(home: Path) -> None:
    assert planned(home, "rig/images", "run") == {"rig": False, "rig/images": True}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--out", "{home}/data/new/deeper"],
        ["--out={home}/data/new"],
        ["--out", "../data/new"],
        ["--format", "junit:{home}/data/junit.xml"],
        ["compare", "../data/old/../a", "{home}/data/b"],
    ],
)
def test_folder_that_is_named_outside_is_written(home: Path, arguments: list[str]) -> None:
    words = [word.format(home=home) for word in arguments]
    assert planned(home, "work", *words) == {"rig": False, "work": True, "data": True}


def test_program_under_test_is_read_with_what_is_beside_it(home: Path) -> None:
    (home / "tree/bin/flashrom").touch()
    said = planned(home, "work", "--subject", "path:../tree/bin/flashrom")
    assert said == {"rig": False, "work": True, "tree/bin": False}


def test_program_inside_the_working_folder_may_be_built_there(home: Path) -> None:
    (home / "work/build/flashrom").touch()
    words = ("--build", "make", "--subject", "path:./build/flashrom")
    assert planned(home, "work", *words) == {"rig": False, "work": True}


def test_place_behind_a_symbolic_link_is_there_by_both_names(home: Path) -> None:
    (home / "link").symlink_to(home / "data")
    said = planned(home, "work", "--out", f"{home}/link/new")
    assert said == {"rig": False, "work": True, "data": True, "link": True}


@pytest.mark.parametrize(
    "word", ["debian:trixie", "qemu+ssh://host/system", "sqlite:////srv/db", "W25*", "signals:20"]
)
def test_what_is_no_path_is_left_alone(home: Path, word: str) -> None:
    assert planned(home, "work", "run", word) == {"rig": False, "work": True}


@pytest.mark.parametrize("place", ["/new", "/etc/x", "/usr/lib/y/z", "/var/w", "path:/usr/bin/ls"])
def test_place_that_the_container_has_itself_is_refused(home: Path, place: str) -> None:
    with pytest.raises(UsageError, match="cannot be passed on to a container"):
        planned(home, "work", "--out", place)


def test_more_folders_are_passed_on(home: Path) -> None:
    mounts = plan_mounts(
        [],
        working=home / "work",
        checkout=home / "rig",
        written=[home / "data"],
        read=[home / "tree", home / "work" / "build"],
    )
    assert [(mount.place.name, mount.writable) for mount in mounts] == [
        ("data", True),
        ("rig", False),
        ("tree", False),
        ("work", True),
    ]


def test_mount_is_at_the_same_place_inside() -> None:
    option = "type=bind,source=/a/b,target=/a/b"
    assert Mount(place=Path("/a/b"), writable=True).option() == option
    assert Mount(place=Path("/a/b"), writable=False).option() == f"{option},readonly"
