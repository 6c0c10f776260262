# SPDX-License-Identifier: GPL-2.0-or-later
"""The database of runs: its connection, its errors, and its content.

A run is kept completely or not at all, and comes back unchanged.
"""

import re
import sqlite3
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.orm import Session, selectinload
from sqlalchemy.orm.interfaces import ORMOption
from sqlalchemy.pool import NullPool

from delayrig.base import digest
from delayrig.base.errors import BadInputError
from delayrig.base.extras import require_extra
from delayrig.decision.decision import SCHEMA as GATE_SCHEMA
from delayrig.decision.decision import Decision
from delayrig.features.history.address import SQLITE, Address, Choice
from delayrig.features.history.rows import FinishedRun, cell_rows, run_row
from delayrig.features.history.schema import (
    HEAD,
    CellRow,
    DocumentRow,
    GateRow,
    GateRunRow,
    RunRow,
    bring_up_to_date,
    check_known,
    revision_of,
)
from delayrig.model.cell import Role
from delayrig.model.result import Results, decode_results, decode_versioned

WAIT_S = 30
"""The longest wait for another writer, which usually takes milliseconds."""
CONNECT_S = 5
ID_MAX = 2**31 - 1
"""The largest number of a run: PostgreSQL's INTEGER has 32 bits."""
R = TypeVar("R")
ANOTHER = "or name another with --history URL or $FLASHROM_RIG_HISTORY"
HINTS = {
    "readonly|read-only file system": (
        "is read-only",
        f"make it and its folder writable, {ANOTHER}",
    ),
    "read-only transaction": ("is read-only", f"ask for a user who may write there, {ANOTHER}"),
    "permission denied": ("may not be used by this user", f"grant it the rights, {ANOTHER}"),
    "disk is full": ("no space is left", f"free some space there, {ANOTHER}"),
    "no space left": ("no space is left", f"free some space there, {ANOTHER}"),
    "not a database": ("is no SQLite database", "name another file; this one is as it was"),
    "malformed": (
        "is damaged",
        "`sqlite3 FILE .recover` reads what can be read; move it away to begin a new one",
    ),
    "is locked": (
        "is held by another program",
        "end that program, or wait for it: the rig holds the database only briefly",
    ),
    "unable to open": (
        "could not be opened",
        f"its folder must exist, and you must be allowed to write to it, {ANOTHER}",
    ),
    "password (?:authentication|supplied)": (
        "does not let this user in",
        "check user and password of the URL",
    ),
    '(?:database|role) ".*" does not exist': (
        "is not there",
        "create that database or role first (createdb)",
    ),
    "is the server running|connection refused|timeout expired|failed to resolve|closed the"
    " connection|connection is (?:lost|closed)|terminating connection": (
        "does not answer",
        "start the server, or check host and port of the URL",
    ),
    'no such table|relation ".*" does not exist': (
        "is no history of the rig's",
        "name another; this one is as it was",
    ),
}
"""The cause and advice by a pattern of a database's message; the first match counts."""
ROWS_AT_ONCE = 1000


def open_engine(address: Address, *, write: bool) -> sa.Engine:
    """Returns an engine, without connecting yet."""
    if address.file is not None:
        return _sqlite(address.file, write=write)
    url = make_url(address.url)
    arguments: dict[str, Any] = {}
    if url.get_backend_name() == "postgresql":
        require_extra("postgresql", f"the history {address.label}")
        if "connect_timeout" not in url.query:
            arguments["connect_timeout"] = CONNECT_S
    return sa.create_engine(url, connect_args=arguments, poolclass=NullPool)


