# SPDX-License-Identifier: GPL-2.0-or-later
"""The database of runs. A run is kept completely or not at all, and comes back unchanged."""

import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice

import msgspec
from sqlalchemy import Select, delete, func, insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from delayrig.base import digest
from delayrig.base.errors import BadInputError
from delayrig.decision.decision import SCHEMA as GATE_SCHEMA
from delayrig.decision.decision import Decision
from delayrig.features.history.address import Address
from delayrig.features.history.engine import explained, open_engine
from delayrig.features.history.rows import FinishedRun, cell_rows, run_row
from delayrig.features.history.schema import (
    HEAD,
    CellRow,
    Choice,
    DocumentRow,
    GateRow,
    GateRunRow,
    RunRow,
    bring_up_to_date,
    check_known,
    revision_of,
)
from delayrig.model.result import Results, decode_results, decode_versioned

ROWS_AT_ONCE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    run: RunRow
    cells: list[CellRow]
    gate: GateRunRow | None
    outcome: str
    """The outcome of its gate; empty if it has none."""


@dataclass(frozen=True, slots=True)
class Kind:
    """The cells of a run with the same role, subject, version and verdict."""

    role: str
    subject: str
    subject_version: str
    verdict: str
    cells: int
    total_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    run: RunRow
    kinds: list[Kind]
    """The kinds, in the order of the first cell of each."""
    gate: GateRunRow | None
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """The numbers of the kept runs."""

    numbers: list[int]
    is_new: bool
    """False if all of them had been kept before."""


class History:
    """One database. Each method connects anew and does its work in one transaction."""

    def __init__(self, address: Address) -> None:
        self._address = address

    @property
    def label(self) -> str:
        return self._address.label

    def add(self, runs: Sequence[FinishedRun], decision: Decision | None = None) -> Added:
        """Keeps a run, or all runs of a gate with its decision; raises `BadInputError`."""
        contents = [msgspec.json.encode(run.results) for run in runs]
        try:
            with self._writing() as session:
                return _add(session, runs, contents, decision)
        except IntegrityError:
            # Another writer has just added the same run, so now it is found.
            with self._writing() as session:
                return _add(session, runs, contents, decision)

    def entries(self, choice: Choice) -> list[Entry]:
        """Returns the chosen runs with their cells, the oldest first; empty without a history."""
        with self._reading() as session:
            return _entries(session, choice) if session else []

    def summaries(self, choice: Choice) -> list[Summary]:
        """Returns the chosen runs with counts in place of their cells, which may be many."""
        with self._reading() as session:
            return _summaries(session, choice) if session else []

    def load(self, number: int) -> Results:
        """Returns a run as it was; raises `BadInputError` if its document is not in the history."""
        with self._reading() as session:
            row = session.get(DocumentRow, number) if session else None
            known = session is not None and session.get(RunRow, number) is not None
        if row is None:
            raise self._missing(number, known=known)
        content = self._unpacked(row.content, f"run {number}", [number])
        return decode_results(content, f"{self.label}: run {number}")

    def decision(self, gate: int) -> Decision:
        with self._reading() as session:
            row = session.get(GateRow, gate) if session else None
            of_gate = select(GateRunRow.run).where(GateRunRow.gate == gate)
            numbers = session.scalars(of_gate.order_by(GateRunRow.run)).all() if session else ()
        if row is None:
            raise BadInputError(f"history {self.label}: has no gate {gate}")
        content = self._unpacked(row.content, f"gate {gate}", numbers)
        return decode_versioned(content, f"{self.label}: gate {gate}", Decision, schema=GATE_SCHEMA)

    def forget(self, numbers: Sequence[int]) -> None:
        """Removes those runs. If one is missing, it removes none and raises `BadInputError`."""
        with self._writing() as session:
            for number in numbers:
                if session.get(RunRow, number) is None:
                    raise self._missing(number, known=False)
            session.execute(delete(RunRow).where(RunRow.id.in_(numbers)))
            session.execute(delete(GateRow).where(GateRow.id.not_in(select(GateRunRow.gate))))

    def _missing(self, number: int, *, known: bool) -> BadInputError:
        if known:
            return BadInputError(
                f"history {self.label}: of run {number} an older rig kept no more than figures",
                hint="`rig/rig history add OUT` keeps all of it, where its folder is still there",
            )
        return BadInputError(
            f"history {self.label}: has no run {number}",
            hint="`rig/rig history` lists the numbers; a folder that is called so is ./NUMBER",
        )

    def _unpacked(self, content: bytes, owner: str, numbers: Sequence[int]) -> bytes:
        """Returns the owner's document; the numbers are those of its runs."""
        try:
            return zlib.decompress(content)
        except zlib.error as error:
            raise BadInputError(
                f"history {self.label}: key 'content' of {owner} is damaged: {error}",
                hint=f"`rig/rig history forget {' '.join(map(str, numbers))}`; the other runs are"
                " as they were",
            ) from error

    @contextmanager
    def _writing(self) -> Iterator[Session]:
        """Yields a transaction for writing. Updates an older history first."""
        with explained(self.label):
            if self._address.file is not None:
                self._address.file.parent.mkdir(parents=True, exist_ok=True)
            engine = open_engine(self._address, write=True)
            with engine.begin() as connection:
                if revision_of(connection) != HEAD:
                    bring_up_to_date(connection, self.label)
            with Session(engine, expire_on_commit=False) as session, session.begin():
                yield session

    @contextmanager
    def _reading(self) -> Iterator[Session | None]:
        """Yields a session for reading; None without a history. Updates an older history first."""
        file = self._address.file
        if file is not None and not file.exists():
            yield None
            return
        with explained(self.label):
            engine = open_engine(self._address, write=False)
            with engine.connect() as connection:
                found = revision_of(connection)
        if not found:
            yield None
            return
        if found != HEAD:
            check_known(found, self.label)
            with self._writing():
                pass
        with explained(self.label), Session(engine, expire_on_commit=False) as session:
            yield session


