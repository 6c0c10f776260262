# SPDX-License-Identifier: GPL-2.0-or-later
"""Brings a history to the schema of this rig, whoever else wants to at the same moment."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from delayrig.analysis.history.schema import HEAD, VERSION_TABLE
from delayrig.base.errors import BadInputError

MIGRATIONS = Path(__file__).with_name("migrations")
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
    known = [script.revision for script in _scripts(migrations_config()).walk_revisions()]
    if revision and revision not in known:
        raise BadInputError(
            f"{label}: key '{VERSION_TABLE}.version_num' is {revision}, and this rig knows"
            f" {', '.join(sorted(known))}",
            hint="a newer rig made it: use that one, or another history (--history URL)",
        )


def bring_up_to_date(connection: Connection, label: str, *, to: str = HEAD) -> None:
    """Runs what migrations are missing, within the transaction that has begun."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})"))
    found = revision_of(connection)
    if found == to:
        return
    check_known(found, label)
    config = migrations_config()
    config.attributes["connection"] = connection
    command.upgrade(config, to)


def migrations_config() -> Config:
    """Alembic's, without a file of its own."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _scripts(config: Config) -> ScriptDirectory:
    return ScriptDirectory.from_config(config)
