# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds a tree in its own way, and runs its own tests."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from delayrig.base.die_with_parent import die_with_parent
from delayrig.base.errors import BadInputError
from delayrig.features.graft.tree import MAKEFILES, Tree

PROGRAM = "flashrom"
BUILD = "build-graft"
TAIL_LINES = 12
CHECKS = re.compile(r"^(check|test)\s*:", re.M)


class DoesNotBuildError(BadInputError):
    """A tree could not be built; `tail` holds the last lines of the build's output."""

    def __init__(self, folder: Path, log: Path) -> None:
        self.tail = "\n".join(log.read_text(errors="replace").splitlines()[-TAIL_LINES:])
        super().__init__(
            f"{folder}: could not be built:\n{self.tail}",
            hint=f"all output is in {log}; install what is missing, and start again",
        )


class OwnTests(msgspec.Struct, frozen=True, kw_only=True):
    """The results of the tree's own tests; both 0 if it has none. With make, all count as one."""

    passed: int
    failed: int


class Built(msgspec.Struct, frozen=True, kw_only=True):
    program: str
    warnings: int
    tests: OwnTests | None = None
    """The tree's tests; None if they were not requested."""


def build(folder: Path, tree: Tree, log: Path, *, tests: bool) -> Built:
    """Builds a tree, and tests it if requested; appends all output to `log`.

    Raises `DoesNotBuildError` if the build fails, `BadInputError` if it leaves no program.
    """
    commands = [["make", "--no-print-directory", f"-j{len(os.sched_getaffinity(0))}"]]
    if is_meson := tree.system == "meson":
        commands = [[*_meson("setup"), "--wrap-mode=nodownload", BUILD], ["ninja", "-C", BUILD]]
    for command in commands:
        if _run(command, folder, log) != 0:
            raise DoesNotBuildError(folder, log)
    program = (folder / BUILD if is_meson else folder) / PROGRAM
    if not program.is_file():
        raise BadInputError(
            f"{folder}: was built, and left no program {program}",
            hint=f"see {log}; a graft needs flashrom's command line",
        )
    warnings = log.read_text(errors="replace").count(": warning: ")
    run_tests = _meson_tests if is_meson else _make_tests
    return Built(
        program=str(program.absolute()),
        warnings=warnings,
        tests=run_tests(folder, log) if tests else None,
    )


def _meson(*words: str) -> list[str]:
    """Returns a command of the rig's own meson, because a system's may be too old."""
    return [str(Path(sys.executable).with_name("meson")), *words]


def _meson_tests(folder: Path, log: Path) -> OwnTests:
    _run(_meson("test", "-C", BUILD, "--no-rebuild"), folder, log)
    kept = folder / BUILD / "meson-logs" / "testlog.json"
    lines = kept.read_text().splitlines() if kept.is_file() else []
    results = [json.loads(line)["result"] for line in lines]
    passed = sum(result in ("OK", "EXPECTEDFAIL") for result in results)
    return OwnTests(passed=passed, failed=len(results) - passed - results.count("SKIP"))


def _make_tests(folder: Path, log: Path) -> OwnTests:
    makefile = next(folder / name for name in MAKEFILES if (folder / name).is_file())
    target = CHECKS.search(makefile.read_text(errors="replace"))
    if target is None:
        return OwnTests(passed=0, failed=0)
    passed = _run(["make", "--no-print-directory", target[1]], folder, log) == 0
    return OwnTests(passed=int(passed), failed=int(not passed))


def _run(command: Sequence[str], folder: Path, log: Path) -> int:
    with log.open("ab") as output:
        done = subprocess.run(
            die_with_parent(command),
            cwd=folder,
            env={**os.environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    return done.returncode
