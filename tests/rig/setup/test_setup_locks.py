# SPDX-License-Identifier: GPL-2.0-or-later
"""Two locks: the rig's packages, and those that only its tests and linters need."""

import re
import tomllib
from importlib.metadata import distribution
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from delayrig.base.errors import BadInputError
from delayrig.base.extras import MODULES, require_extra
from delayrig.setup.environment import known_extras
from delayrig.setup.layout import find_layout
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LAYOUT = find_layout({})


def versions(lock: Path) -> dict[str, str]:
    text = lock.read_text(encoding="utf-8")
    lines = re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE)
    return {str(canonicalize_name(name)): version for name, version in lines}


def pinned(lock: Path) -> set[str]:
    return set(versions(lock))


def project() -> dict[str, Any]:
    text = (LAYOUT.package_path / "pyproject.toml").read_text(encoding="utf-8")
    table: dict[str, Any] = tomllib.loads(text)
    return {**table["project"], "dependencies": table["dependency-groups"]["rig"]}


def needed(lines: list[str]) -> set[str]:
    """Returns the packages of these requirements and of all that they depend on here."""
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


def test_each_extra_has_a_lock_of_what_only_it_needs() -> None:
    groups = project()["optional-dependencies"]
    of_tests = {"test", "docs"}
    assert known_extras(LAYOUT) == sorted(set(groups) - of_tests) == sorted(MODULES)
    for name in known_extras(LAYOUT):
        only_extra = needed(groups[name]) - pinned(LAYOUT.lock_of_python)
        assert pinned(LAYOUT.lock_of_extra(name)) == only_extra


def test_extra_that_is_not_there_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in MODULES:
        require_extra(name, "this")
        monkeypatch.setitem(MODULES, name, "no_such_module")
        with pytest.raises(BadInputError) as raised:
            require_extra(name, "--format parquet")
        assert raised.value.hint == f"rig/rig setup --extra {name}"


def test_no_package_is_pinned_at_two_versions() -> None:
    locks = [LAYOUT.lock_of_python, LAYOUT.lock_of_tests]
    locks += [LAYOUT.lock_of_extra(name) for name in known_extras(LAYOUT)]
    for one, other in combinations(locks, 2):
        both = pinned(one) & pinned(other)
        assert not both & pinned(LAYOUT.lock_of_python)
        assert all(versions(one)[name] == versions(other)[name] for name in both)


def test_rig_needs_nothing_that_its_lock_pins_without_reason() -> None:
    unused = pinned(LAYOUT.lock_of_python) - needed(project()["dependencies"])
    assert not unused, f"nothing needs {unused}: it belongs to {LAYOUT.lock_of_tests}"
