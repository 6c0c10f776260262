# SPDX-License-Identifier: GPL-2.0-or-later
"""A flashrom for each threshold: ours, those of a build command, or given ones.

Ours are kept in the folder of state, under a digest of their sources. One build folder serves all:
four sources are compiled for each threshold, the rest once (meson's `compared_thresholds_us`).
"""

import fcntl
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from delayrig.base import digest
from delayrig.base.atomic_file import replace_file
from delayrig.base.errors import BadInputError
from delayrig.base.paths import Paths, Preparing
from delayrig.base.shell import run_shell
from delayrig.subjects.elf import collect_program, read_imports
from delayrig.subjects.own_programs import require_built, run_builder
from delayrig.subjects.subject import PATH_PREFIX

DEFAULT = "0,2,10,50,100,500,1000,10000,100000"
"""The proposal's own candidates (2, 100 and 100,000 us), values between them, and 0."""
US_MAX = 2**32 - 1
HOW = "write whole microseconds with commas between: --values 0,2,100"
FOLDER = "thresholds"
SOURCES = ("flashrom", "emulators")
BUILD_FILES = ("rig/delayrig/VERSION", "meson.build", "meson.options")
SUFFIXES = {".c", ".h", ".build", ".map", ".py", ".toml"}
TARGET = "flashrom-threshold-{}"
TAIL_LINES = 12
PRIORITY_CALLS = {"sched_setscheduler", "sched_setattr", "pthread_setschedparam"}
PLACE = "{threshold}"
BUILD, BINARY = "--build", "--binary"
OURS = "our flashrom with other thresholds"
SETUP_HINT = "`rig/rig setup` builds everything again and says what is missing"


def parse_values(text: str) -> list[int]:
    """Returns microseconds, the smallest first; raises `BadInputError` that names what is wrong."""
    values: list[int] = []
    for word in (word.strip() for word in text.split(",")):
        value = parse_value(word, "--values")
        if value in values:
            raise BadInputError(
                f"--values: {value} is there twice", hint=f"leave one of them out; {HOW}"
            )
        values.append(value)
    return sorted(values)


def parse_value(word: str, option: str) -> int:
    """Returns one threshold in microseconds; raises `BadInputError` that names the option."""
    if re.fullmatch(r"-[0-9]+", word):
        raise BadInputError(f"{option}: {word} is negative, and no wait is that short", hint=HOW)
    if not re.fullmatch(r"[0-9]+", word):
        raise BadInputError(f"{option}: {word!r} is no number of microseconds", hint=HOW)
    if int(word) > US_MAX:
        raise BadInputError(
            f"{option}: {word} is more than a delay function can be asked for",
            hint=f"the largest is {US_MAX}, which never sleeps",
        )
    return int(word)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    value_us: int
    program: Path
    sha256: str
    """The digest of the program and everything that it loads."""

    @property
    def subject(self) -> str:
        return f"{PATH_PREFIX}{self.program}"


def candidate_of(value_us: int, program: Path) -> Candidate:
    """Returns the candidate; raises `BadInputError` if the file is no program for a guest."""
    return Candidate(value_us=value_us, program=program.absolute(), sha256=closure_sha256(program))


def asks_for_priority(program: Path) -> bool:
    """Returns True if the program or its own library imports one of PRIORITY_CALLS."""
    closure = collect_program(str(program.absolute()), Path("/"))
    own = [file for name, file in closure.libraries.items() if "flashrom" in name]
    return any(PRIORITY_CALLS & read_imports(file) for file in (closure.program, *own))


def closure_sha256(program: Path) -> str:
    """Returns a digest of the program, its interpreter and its libraries."""
    closure = collect_program(str(program.absolute()), Path("/"))
    files = [closure.program, *closure.libraries.values()]
    files += [closure.interpreter[1]] if closure.interpreter else []
    return digest.of_value(sorted(digest.of_file(file) for file in files))


