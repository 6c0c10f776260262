# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares two runs, exactly and by their times.

In the virtual lane any difference is a fault. Times are compared if everything else that decides
them is equal: the seed and digests of the guest's parts; in real time also the machine. Otherwise
the unequal inputs are named.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import msgspec

from delayrig.base import digest
from delayrig.base.errors import BadInputError, ExitCode
from delayrig.hazards import hazard_of
from delayrig.model.lane import EXACT_LANE
from delayrig.model.platform import Arch, labelled
from delayrig.model.programmers import DEVICES
from delayrig.model.result import CellResult, Results, RunHeader, Verdict, read_results

FIELDS = ("verdict", "time_ns", "cpu_ns", "evidence", "judged", "unjudged", "events_sha256")
KERNEL = "kernel "
"""The prefix of the name of a kernel that a hazard or a device brings."""
PARTS = ("kernel", "initrd", "emulator", "qemu")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The result of an exact comparison.

    With doubts nothing can be claimed. Differences are faults of the rig if the inputs are equal.
    """

    compared: int
    same_inputs: bool
    differences: list[str]
    doubts: list[str]

    @property
    def exit_code(self) -> ExitCode:
        """Returns 0 only if every planned cell was compared and none differs."""
        if self.differences and self.same_inputs:
            return ExitCode.RIG_FAULT
        doubtful = self.doubts or self.differences
        return ExitCode.INCONCLUSIVE if doubtful else ExitCode.PASS


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRun:
    """A run, and the folder of its events. A run from a history has none."""

    name: str
    results: Results
    path: Path | None


def compared_run(path: Path) -> ComparedRun:
    return ComparedRun(name=str(path), results=read_results(path), path=path)


def compare_exactly(first: ComparedRun, second: ComparedRun) -> Comparison:
    """Compares every virtual cell of both runs, by results.json and by the events on disk."""
    ours, theirs = (
        {
            cell.id: cell
            for cell in run.results.cells
            if cell.lane == EXACT_LANE and cell.verdict is not Verdict.SKIPPED
        }
        for run in (first, second)
    )
    unequal = _unequal_inputs(first.results.run, second.results.run)
    doubts = [*unequal, *_incomplete(first), *_incomplete(second)]
    doubts += [f"{id_}: in one run only" for id_ in sorted(ours.keys() ^ theirs.keys())]
    differences: list[str] = []
    pairs = [(cell, theirs[id_]) for id_, cell in ours.items() if id_ in theirs]
    for one, other in pairs:
        doubts += _doubts_of_events(first, one) + _doubts_of_events(second, other)
        differences += [
            f"{one.id}: {field} is {getattr(one, field)} and {getattr(other, field)}"
            for field in FIELDS
            if getattr(one, field) != getattr(other, field)
        ]
        if one.events_sha256 != other.events_sha256:
            differences += _where_events_part(first, second, one.id)
    if not pairs:
        doubts.append("no virtual cell is in both runs")
    return Comparison(
        compared=len(pairs), same_inputs=not unequal, differences=differences, doubts=doubts
    )


def _unequal_inputs(first: RunHeader, second: RunHeader) -> list[str]:
    seeds = []
    if first.seed != second.seed:
        seeds.append(f"seeds are unequal: {first.seed} and {second.seed}")
    ours, theirs = first.image_digests, second.image_digests
    return seeds + [
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


def _doubts_of_events(run: ComparedRun, cell: CellResult) -> list[str]:
    """Returns a doubt if the events on disk are missing, or are not those of `results.json`."""
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
    """Returns the first difference of two streams of events; empty if they are equal."""
    pairs = zip_longest(ours.splitlines(), theirs.splitlines(), fillvalue=b"nothing")
    for number, (our, their) in enumerate(pairs, start=1):
        if our != their:
            return (
                f"event {number} is the first to differ: {our.decode(errors='replace')}"
                f" and {their.decode(errors='replace')}"
            )
    return ""


class CellPair(msgspec.Struct, frozen=True, kw_only=True):
    """A cell in both runs. `unlike` names unequal inputs; if empty, times may be compared."""

    id: str
    lane: str
    verdicts: tuple[Verdict, Verdict]
    unlike: list[str]
    same_program: bool
    total_ns: tuple[int, int]
    cpu_ns: tuple[int, int]
    same_events: bool

    @property
    def pct(self) -> float | None:
        """Returns by how many percent the second took longer; None if that has no meaning."""
        before, after = self.total_ns
        timed = before > 0 and after > 0 and not self.unlike
        return 100 * (after - before) / before if timed else None

    @property
    def is_fault(self) -> bool:
        """Returns True if exact times differ though all inputs are equal: a fault of the rig."""
        exact = self.lane == EXACT_LANE and self.same_program and not self.unlike
        ran = not {Verdict.SKIPPED, Verdict.INFRA_ERROR} & set(self.verdicts)
        return exact and ran and (self.total_ns[0] != self.total_ns[1] or not self.same_events)


class Beside(msgspec.Struct, frozen=True, kw_only=True):
    pairs: list[CellPair]
    only_first: list[str]
    only_second: list[str]

    @property
    def comparable(self) -> list[CellPair]:
        return [pair for pair in self.pairs if pair.pct is not None]

    @property
    def exit_code(self) -> ExitCode:
        """Returns 0 if every cell could be compared, 4 if not, 99 for a fault of the rig."""
        if any(pair.is_fault for pair in self.pairs):
            return ExitCode.RIG_FAULT
        doubt = self.only_first or self.only_second or any(pair.unlike for pair in self.pairs)
        return ExitCode.INCONCLUSIVE if doubt or not self.pairs else ExitCode.PASS


def compare_times(first: Results, second: Results) -> Beside:
    """Compares the cells in the order of the first run.

    Cells with the same id are compared; if there are none, as in the two sides of a gate, those in
    the same place.
    """
    if not {cell.id for cell in first.cells} & {cell.id for cell in second.cells}:
        first, second = _with_places(first), _with_places(second)
    theirs = {cell.id: cell for cell in second.cells}
    ours = {cell.id for cell in first.cells}
    both = [cell for cell in first.cells if cell.id in theirs]
    return Beside(
        pairs=[_cell_pair(cell, theirs[cell.id], first, second) for cell in both],
        only_first=[cell.id for cell in first.cells if cell.id not in theirs],
        only_second=[cell.id for cell in second.cells if cell.id not in ours],
    )


def _with_places(results: Results) -> Results:
    """Returns the measured cells with their places as ids; all as they are if a place is double."""
    placed = [msgspec.structs.replace(cell, id=cell.place) for cell in results.measured]
    is_double = len({cell.id for cell in placed}) < len(placed)
    return results if is_double else msgspec.structs.replace(results, cells=placed)


def _cell_pair(ours: CellResult, theirs: CellResult, first: Results, second: Results) -> CellPair:
    before, after = inputs_of(ours, first.run), inputs_of(theirs, second.run)
    return CellPair(
        id=ours.id,
        lane=ours.lane,
        verdicts=(ours.verdict, theirs.verdict),
        unlike=sorted(n for n in before.keys() | after.keys() if before.get(n) != after.get(n)),
        same_program=ours.subject.sha256 == theirs.subject.sha256,
        total_ns=(ours.time_ns.total, theirs.time_ns.total),
        cpu_ns=(ours.total_cpu_ns, theirs.total_cpu_ns),
        same_events=ours.events_sha256 == theirs.events_sha256,
    )


def inputs_of(cell: CellResult, run: RunHeader) -> dict[str, str]:
    """Returns a digest of each input by name; in real time, also the machine."""
    return inputs_for(run, cell.guest.arch, cell.lane, cell.hazards, cell.programmer)


def inputs_for(
    run: RunHeader, arch: str, lane: str, hazards: Sequence[str], programmer: str
) -> dict[str, str]:
    """Returns what `inputs_of()` returns for a cell of the run with these parameters."""
    suffix = "" if arch == "x86_64" else f" {arch}"
    names = ["turns", *(f"{part}{suffix}" for part in PARTS), *_kernels(hazards, run)]
    for device in (device for name, device in DEVICES.items() if name == programmer):
        names += [labelled("device initrd", Arch(arch)), "chip plugin"]
        if kernel := device.kernel_of(Arch(arch)):
            names.append(f"{KERNEL}{kernel}")
    found = {name: run.image_digests[name] for name in names if name in run.image_digests}
    if lane != EXACT_LANE:
        found["machine"] = machine_of(run)
    of_lane = {name: run.image_digests.get(f"{lane} {name}") for name in names}
    found |= {name: digest for name, digest in of_lane.items() if digest}
    return {"seed": str(run.seed), **found}


def machine_of(run: RunHeader) -> str:
    """Returns the host machine and its kernel in words."""
    host = run.host
    return f"{host.machine}, {host.cpus} CPUs, {host.kernel}, {host.os}"


def _kernels(hazards: Sequence[str], run: RunHeader) -> list[str]:
    """Returns the kernels of the hazards; all of the run's kernels if a hazard is unknown."""
    try:
        found = [hazard_of(word) for word in hazards]
    except BadInputError:
        return [name for name in run.image_digests if name.startswith(KERNEL)]
    return [f"{KERNEL}{hazard.kernel}" for hazard in found if hazard.kernel]
