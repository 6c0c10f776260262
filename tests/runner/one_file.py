# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks Python files within a minute: their lint, the types of the tree, and their tests."""

import re
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.runner.arguments import UsageError
from tests.runner.places import Places
from tests.runner.python_layer import QUICK, pytest_command
from tests.runner.report import human

CONFIG = "rig/pyproject.toml"
PYTHON_FOLDERS = ("rig", "tests", "emulators/gen")
WITHOUT_GUESTS = ("tests/rig", "tests/protocol", "tests/browser")
TEST_FILES_MAX = 12
"""The most files of tests that finish within a minute."""
SPREAD = ("-n", "2", "--dist", "loadfile")
PASSED, FAILED = 0, 1


def check_files(places: Places, paths: Sequence[Path]) -> int:
    """Makes all checks, even if one fails; returns the exit code."""
    began_s = time.monotonic()
    names = [str(path.relative_to(places.checkout)) for path in paths]
    bad = [what for what, command in checks(places, names) if not passes(places, what, command)]
    tests = files_of_tests(places.checkout, paths)
    if tests and not passes(places, "tests", pytest_command(places, QUICK, *SPREAD, *tests)):
        bad.append("tests")
    if not tests:
        print("-- tests: no test names or imports it: see tests/README.md for its layer")
    took = human(time.monotonic() - began_s)
    print(f"-- {' '.join(names)} took {took}: {'FAILED ' + ', '.join(bad) if bad else 'all well'}")
    return FAILED if bad else PASSED


def python_file(checkout: Path, here: Path, file: str) -> Path:
    """Returns the file by its path, which may begin here or at the top of the checkout.

    Raises UsageError if it is no Python file of the checkout.
    """
    found = [path for path in (here / file, checkout / file) if path.is_file()]
    if not found:
        raise UsageError(f"{file}: there is no such file")
    path = found[0].resolve()
    if path.suffix != ".py" or not path.is_relative_to(checkout):
        raise UsageError(f"{file}: no Python file of this checkout")
    return path


def checks(places: Places, names: list[str]) -> list[tuple[str, list[str]]]:
    """Returns the commands of the linters by name.

    mypy checks the whole tree, because a change may be wrong for its users.
    """
    ruff, mypy = str(places.tool("ruff")), str(places.tool("mypy"))
    return [
        ("lint", [ruff, "check", "--config", CONFIG, *names]),
        ("format", [ruff, "format", "--check", "--diff", "--config", CONFIG, *names]),
        ("types", [mypy, "--strict", "--config-file", CONFIG, *PYTHON_FOLDERS]),
    ]


def passes(places: Places, what: str, command: list[str]) -> bool:
    """Returns True if the command succeeds."""
    print(f"== {what} ==", flush=True)
    done = subprocess.run(command, cwd=places.checkout, env=places.environment(), check=False)
    return done.returncode == 0


def files_of_tests(checkout: Path, paths: Iterable[Path]) -> list[str]:
    """Returns the test files of these modules, at most TEST_FILES_MAX, from the checkout's top."""
    found = [test for path in paths for test in _tests_of_one(checkout, path)]
    names = [str(path.relative_to(checkout)) for path in dict.fromkeys(found)]
    if len(names) > TEST_FILES_MAX:
        left = len(names) - TEST_FILES_MAX
        print(f"-- tests: {left} more files import it: `tests/run rig` runs them")
    return names[:TEST_FILES_MAX]


def _tests_of_one(checkout: Path, path: Path) -> list[Path]:
    if path.name.startswith("test_"):
        return [path]
    name = [module_name(checkout, path)]
    named = [test for test in _named_tests(checkout, path) if imports_any(test.read_text(), name)]
    return named or _importing_tests(checkout, path)


def _named_tests(checkout: Path, path: Path) -> list[Path]:
    patterns = (f"test_{path.stem}.py", f"test_{path.stem}_*.py", f"test_*_{path.stem}.py")
    found = [
        test
        for folder in WITHOUT_GUESTS
        for pattern in patterns
        for test in sorted((checkout / folder).rglob(pattern))
    ]
    return list(dict.fromkeys(found))


def _importing_tests(checkout: Path, path: Path) -> list[Path]:
    """Returns the tests that import the module, else those that import its importers, and so on."""
    folders = [checkout / folder for folder in WITHOUT_GUESTS]
    tests = {test: test.read_text() for top in folders for test in sorted(top.rglob("test_*.py"))}
    own = {own: own.read_text() for own in sorted((checkout / "rig" / "delayrig").rglob("*.py"))}
    seen, waiting = set[Path](), {path}
    while waiting:
        names = [module_name(checkout, module) for module in waiting]
        if found := [test for test in tests if imports_any(tests[test], names)]:
            return found
        seen |= waiting
        waiting = {module for module in own if imports_any(own[module], names)} - seen
    return []


def module_name(checkout: Path, path: Path) -> str:
    """Returns the name by which the file is imported."""
    top = checkout / "rig" if path.is_relative_to(checkout / "rig") else checkout
    parts = path.relative_to(top).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_any(text: str, names: Iterable[str]) -> bool:
    """Returns True if the text of a module imports one of them in a form that our code uses."""
    return any(_import_of(name).search(text) for name in names)


def _import_of(name: str) -> re.Pattern[str]:
    package, _, last = name.rpartition(".")
    return re.compile(
        rf"^\s*(?:from {re.escape(name)} import|import {re.escape(name)}\b"
        rf"|from {re.escape(package)} import [^\n]*\b{re.escape(last)}\b)",
        re.MULTILINE,
    )