def check_candidates(candidates: Iterable[Candidate], option: str) -> None:
    """Raises `BadInputError` if two are the same program, or one changed since it was built."""
    known: dict[str, Candidate] = {}
    for candidate in candidates:
        if closure_sha256(candidate.program) != candidate.sha256:
            raise BadInputError(
                f"{option}: what was built for {candidate.value_us} us has changed since:"
                f" {candidate.program}",
                hint="a later build wrote over it or over a library of it: give each a folder"
                " of its own, with {threshold} in its name",
            )
        other = known.setdefault(candidate.sha256, candidate)
        if other is not candidate:
            raise BadInputError(
                f"{option}: the programs for {other.value_us} and {candidate.value_us} us are"
                " the same, byte for byte",
                hint="see that {threshold} reaches the compiler, and that old objects are rebuilt",
            )


def provide_own(values: Sequence[int], paths: Paths, preparing: Preparing) -> list[Candidate]:
    """Returns a program for each value, after building the missing ones."""
    folder = paths.state / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = folder / source_sha256(paths.checkout)[:16]
        places = {value: made / f"flashrom-{value}" for value in values}
        missing = [value for value in values if not places[value].is_file()]
        if missing:
            preparing(f"flashrom with thresholds of {', '.join(map(str, missing))} us")
            _build(missing, folder / "build", made, paths)
    return [candidate_of(value, place) for value, place in places.items()]


def source_sha256(checkout: Path) -> str:
    """Returns a digest of all sources of our flashrom, the compiler's version and CFLAGS."""
    files = [checkout / name for name in BUILD_FILES]
    for name in SOURCES:
        below = (checkout / name).rglob("*")
        files += sorted(file for file in below if file.suffix in SUFFIXES and file.is_file())
    compiler = subprocess.run(
        [os.environ.get("CC", "cc"), "--version"], capture_output=True, text=True, check=False
    )
    return digest.of_value(
        [
            [[str(file.relative_to(checkout)), digest.of_file(file)] for file in files],
            [compiler.stdout, os.environ.get("CFLAGS", "")],
        ]
    )


def _build(values: Sequence[int], build: Path, made: Path, paths: Paths) -> None:
    option = f"-Dcompared_thresholds_us={','.join(map(str, values))}"
    targets = [TARGET.format(value) for value in values]
    folders = [option, str(build), str(paths.checkout)]
    if run_builder(["meson", "setup", "--reconfigure", *folders], paths).returncode != 0:
        shutil.rmtree(build, ignore_errors=True)
        done = run_builder(["meson", "setup", *folders], paths)
        require_built(done, f"configuring {OURS}", SETUP_HINT)
    done = run_builder(["meson", "compile", "-C", str(build), *targets], paths)
    require_built(done, f"building {OURS}", SETUP_HINT)
    made.mkdir(parents=True, exist_ok=True)
    for value, target in zip(values, targets, strict=True):
        _place(build / "flashrom" / target, made / f"flashrom-{value}")


def _place(program: Path, place: Path) -> None:
    """Copies the program in one step."""
    replace_file(place, program.read_bytes(), mode=stat.S_IMODE(program.stat().st_mode))


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
    """Runs the command for each value. Its last line of output is the path of the program."""
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
        output = [*lines, *done.stderr.splitlines()][-TAIL_LINES:]
        tail = "".join(f"\n  {line}" for line in output) or "\n  (it printed nothing)"
        raise BadInputError(
            f"{BUILD} for {value} us: {command!r} ended with {done.returncode};"
            f" its last lines:{tail}",
            hint="run it by hand in this folder; nothing was measured",
        )
    last = lines[-1] if lines else ""
    if not Path(last).is_file():
        raise BadInputError(
            f"{BUILD} for {value} us: its last line of output, {last!r}, names no file",
            hint="let the command end with the path of the program: ... && echo build/flashrom",
        )
    return Path(last)


def _apart(program: Path, value: int, paths: Paths) -> Path:
    """Returns a copy that no build overwrites; the program if a copy would load other libraries."""
    folder = paths.state / FOLDER / "given" / digest.of_file(program)[:16]
    copy = folder / f"flashrom-{value}"
    if not copy.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        _place(program, copy)
    try:
        libraries = collect_program(str(copy), Path("/")).libraries
    except BadInputError:
        return program
    alike = libraries == collect_program(str(program.absolute()), Path("/")).libraries
    return copy if alike else program


def given_candidates(pairs: Sequence[str]) -> list[Candidate]:
    """Parses VALUE=PATH words; raises `BadInputError` that names the word."""
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
