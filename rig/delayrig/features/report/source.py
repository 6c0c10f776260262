# SPDX-License-Identifier: GPL-2.0-or-later
"""The sources of a report, read from disk: runs, gates, and the facts of their cells."""

import os
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from multiprocessing import get_context
from pathlib import Path

import msgspec

from delayrig.decision.choice import run_below
from delayrig.decision.decision import FILE_NAME as GATE_FILE
from delayrig.decision.decision import Decision, read_decision
from delayrig.decision.gate_judge import is_unheard
from delayrig.decision.request import BASELINE, CANDIDATE, baseline_rounds, rounds_of
from delayrig.features.report.facts import CellFacts, cell_facts
from delayrig.lanes.host.children import die_with_session
from delayrig.model.lane import EXACT_LANE
from delayrig.model.result import CellResult, Results, Verdict, read_results
from delayrig.present.formats.report import Report, report_of_run
from delayrig.present.notable import GRAVITY

PAGE = "report.html"
"""The name of the page, in the folder of its first source."""
CELL_FILE = "cell.json"
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The differences between the rounds of one cell."""

    folder: Path
    """The cell's folder in the shown round."""
    shown: int
    """The number of the shown round; the first one is 1."""
    verdicts: dict[Verdict, int]
    """The number of each verdict, the gravest first."""
    total_ns: dict[int, int]
    """The total time in each round in which the cell passed, by the round's number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSource:
    """A run. `label` distinguishes it from the others of the page; it is empty for a single run."""

    label: str
    side: str = ""
    """The side of a gate, if the label does not name it."""
    path: Path
    """The path as given: its folder, or its results.json."""
    results: Results
    facts: dict[str, CellFacts]
    """Facts by cell; empty if not all events were read."""
    drawable: dict[str, CellFacts] = field(default_factory=dict)
    """Facts by cell, of all cells whose events were read."""
    spread: dict[str, Spread] = field(default_factory=dict)
    """Differences between rounds by cell, if the run has several rounds."""

    def named(self, text: str) -> str:
        """Returns the text with the run's label before it, if there is one."""
        return f"{self.label}: {text}" if self.label else text

    @property
    def report(self) -> Report:
        return report_of_run(self.results)

    @property
    def folder(self) -> Path | None:
        return self.path if self.path.is_dir() else None

    def folder_of(self, cell: CellResult) -> Path:
        """Returns the cell's folder in the shown round. The run must have folders."""
        assert self.folder is not None
        spread = self.spread.get(cell.id)
        return spread.folder if spread else self.folder / cell.id

    @property
    def prefix(self) -> str:
        """Returns the prefix of ids of this run, which makes them unique on the page."""
        return f"{self.label.lower()}-" if self.label else ""


CellOfRun = tuple[RunSource, CellResult]
"""A cell, and its run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSource:
    path: Path
    decision: Decision
    rounds: int


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Everything on the page, in the order of the command line."""

    gates: Sequence[GateSource]
    runs: Sequence[RunSource]

    @cached_property
    def is_exact(self) -> bool:
        """Returns True if all times are virtual, and therefore the same in each run."""
        return all(cell.lane == EXACT_LANE for run in self.runs for cell in run.results.cells)

    @property
    def has_events(self) -> bool:
        """Returns True if facts of the cells' events are known."""
        return any(run.facts for run in self.runs)


def read_sources(paths: Sequence[Path]) -> Sources:
    """Reads runs and gates by their folders, or runs by their results.json, without facts."""
    gates: list[GateSource] = []
    runs: list[RunSource] = []
    for path in map(_kept_in, paths):
        if (path / GATE_FILE).is_file():
            gate, sides = _read_gate(path)
            gates.append(gate)
            runs += sides
        else:
            runs.append(_read_run(path))
    if len(runs) > 1 and not len(paths) == len(gates) == 1:
        runs = [replace(run, label=_letter(at), side=run.label) for at, run in enumerate(runs)]
    return Sources(gates=gates, runs=runs)


def _kept_in(path: Path) -> Path:
    """Returns the folder of a run or gate.

    `path` may also be the folder of one of its cells, or the output folder of ci/gate.sh.
    """
    return run_below(path.parent if (path / CELL_FILE).is_file() else path)


