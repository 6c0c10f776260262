# SPDX-License-Identifier: GPL-2.0-or-later
"""Missing packages, backports in apt's configuration, and the archive that a user names."""

import os
import shutil
from pathlib import Path

import pytest
from delayrig.setup import install, packages
from delayrig.setup.apt import (
    KEYRING,
    Backports,
    derive_backports,
    derive_suite,
    parse_deb822,
    parse_one_line,
)
from delayrig.setup.arguments import ARCHIVE_VARIABLE, folder_of, named_archive, read_request
from delayrig.setup.console import Console, Context
from delayrig.setup.errors import SetupError, UsageError
from delayrig.setup.launcher import steps_of
from delayrig.setup.layout import Layout, find_layout
from delayrig.setup.packages import (
    Package,
    find_lacking,
    new_enough,
    read_packages,
    read_wanted,
    wanted_on,
)
from delayrig.setup.stamp import (
    ACCOUNT,
    EVERY_STEP,
    GUEST_STEPS,
    PACKAGES,
    TEST_ENVIRONMENT,
    TEST_IMAGES,
    TEST_PACKAGES,
    TEST_STEPS,
)
from delayrig.subjects.packages import forget_sources

from tests.rig.builders import CHECKOUT
from tests.rig.launching import Terminal, context_of, launch

QEMU = Package(name="qemu-system-x86", reason="runs the guests", version_min="9.2")
CPIO = Package(name="cpio", reason="packs")
MULTILIB = Package(
    name="gcc-multilib", reason="32 bits", architectures=("amd64",), displaces="gcc-*-cross"
)
GIT = Package(name="git", reason="names the commit", optional=True)
needs_dpkg = pytest.mark.skipif(shutil.which("dpkg") is None, reason="dpkg is not here")


def asking(folder: Path, answer: str) -> Context:
    """Returns the context of a user at a terminal who gives that answer."""
    return context_of(folder, console=Console(output=Terminal(), input=Terminal(answer)))


@needs_dpkg
@pytest.mark.parametrize(
    ("version", "enough"),
    [
        ("1:9.2.0+ds-1", True),
        ("1:10.0.2+ds-2+deb13u1~bpo12+1", True),
        ("9.2", True),
        ("1:7.2+dfsg-7+deb12u18+b3", False),
        ("1:9.1.3+ds-4", False),
        ("1:8.2.2+ds-0", False),
    ],
)
def test_only_the_upstream_part_of_a_version_is_compared(version: str, *, enough: bool) -> None:
    assert new_enough(version, "9.2") is enough


def test_missing_and_old_packages_are_lacking_and_optional_ones_are_not() -> None:
    lacking = find_lacking([QEMU, CPIO, GIT], {QEMU.name: "1:7.2"}, lambda *_: False)
    names = [(package.name, package.installed) for package in lacking]
    assert names == [("qemu-system-x86", "1:7.2"), ("cpio", "")]
    assert "installed: 1:7.2" in lacking[0].why
    assert find_lacking([QEMU, CPIO], {QEMU.name: "1:10", CPIO.name: "2"}, lambda *_: True) == ()


def test_list_of_packages_gives_a_reason_for_each() -> None:
    listed = read_packages(find_layout({}).setup / "packages.toml")
    assert all(package.reason for package in listed)
    assert {"qemu-system-x86", "python3-venv"} <= {package.name for package in listed}


@pytest.mark.parametrize(
    ("architecture", "has_cross_compiler", "wanted"),
    [("amd64", False, [CPIO, MULTILIB]), ("amd64", True, [CPIO]), ("arm64", False, [CPIO])],
)
def test_package_is_wanted_on_its_architecture_unless_it_displaces_another(
    architecture: str, wanted: list[Package], *, has_cross_compiler: bool
) -> None:
    patterns: list[str] = []

    def is_installed(pattern: str) -> bool:
        patterns.append(pattern)
        return has_cross_compiler

    assert list(wanted_on([CPIO, MULTILIB], architecture, is_installed)) == wanted
    assert set(patterns) <= {"gcc-*-cross"}


def test_no_install_names_packages_and_commands(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"qemu-system-x86 \(>= 9.2\), cpio") as raised:
        packages.allowed_apt(context_of(tmp_path, no_install=True), [QEMU, CPIO])
    remedy = raised.value.remedy
    assert "apt-get install --no-install-recommends qemu-system-x86 cpio" in remedy
    assert "backports" in remedy


