# SPDX-License-Identifier: GPL-2.0-or-later
"""Backports found in a machine's apt configuration, in all forms of such configurations."""

import pytest
from delayrig.setup.apt import KEYRING, derive_backports, derive_suite, parse_deb822, parse_one_line
from delayrig.setup.errors import SetupError

OS_RELEASE = 'NAME="Debian GNU/Linux"\nVERSION_CODENAME=bookworm\nID=debian\n'
SOURCES = "/etc/apt/sources.list.d/debian.sources"
LIST = "/etc/apt/sources.list"
STANZAS = """\
# the release
Types: deb
URIs: http://mirror.example.org/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/mirror.gpg

Types: deb
URIs: http://mirror.example.org/debian-security
Suites: bookworm-security
Components: main
"""


def target(codename: str, entry: str, *, uri: str = "http://mirror.example.org/debian/") -> str:
    return f"{uri}|{codename}|{codename}|$(SIGNED_BY)|main|{entry}|$(ORIGIN)\n"


def stanza_of(text: str, suite: str) -> dict[str, str]:
    return next(stanza for stanza in parse_deb822(text) if stanza["Suites"] == suite)


def suites_of(text: str) -> list[str]:
    return [stanza["Suites"] for stanza in parse_deb822(text)]


def test_stanza_with_signed_by_carries_it_to_backports() -> None:
    targets = target("bookworm", f"{SOURCES}:1") + target("bookworm-updates", f"{SOURCES}:1")
    backports = derive_backports(targets, OS_RELEASE, {SOURCES: STANZAS})
    assert backports.suite == "bookworm-backports"
    assert suites_of(backports.text) == [
        "bookworm",
        "bookworm-updates",
        "bookworm-backports",
    ]
    assert stanza_of(backports.text, "bookworm-backports") == {
        "Types": "deb",
        "URIs": "http://mirror.example.org/debian/",
        "Suites": "bookworm-backports",
        "Components": "main",
        "Signed-By": "/usr/share/keyrings/mirror.gpg",
    }


def test_key_inside_the_stanza_is_carried_with_all_its_lines() -> None:
    key = "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBF\n -----END\n"
    text = STANZAS.replace("Signed-By: /usr/share/keyrings/mirror.gpg\n", key)
    backports = derive_backports(target("bookworm", f"{SOURCES}:1"), OS_RELEASE, {SOURCES: text})
    assert backports.text.count(key.removeprefix("Signed-By:")) == 2


def test_source_without_signed_by_is_trusted_as_the_release_is() -> None:
    files = {LIST: "# mine\ndeb http://mirror.example.org/debian bookworm main\n"}
    backports = derive_backports(target("bookworm", f"{LIST}:2"), OS_RELEASE, files)
    assert "Signed-By" not in stanza_of(backports.text, "bookworm-backports")
    assert suites_of(backports.text) == ["bookworm", "bookworm-backports"]


def test_one_line_options_become_fields() -> None:
    line = "deb [arch=amd64,i386 signed-by=/k.gpg trusted=yes] http://m.example.org/d bookworm main"
    assert parse_one_line(line) == {
        "Architectures": "amd64 i386",
        "Signed-By": "/k.gpg",
        "Trusted": "yes",
    }


@pytest.mark.parametrize("line", ["", "# deb http://m.example.org/d bookworm main", "deb-src x y"])
def test_line_that_is_no_binary_source_has_no_options(line: str) -> None:
    assert parse_one_line(line) is None


def test_snapshot_is_not_refused_for_its_age() -> None:
    uri = "http://snap.example.org/archive/debian/20250520T000000Z/"
    targets = target("bookworm", f"{LIST}:1", uri=uri)
    files = {LIST: f"deb {uri} bookworm main\n"}
    stanza = stanza_of(derive_backports(targets, OS_RELEASE, files).text, "bookworm-backports")
    assert stanza["URIs"] == uri
    assert stanza["Check-Valid-Until"] == "no"


def test_backports_on_another_mirror_are_taken_from_there() -> None:
    uri = "http://other.example.org/debian/"
    targets = target("bookworm", f"{SOURCES}:1") + target("bookworm-backports", "gone:1", uri=uri)
    text = derive_backports(targets, OS_RELEASE, {SOURCES: STANZAS}).text
    assert stanza_of(text, "bookworm-backports")["URIs"] == uri


def test_source_file_out_of_sight_falls_back_to_the_distributions_keyring() -> None:
    text = derive_backports(target("bookworm", f"{SOURCES}:1"), OS_RELEASE, {}).text
    assert stanza_of(text, "bookworm-backports")["Signed-By"] == KEYRING


def test_source_file_out_of_sight_takes_the_key_that_apt_tells() -> None:
    row = f"http://m.example.org/|bookworm|bookworm|/usr/share/keyrings/m.gpg|main|{SOURCES}:1|\n"
    text = derive_backports(row, OS_RELEASE, {}).text
    assert stanza_of(text, "bookworm-backports")["Signed-By"] == "/usr/share/keyrings/m.gpg"


def test_disc_is_never_the_base() -> None:
    targets = target("bookworm", f"{LIST}:1", uri="cdrom:[Debian 12]/") + target(
        "bookworm", f"{SOURCES}:1"
    )
    text = derive_backports(targets, OS_RELEASE, {SOURCES: STANZAS}).text
    assert "cdrom" not in text


def test_suite_named_by_its_role_is_found_by_codename() -> None:
    row = f"http://m.example.org/|bookworm|oldstable||main|{SOURCES}:1|\n"
    assert derive_backports(row, OS_RELEASE, {SOURCES: STANZAS}).suite == "bookworm-backports"


@pytest.mark.parametrize(
    "targets",
    [
        "",
        target("bookworm-updates", f"{SOURCES}:1"),
        target("bookworm-security", f"{SOURCES}:2"),
        target("trixie", f"{SOURCES}:1"),
    ],
)
def test_machine_without_its_releases_archive_is_told_where_to_look(
    targets: str,
) -> None:
    with pytest.raises(SetupError, match="no archive of bookworm") as raised:
        derive_backports(targets, OS_RELEASE, {SOURCES: STANZAS})
    assert "apt-get update" in raised.value.remedy


def test_suite_for_guests_is_not_kept_to_this_machines_architectures() -> None:
    text = "deb [arch=amd64 signed-by=/k.gpg] http://mirror.example.org/debian bookworm main"
    targets = target("bookworm", f"{LIST}:1")
    (stanza,) = parse_deb822(derive_suite("trixie", targets, OS_RELEASE, {LIST: text}))
    assert stanza["Suites"] == "trixie"
    assert stanza["Signed-By"] == "/k.gpg"
    assert "Architectures" not in stanza
