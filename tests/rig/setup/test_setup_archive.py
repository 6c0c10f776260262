# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian archive that a user names by option or variable: it is checked, and never printed."""

import os
import subprocess
from pathlib import Path

import pytest
from delayrig.setup.apt import KEYRING, derive_suite, parse_deb822
from delayrig.setup.arguments import read_request
from delayrig.setup.errors import UsageError
from delayrig.setup.layout import find_layout
from delayrig.setup.named_archive import VARIABLE, folder_of, named_archive
from delayrig.subjects.packages import forget_sources

LAUNCHER = find_layout({}).package_path / "rig"
UBUNTU = "ID=ubuntu\nVERSION_CODENAME=noble\n"


@pytest.mark.parametrize(
    "uri",
    [
        "http://archive.example/debian",
        "https://me:secret@archive.example:8443/debian/",
        "http://[::1]:3142/debian",
        "file:/srv/debian",
        "file:///srv/debian",
        "copy:/srv/debian",
    ],
)
def test_address_that_apt_takes_is_taken(uri: str) -> None:
    assert named_archive({VARIABLE: uri}) == uri


@pytest.mark.parametrize(
    "uri",
    [
        "archive.example/debian",
        "ftp://archive.example/debian",
        "http://",
        "http:///debian",
        "http://archive.example/debian main",
        "http://archive.example/debian\nTrusted: yes",
        "http://archive.example/d\u00e9bian",
        "file:debian",
        "file://host/debian",
        "cdrom:[Debian]/",
    ],
)
def test_address_that_is_none_is_refused_and_not_shown(uri: str) -> None:
    with pytest.raises(UsageError) as raised:
        named_archive({VARIABLE: uri})
    assert "archive.example" not in str(raised.value)


def test_nothing_named_is_nothing() -> None:
    assert named_archive({}) == ""
    assert named_archive({VARIABLE: ""}) == ""


def test_folder_of_an_archive_on_this_machine_is_known() -> None:
    assert folder_of("file:///srv/debian") == "/srv/debian"
    assert folder_of("copy:/srv/debian") == "/srv/debian"
    assert folder_of("http://archive.example/debian") == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["--archive", "file:/a", "run", "--seed", "1"],
        ["run", "--archive=file:/a", "--seed", "1"],
        ["run", "--seed", "1", "--archive", "file:/b", "--archive", "file:/a"],
    ],
)
def test_option_stands_anywhere_and_is_not_handed_on(arguments: list[str]) -> None:
    request = read_request(arguments)
    assert (request.command, request.archive) == ("run", "file:/a")
    assert request.passed == ("run", "--seed", "1")


@pytest.mark.parametrize("arguments", [["run", "--archive"], ["run", "--archive="]])
def test_option_without_an_address_is_bad_usage(arguments: list[str]) -> None:
    with pytest.raises(UsageError, match="--archive"):
        read_request(arguments)


def test_option_of_the_subjects_own_command_is_left_alone() -> None:
    assert read_request(["repro", "x", "--", "--archive", "y"]).archive == ""


def test_named_archive_is_checked_by_debians_keys_on_any_distribution() -> None:
    uri = "http://archive.example/debian"
    (stanza,) = parse_deb822(derive_suite("trixie", "", UBUNTU, {}, named=uri))
    assert stanza == {
        "Types": "deb",
        "URIs": uri,
        "Suites": "trixie",
        "Components": "main",
        "Signed-By": KEYRING,
    }


def test_named_snapshot_is_not_refused_for_its_age() -> None:
    uri = "http://archive.example/archive/debian/20250520T000000Z/"
    (stanza,) = parse_deb822(derive_suite("trixie", "", UBUNTU, {}, named=uri))
    assert stanza["Check-Valid-Until"] == "no"


def test_unpacked_packages_keep_no_address(tmp_path: Path) -> None:
    parts = tmp_path / "etc" / "apt" / "sources.list.d"
    parts.mkdir(parents=True)
    (parts / "0000main.sources").write_text("URIs: http://me:secret@archive.example/", "utf-8")
    forget_sources(tmp_path)
    assert not parts.exists()


def test_launcher_refuses_a_wrong_address_before_anything_else(tmp_path: Path) -> None:
    done = subprocess.run(
        [LAUNCHER, "run", "--archive", "ftp://me:secret@archive.example/"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "FLASHROM_RIG_STATE": str(tmp_path / "state")},
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "secret" not in done.stderr
    assert not (tmp_path / "state").exists()
