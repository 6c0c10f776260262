# SPDX-License-Identifier: GPL-2.0-or-later
"""Missing packages, the messages about them, and the cases in which nothing may be installed."""

import io
import os
import shutil
from pathlib import Path

import pytest
from delayrig.setup import install, packages
from delayrig.setup.apt import Backports
from delayrig.setup.arguments import read_request
from delayrig.setup.console import Console, Context
from delayrig.setup.errors import SetupError
from delayrig.setup.layout import Layout, find_layout
from delayrig.setup.packages import (
    Lack,
    Package,
    find_lacking,
    new_enough,
    read_packages,
    read_wanted,
    wanted_on,
)
from delayrig.setup.stamp import (
    EVERY_STEP,
    TEST_ENVIRONMENT,
    TEST_IMAGES,
    TEST_PACKAGES,
    TEST_STEPS,
)

from tests.rig.builders import CHECKOUT

QEMU = Package(name="qemu-system-x86", reason="runs the guests", version_min="9.1")
CPIO = Package(name="cpio", reason="packs")
MULTILIB = Package(
    name="gcc-multilib", reason="32 bits", architectures=("amd64",), displaces="gcc-*-cross"
)
GIT = Package(name="git", reason="names the commit", optional=True)

needs_dpkg = pytest.mark.skipif(shutil.which("dpkg") is None, reason="dpkg is not here")


class Terminal(io.StringIO):
    """A user at a terminal."""

    def isatty(self) -> bool:
        return True


def context_of(
    folder: Path, *, no_install: bool = False, answers: io.StringIO | None = None
) -> Context:
    output = Terminal() if answers is not None else io.StringIO()
    console = Console(output=output, input=answers or io.StringIO())
    layout = Layout(checkout=folder, state=folder / "state")
    return Context(layout=layout, console=console, no_install=no_install)


@needs_dpkg
@pytest.mark.parametrize(
    ("version", "enough"),
    [
        ("1:9.1.0+ds-1", True),
        ("1:10.0.2+ds-2+deb13u1~bpo12+1", True),
        ("9.1", True),
        ("1:7.2+dfsg-7+deb12u18+b3", False),
        ("1:9.0.2+ds-4", False),
        ("1:8.2.2+ds-0", False),
    ],
)
def test_version_is_compared_as_upstream_means_it(version: str, *, enough: bool) -> None:
    assert new_enough(version, "9.1") is enough


def test_missing_and_too_old_are_lacking_optional_is_not() -> None:
    lacking = find_lacking([QEMU, CPIO, GIT], {QEMU.name: "1:7.2"}, lambda *_: False)
    assert [(lack.package.name, lack.installed) for lack in lacking] == [
        ("qemu-system-x86", "1:7.2"),
        ("cpio", ""),
    ]
    assert "installed: 1:7.2" in lacking[0].reason


def test_complete_machine_lacks_nothing() -> None:
    assert find_lacking([QEMU, CPIO], {QEMU.name: "1:10", CPIO.name: "2"}, lambda *_: True) == ()


def test_list_of_packages_gives_a_reason_for_each() -> None:
    listed = read_packages(find_layout({}).setup / "packages.toml")
    assert all(package.reason for package in listed)
    assert {"qemu-system-x86", "python3-venv"} <= {package.name for package in listed}


@pytest.mark.parametrize(
    ("architecture", "cross_compiler", "wanted"),
    [("amd64", False, [CPIO, MULTILIB]), ("amd64", True, [CPIO]), ("arm64", False, [CPIO])],
)
def test_package_for_one_architecture_is_wanted_there_and_displaces_nothing(
    architecture: str, wanted: list[Package], *, cross_compiler: bool
) -> None:
    asked: list[str] = []

    def is_there(pattern: str) -> bool:
        asked.append(pattern)
        return cross_compiler

    assert list(wanted_on([CPIO, MULTILIB], architecture, is_there)) == wanted
    assert set(asked) <= {"gcc-*-cross"}


def test_no_install_names_packages_and_commands(tmp_path: Path) -> None:
    lacking = [Lack(package=QEMU, installed=""), Lack(package=CPIO, installed="")]
    with pytest.raises(SetupError, match=r"qemu-system-x86 \(>= 9.1\), cpio") as raised:
        packages.allowed_apt(context_of(tmp_path, no_install=True), lacking)
    remedy = raised.value.remedy
    assert "apt-get install --no-install-recommends qemu-system-x86 cpio" in remedy
    assert "backports" in remedy


