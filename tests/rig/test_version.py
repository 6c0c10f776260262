# SPDX-License-Identifier: GPL-2.0-or-later
"""The version has one source, and each other place shows the same."""

import re
import tomllib

from delayrig import __version__

from tests.rig.builders import CHECKOUT

FILE = "rig/delayrig/VERSION"


def test_version_is_three_numbers_in_one_line() -> None:
    text = (CHECKOUT / FILE).read_text(encoding="ascii")
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", text)
    assert text.strip() == __version__


def test_builds_take_the_version_from_its_file() -> None:
    meson = (CHECKOUT / "meson.build").read_text(encoding="utf-8")
    project = tomllib.loads((CHECKOUT / "rig" / "pyproject.toml").read_text(encoding="utf-8"))
    assert f"version: files('{FILE}')" in meson
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"file": ["delayrig/VERSION"]}


def test_change_log_begins_with_this_version() -> None:
    changes = (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"(?m)^## (\S+),", changes)
    assert newest is not None
    assert newest[1] == __version__
