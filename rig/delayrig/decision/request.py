# SPDX-License-Identifier: GPL-2.0-or-later
"""The runs of a gate: equal cells for both subjects, canaries and controls until they answer."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, takewhile
from pathlib import Path
from typing import Protocol

import msgspec

from delayrig.base.errors import BadInputError, BuildError, ExitCode
from delayrig.base.paths import Paths
from delayrig.base.shell import run_shell
from delayrig.base.text import counted
from delayrig.decision.gate_judge import unanswered
from delayrig.decision.known_faults import KnownFault
from delayrig.model.cell import WATCHING, Cell, Role, place_of
from delayrig.model.lane import EXACT_LANE, LaneName
from delayrig.model.result import FILE_NAME, Results, read_results
from delayrig.plan.request import Request
from delayrig.run.runner import Progress, run_side_by_side
from delayrig.subjects.git_tree import is_known, known_source
from delayrig.subjects.recipes import Recipes
from delayrig.subjects.subject import PATH_PREFIX, is_own_build, known_subjects

GOOD, BAD, SKIP, ABORT = 0, 1, 125, 128
"""The codes of `git bisect run`: 125 cannot be tested, 128 and above end the bisection."""
BASELINE, CANDIDATE = "baseline", "candidate"
"""The folders of the first round."""


def bisect_code(code: ExitCode, *, untestable: bool = False) -> int:
    """Returns the code. Doubts and faults of the rig skip a revision; bad input aborts."""
    if untestable:
        return SKIP
    match code:
        case ExitCode.PASS:
            return GOOD
        case ExitCode.UNSAFE | ExitCode.SLOWER:
            return BAD
        case ExitCode.BAD_INPUT:
            return ABORT
        case ExitCode.INCONCLUSIVE | ExitCode.SKIPPED | ExitCode.RIG_FAULT:
            return SKIP


def labels_of(words: Iterable[str], subjects: Mapping[str, str], paths: Paths) -> dict[str, str]:
    """Returns the label of each side, by `--label [SIDE=]NAME` or else its commit.

    Without SIDE a label is the candidate's.
    """
    labels = {
        side: known_source(name, paths).label
        for side, name in subjects.items()
        if is_known(name, paths)
    }
    for word in words:
        side, _, name = word.rpartition("=")
        if side not in ("", BASELINE, CANDIDATE) or not name:
            raise BadInputError(
                f"--label {word}: names no side of a gate",
                hint=f"write NAME, {BASELINE}=NAME or {CANDIDATE}=NAME",
            )
        labels[side or CANDIDATE] = name
    return labels


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBaseline:
    path: Path
    """Its `results.json`."""
    results: Results

    @property
    def folder(self) -> Path:
        """Returns the folder of the run."""
        return self.path.parent

    @property
    def lane(self) -> LaneName | None:
        """Returns the lane of all its cells; None if they are in several lanes."""
        lanes = {LaneName(cell.lane) for cell in self.results.cells}
        return lanes.pop() if len(lanes) == 1 else None

    def check_cells(self, cells: Iterable[Cell]) -> None:
        """Raises `BadInputError` if it lacks one of the places of the candidate."""
        there = {cell.place for cell in self.results.measured}
        wanted = [place_of(cell.id) for cell in cells if cell.role is Role.MEASURE]
        missing = [place for place in wanted if place not in there]
        if missing:
            run = self.results.run
            raise BadInputError(
                f"{self.path}: key 'cells': lacks {counted(len(missing), 'cell')} of the plan,"
                f" such as {missing[0]}",
                hint=f"it is a run of plan {run.plan}: name that with --plan,"
                " or run the baseline with this one",
            )


def is_subject(name: str, recipes: Recipes) -> bool:
    """Returns True if the baseline is a subject to run, False if it is the path of a stored run."""
    known = is_own_build(name) or name in known_subjects(recipes)
    return known or not Path(name).exists()


def read_baseline(run: Path) -> StoredBaseline:
    """Reads a finished run of one subject; raises `BadInputError` for any other."""
    results = read_results(run)
    path = run / FILE_NAME if run.is_dir() else run
    if path.name != FILE_NAME:
        raise BadInputError(
            f"{path}: is not called {FILE_NAME}, which other commands read in its folder",
            hint=f"name the folder of the run, or rename the file to {FILE_NAME}",
        )
    if results.run.interrupted:
        raise BadInputError(
            f"{path}: key 'run.interrupted' is true: cells of it are missing",
            hint="run it again to its end",
        )
    names = sorted({cell.subject.name for cell in results.measured})
    if len(names) != 1:
        raise BadInputError(
            f"{path}: key 'cells' holds {len(names)} measured subjects: {', '.join(names)}",
            hint="a baseline needs one: run it with `rig/rig run --subject ...` and one subject",
        )
    return StoredBaseline(path=path, results=results)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRequest:
    """A gate that can be started. Either `baseline` or `stored` is None."""

    baseline: Request | None
    candidate: Request
    stored: StoredBaseline | None
    rounds: int
    labels: Mapping[str, str] = field(default_factory=dict)
    """The name of each side in answers, if that is not its version."""
    questions: Mapping[str, str] = field(default_factory=dict)
    """The plan's question by place, which a Yes must answer."""
    known: Sequence[KnownFault] = ()
    tree: Path | None = None
    """The folder that the candidate was taken from, if any. It may have changed since."""

    def round(self, number: int, unanswered: Collection[str] = ()) -> list[Request]:
        """Returns a round's runs, the baseline's first.

        Later rounds have only cells in real time, without the canaries and controls that are not
        `unanswered`.
        """

        def is_due(cell: Cell) -> bool:
            is_open = cell.role not in WATCHING or cell.id in unanswered
            return number == 0 or (cell.lane != EXACT_LANE and is_open)

        return [
            replace(
                side,
                out=side.out / _folder(name, number),
                cells=[cell for cell in side.cells if is_due(cell)],
            )
            for name, side in ((BASELINE, self.baseline), (CANDIDATE, self.candidate))
            if side is not None
        ]