@pytest.fixture
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the user install packages, of 1.2 MB."""
    monkeypatch.setattr(packages, "find_privilege", lambda *, interactive: ("su",))  # noqa: ARG005
    monkeypatch.setattr(install.AptGet, "download_size_bytes", lambda *_: 1_200_000)


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("answer", ["n\n", "no\n", "", "what\n"])
def test_declined_question_installs_nothing(tmp_path: Path, answer: str) -> None:
    context = asking(tmp_path, answer)
    with pytest.raises(SetupError, match="declined"):
        packages.allowed_apt(context, [CPIO])
    assert "1.2 MB" in str(getattr(context.console.output, "getvalue", str)())


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("answer", ["\n", "y\n", "Yes\n"])
def test_packages_are_installed_if_accepted_and_without_a_terminal(
    tmp_path: Path, answer: str
) -> None:
    for context in (asking(tmp_path, answer), context_of(tmp_path)):
        assert packages.allowed_apt(context, [CPIO]).privilege == ("su",)


@pytest.mark.parametrize(
    ("programs", "message"), [({}, "no apt-get"), ({"apt-get": "/usr/bin/apt-get"}, "no sudo")]
)
def test_nothing_can_be_installed_without_apt_get_or_without_root_and_sudo(
    monkeypatch: pytest.MonkeyPatch, programs: dict[str, str], message: str
) -> None:
    monkeypatch.setattr(shutil, "which", programs.get)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert message in str(install.find_privilege(interactive=True))


def test_file_of_apt_sources_is_readable_only_by_its_owner(tmp_path: Path) -> None:
    layout = Layout(checkout=tmp_path, state=tmp_path / "state")
    backports = Backports(suite="bookworm-backports", text="URIs: x\n")
    folder = install.write_backports(layout, backports)
    assert (folder / "backports.sources").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("line", "needs_guests"),
    [
        ("run", True),
        ("run --lane host", False),
        ("--lane=host run", False),
        ("setup --lane host", False),
        ("run --lane host --lane virtual", True),
        ("run --lane", True),
        ("run -- --lane host", True),
        ("threshold --host", False),
    ],
)
def test_host_lane_on_the_command_line_needs_no_guests(line: str, *, needs_guests: bool) -> None:
    assert read_request(line.split()).needs_guests is needs_guests


def test_packages_of_the_host_lane_build_programs_and_run_no_guests() -> None:
    listed = read_packages(CHECKOUT / "rig/delayrig/setup/packages.toml")
    needed = {each.name for each in listed if not (each.tests_only or each.guests_only)}
    assert {"gcc", "ninja-build", "python3-venv"} <= needed
    assert not [name for name in needed if "qemu" in name or "libvirt" in name or name == "socat"]


def test_packages_of_the_tests_are_wanted_only_for_tests() -> None:
    layout = find_layout({})
    for_all, for_tests = (
        {package.name for package in read_wanted(layout, for_tests=is_for_tests)}
        for is_for_tests in (False, True)
    )
    assert "chromium" in for_tests
    assert not for_all & for_tests


def test_setup_for_tests_does_their_steps_after_all_others() -> None:
    assert steps_of(read_request(["setup", "--if-needed", "--tests"])) == TEST_STEPS
    for line in ("run --tests", "run --subject setup --tests --packages", "run --packages"):
        assert steps_of(read_request(line.split())) == GUEST_STEPS
    assert steps_of(read_request(["--yes", "setup", "--packages"])) == (PACKAGES, ACCOUNT)
    assert read_request(["-v", "setup", "--extra", "cluster"]).extras == ("cluster",)
    assert (*EVERY_STEP, TEST_IMAGES, TEST_PACKAGES, TEST_ENVIRONMENT) == TEST_STEPS


@pytest.mark.parametrize(
    ("line", "passed", "yes", "no_install"),
    [
        ("run --yes --plan smoke", "run --plan smoke", True, False),
        ("--no-install run", "run", False, True),
        ("run -- --yes", "run -- --yes", False, False),
        ("--no-color report", "--no-color report", False, False),
        ("", "", False, False),
    ],
)
def test_launcher_options_are_removed_at_any_position(
    line: str, passed: str, *, yes: bool, no_install: bool
) -> None:
    request = read_request(line.split())
    assert " ".join(request.passed) == passed
    assert (request.has("--yes"), request.has("--no-install")) == (yes, no_install)


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


def backports_of(targets: str, files: dict[str, str]) -> dict[str, str]:
    """Returns the stanza for backports that is derived from apt's targets and source files."""
    text = derive_backports(targets, OS_RELEASE, files).text
    return next(row for row in parse_deb822(text) if row["Suites"] == "bookworm-backports")