@pytest.mark.parametrize("answer", ["n\n", "no\n", "", "what\n"])
def test_declined_question_installs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    monkeypatch.setattr(packages, "find_privilege", lambda *, interactive: ())  # noqa: ARG005
    monkeypatch.setattr(install.AptGet, "download_size_bytes", lambda *_: 1_200_000)
    context = context_of(tmp_path, answers=Terminal(answer))
    with pytest.raises(SetupError, match="not to be installed"):
        packages.allowed_apt(context, [Lack(package=CPIO, installed="")])
    assert "1.2 MB" in str(getattr(context.console.output, "getvalue", str)())


@pytest.mark.parametrize("answer", ["\n", "y\n", "Yes\n"])
def test_accepted_question_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    monkeypatch.setattr(packages, "find_privilege", lambda *, interactive: ("sudo",))  # noqa: ARG005
    monkeypatch.setattr(install.AptGet, "download_size_bytes", lambda *_: 0)
    context = context_of(tmp_path, answers=Terminal(answer))
    apt = packages.allowed_apt(context, [Lack(package=CPIO, installed="")])
    assert apt.privilege == ("sudo",)


def test_without_terminal_nothing_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "find_privilege", lambda *, interactive: ())  # noqa: ARG005
    monkeypatch.setattr(install.AptGet, "download_size_bytes", lambda *_: 0)
    assert packages.allowed_apt(context_of(tmp_path), [Lack(package=CPIO, installed="")])


def test_without_apt_get_the_way_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert "no apt-get" in str(install.find_privilege(interactive=True))


def test_without_root_and_sudo_the_way_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = {"apt-get": "/usr/bin/apt-get"}
    monkeypatch.setattr(shutil, "which", here.get)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "no sudo" in str(install.find_privilege(interactive=True))


def test_sources_with_a_password_are_for_their_owner_alone(tmp_path: Path) -> None:
    layout = Layout(checkout=tmp_path, state=tmp_path / "state")
    backports = Backports(suite="bookworm-backports", text="URIs: x\n")
    folder = install.write_backports(layout, backports)
    assert (folder / "backports.sources").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("line", "needs_guests"),
    [
        (["run"], True),
        (["run", "--lane", "host"], False),
        (["--lane=host", "run"], False),
        (["setup", "--lane", "host"], False),
        (["run", "--lane", "host", "--lane", "virtual"], True),
        (["run", "--lane"], True),
        (["run", "--", "--lane", "host"], True),
        (["threshold", "--host"], False),
    ],
)
def test_host_lane_on_the_command_line_needs_no_guests(
    line: list[str], *, needs_guests: bool
) -> None:
    assert read_request(line).needs_guests is needs_guests


def test_packages_of_the_host_lane_are_what_builds_and_nothing_that_runs_guests() -> None:
    listed = read_packages(CHECKOUT / "rig/delayrig/setup/packages.toml")
    ours = [package for package in listed if not package.tests_only]
    needed = {package.name for package in ours if not package.guests_only}
    assert {"gcc", "ninja-build", "python3-venv"} <= needed
    assert not [name for name in needed if "qemu" in name or "libvirt" in name or name == "socat"]


def test_packages_of_the_tests_are_asked_for_by_the_tests_alone() -> None:
    layout = find_layout({})
    by_all, by_tests = (
        {package.name for package in read_wanted(layout, for_tests=asked)}
        for asked in (False, True)
    )
    assert "chromium" in by_tests
    assert not by_all & by_tests


def test_setup_for_tests_takes_their_packages_after_everything_else() -> None:
    assert read_request(["setup", "--if-needed", "--tests"]).for_tests
    assert not read_request(["run", "--tests"]).for_tests
    assert (*EVERY_STEP, TEST_IMAGES, TEST_PACKAGES, TEST_ENVIRONMENT) == TEST_STEPS


@pytest.mark.parametrize(
    ("line", "passed", "yes", "no_install"),
    [
        (["run", "--yes", "--plan", "smoke"], ("run", "--plan", "smoke"), True, False),
        (["--no-install", "run"], ("run",), False, True),
        (["run", "--", "--yes"], ("run", "--", "--yes"), False, False),
        (["--no-color", "report"], ("--no-color", "report"), False, False),
        ([], (), False, False),
    ],
)
def test_launcher_options_are_taken_out_wherever_they_stand(
    line: list[str], passed: tuple[str, ...], *, yes: bool, no_install: bool
) -> None:
    request = read_request(line)
    assert (request.passed, request.yes, request.no_install) == (
        passed,
        yes,
        no_install,
    )