def _add(
    session: Session,
    runs: Sequence[FinishedRun],
    contents: Sequence[bytes],
    decision: Decision | None,
) -> Added:
    pairs = [_add_run(session, *pair) for pair in zip(runs, contents, strict=True)]
    numbers = [number for number, _ in pairs]
    linked = session.scalars(select(GateRunRow.run).where(GateRunRow.run.in_(numbers))).all()
    unlinked = {n: run for n, run in zip(numbers, runs, strict=True) if n not in linked}
    if decision is not None and unlinked:
        content = zlib.compress(msgspec.json.encode(decision))
        gate = GateRow(outcome=str(decision.outcome), content=content)
        session.add(gate)
        session.flush()
        for number, run in unlinked.items():
            session.add(GateRunRow(run=number, gate=gate.id, side=run.side, round=run.round))
    return Added(numbers=numbers, is_new=any(is_new for _, is_new in pairs))


def _add_run(session: Session, run: FinishedRun, content: bytes) -> tuple[int, bool]:
    """Returns the run's number, and True if it is new."""
    same = select(RunRow.id).where(RunRow.results_sha256 == digest.of_bytes(content))
    if (there := session.scalar(same)) is not None:
        return there, False
    row = run_row(run.results, run.code, content)
    session.add(row)
    session.flush()
    session.add(DocumentRow(run=row.id, content=zlib.compress(content)))
    session.flush()
    rows = cell_rows(row.id, run.results)
    while some := list(islice(rows, ROWS_AT_ONCE)):
        session.execute(insert(CellRow), some)
    return row.id, True


def _entries(session: Session, choice: Choice) -> list[Entry]:
    wanted = _wanted(choice)
    runs = _runs(session, wanted)
    cells: dict[int, list[CellRow]] = {run.id: [] for run, *_ in runs}
    of_runs = select(CellRow).where(CellRow.run.in_(wanted)).order_by(CellRow.position)
    for cell in session.scalars(of_runs):
        # A run that was added between the two queries is not in `runs`. Its cells are left out.
        cells.setdefault(cell.run, []).append(cell)
    return [
        Entry(run=run, cells=cells[run.id], gate=gate, outcome=outcome)
        for run, gate, outcome in runs
    ]


def _summaries(session: Session, choice: Choice) -> list[Summary]:
    wanted = _wanted(choice)
    runs = _runs(session, wanted)
    kinds: dict[int, list[Kind]] = {run.id: [] for run, *_ in runs}
    alike = (CellRow.role, CellRow.subject, CellRow.subject_version, CellRow.verdict)
    counted = (
        select(CellRow.run, *alike, func.count(), func.sum(CellRow.total_ns))
        .where(CellRow.run.in_(wanted))
        .group_by(CellRow.run, *alike)
        .order_by(func.min(CellRow.position))
    )
    for number, role, subject, version, verdict, cells, total_ns in session.execute(counted):
        kind = Kind(role, subject, version, verdict, cells, int(total_ns))
        kinds.setdefault(number, []).append(kind)
    return [
        Summary(run=run, kinds=kinds[run.id], gate=gate, outcome=outcome)
        for run, gate, outcome in runs
    ]


def _wanted(choice: Choice) -> Select[int]:
    found = select(RunRow.id).where(*choice.conditions())
    if choice.limit is not None:
        found = found.order_by(RunRow.started.desc(), RunRow.id.desc()).limit(choice.limit)
    return found


def _runs(session: Session, wanted: Select[int]) -> list[tuple[RunRow, GateRunRow | None, str]]:
    """Returns the runs, the oldest first, each with its gate's side and outcome."""
    asked = (
        select(RunRow, GateRunRow, GateRow.outcome)
        .outerjoin(GateRunRow, GateRunRow.run == RunRow.id)
        .outerjoin(GateRow, GateRow.id == GateRunRow.gate)
        .where(RunRow.id.in_(wanted))
        .order_by(RunRow.started, RunRow.id)
    )
    return [(run, gate, outcome or "") for run, gate, outcome in session.execute(asked)]
