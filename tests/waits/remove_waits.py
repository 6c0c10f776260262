# SPDX-License-Identifier: GPL-2.0-or-later
"""Removes each wait from flashrom's drivers, one at a time, and checks that a unit test fails.

If no test fails without a wait, the wait is needless or untested. The program changes a copy of the
sources. It keeps the copy, so that the next run compiles only what has changed. It prints a line
for each wait, and exits with 0 if a test fails for each of them, with 1 if not, and with 99 if the
sources do not build or a test of the unchanged sources fails.
"""

import argparse
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.runner.outcome import note
from tests.runner.places import find_places

CHECKOUT = Path(__file__).resolve().parents[2]
COPIED = (
    *("meson.build", "meson.options", "emulators", "flashrom", "images", "tests"),
    "rig/delayrig/VERSION",
)
# The files with waits.
SOURCES = (
    "flashrom/drivers/*.c",
    "flashrom/programmers/*.c",
    "flashrom/core/busy.c",
    "flashrom/core/probe.c",
)
# The waits in dummy.c make the time of its emulated part pass.
EXCLUDED = {"flashrom/programmers/dummy.c"}
WAIT = re.compile(r"\b(?:flash_wait_us|flash_await_power|busy_wait|clock_delay_us)\(")
TEST_LIMIT_S = 120
BUILD_LIMIT_S = 300
COVERED, UNCOVERED, BROKEN = 0, 1, 99
TESTS = "tests/unit/flashrom"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """One call that waits, with its place in the file's text."""

    path: str
    line: int
    start: int
    end: int
    text: str

    @property
    def name(self) -> str:
        """Returns the file and line."""
        return f"{self.path}:{self.line}"


class BuildError(Exception):
    """The error that the sources do not build, or that a test fails with all waits in place."""


def call_end(text: str, opening: int) -> int:
    """Returns the index after the parenthesis that closes the one at `opening`."""
    depth = 0
    for index in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return index + 1
    raise ValueError(f"no closing parenthesis after {text[opening : opening + 40]!r}")


def waits_in(path: str, text: str) -> Iterator[Wait]:
    """Yields the calls in a file. A line without indentation is a definition."""
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
    """Returns the waits of all SOURCES under `root`, in the order of the files."""
    paths = sorted(path for holder in SOURCES for path in root.glob(holder))
    names = [str(path.relative_to(root)) for path in paths]
    return [
        wait
        for name in names
        if name not in EXCLUDED
        for wait in waits_in(name, (root / name).read_text())
    ]


def without(wait: Wait, text: str) -> str:
    """Returns the file's text with `(0)` in place of the wait: a wait that succeeds returns 0."""
    return text[: wait.start] + "(0)" + text[wait.end :]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """A copy of the sources, with the commands to build and test it."""

    root: Path
    meson: str

    @property
    def build(self) -> Path:
        return self.root / "build"

    def run(self, *command: str, limit_s: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.root, capture_output=True, text=True, check=False, timeout=limit_s
        )

    def set_up(self) -> None:
        """Copies the sources, and configures the build.

        Warnings are not errors there, because a removed wait leaves unused names.
        """
        for name in COPIED:
            bring_up_to_date(CHECKOUT / name, self.root / name)
        if (self.build / "build.ninja").exists():
            return
        shutil.rmtree(self.build, ignore_errors=True)
        arguments = ("-Dwerror=false", "-Dbuildtype=plain")
        done = self.run(self.meson, "setup", *arguments, "build", limit_s=BUILD_LIMIT_S)
        if done.returncode != 0:
            raise BuildError(done.stdout + done.stderr)

    def compile(self, tests: list[str]) -> None:
        targets = [f"{TESTS}/{test}" for test in tests]
        done = self.run("ninja", "-C", "build", *targets, limit_s=BUILD_LIMIT_S)
        if done.returncode != 0:
            raise BuildError(done.stdout + done.stderr)

    def tests(self) -> list[str]:
        """Returns the unit tests that link the drivers; test_flashrom_parts is the last."""
        folder = self.root / TESTS
        names = [
            f"test_flashrom_{path.stem.removeprefix('test_')}"
            for path in sorted(folder.glob("test_*.c"))
            if "delay" not in path.stem and path.stem != "test_past_mistakes"
        ]
        return sorted(names, key=lambda name: (name == "test_flashrom_parts", name))

    def failing(self, test: str) -> bool:
        """Returns True if the test fails or hangs."""
        program = self.build / TESTS / test
        try:
            return self.run(str(program), limit_s=TEST_LIMIT_S).returncode != 0
        except subprocess.TimeoutExpired:
            return True

    def first_failing(self, tests: list[str]) -> str | None:
        """Returns the first test that fails, or None. Runs one before it builds the others."""
        for some in (tests[:1], tests[1:]):
            self.compile(some)
            found = next((test for test in some if self.failing(test)), None)
            if found is not None:
                return found
        return None

    def require_passing(self, test: str) -> None:
        """Raises BuildError if the test fails with all waits in place, for any other reason."""
        self.compile([test])
        if self.failing(test):
            raise BuildError(f"{test} fails with all waits in place")

    def failing_without(self, wait: Wait, tests: list[str]) -> str | None:
        """Removes the wait, and returns a test that then fails, or None."""
        path = self.root / wait.path
        text = path.read_text()
        path.write_text(without(wait, text))
        try:
            return self.first_failing(tests)
        finally:
            path.write_text(text)


