# SPDX-License-Identifier: GPL-2.0-or-later
"""Two locks: what the rig needs to run, and what only its tests and linters need beside that."""

import re
import tomllib
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from delayrig.setup.layout import find_layout
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LAYOUT = find_layout({})


def pinned(lock: Path) -> set[str]:
    names = re.findall(r"^([\w.-]+)==", lock.read_text(encoding="utf-8"), re.MULTILINE)
    return {str(canonicalize_name(name)) for name in names}


def project() -> dict[str, Any]:
    text = (LAYOUT.package_path / "pyproject.toml").read_text(encoding="utf-8")
    table: dict[str, Any] = tomllib.loads(text)["project"]
    return table


def needed(lines: list[str]) -> set[str]:
    """The packages that these requirements name, and all that those need here."""
    known: set[tuple[str, str]] = set()
    waiting = [pair for line in lines for pair in wants(Requirement(line))]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in known:
            continue
        known.add((name, extra))
        for line in distribution(name).requires or []:
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                waiting += wants(requirement)
    return {name for name, _ in known}


def wants(requirement: Requirement) -> list[tuple[str, str]]:
    name = str(canonicalize_name(requirement.name))
    return [(name, extra) for extra in ("", *sorted(requirement.extras))]


def test_what_the_rig_needs_is_in_its_own_lock() -> None:
    missing = needed(project()["dependencies"]) - pinned(LAYOUT.lock_of_python)
    assert not missing, f"not in {LAYOUT.lock_of_python}: {missing}"


def test_lock_of_tests_holds_what_only_tests_need() -> None:
    only_tests = needed(project()["optional-dependencies"]["test"]) - pinned(LAYOUT.lock_of_python)
    assert pinned(LAYOUT.lock_of_tests) == only_tests


def test_no_package_is_pinned_twice() -> None:
    assert not pinned(LAYOUT.lock_of_tests) & pinned(LAYOUT.lock_of_python)


def test_rig_needs_nothing_that_its_lock_pins_without_reason() -> None:
    groups = project().get("optional-dependencies", {})
    extras = [line for name, lines in groups.items() if name != "test" for line in lines]
    unused = pinned(LAYOUT.lock_of_python) - needed([*project()["dependencies"], *extras])
    assert not unused, f"nothing needs {unused}: it belongs to {LAYOUT.lock_of_tests}"
