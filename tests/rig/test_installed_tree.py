# SPDX-License-Identifier: GPL-2.0-or-later
"""The files that packages and the wheel install: the tree, a command, and its manual pages."""

import importlib.util
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from delayrig import __version__
from delayrig.main import main
from delayrig.setup.layout import find_layout
from delayrig.setup.manual import man_pages, page_name, roff, sentence
from delayrig.setup.reference import help_texts

from tests.rig.builders import CHECKOUT
from tests.rig.running import run
from tests.rig.test_lint import tool

CI = CHECKOUT / "ci"
DEBIAN = CI / "debian"
SPEC = (CI / "rpm" / "flashrom-delay-rig.spec").read_text(encoding="utf-8")
CONTROL = (DEBIAN / "control").read_text(encoding="utf-8")
TREE = "usr/share/flashrom-delay-rig"
NOT_INSTALLED = (
    *("ci/debian/", "ci/rpm/", "ci/install-tree", "ci/flashrom-delay-rig"),
    *("rig/setup.py", "rig/flashrom_delay_rig/"),
)
PAGES = man_pages(find_layout({}))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([CI / "install-tree", folder], check=True)
    return folder


def tracked(without: tuple[str, ...]) -> set[str]:
    """Returns the files of the rig that git tracks, except names with one of these beginnings."""
    names = ("emulators", "flashrom", "images", "rig", "ci", "meson.build", "meson.options")
    listing = subprocess.run(
        ["git", "ls-files", *names], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    return {name for name in listing.stdout.split() if not name.startswith(without)}


def test_every_tracked_file_is_installed(installed: Path) -> None:
    wanted = tracked(NOT_INSTALLED)
    files = {str(path.relative_to(installed / TREE)) for path in (installed / TREE).rglob("*")}
    assert not wanted - files
    assert not [name for name in files if name.startswith(NOT_INSTALLED)]


def test_installed_launcher_prints_its_version(installed: Path, tmp_path: Path) -> None:
    environment = {"PATH": "/usr/bin:/bin", "FLASHROM_RIG_STATE": str(tmp_path)}
    done = run(installed / TREE / "rig" / "rig", "--version", env=environment)
    assert (done.returncode, done.stdout) == (0, f"rig/rig, version {__version__}\n")


def test_each_visible_subcommand_has_a_manual_page_with_options_and_examples() -> None:
    hidden = {name for name, command in main.commands.items() if command.hidden}
    shown = {name for name in help_texts(find_layout({})) if name.split(" ")[0] not in hidden}
    assert set(PAGES) == {f"{page_name(name)}.1" for name in shown}
    page = PAGES["flashrom-delay-rig-threshold.1"]
    assert ".B \\-\\-values US,US,...\nThresholds in microseconds.  [default: 0,2,10," in page
    assert "\nflashrom\\-delay\\-rig threshold \\-\\-host\n" in page
    assert "rig/rig" not in page


@pytest.mark.skipif(shutil.which("man") is None, reason="no man here")
@pytest.mark.parametrize("name", PAGES)
def test_man_prints_each_page_without_warnings(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(PAGES[name], encoding="utf-8")
    settings = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"}
    done = run("man", "--warnings", "-E", "UTF-8", "-l", path, env=settings)
    assert (done.returncode, done.stderr) == (0, "")
    assert "NAME" in done.stdout


def test_roff_escapes_a_leading_dot_and_a_summary_ends_with_its_question_mark() -> None:
    assert roff(".rig -x \\n") == "\\&.rig \\-x \\en"
    text = "Usage: x\n\n  Does it end, and\n  well? It does so pre-\n  sently.\n"
    assert sentence(text) == "Does it end, and well?"


def test_debian_depends_on_what_the_launcher_would_install() -> None:
    packages = tomllib.loads(
        (CHECKOUT / "rig/delayrig/setup/packages.toml").read_text(encoding="utf-8")
    )["packages"]
    needed = {name: entry for name, entry in packages.items() if "tests_only" not in entry}
    depends = field("Depends")
    for name, entry in needed.items():
        if entry.get("optional") or "architectures" in entry:
            assert name in field("Recommends")
        else:
            assert name in depends
            assert depends[name].endswith(entry.get("version_min", ""))


def field(name: str) -> dict[str, str]:
    """Returns the packages in a field of the binary package, with their required versions."""
    found = re.search(rf"(?m)^{name}: (.*(?:\n .*)*)", CONTROL.partition("\n\n")[2])
    assert found is not None
    words = [word.strip() for word in found[1].split(",")]
    return {word.partition(" ")[0]: word.partition("(")[2].rstrip(")") for word in words}


def test_packages_have_the_version_of_the_rig() -> None:
    changelog = (DEBIAN / "changelog").read_text(encoding="utf-8")
    assert changelog.startswith(f"flashrom-delay-rig ({__version__}) ")
    assert re.findall(r"(?m)^Version: +(.*)$", SPEC) == [__version__]
    assert f"flashrom-delay-rig-{__version__}.tar.gz HEAD" in SPEC


def test_shellcheck_finds_nothing_in_the_scripts_of_packages() -> None:
    tests = [path for path in (DEBIAN / "tests").iterdir() if path.name != "control"]
    scripts = [CI / "install-tree", CI / "flashrom-delay-rig", DEBIAN / "build.sh", *tests]
    subprocess.run([tool("shellcheck"), "--shell=sh", *scripts], check=True)


PACKAGE = "flashrom_delay_rig"
NOT_IN_WHEELS = ("rig/setup.py", f"rig/{PACKAGE}/")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Builds the wheel of this checkout with the installed setuptools."""
    if importlib.util.find_spec("setuptools") is None:
        pytest.skip("no setuptools here: `pip wheel` would have to fetch it")
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "-w", str(folder)]
    pip = (sys.executable, "-m", "pip", "wheel", "-q")
    done = run(*pip, *options, CHECKOUT / "rig", env={**os.environ, "PYTHONPATH": ""})
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def test_every_tracked_file_is_in_the_wheel_and_the_launcher_stays_a_program(
    wheel: zipfile.ZipFile,
) -> None:
    names = {name.removeprefix(f"{PACKAGE}/tree/") for name in wheel.namelist()}
    assert not tracked(NOT_IN_WHEELS) - names
    mode = wheel.getinfo(f"{PACKAGE}/tree/rig/rig").external_attr >> 16
    assert mode & 0o111


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"FLASHROM_RIG_STATE": "/srv/rig", "XDG_CACHE_HOME": "/c"}, "/srv/rig"),
        ({"XDG_CACHE_HOME": "/c"}, "/c/flashrom-delay-rig"),
        ({}, str(Path.home() / ".cache" / "flashrom-delay-rig")),
    ],
)
def test_state_folder_is_in_the_users_cache_unless_the_environment_names_it(
    environment: dict[str, str], folder: str
) -> None:
    command = runpy.run_path(str(CHECKOUT / "rig" / PACKAGE / "__init__.py"))
    assert command["state_folder"](environment) == Path(folder)
