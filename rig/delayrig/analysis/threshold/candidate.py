# SPDX-License-Identifier: GPL-2.0-or-later
"""A program for each threshold: ours, those that a command builds, or those that are given."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from delayrig.base import digest
from delayrig.base.errors import BadInputError
from delayrig.images.elf import collect_program
from delayrig.images.subject import PATH_PREFIX


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A flashrom that was built with one threshold."""

    value_us: int
    program: Path
    sha256: str
    """Of the program and all that it loads."""

    @property
    def subject(self) -> str:
        """Its name as a subject of plans."""
        return f"{PATH_PREFIX}{self.program}"


def candidate_of(value_us: int, program: Path) -> Candidate:
    """Raises `BadInputError` where the file is none that a guest could run."""
    return Candidate(value_us=value_us, program=program.absolute(), sha256=closure_sha256(program))


def closure_sha256(program: Path) -> str:
    """A digest of the program, its interpreter and its libraries."""
    closure = collect_program(str(program.absolute()), Path("/"))
    files = [closure.program, *closure.libraries.values()]
    files += [closure.interpreter[1]] if closure.interpreter else []
    return digest.of_value(sorted(digest.of_file(file) for file in files))


def check_candidates(candidates: Iterable[Candidate], option: str) -> None:
    """Raises `BadInputError` where two are one program, or one has changed since it was built."""
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
