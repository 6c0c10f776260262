# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of the history.

A change of the tables needs a new revision, and may only add tables and nullable columns. An older
history gets them when it is next used. Figures that are compared over many runs have columns;
`DocumentRow` holds the whole run.
"""

from typing import Annotated, Any, ClassVar

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, column_property, mapped_column, relationship
from sqlalchemy.schema import CreateColumn

from delayrig.base.errors import BadInputError

REVISIONS = ("r0001", "r0002")
HEAD = REVISIONS[-1]
VERSION_TABLE = "rig_version"
NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
CASCADE = "CASCADE"
RunKey = Annotated[
    int,
    mapped_column(sa.Integer, sa.ForeignKey("rig_run.id", ondelete=CASCADE), primary_key=True),
]
"""The number of a run, as the key of what belongs to it."""
ADVISORY_LOCK = 0x666C6173
"""The key of PostgreSQL's lock for a change of the schema. SQLite locks the file."""


class Base(DeclarativeBase):
    """The base of all tables. They are called `rig_...`, because the database may hold others."""

    metadata = sa.MetaData(naming_convention=NAMES)
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: sa.Text,
        int: sa.BigInteger,
        float: sa.Double,
        bytes: sa.LargeBinary,
    }


class RunRow(Base):
    """A run. `id` is its number, which is never used twice."""

    __tablename__ = "rig_run"
    __table_args__ = (
        sa.Index("ix_rig_run_started", "started"),
        sa.Index("ix_rig_run_results_sha256", "results_sha256", unique=True),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(sa.Integer, primary_key=True)
    started: Mapped[str]
    """The time in UTC, ISO 8601 to the second, so that text order is time order."""
    plan: Mapped[str]
    lane: Mapped[str]
    seed: Mapped[str]
    rig_version: Mapped[str]
    rig_commit: Mapped[str]
    qemu_version: Mapped[str]
    host: Mapped[str]
    cells_planned: Mapped[int]
    interrupted: Mapped[bool]
    exit_code: Mapped[int]
    results_sha256: Mapped[str | None]
    """The digest of the document; null if an older rig kept the run."""
    cells: Mapped[list["CellRow"]] = relationship(
        order_by="CellRow.position", viewonly=True, lazy="raise"
    )
    gate: Mapped["GateRunRow | None"] = relationship(viewonly=True, lazy="joined")


class CellRow(Base):
    """A cell of a run, with the figures that are compared over runs."""

    __tablename__ = "rig_cell"
    __table_args__ = (sa.Index("ix_rig_cell_subject_cell", "subject", "cell"),)

    run: Mapped[RunKey]
    position: Mapped[int] = mapped_column(sa.Integer, primary_key=True, autoincrement=False)
    """The position among the run's cells, from 0."""
    cell: Mapped[str]
    subject: Mapped[str]
    subject_version: Mapped[str]
    subject_sha256: Mapped[str]
    lane: Mapped[str]
    role: Mapped[str]
    arch: Mapped[str]
    hazards: Mapped[str]
    chip: Mapped[str]
    corner: Mapped[str]
    programmer: Mapped[str]
    witness: Mapped[str]
    """`delay` in runs of older rigs, whose probes cost time; empty in newer ones."""
    job: Mapped[str]
    verdict: Mapped[str]
    expect: Mapped[str]
    total_ns: Mapped[int]
    user_ns: Mapped[int]
    sys_ns: Mapped[int]
    mips: Mapped[float | None]
    cores: Mapped[int | None]
    region_bytes: Mapped[int | None]
    chip_busy_ns: Mapped[int | None]
    overshoot_ns: Mapped[int | None]
    transfers: Mapped[int | None]
    context_switches: Mapped[int | None]
    events_sha256: Mapped[str | None]
    inputs_sha256: Mapped[str | None]
    """The digest of what decides its times, except the subject; null from an older rig."""


class DocumentRow(Base):
    """`results.json` of a run, compressed by zlib."""

    __tablename__ = "rig_document"

    run: Mapped[RunKey]
    content: Mapped[bytes]


class GateRow(Base):
    """A decision; `content` is `gate.json`, compressed by zlib."""

    __tablename__ = "rig_gate"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(sa.Integer, primary_key=True)
    outcome: Mapped[str]
    content: Mapped[bytes]


class GateRunRow(Base):
    """The gate that a run belongs to, with the run's side and its round, from 0."""

    __tablename__ = "rig_gate_run"

    run: Mapped[RunKey]
    gate: Mapped[int] = mapped_column(sa.Integer, sa.ForeignKey("rig_gate.id", ondelete=CASCADE))
    side: Mapped[str]
    round: Mapped[int] = mapped_column(sa.Integer)
    outcome: Mapped[str] = column_property(
        sa.select(GateRow.outcome).where(GateRow.id == gate).scalar_subquery()
    )


def revision_of(connection: sa.Connection) -> str:
    """Returns the revision of the database; empty if it has no history yet."""
    if not sa.inspect(connection).has_table(VERSION_TABLE):
        return ""
    found = connection.execute(sa.text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
    return found or ""


def check_known(revision: str, label: str) -> None:
    """Raises `BadInputError` for a history of a newer rig."""
    if revision and revision not in REVISIONS:
        raise BadInputError(
            f"{label}: key '{VERSION_TABLE}.version_num' is {revision}, and this rig knows"
            f" {', '.join(REVISIONS)}",
            hint="a newer rig made it: use that one, or another history (--history URL)",
        )


def bring_up_to_date(connection: sa.Connection, label: str) -> None:
    """Adds missing tables and columns to the database, within the caller's transaction."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})"))
    found = revision_of(connection)
    if found == HEAD:
        return
    check_known(found, label)
    Base.metadata.create_all(connection)
    _add_columns(connection)
    for statement in (
        f"CREATE TABLE IF NOT EXISTS {VERSION_TABLE} (version_num VARCHAR(32) NOT NULL)",
        f"DELETE FROM {VERSION_TABLE}",
        f"INSERT INTO {VERSION_TABLE} VALUES ('{HEAD}')",
    ):
        connection.execute(sa.text(statement))


def _add_columns(connection: sa.Connection) -> None:
    """Adds missing columns, which are null in existing rows, and missing indexes."""
    for table in Base.metadata.sorted_tables:
        there = {column["name"] for column in sa.inspect(connection).get_columns(table.name)}
        for column in table.columns:
            if column.name not in there:
                made = CreateColumn(column).compile(dialect=connection.dialect)
                connection.execute(sa.text(f"ALTER TABLE {table.name} ADD COLUMN {made}"))
        for index in table.indexes:
            index.create(connection, checkfirst=True)
