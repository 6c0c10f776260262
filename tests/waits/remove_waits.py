#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Take each wait out of flashrom's drivers, one at a time, and see that a unit test notices.

A wait that no test misses is either needless or untested. Works on a copy of the sources, so that
nothing is left changed. Prints a line a wait and exits 0 if all of them are missed, 1 if one is
not, 99 if the sources as they are do not build or pass.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
COPIED = ("meson.build", "meson.options", "emulators", "flashrom", "images", "tests")
# Where waits are: what speaks to parts and programmers, and the one place that waits for parts.
HOLDERS = ("flashrom/drivers/*.c", "flashrom/programmers/*.c", "flashrom/core/busy.c")
# The emulated part's own time, which passes while the wire is busy.
NOT_HELD = {"flashrom/programmers/dummy.c"}
WAIT = re.compile(r"\b(?:flash_wait_us|busy_wait|clock_delay_us)\(")
TEST_LIMIT_S = 60
BUILD_LIMIT_S = 300
MISSED, UNNOTICED, BROKEN = 0, 1, 99


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """One call that waits, as a stretch of a file's text."""

    path: str
    line: int
    start: int
    end: int
    text: str


class BuildError(Exception):
    """The sources do not build."""


def call_end(text: str, opening: int) -> int:
    """The index behind the parenthesis that closes the one at `opening`."""
    depth = 0
    for index in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return index + 1
    raise ValueError(f"no closing parenthesis after {text[opening : opening + 40]!r}")


def waits_in(path: str, text: str) -> Iterator[Wait]:
    """The calls in a file; a definition begins its line with a type and is none."""
    for match in WAIT.finditer(text):
        line_start = text.rfind("\n", 0, match.start()) + 1
        if not text[line_start].isspace():
            continue
        end = call_end(text, match.end() - 1)
        yield Wait(
            path=path,
            line=text.count("\n", 0, match.start()) + 1,
            start=match.start(),
            end=end,
            text=re.sub(r"\s+", " ", text[match.start() : end]),
        )


def all_waits(root: Path) -> list[Wait]:
    """Every wait of the drivers under `root`, in the order of the files."""
    paths = sorted(path for holder in HOLDERS for path in root.glob(holder))
    names = [str(path.relative_to(root)) for path in paths]
    return [
        wait
        for name in names
        if name not in NOT_HELD
        for wait in waits_in(name, (root / name).read_text())
    ]


def without(wait: Wait, text: str) -> str:
    """The file without the wait: 0 stands for a wait that went well."""
    return text[: wait.start] + "(0)" + text[wait.end :]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """A copy of the sources, and how to build and test it."""

    root: Path
    meson: str

    @property
    def build(self) -> Path:
        """Where it is built."""
        return self.root / "build"

    def run(self, *command: str, limit_s: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.root, capture_output=True, text=True, check=False, timeout=limit_s
        )

    def set_up(self) -> None:
        """Copies the sources and configures the build. A wait taken out leaves unused names."""
        for name in COPIED:
            source = CHECKOUT / name
            if source.is_dir():
                shutil.copytree(source, self.root / name)
            else:
                shutil.copy(source, self.root / name)
        arguments = ("-Dwerror=false", "-Dbuildtype=plain")
        done = self.run(self.meson, "setup", *arguments, "build", limit_s=BUILD_LIMIT_S)
        if done.returncode != 0:
            raise BuildError(done.stdout + done.stderr)

    def compile(self, tests: list[str]) -> None:
        done = self.run(self.meson, "compile", "-C", "build", *tests, limit_s=BUILD_LIMIT_S)
        if done.returncode != 0:
            raise BuildError(done.stdout + done.stderr)

    def tests(self) -> list[str]:
        """The unit tests that link the drivers, the cheapest to tell first."""
        folder = self.root / "tests" / "unit" / "flashrom"
        names = [
            f"test_flashrom_{path.stem.removeprefix('test_')}"
            for path in sorted(folder.glob("test_*.c"))
            if "delay" not in path.stem and path.stem != "test_museum"
        ]
        return sorted(names, key=lambda name: (name == "test_flashrom_parts", name))

    def failing(self, test: str) -> bool:
        """Whether the test fails; one that hangs fails, too."""
        program = self.build / "tests" / "unit" / "flashrom" / test
        try:
            return self.run(str(program), limit_s=TEST_LIMIT_S).returncode != 0
        except subprocess.TimeoutExpired:
            return True

    def first_failing(self, tests: list[str]) -> str | None:
        return next((test for test in tests if self.failing(test)), None)

    def who_misses(self, wait: Wait, tests: list[str]) -> str | None:
        """The test that fails without the wait."""
        path = self.root / wait.path
        text = path.read_text()
        path.write_text(without(wait, text))
        try:
            self.compile(tests)
            return self.first_failing(tests)
        finally:
            path.write_text(text)


def ordered_for(wait: Wait, tests: list[str]) -> list[str]:
    """The test of the wait's own file first: it knows best."""
    own = f"test_flashrom_{Path(wait.path).stem}"
    return sorted(tests, key=lambda test: test != own)


def remove_all(workshop: Workshop, only: str) -> int:
    """Goes through all waits whose path holds `only`."""
    workshop.set_up()
    tests = workshop.tests()
    workshop.compile(tests)
    failing = workshop.first_failing(tests)
    if failing is not None:
        print(f"waits: {failing} fails before any wait is taken out", file=sys.stderr)
        return BROKEN
    waits = [wait for wait in all_waits(workshop.root) if only in wait.path]
    unnoticed = 0
    for wait in waits:
        test = workshop.who_misses(wait, ordered_for(wait, tests))
        unnoticed += test is None
        print(f"{wait.path}:{wait.line}: {wait.text}: {test or 'NOBODY MISSES IT'}", flush=True)
    print(f"waits: {len(waits) - unnoticed} of {len(waits)} are missed by a test")
    return UNNOTICED if unnoticed or not waits else MISSED


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--meson", default="meson", help="the meson to build with")
    parser.add_argument("--only", default="", metavar="TEXT", help="files whose path has TEXT")
    parser.add_argument("--list", action="store_true", help="only list the waits")
    options = parser.parse_args()
    if options.list:
        for wait in all_waits(CHECKOUT):
            print(f"{wait.path}:{wait.line}: {wait.text}")
        return 0
    with tempfile.TemporaryDirectory(prefix="remove-waits-") as folder:
        try:
            return remove_all(Workshop(root=Path(folder), meson=options.meson), options.only)
        except BuildError as error:
            print(f"waits: the sources do not build:\n{error}", file=sys.stderr)
            return BROKEN


if __name__ == "__main__":
    sys.exit(main())