def bring_up_to_date(source: Path, copy: Path) -> None:
    """Copies files and folders that differ; equal files keep their time."""
    if source.is_file():
        if not copy.is_file() or copy.read_bytes() != source.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(source.read_bytes())
            copy.chmod(source.stat().st_mode)
        return
    wanted = {path.name for path in source.iterdir() if path.name != "__pycache__"}
    for gone in set(copy.iterdir() if copy.is_dir() else ()) - {copy / name for name in wanted}:
        shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    for name in sorted(wanted):
        bring_up_to_date(source / name, copy / name)


def ordered_for(wait: Wait, tests: list[str]) -> list[str]:
    """Returns the tests, with that of the wait's file first."""
    own = f"test_flashrom_{Path(wait.path).stem}"
    return sorted(tests, key=lambda test: test != own)


def remove_all(workshop: Workshop, chosen: list[Wait], record: Path | None) -> int:
    """Tests the sources without each of these waits in turn; returns the exit code."""
    workshop.set_up()
    tests = workshop.tests()
    trusted: set[str] = set()
    uncovered = 0
    for wait in chosen:
        began_s = time.monotonic()
        test = workshop.failing_without(wait, ordered_for(wait, tests))
        if test is not None and test not in trusted:
            workshop.require_passing(test)
            trusted.add(test)
        uncovered += test is None
        print(f"{wait.name}: {wait.text}: {test or 'NO TEST FAILS'}", flush=True)
        took_s = time.monotonic() - began_s
        note(record, wait.name, passed=test is not None, took_s=took_s)
    print(f"waits: a test fails without {len(chosen) - uncovered} of {len(chosen)}")
    return UNCOVERED if uncovered or not chosen else COVERED


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "wait", nargs="*", metavar="PATH:LINE", help="a wait to remove; without one, all"
    )
    parser.add_argument("--meson", default="meson", help="the meson to build with")
    parser.add_argument("--record", type=Path, help="a file that gets a line of JSON a wait")
    parser.add_argument("--list", action="store_true", help="only list the waits")
    return parser


def main() -> int:
    options = make_parser().parse_args()
    waits = all_waits(CHECKOUT)
    if unknown := set(options.wait) - {wait.name for wait in waits}:
        make_parser().error(f"there is no wait at {', '.join(sorted(unknown))}; --list has them")
    chosen = [wait for wait in waits if wait.name in options.wait or not options.wait]
    if options.list:
        print(*(wait.name for wait in chosen), sep="\n")
        return 0
    try:
        workshop = Workshop(root=find_places().state / "build-waits", meson=options.meson)
        return remove_all(workshop, chosen, options.record)
    except BuildError as error:
        print(f"waits: the waits cannot be tested:\n{error}", file=sys.stderr)
        return BROKEN


if __name__ == "__main__":
    sys.exit(main())
