# SPDX-License-Identifier: GPL-2.0-or-later
"""The wheel has all that the launcher needs, and its command finds a folder for the state."""

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from tests.rig.builders import CHECKOUT

PACKAGE = "flashrom_delay_rig"
NOT_IN_WHEELS = ("rig/setup.py", f"rig/{PACKAGE}/")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Builds the wheel of this checkout with the installed setuptools."""
    if importlib.util.find_spec("setuptools") is None:
        pytest.skip("no setuptools here: `pip wheel` would have to fetch it")
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "-w", str(folder)]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", *options, str(CHECKOUT / "rig")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": ""},
    )
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def tracked() -> set[str]:
    listing = subprocess.run(
        ["git", "ls-files", "emulators", "flashrom", "images", "rig", "ci", "meson.build"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )
    return {name for name in listing.stdout.split() if not name.startswith(NOT_IN_WHEELS)}


def test_every_tracked_file_is_in_it(wheel: zipfile.ZipFile) -> None:
    names = {name.removeprefix(f"{PACKAGE}/tree/") for name in wheel.namelist()}
    assert not tracked() - names


def test_launcher_stays_a_program(wheel: zipfile.ZipFile) -> None:
    mode = wheel.getinfo(f"{PACKAGE}/tree/rig/rig").external_attr >> 16
    assert mode & 0o111


def command() -> ModuleType:
    path = CHECKOUT / "rig" / PACKAGE / "__init__.py"
    spec = importlib.util.spec_from_file_location(PACKAGE, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"FLASHROM_RIG_STATE": "/srv/rig", "XDG_CACHE_HOME": "/c"}, Path("/srv/rig")),
        ({"XDG_CACHE_HOME": "/c"}, Path("/c/flashrom-delay-rig")),
        ({}, Path.home() / ".cache" / "flashrom-delay-rig"),
    ],
)
def test_state_is_in_the_users_cache_unless_it_is_named(
    environment: dict[str, str], folder: Path
) -> None:
    assert command().state_folder(environment) == folder