def suites_of(text: str) -> list[str]:
    return [stanza["Suites"] for stanza in parse_deb822(text)]


def test_signed_by_of_the_release_is_copied_to_backports() -> None:
    targets = target("bookworm", f"{SOURCES}:1") + target("bookworm-updates", f"{SOURCES}:1")
    backports = derive_backports(targets, OS_RELEASE, {SOURCES: STANZAS})
    assert backports.suite == "bookworm-backports"
    assert suites_of(backports.text) == ["bookworm", "bookworm-updates", "bookworm-backports"]
    assert backports_of(targets, {SOURCES: STANZAS}) == {
        "Types": "deb",
        "URIs": "http://mirror.example.org/debian/",
        "Suites": "bookworm-backports",
        "Components": "main",
        "Signed-By": "/usr/share/keyrings/mirror.gpg",
    }


def test_key_inside_the_stanza_is_copied_with_all_its_lines() -> None:
    key = "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBF\n -----END\n"
    text = STANZAS.replace("Signed-By: /usr/share/keyrings/mirror.gpg\n", key)
    backports = derive_backports(target("bookworm", f"{SOURCES}:1"), OS_RELEASE, {SOURCES: text})
    assert backports.text.count(key.removeprefix("Signed-By:")) == 2


def test_backports_have_no_signed_by_if_the_release_has_none() -> None:
    files = {LIST: "# mine\ndeb http://mirror.example.org/debian bookworm main\n"}
    targets = target("bookworm", f"{LIST}:2")
    assert "Signed-By" not in backports_of(targets, files)
    text = derive_backports(targets, OS_RELEASE, files).text
    assert suites_of(text) == ["bookworm", "bookworm-backports"]


def test_options_of_a_one_line_source_of_binaries_become_fields() -> None:
    line = "deb [arch=amd64,i386 signed-by=/k.gpg trusted=yes] http://m.example.org/d bookworm main"
    fields = {"Architectures": "amd64 i386", "Signed-By": "/k.gpg", "Trusted": "yes"}
    assert parse_one_line(line) == fields
    for line in ("", "# deb http://m.example.org/d bookworm main", "deb-src x y"):
        assert parse_one_line(line) is None


SNAPSHOT = "http://snap.example.org/archive/debian/20250520T000000Z/"
OTHER_MIRROR = "http://other.example.org/debian/"
RELEASE = target("bookworm", f"{SOURCES}:1")


@pytest.mark.parametrize(
    ("targets", "files", "fields"),
    [
        pytest.param(
            target("bookworm", f"{LIST}:1", uri=SNAPSHOT),
            {LIST: f"deb {SNAPSHOT} bookworm main\n"},
            {"URIs": SNAPSHOT, "Check-Valid-Until": "no"},
            id="a snapshot may be old",
        ),
        pytest.param(
            RELEASE + target("bookworm-backports", "gone:1", uri=OTHER_MIRROR),
            {SOURCES: STANZAS},
            {"URIs": OTHER_MIRROR},
            id="backports on another mirror",
        ),
        pytest.param(
            target("bookworm", f"{LIST}:1", uri="cdrom:[Debian 12]/") + RELEASE,
            {SOURCES: STANZAS},
            {"URIs": "http://mirror.example.org/debian/"},
            id="a CD-ROM is never the archive",
        ),
        pytest.param(
            f"http://m.example.org/|bookworm|oldstable||main|{SOURCES}:1|\n",
            {SOURCES: STANZAS},
            {"URIs": "http://m.example.org/"},
            id="oldstable by its codename",
        ),
        pytest.param(RELEASE, {}, {"Signed-By": KEYRING}, id="no source file"),
        pytest.param(
            RELEASE.replace("$(SIGNED_BY)", "/m.gpg"),
            {},
            {"Signed-By": "/m.gpg"},
            id="no source file, but a key of apt",
        ),
    ],
)
def test_stanza_of_backports_has_these_fields(
    targets: str, files: dict[str, str], fields: dict[str, str]
) -> None:
    assert fields.items() <= backports_of(targets, files).items()