def _sqlite(file: Path, *, write: bool) -> sa.Engine:
    """Returns an engine that begins each transaction explicitly.

    Python's sqlite3 would begin one only at the first change, and not for a read before it.
    """
    mode = "rwc" if write else "ro"

    def connect() -> sqlite3.Connection:
        try:
            return _connected(file, mode, write=write)
        except sqlite3.OperationalError:
            # In WAL mode readers and writers create the same files beside the database. If this
            # reader cannot create them and the WAL does not exist, then nobody is writing.
            if write or Path(f"{file}-wal").exists():
                raise
            return _connected(file, "ro&immutable=1", write=False)

    engine = sa.create_engine(f"{SQLITE}://", creator=connect, poolclass=NullPool)
    start = "BEGIN IMMEDIATE" if write else "BEGIN"

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql(start)

    return engine


def _connected(file: Path, mode: str, *, write: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(str(file))}?mode={mode}",
        uri=True,
        timeout=WAIT_S,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute("PRAGMA foreign_keys = ON")
    if write:
        # The file stores the mode. If this fails, another process is setting the same mode.
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
    else:
        connection.execute("SELECT count(*) FROM sqlite_schema")
    return connection


@contextmanager
def explained(label: str) -> Iterator[None]:
    """Raises `BadInputError` for each database error but `IntegrityError`, which `add()` needs."""
    try:
        yield
    except IntegrityError:
        raise
    except DBAPIError as error:
        raise _explained(label, str(error.orig)) from error
    except SQLAlchemyError as error:
        raise _explained(label, str(error)) from error
    except OSError as error:
        raise _explained(label, error.strerror or str(error)) from error


def _explained(label: str, message: str) -> BadInputError:
    first = message.strip().partition("\n")[0]
    for pattern, (what, hint) in HINTS.items():
        if re.search(pattern, message.lower()):
            return BadInputError(f"history {label}: {what}: {first}", hint=hint)
    return BadInputError(
        f"history {label}: {first}", hint=f"see the documentation of its database, {ANOTHER}"
    )


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

    @property
    def measured(self) -> list[Kind]:
        return [kind for kind in self.kinds if kind.role == Role.MEASURE]

    @property
    def total_ns(self) -> int:
        return sum(kind.total_ns for kind in self.measured)

    @property
    def verdicts(self) -> Counter[str]:
        """Returns the number of cells with each verdict."""
        counts: Counter[str] = Counter()
        for kind in self.kinds:
            counts[kind.verdict] += kind.cells
        return counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """The numbers of the kept runs."""

    numbers: list[int]
    is_new: bool
    """False if all of them had been kept before."""


