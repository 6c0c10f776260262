# SPDX-License-Identifier: GPL-2.0-or-later
"""Brings a history to the schema of this rig, whoever else wants to at the same moment."""

from sqlalchemy import Connection, inspect, text
from sqlalchemy.schema import CreateColumn

from delayrig.analysis.history.schema import HEAD, REVISIONS, VERSION_TABLE, Base
from delayrig.base.errors import BadInputError

ADVISORY_LOCK = 0x666C6173
"""Of PostgreSQL, held while the schema is looked at and changed; SQLite locks the file."""


def revision_of(connection: Connection) -> str:
    """What the database says it is; empty where there is no history in it yet."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return ""
    found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
    return found or ""


def check_known(revision: str, label: str) -> None:
    """Raises `BadInputError` for a history of a newer rig's."""
    if revision and revision not in REVISIONS:
        raise BadInputError(
            f"{label}: key '{VERSION_TABLE}.version_num' is {revision}, and this rig knows"
            f" {', '.join(REVISIONS)}",
            hint="a newer rig made it: use that one, or another history (--history URL)",
        )


def bring_up_to_date(connection: Connection, label: str) -> None:
    """Adds what the schema has and the database lacks, within the transaction that has begun."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})"))
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
        connection.execute(text(statement))


def _add_columns(connection: Connection) -> None:
    """With their indexes. Rows that are there already have nulls in them."""
    for table in Base.metadata.sorted_tables:
        there = {column["name"] for column in inspect(connection).get_columns(table.name)}
        for column in table.columns:
            if column.name not in there:
                made = CreateColumn(column).compile(dialect=connection.dialect)
                connection.execute(text(f"ALTER TABLE {table.name} ADD COLUMN {made}"))
        for index in table.indexes:
            index.create(connection, checkfirst=True)
