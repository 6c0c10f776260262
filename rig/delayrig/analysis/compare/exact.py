# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares two runs exactly: in the virtual lane any difference is a fault to be found."""

from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from delayrig.base import digest
from delayrig.base.errors import ExitCode
from delayrig.model.lane import EXACT_LANE
from delayrig.model.result import CellResult, Results, Verdict, read_results

FIELDS = ("verdict", "time_ns", "cpu_ns", "evidence", "judged", "unjudged", "events_sha256")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Doubts: nothing can be claimed. Differences are the rig's faults where inputs are equal."""

    compared: int
    same_inputs: bool
    differences: list[str]
    doubts: list[str]

    @property
    def exit_code(self) -> ExitCode:
        """0 only where every planned cell was compared and none differs."""
        if self.differences and self.same_inputs:
            return ExitCode.RIG_FAULT
        doubtful = self.doubts or self.differences
        return ExitCode.INCONCLUSIVE if doubtful else ExitCode.PASS


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRun:
    """A run, and where its events are: those of a history's run stay where it was made."""

    name: str
    results: Results
    path: Path | None


def compared_run(path: Path) -> ComparedRun:
    return ComparedRun(name=str(path), results=read_results(path), path=path)


def compare_exactly(first: Path, second: Path) -> Comparison:
    """Every virtual cell of both runs, from results.json and from the events on disk."""
    return compare_runs_exactly(compared_run(first), compared_run(second))


def compare_runs_exactly(first: ComparedRun, second: ComparedRun) -> Comparison:
    """The same of runs that were read already."""
    runs = first.results, second.results
    unequal = [*_unequal_seeds(*runs), *_unequal_images(*runs)]
    pairs, unpaired = _pair(*runs)
    doubts = [*unequal, *_incomplete(first), *_incomplete(second), *unpaired]
    differences: list[str] = []
    for ours, theirs in pairs:
        doubts += _doubts_of_events(first, ours) + _doubts_of_events(second, theirs)
        differences += _differences(ours, theirs)
        if ours.events_sha256 != theirs.events_sha256:
            differences += _where_events_part(first, second, ours.id)
    if not pairs:
        doubts.append("no virtual cell is in both runs")
    return Comparison(
        compared=len(pairs), same_inputs=not unequal, differences=differences, doubts=doubts
    )


def _unequal_seeds(first: Results, second: Results) -> list[str]:
    seeds = first.run.seed, second.run.seed
    return [] if seeds[0] == seeds[1] else [f"seeds are unequal: {seeds[0]} and {seeds[1]}"]


def _unequal_images(first: Results, second: Results) -> list[str]:
    ours, theirs = first.run.image_digests, second.run.image_digests
    return [
        f"images are unequal: {name} is {ours.get(name, 'missing')[:12]}"
        f" and {theirs.get(name, 'missing')[:12]}"
        for name in sorted(ours.keys() | theirs.keys())
        if ours.get(name) != theirs.get(name)
    ]


def _incomplete(run: ComparedRun) -> list[str]:
    done = [cell for cell in run.results.cells if cell.verdict is not Verdict.INFRA_ERROR]
    planned = run.results.run.cells_planned
    if run.results.run.interrupted or len(done) < planned:
        return [f"{run.name}: {len(done)} of {planned} planned cells were run"]
    return []


def _pair(first: Results, second: Results) -> tuple[list[tuple[CellResult, CellResult]], list[str]]:
    ours, theirs = (
        {cell.id: cell for cell in run.cells if _is_exact(cell)} for run in (first, second)
    )
    pairs = [(ours[id_], theirs[id_]) for id_ in ours if id_ in theirs]
    unpaired = [f"{id_}: in one run only" for id_ in sorted(ours.keys() ^ theirs.keys())]
    return pairs, unpaired


def _is_exact(cell: CellResult) -> bool:
    return cell.lane == EXACT_LANE and cell.verdict is not Verdict.SKIPPED


def _doubts_of_events(run: ComparedRun, cell: CellResult) -> list[str]:
    """The digest is taken anew, so that a folder without its events claims nothing."""
    if run.path is None:
        return []
    path = _events_path(run.path, cell.id)
    if not path.is_file() or path.stat().st_size == 0:
        return [f"{path}: no events"]
    if digest.of_file(path) != cell.events_sha256:
        return [f"{path}: not the events that results.json was made from"]
    return []


def _events_path(run: Path, cell: str) -> Path:
    return (run if run.is_dir() else run.parent) / cell / "events.jsonl"


def _where_events_part(first: ComparedRun, second: ComparedRun, cell: str) -> list[str]:
    paths = [_events_path(run.path, cell) for run in (first, second) if run.path]
    if len(paths) != 2 or not all(path.is_file() for path in paths):
        return []
    part = first_difference(*(path.read_bytes() for path in paths))
    return [f"{cell}: {part}"] if part else []


def first_difference(ours: bytes, theirs: bytes) -> str:
    """Where two streams of events part, and what stands there; empty where they do not."""
    pairs = zip_longest(ours.splitlines(), theirs.splitlines(), fillvalue=b"nothing")
    for number, (our, their) in enumerate(pairs, start=1):
        if our != their:
            return (
                f"event {number} is the first to differ: {our.decode(errors='replace')}"
                f" and {their.decode(errors='replace')}"
            )
    return ""


def _differences(ours: CellResult, theirs: CellResult) -> list[str]:
    return [
        f"{ours.id}: {field} is {getattr(ours, field)} and {getattr(theirs, field)}"
        for field in FIELDS
        if getattr(ours, field) != getattr(theirs, field)
    ]
