# SPDX-License-Identifier: GPL-2.0-or-later
"""What a gate runs: the same cells for both subjects, canaries and controls until they answer."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import count, takewhile
from pathlib import Path

import msgspec

from delayrig.analysis.gate.baseline import StoredBaseline
from delayrig.analysis.gate.bisect import BuildError
from delayrig.base.errors import BadInputError
from delayrig.base.shell import run_shell
from delayrig.images.subject import PATH_PREFIX
from delayrig.judge.exit_code import WATCHING
from delayrig.model.cell import Cell, Role
from delayrig.model.lane import EXACT_LANE
from delayrig.plan.request import Request

BASELINE, CANDIDATE = "baseline", "candidate"
"""Folders of the first round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRequest:
    """A gate that can be started. Without `baseline` that one is stored."""

    baseline: Request | None
    candidate: Request
    stored: StoredBaseline | None
    rounds: int

    def round(self, number: int, unanswered: Collection[str] = ()) -> list[Request]:
        """The runs of one round, to be made side by side; the baseline's first.

        What is exact is exact the first time: further rounds hold cells of real time alone. Of
        canaries and controls they hold those that are `unanswered`.
        """
        sides = [(BASELINE, self.baseline), (CANDIDATE, self.candidate)]
        return [
            replace(
                side,
                out=side.out / _folder(name, number),
                cells=_cells(side.cells, number, unanswered),
            )
            for name, side in sides
            if side is not None
        ]


def _folder(name: str, number: int) -> str:
    return name if number == 0 else f"{name}-{number + 1}"


def rounds_of(folder: Path, name: str) -> list[Path]:
    """Where the rounds of a side are kept, the first one first, which is always there."""
    further = (folder / _folder(name, number) for number in count(1))
    return [folder / name, *takewhile(Path.is_dir, further)]


def _cells(cells: Sequence[Cell], number: int, unanswered: Collection[str]) -> list[Cell]:
    return [
        cell
        for cell in cells
        if number == 0
        or (cell.lane != EXACT_LANE and (cell.role not in WATCHING or cell.id in unanswered))
    ]


def cells_of(subject: str, cells: Sequence[Cell], *, watched: bool) -> list[Cell]:
    """What of a plan's cells measures the subject; if `watched`, canaries and controls too.

    Their ids name the side, so that they are the same on any machine.
    """
    side = CANDIDATE if watched else BASELINE
    return [
        msgspec.structs.replace(cell, side=side) if cell.role is Role.MEASURE else cell
        for cell in cells
        if (cell.role is Role.MEASURE and cell.subject == subject)
        or (watched and cell.role in WATCHING)
    ]


def check_watched(cells: Sequence[Cell], plan: str) -> None:
    """Raises `BadInputError` for a plan that could not show whether the rig sees."""
    roles = {cell.role for cell in cells}
    missing = [role for role in WATCHING if role not in roles]
    if missing:
        raise BadInputError(
            f"--plan {plan}: has no {' and no '.join(missing)}, so a gate could be blind",
            hint="add [[cell]]s of these roles, as in the plan 'gate'",
        )
    if Role.MEASURE not in roles:
        raise BadInputError(
            f"--plan {plan}: has no cell for the candidate",
            hint="add a [[group]] or a [[cell]] without 'subject'",
        )


def build_candidate(command: str) -> None:
    """Runs a shell command of the user's, here; raises `BuildError` where it fails."""
    done = run_shell(command, shown=True)
    if done.returncode != 0:
        raise BuildError(
            f"--build {command!r}: ended with {done.returncode}",
            hint="its words are above; run it by hand in this folder",
        )


def check_built(subject: str) -> None:
    """Raises `BuildError` where a build left no program at `path:BINARY`."""
    binary = Path(subject.removeprefix(PATH_PREFIX))
    if subject.startswith(PATH_PREFIX) and not binary.is_file():
        raise BuildError(f"--build: left no file {binary}", hint="name the program that it makes")
