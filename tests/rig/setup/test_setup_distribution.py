# SPDX-License-Identifier: GPL-2.0-or-later
"""The choice of package sources on each distribution, from its os-release and apt's targets."""

from dataclasses import dataclass, replace

import pytest
from delayrig.setup.apt import (
    debian_codename,
    derive_backports,
    derive_suite,
    has_debian,
    parse_deb822,
)
from delayrig.setup.distribution import Machine, read_release, refusal
from delayrig.setup.errors import SetupError

DEBIAN_12 = """\
PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
NAME="Debian GNU/Linux"
VERSION_ID="12"
VERSION="12 (bookworm)"
VERSION_CODENAME=bookworm
ID=debian
"""
DEBIAN_13 = DEBIAN_12.replace("bookworm", "trixie").replace("12", "13")
DEBIAN_TESTING = """\
PRETTY_NAME="Debian GNU/Linux forky/sid"
NAME="Debian GNU/Linux"
VERSION_CODENAME=forky
ID=debian
"""
UBUNTU_2404 = """\
PRETTY_NAME="Ubuntu 24.04.2 LTS"
NAME="Ubuntu"
VERSION_ID="24.04"
VERSION="24.04.2 LTS (Noble Numbat)"
VERSION_CODENAME=noble
ID=ubuntu
ID_LIKE=debian
UBUNTU_CODENAME=noble
"""
UBUNTU_2510 = UBUNTU_2404.replace("24.04", "25.10").replace("noble", "questing")
MINT_22 = """\
NAME="Linux Mint"
VERSION="22.1 (Xia)"
ID=linuxmint
ID_LIKE="ubuntu debian"
PRETTY_NAME="Linux Mint 22.1"
VERSION_ID="22.1"
VERSION_CODENAME=xia
UBUNTU_CODENAME=noble
"""
LMDE_6 = """\
PRETTY_NAME="LMDE 6 (faye)"
NAME="LMDE"
VERSION_ID="6"
VERSION_CODENAME=faye
ID=linuxmint
ID_LIKE=debian
DEBIAN_CODENAME=bookworm
"""
FEDORA_42 = """\
NAME="Fedora Linux"
VERSION="42 (Workstation Edition)"
ID=fedora
VERSION_ID=42
VERSION_CODENAME=""
PLATFORM_ID="platform:f42"
PRETTY_NAME="Fedora Linux 42 (Workstation Edition)"
"""

DEBIAN_SOURCES = "/etc/apt/sources.list.d/debian.sources"
UBUNTU_SOURCES = "/etc/apt/sources.list.d/ubuntu.sources"
UBUNTU_STANZA = """\
Types: deb
URIs: http://archive.example/ubuntu/
Suites: noble noble-updates noble-backports
Components: main universe restricted multiverse
Signed-By: /usr/share/keyrings/ubuntu-archive-keyring.gpg
"""


def rows(origin: str, uri: str, *suites: str, entry: str = f"{DEBIAN_SOURCES}:1") -> str:
    """Returns lines as TARGETS_COMMAND prints them, for the component `main`."""
    return "".join(
        f"{uri}|{suite}|{suite}|$(SIGNED_BY)|main|{entry}|{origin}\n" for suite in suites
    )