@pytest.mark.parametrize(
    "targets",
    [
        "",
        target("bookworm-updates", f"{SOURCES}:1"),
        target("bookworm-security", f"{SOURCES}:2"),
        target("trixie", f"{SOURCES}:1"),
    ],
)
def test_error_without_an_archive_of_the_release_has_a_remedy(targets: str) -> None:
    with pytest.raises(SetupError, match="no archive of bookworm") as raised:
        derive_backports(targets, OS_RELEASE, {SOURCES: STANZAS})
    assert "apt-get update" in raised.value.remedy


def test_suite_for_guests_is_not_limited_to_the_architectures_of_this_machine() -> None:
    text = "deb [arch=amd64 signed-by=/k.gpg] http://mirror.example.org/debian bookworm main"
    targets = target("bookworm", f"{LIST}:1")
    (stanza,) = parse_deb822(derive_suite("trixie", targets, OS_RELEASE, {LIST: text}))
    assert stanza["Suites"] == "trixie"
    assert stanza["Signed-By"] == "/k.gpg"
    assert "Architectures" not in stanza


UBUNTU = "ID=ubuntu\nVERSION_CODENAME=noble\n"


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
def test_invalid_address_is_refused_and_not_printed(uri: str) -> None:
    with pytest.raises(UsageError) as raised:
        named_archive({ARCHIVE_VARIABLE: uri})
    assert "archive.example" not in str(raised.value)


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "http://archive.example/debian",
        "https://me:secret@archive.example:8443/debian/",
        "http://[::1]:3142/debian",
        "file:/srv/debian",
        "file:///srv/debian",
        "copy:/srv/debian",
    ],
)
def test_valid_or_empty_address_is_accepted(uri: str) -> None:
    assert named_archive({ARCHIVE_VARIABLE: uri}) == uri
    assert named_archive({}) == ""


def test_folder_of_an_archive_on_this_machine_is_known() -> None:
    assert folder_of("file:///srv/debian") == "/srv/debian"
    assert folder_of("copy:/srv/debian") == "/srv/debian"
    assert folder_of("http://archive.example/debian") == ""


@pytest.mark.parametrize(
    "line",
    [
        "--archive file:/a run --seed 1",
        "run --archive=file:/a --seed 1",
        "run --seed 1 --archive file:/b --archive file:/a",
    ],
)
def test_archive_option_is_read_at_any_position_and_not_passed_on(line: str) -> None:
    request = read_request(line.split())
    assert (request.command, request.archive) == ("run", "file:/a")
    assert request.passed == ("run", "--seed", "1")


def test_archive_option_without_an_address_is_bad_usage() -> None:
    for line in (["run", "--archive"], ["run", "--archive="]):
        with pytest.raises(UsageError, match="--archive"):
            read_request(line)


def test_archive_option_of_a_command_after_two_dashes_is_ignored() -> None:
    assert read_request(["repro", "x", "--", "--archive", "y"]).archive == ""


def test_named_archive_is_checked_with_debians_keys_and_a_snapshot_may_be_old() -> None:
    uri = "http://archive.example/debian"
    (stanza,) = parse_deb822(derive_suite("trixie", "", UBUNTU, {}, named=uri))
    assert stanza == {
        "Types": "deb",
        "URIs": uri,
        "Suites": "trixie",
        "Components": "main",
        "Signed-By": KEYRING,
    }
    uri = "http://archive.example/archive/debian/20250520T000000Z/"
    (stanza,) = parse_deb822(derive_suite("trixie", "", UBUNTU, {}, named=uri))
    assert stanza["Check-Valid-Until"] == "no"


def test_address_of_the_archive_is_removed_from_unpacked_packages(tmp_path: Path) -> None:
    parts = tmp_path / "etc" / "apt" / "sources.list.d"
    parts.mkdir(parents=True)
    (parts / "0000main.sources").write_text("URIs: http://me:secret@archive.example/", "utf-8")
    forget_sources(tmp_path)
    assert not parts.exists()


def test_launcher_refuses_a_wrong_address_before_anything_else(tmp_path: Path) -> None:
    done = launch(tmp_path / "state", "run", "--archive", "ftp://me:secret@archive.example/")
    assert (done.returncode, done.stdout) == (2, "")
    assert "secret" not in done.stderr
    assert not (tmp_path / "state").exists()
