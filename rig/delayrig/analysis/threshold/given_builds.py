# SPDX-License-Identifier: GPL-2.0-or-later
"""Anybody's flashrom with other thresholds: built by a command of theirs, or given as files."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from delayrig.analysis.threshold.candidate import Candidate, candidate_of, check_candidates
from delayrig.analysis.threshold.own_builds import FOLDER, TAIL_LINES
from delayrig.analysis.threshold.values import parse_value
from delayrig.base import digest
from delayrig.base.errors import BadInputError
from delayrig.base.paths import Paths
from delayrig.base.preparing import Preparing
from delayrig.base.shell import run_shell
from delayrig.images.elf import collect_program

PLACE = "{threshold}"
BUILD, BINARY = "--build", "--binary"


def check_command(command: str) -> None:
    """Raises `BadInputError` for a command that would build the same each time."""
    if PLACE not in command:
        raise BadInputError(
            f"{BUILD} {command!r}: has no {PLACE} in it",
            hint=f"put {PLACE} where the microseconds go, as in"
            f" 'meson setup -Ddelay_minimum_sleep_us={PLACE} ...'",
        )


def build_candidates(
    command: str, values: Sequence[int], paths: Paths, preparing: Preparing
) -> list[Candidate]:
    """Runs the command for each value, here; its last line of output is the path of the program.

    Raises `BadInputError` with the command's last lines where it fails.
    """
    candidates = []
    for value in values:
        preparing(f"a flashrom with a threshold of {value} us: {command}")
        program = _built(command.replace(PLACE, str(value)), value)
        candidates.append(candidate_of(value, _apart(program, value, paths)))
    check_candidates(candidates, BUILD)
    return candidates


def _built(command: str, value: int) -> Path:
    done = run_shell(command)
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    if done.returncode != 0:
        said = [*lines, *done.stderr.splitlines()][-TAIL_LINES:]
        tail = "".join(f"\n  {line}" for line in said) or "\n  (it printed nothing)"
        raise BadInputError(
            f"{BUILD} for {value} us: {command!r} ended with {done.returncode};"
            f" its last lines:{tail}",
            hint="run it by hand in this folder; nothing was measured",
        )
    program = Path(lines[-1]) if lines else Path()
    if not lines or not program.is_file():
        raise BadInputError(
            f"{BUILD} for {value} us: its last line of output,"
            f" {lines[-1] if lines else ''!r}, names no file",
            hint="let the command end with the path of the program: ... && echo build/flashrom",
        )
    return program


def _apart(program: Path, value: int, paths: Paths) -> Path:
    """A copy that the next build cannot write over, where the program runs from any folder."""
    folder = paths.state / FOLDER / "given" / digest.of_file(program)[:16]
    copy = folder / f"flashrom-{value}"
    if not copy.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        scratch = folder / f".flashrom-{value}.new"
        shutil.copy2(program, scratch)
        scratch.replace(copy)
    try:
        libraries = collect_program(str(copy), Path("/")).libraries
    except BadInputError:
        return program
    alike = libraries == collect_program(str(program.absolute()), Path("/")).libraries
    return copy if alike else program


def given_candidates(pairs: Sequence[str]) -> list[Candidate]:
    """Of VALUE=PATH words; raises `BadInputError` that names the word."""
    known: dict[int, Candidate] = {}
    for pair in pairs:
        word, equals, path = pair.partition("=")
        if not equals or not path:
            raise BadInputError(
                f"{BINARY} {pair!r}: is not VALUE=PATH", hint="as in 100=./flashrom"
            )
        value = parse_value(word, BINARY)
        if value in known:
            raise BadInputError(f"{BINARY}: {value} is there twice", hint="leave one of them out")
        if not Path(path).is_file():
            raise BadInputError(
                f"{BINARY} {pair!r}: there is no file {path}", hint="name a flashrom program"
            )
        known[value] = candidate_of(value, Path(path))
    candidates = [known[value] for value in sorted(known)]
    check_candidates(candidates, BINARY)
    return candidates
