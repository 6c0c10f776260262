# SPDX-License-Identifier: GPL-2.0-or-later
"""Coverage and changed waits, from the folders of runs."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

import msgspec

from delayrig.base.errors import LostGuestError, RigError
from delayrig.base.paths import Paths, Preparing
from delayrig.decision.request import BASELINE, CANDIDATE
from delayrig.features.coverage.coverage import (
    Build,
    ChangedWaits,
    Coverage,
    Side,
    changed_waits,
    coverage_of,
)
from delayrig.features.coverage.reached import seen_in
from delayrig.model.platform import Arch
from delayrig.model.result import CellResult, read_results
from delayrig.subjects.delay_function import parts_under_test
from delayrig.subjects.library import provide_library
from delayrig.subjects.recipes import read_recipes
from delayrig.subjects.saved_programs import programs_beside, programs_in
from delayrig.subjects.subject import Subject, provide_subject

NOT_KEPT = (
    "the {side}'s program was not kept beside its results, and no equal one is available: name a"
    " run of `gate`, such as its OUT/{side}"
)
NO_CHAINS = "no cell of the {side} has call chains with addresses"
KEPT = "code"
"""The folder among the images in which code maps are cached."""


class CoverageError(Exception):
    """A reason why coverage is unknown."""


class NotKeptError(CoverageError):
    """A missing program of a side, without which the changes are unknown."""


def find_changed_waits(
    baseline: Sequence[Path],
    candidate: Sequence[Path],
    paths: Paths,
    programs: Sequence[Subject] = (),
) -> ChangedWaits:
    """Returns the delay sites that a change touched. Each side is given by the folders of its runs.

    `programs` replace those that were not kept beside the runs. If nothing is known, `why_not` of
    the result says why.
    """
    return _compared(baseline, candidate, paths, programs)[0]


def _compared(
    baseline: Sequence[Path], candidate: Sequence[Path], paths: Paths, programs: Sequence[Subject]
) -> tuple[ChangedWaits, tuple[Side, Side] | None]:
    """Returns the changed waits, and both sides if they are known."""
    try:
        sides = _both(baseline, candidate, paths, programs)
    except (CoverageError, LostGuestError) as error:
        unknown = ChangedWaits(
            functions=0,
            changed=0,
            named=False,
            waits=[],
            why_not=str(error),
            is_doubt=isinstance(error, NotKeptError),
        )
        return unknown, None
    return changed_waits(*sides), sides


class RunCoverage(msgspec.Struct, frozen=True, kw_only=True):
    """The delay sites of a run or a gate."""

    coverages: list[Coverage]
    """The coverage of each subject; in a gate, of the candidate."""
    changed: ChangedWaits | None = None
    """The changed waits of a gate."""


def find_gate_coverage(
    baseline: Sequence[Path],
    candidate: Sequence[Path],
    paths: Paths,
    programs: Sequence[Subject] = (),
) -> RunCoverage:
    """Returns the candidate's coverage and the delay sites that the change touched."""
    changed, sides = _compared(baseline, candidate, paths, programs)
    if sides is None:
        coverages = find_coverage(candidate, paths, programs)
    else:
        coverages = [coverage_of(_subjects(candidate)[0], sides[1], sides[0])]
    return RunCoverage(coverages=coverages, changed=changed)


def find_coverage(
    run: Sequence[Path], paths: Paths, programs: Sequence[Subject] = ()
) -> list[Coverage]:
    """Returns the coverage of each subject of a run, which may have several rounds.

    `programs` replace those that were not kept beside the run. Subjects without known delay sites
    are left out.
    """
    found = []
    for subject in _subjects(run):
        builds = _builds(run, subject, [*programs, *_programs(run)])
        side = Side(builds, kept=paths.images / KEPT)
        if side.builds:
            found.append(coverage_of(subject, side))
    return found


def provide_programs(run: Path, paths: Paths, preparing: Preparing) -> list[Subject]:
    """Provides the run's subjects as they are now. `_builds()` uses those with equal digests."""
    recipes = read_recipes(paths.checkout)
    cells = [cell for _, cell in _cells([run])]
    wanted = {(cell.subject.name, cell.subject.library, cell.guest.arch) for cell in cells}
    made = [
        provide_library(name, recipes, paths, preparing)
        if is_library
        else provide_subject(name, recipes, paths, preparing, Arch(arch))
        for name, is_library, arch in sorted(wanted)
    ]
    return [each for each in made if each is not None]


def programs_left(run: Path, paths: Paths, preparing: Preparing) -> list[Subject]:
    """Provides the subjects of a run that kept no programs; returns none if that fails."""
    if programs_beside(run):
        return []
    try:
        return provide_programs(run, paths, preparing)
    except RigError:
        return []


def _both(
    baseline: Sequence[Path],
    candidate: Sequence[Path],
    paths: Paths,
    programs: Sequence[Subject],
) -> tuple[Side, Side]:
    """Reads both sides, without function names unless both have them; raises `CoverageError`."""
    builds: dict[str, list[Build]] = {}
    for name, runs in ((BASELINE, baseline), (CANDIDATE, candidate)):
        builds[name] = _builds(runs, _subjects(runs)[0], [*programs, *_programs(runs)])
        if not builds[name]:
            raise NotKeptError(NOT_KEPT.format(side=name))
    for named in (True, False):
        one, two = (Side(each, named=named, kept=paths.images / KEPT) for each in builds.values())
        for name, side in zip(builds, (one, two), strict=True):
            if not side.builds:
                raise CoverageError(NO_CHAINS.format(side=name))
        if one.has_names == two.has_names:
            break
    return one, two


def _subjects(runs: Sequence[Path]) -> list[str]:
    """Returns all subjects that were measured."""
    return list(dict.fromkeys(cell.subject.name for _, cell in _cells(runs)))


def _cells(runs: Sequence[Path]) -> Iterator[tuple[Path, CellResult]]:
    for run in runs:
        yield from ((run, cell) for cell in read_results(run).measured)


def _programs(runs: Sequence[Path]) -> list[Subject]:
    folder = programs_beside(runs[0])
    return programs_in(Path(folder)) if folder else []


def _builds(runs: Sequence[Path], subject: str, programs: Iterable[Subject]) -> list[Build]:
    """Returns each program and library that cells ran and that is available, with these cells."""
    by_digest = {(str(each.arch), each.library, each.program_sha256): each for each in programs}
    cells = [(run, cell) for run, cell in _cells(runs) if cell.subject.name == subject]
    found = []
    for key, group in groupby(sorted(cells, key=lambda each: _key(each[1])), lambda e: _key(e[1])):
        program = by_digest.get(key)
        if program is not None:
            seen = [seen_in(run / cell.id, cell.id, cell.programmer) for run, cell in group]
            found.append(
                Build(
                    subject=subject,
                    parts=dict(parts_under_test(program)),
                    cells=[each for each in seen if each is not None],
                    is_library=program.library,
                )
            )
    return found


def _key(cell: CellResult) -> tuple[str, bool, str]:
    return cell.guest.arch, cell.subject.library, cell.subject.sha256