DEBIAN_URI = "http://archive.example/debian/"
UBUNTU_TARGETS = rows(
    "Ubuntu",
    "http://archive.example/ubuntu/",
    *("noble", "noble-updates", "noble-backports"),
    entry=f"{UBUNTU_SOURCES}:1",
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """The files of a machine, and the expected results."""

    os_release: str
    targets: str = ""
    has_apt: bool = True
    qemu_versions: tuple[str, ...] = ()
    is_debian: bool = True
    archive_helps: bool = False
    install: str = "apt-get install podman"


CASES = {
    "Debian 12": Case(
        os_release=DEBIAN_12, targets=rows("Debian", DEBIAN_URI, "bookworm", "bookworm-updates")
    ),
    "Debian 13": Case(os_release=DEBIAN_13, targets=rows("Debian", DEBIAN_URI, "trixie")),
    "Debian 12 whose lists were never fetched": Case(
        os_release=DEBIAN_12,
        targets=f"{DEBIAN_URI}|$(CODENAME)|bookworm|$(SIGNED_BY)|main|/etc/apt/sources.list:1"
        "|$(ORIGIN)\n",
    ),
    "Debian 12 from a mirror with another origin": Case(
        os_release=DEBIAN_12, targets=rows("mirror", DEBIAN_URI, "bookworm")
    ),
    "Debian testing": Case(os_release=DEBIAN_TESTING, targets=rows("Debian", DEBIAN_URI, "forky")),
    "Debian unstable": Case(os_release=DEBIAN_TESTING, targets=rows("Debian", DEBIAN_URI, "sid")),
    "LMDE, which has Debian's archive": Case(
        os_release=LMDE_6,
        targets=rows("linuxmint", "http://archive.example/mint/", "faye")
        + rows("Debian", DEBIAN_URI, "bookworm", "bookworm-updates"),
    ),
    "Ubuntu 24.04": Case(
        os_release=UBUNTU_2404,
        is_debian=False,
        targets=UBUNTU_TARGETS,
        qemu_versions=("1:8.2.2+ds-0ubuntu1.7", "1:8.2.2+ds-0ubuntu1"),
    ),
    "Ubuntu 25.10": Case(
        os_release=UBUNTU_2510,
        is_debian=False,
        targets=rows("Ubuntu", "http://archive.example/ubuntu/", "questing"),
        archive_helps=True,
    ),
    "Linux Mint": Case(
        os_release=MINT_22,
        is_debian=False,
        targets=rows("linuxmint", "http://archive.example/mint/", "xia") + UBUNTU_TARGETS,
        qemu_versions=("1:8.2.2+ds-0ubuntu1.7",),
    ),
    "Fedora 42": Case(
        os_release=FEDORA_42, has_apt=False, is_debian=False, install="dnf install podman"
    ),
}
NOT_DEBIAN = [name for name, case in CASES.items() if not case.is_debian]


def machine(case: Case) -> Machine:
    release = read_release(case.os_release)
    return Machine(
        release=release,
        has_apt=case.has_apt,
        has_debian=has_debian(case.targets, release),
        qemu_versions=case.qemu_versions,
    )


def remedy(found: Machine) -> str:
    error = refusal(found)
    assert error is not None
    return error.remedy


@pytest.mark.parametrize("name", [name for name in CASES if name not in NOT_DEBIAN])
def test_machine_with_debians_archive_uses_that_archive(name: str) -> None:
    case = CASES[name]
    assert refusal(machine(case)) is None
    (stanza,) = parse_deb822(derive_suite("trixie", case.targets, case.os_release, {}))
    assert (stanza["URIs"], stanza["Suites"]) == (DEBIAN_URI, "trixie")


@pytest.mark.parametrize("name", NOT_DEBIAN)
def test_other_machine_is_refused_with_two_remedies(name: str) -> None:
    case = CASES[name]
    lines = remedy(machine(case)).splitlines()
    assert len(lines) == 3
    assert f"(as root: {case.install})" in lines[1]
    assert "rig/rig --container" in lines[1]
    assert ("--archive URI" in lines[2]) is case.archive_helps
    assert ("Debian 12 or newer" in lines[2]) is not case.archive_helps
    with pytest.raises(SetupError, match="no Debian archive on"):
        derive_suite("trixie", case.targets, case.os_release, {})


@pytest.mark.parametrize("name", NOT_DEBIAN)
def test_installed_engine_is_named_and_an_archive_uri_helps_if_qemu_is_new(name: str) -> None:
    case = CASES[name]
    text = remedy(replace(machine(case), engine="docker"))
    assert "(docker): rig/rig --container" in text
    assert "install podman" not in text
    is_accepted = refusal(replace(machine(case), has_named=True)) is None
    assert is_accepted is case.archive_helps


def test_refusal_names_the_qemu_that_is_too_old() -> None:
    error = refusal(machine(CASES["Ubuntu 24.04"]))
    assert error is not None
    assert all(
        fact in error.message for fact in ("Ubuntu 24.04.2 LTS", "1:8.2.2+ds-0ubuntu1.7", "9.2")
    )


def test_backports_are_ubuntus_on_ubuntu_and_debians_on_a_derivative_of_debian() -> None:
    files = {UBUNTU_SOURCES: UBUNTU_STANZA}
    backports = derive_backports(UBUNTU_TARGETS, UBUNTU_2404, files)
    assert backports.suite == "noble-backports"
    assert "archive.example/debian" not in backports.text
    case = CASES["LMDE, which has Debian's archive"]
    assert derive_backports(case.targets, case.os_release, {}).suite == "bookworm-backports"


def test_experimental_does_not_count_as_a_release() -> None:
    targets = f"{DEBIAN_URI}|rc-buggy|experimental||main|{DEBIAN_SOURCES}:1|Debian\n"
    assert not has_debian(targets, read_release(DEBIAN_TESTING))


def test_release_of_debian_is_preferred_to_a_vendors_with_the_same_name() -> None:
    targets = rows("Vendor", "http://archive.example/vendor/", "bookworm")
    targets += rows("Debian", DEBIAN_URI, "bookworm")
    assert DEBIAN_URI in derive_suite("bookworm", targets, DEBIAN_12, {})


@pytest.mark.parametrize(
    ("os_release", "codename"),
    [(DEBIAN_13, "trixie"), (LMDE_6, "bookworm"), (UBUNTU_2404, "bookworm"), ("", "bookworm")],
)
def test_cross_compilers_come_from_a_release_whose_programs_run_here(
    os_release: str, codename: str
) -> None:
    assert debian_codename(read_release(os_release)) == codename


def test_os_release_with_comments_quotes_and_escapes_is_read() -> None:
    release = read_release("# mine\n\nID='arch'\nNAME=\"it's\nPRETTY_NAME=Arch\\ Linux\n")
    assert (release.id, release.name, release.codename) == ("arch", "Arch Linux", "")
    assert read_release("").name == "linux"