def with_facts(
    sources: Sources,
    *,
    jobs: int,
    done: Callable[[], None],
    only: Sequence[CellOfRun] | None = None,
) -> Sources:
    """Returns the sources with facts of the cells' events; calls `done` after each cell.

    With `only`, it reads the events of these cells alone: then `facts` of each run is empty.
    """
    forking = get_context("fork")
    parent = os.getpid()
    with ProcessPoolExecutor(jobs, forking, begin_worker, (parent,)) as pool:
        waiting = [
            (run.label, cell.id, pool.submit(cell_facts, run.folder_of(cell), cell))
            for run, cell in (told_by_events(sources) if only is None else only)
        ]
        found: dict[str, dict[str, CellFacts]] = {run.label: {} for run in sources.runs}
        try:
            for label, cell_id, future in waiting:
                found[label][cell_id] = future.result()
                done()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    runs = [
        replace(run, facts=found[run.label] if only is None else {}, drawable=found[run.label])
        for run in sources.runs
    ]
    return Sources(gates=sources.gates, runs=runs)


def told_by_events(sources: Sources) -> list[CellOfRun]:
    """Returns the cells that left events, and whose folder is known."""
    return [
        (run, cell)
        for run in sources.runs
        if run.folder is not None
        for cell in run.results.cells
        if cell.events_sha256
    ]


def _read_run(path: Path) -> RunSource:
    return RunSource(label="", path=path, results=read_results(path), facts={})


def _read_rounds(folders: list[Path]) -> RunSource:
    """Reads all rounds of a side as one run.

    Only gates in real time have several rounds; each round must have its results.
    """
    first = _read_run(folders[0])
    if len(folders) == 1:
        return first
    further = [(folder, read_results(folder)) for folder in folders[1:]]
    results, spread = fold_rounds([(folders[0], first.results), *further])
    return replace(first, results=results, spread=spread)


def _read_gate(path: Path) -> tuple[GateSource, list[RunSource]]:
    """Reads a gate's decision, and each side as one run made of all its rounds."""
    decision = read_decision(path)
    before = _read_rounds(baseline_rounds(path, decision.baseline.stored))
    candidate = rounds_of(path, CANDIDATE)
    after = _read_rounds(candidate)
    gate = GateSource(path=path, decision=decision, rounds=len(candidate))
    return gate, [replace(before, label=BASELINE), replace(after, label=CANDIDATE)]


def _letter(at: int) -> str:
    more, rest = divmod(at, len(ALPHABET))
    return (_letter(more - 1) if more else "") + ALPHABET[rest]


def fold_rounds(rounds: Sequence[tuple[Path, Results]]) -> tuple[Results, dict[str, Spread]]:
    """Returns rounds of the same cells as one run under the first header, and the spread by cell.

    A cell is shown as it was in one round, never as an average: of the rounds with its gravest
    verdict, the one with the median total time. So its times, events and evidence belong together,
    and a conviction in one round is never hidden by the others.
    """
    found: dict[str, dict[int, CellResult]] = {}
    for number, (_, results) in enumerate(rounds, start=1):
        for cell in results.cells:
            found.setdefault(cell.id, {})[number] = cell
    folders = [folder for folder, _ in rounds]
    spreads = {cell_id: _spread(cells, folders) for cell_id, cells in found.items()}
    cells = [found[cell_id][spread.shown] for cell_id, spread in spreads.items()]
    return msgspec.structs.replace(rounds[0][1], cells=cells), spreads


def _shown(cells: dict[int, CellResult]) -> int:
    """Returns the round to show; a round without an answer only if all are without one."""
    choice = [number for number, cell in cells.items() if not is_unheard(cell)] or list(cells)
    verdict = min((cells[number].verdict for number in choice), key=GRAVITY.index)
    equal = [number for number in choice if cells[number].verdict is verdict]
    equal.sort(key=lambda number: cells[number].time_ns.total)
    return equal[(len(equal) - 1) // 2]


def _spread(cells: dict[int, CellResult], folders: list[Path]) -> Spread:
    shown = _shown(cells)
    counts = Counter(cell.verdict for cell in cells.values())
    return Spread(
        folder=folders[shown - 1] / cells[shown].id,
        shown=shown,
        verdicts={verdict: counts[verdict] for verdict in GRAVITY if counts[verdict]},
        total_ns={n: c.time_ns.total for n, c in cells.items() if c.verdict is Verdict.PASS},
    )


def begin_worker(parent: int) -> None:
    """Ignores interruptions, which the parent handles, and ends the worker if the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_session(parent)