def _folder(name: str, number: int) -> str:
    return name if number == 0 else f"{name}-{number + 1}"


def rounds_of(folder: Path, name: str) -> list[Path]:
    """Returns the folders of a side's rounds. The first one always exists."""
    further = (folder / _folder(name, number) for number in count(1))
    return [folder / name, *takewhile(Path.is_dir, further)]


def baseline_rounds(folder: Path, stored: str) -> list[Path]:
    """Returns the folders of the baseline's runs; `stored` is the file of its results, or empty.

    A gate keeps a copy of a stored baseline's results, for when its folder is moved or read on
    another machine.
    """
    is_there = stored and Path(stored).is_file()
    return [Path(stored).parent] if is_there else rounds_of(folder, BASELINE)


def cells_of(subject: str, cells: Sequence[Cell], *, watched: bool) -> list[Cell]:
    """Returns the subject's cells, named by its side; if `watched`, canaries and controls too."""
    side = CANDIDATE if watched else BASELINE
    return [
        msgspec.structs.replace(cell, side=side) if cell.role is Role.MEASURE else cell
        for cell in cells
        if (cell.role is Role.MEASURE and cell.subject == subject)
        or (watched and cell.role in WATCHING)
    ]


def check_watched(cells: Sequence[Cell], plan: str) -> None:
    """Raises `BadInputError` for a plan that could not show whether the rig detects mistakes."""
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
    """Runs the user's shell command here; raises `BuildError` if it fails."""
    done = run_shell(command, shown=True)
    if done.returncode != 0:
        raise BuildError(
            f"--build {command!r}: ended with {done.returncode}",
            hint="its output is above; run it by hand in this folder",
        )


def check_built(subject: str) -> None:
    """Raises `BuildError` if a build left no program at `path:BINARY`."""
    binary = Path(subject.removeprefix(PATH_PREFIX))
    if subject.startswith(PATH_PREFIX) and not binary.is_file():
        raise BuildError(f"--build: left no file {binary}", hint="name the program that it makes")


class RoundsProgress(Progress, Protocol):
    def round_begins(self, number: int, rounds: int) -> None:
        """Reports the round's number, starting at 1."""


async def run_rounds(
    request: GateRequest, paths: Paths, progress: RoundsProgress
) -> list[list[Results]]:
    """Runs all rounds, and returns the runs of each in the order of the sides.

    The sides take turns to begin.
    """
    runs: list[list[Results]] = []
    for number in range(request.rounds):
        progress.round_begins(number + 1, request.rounds)
        sides = request.round(number, unanswered([each[-1] for each in runs]))
        turn = -1 if number % 2 else 1
        found = await run_side_by_side(sides[::turn], paths, progress)
        runs.append(found[::turn])
    return runs