class History:
    """A database of runs. Each method opens a new connection."""

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
            # Another writer has just added the same run, so the second try finds it.
            with self._writing() as session:
                return _add(session, runs, contents, decision)

    def runs(self, choice: Choice) -> list[RunRow]:
        """Returns the chosen runs with their cells, the oldest first; empty without a history."""
        with self._reading() as session:
            return _runs(session, _wanted(choice), selectinload(RunRow.cells)) if session else []

    def summaries(self, choice: Choice) -> list[Summary]:
        """Returns the chosen runs with counts in place of their cells, which may be many."""
        with self._reading() as session:
            return _summaries(session, choice) if session else []

    def load(self, number: int) -> Results:
        """Returns the results of a run; raises `BadInputError` if the history lacks them."""
        with self._reading() as session:
            row = _found(session, DocumentRow, number)
            known = _found(session, RunRow, number) is not None
        if row is None:
            raise self._missing(number, known=known)
        content = self._unpacked(row.content, f"run {number}", [number])
        return decode_results(content, f"{self.label}: run {number}")

    def decision(self, gate: int) -> Decision:
        with self._reading() as session:
            row = _found(session, GateRow, gate)
            of_gate = sa.select(GateRunRow.run).where(GateRunRow.gate == gate)
            numbers = session.scalars(of_gate.order_by(GateRunRow.run)).all() if session else ()
        if row is None:
            raise BadInputError(f"history {self.label}: has no gate {gate}")
        content = self._unpacked(row.content, f"gate {gate}", numbers)
        return decode_versioned(content, f"{self.label}: gate {gate}", Decision, schema=GATE_SCHEMA)

    def forget(self, numbers: Sequence[int]) -> None:
        """Removes those runs. If one is missing, it removes none and raises `BadInputError`."""
        with self._writing() as session:
            for number in numbers:
                if _found(session, RunRow, number) is None:
                    raise self._missing(number, known=False)
            session.execute(sa.delete(RunRow).where(RunRow.id.in_(numbers)))
            session.execute(sa.delete(GateRow).where(GateRow.id.not_in(sa.select(GateRunRow.gate))))

    def _missing(self, number: int, *, known: bool) -> BadInputError:
        if known:
            return BadInputError(
                f"history {self.label}: an older rig kept only the figures of run {number}",
                hint="if its folder OUT still exists, `rig/rig history add OUT` keeps all of it",
            )
        return BadInputError(
            f"history {self.label}: has no run {number}",
            hint="`rig/rig history` lists the numbers; write a folder of that name as ./NUMBER",
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
    linked = session.scalars(sa.select(GateRunRow.run).where(GateRunRow.run.in_(numbers))).all()
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
    same = sa.select(RunRow.id).where(RunRow.results_sha256 == digest.of_bytes(content))
    if (there := session.scalar(same)) is not None:
        return there, False
    row = run_row(run.results, run.code, content)
    session.add(row)
    session.flush()
    session.add(DocumentRow(run=row.id, content=zlib.compress(content)))
    session.flush()
    rows = cell_rows(row.id, run.results)
    while some := list(islice(rows, ROWS_AT_ONCE)):
        session.execute(sa.insert(CellRow), some)
    return row.id, True


def _found(session: Session | None, kind: type[R], number: int) -> R | None:
    """Returns the row of that number, if there is one; a database refuses numbers above ID_MAX."""
    return session.get(kind, number) if session and number <= ID_MAX else None


def _summaries(session: Session, choice: Choice) -> list[Summary]:
    wanted = _wanted(choice)
    runs = _runs(session, wanted)
    kinds: dict[int, list[Kind]] = {run.id: [] for run in runs}
    alike = (CellRow.role, CellRow.subject, CellRow.subject_version, CellRow.verdict)
    counted = (
        sa.select(CellRow.run, *alike, sa.func.count(), sa.func.sum(CellRow.total_ns))
        .where(CellRow.run.in_(wanted))
        .group_by(CellRow.run, *alike)
        .order_by(sa.func.min(CellRow.position))
    )
    for number, role, subject, version, verdict, cells, total_ns in session.execute(counted):
        kind = Kind(role, subject, version, verdict, cells, int(total_ns))
        # A run that was added between the two queries is not in `runs`. Its cells are left out.
        kinds.setdefault(number, []).append(kind)
    return [Summary(run=run, kinds=kinds[run.id]) for run in runs]


def _wanted(choice: Choice) -> sa.Select[int]:
    mine = (CellRow.run == RunRow.id) & (CellRow.subject == choice.subject)
    conditions = (
        (choice.numbers, RunRow.id.in_(choice.numbers)),
        (choice.subject, sa.exists().where(mine)),
        (choice.plan, RunRow.plan == choice.plan),
        (choice.lane, RunRow.lane == choice.lane),
        (choice.since, RunRow.started >= choice.since),
        (choice.before, RunRow.started < choice.before),
    )
    found = sa.select(RunRow.id).where(*(condition for given, condition in conditions if given))
    if choice.limit is not None:
        found = found.order_by(RunRow.started.desc(), RunRow.id.desc()).limit(choice.limit)
    return found


def _runs(session: Session, wanted: sa.Select[int], *options: ORMOption) -> list[RunRow]:
    """Returns the runs, the oldest first."""
    found = sa.select(RunRow).where(RunRow.id.in_(wanted)).order_by(RunRow.started, RunRow.id)
    return list(session.scalars(found.options(*options)))
