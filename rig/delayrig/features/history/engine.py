# SPDX-License-Identifier: GPL-2.0-or-later
"""A connection to the database of a history, its rules for writers, and its errors."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from delayrig.base.errors import BadInputError
from delayrig.base.extras import require_extra
from delayrig.features.history.address import SQLITE, Address

WAIT_S = 30
"""The longest wait for another writer, which usually takes milliseconds."""
CONNECT_S = 5
ANOTHER = "or name another with --history URL or $FLASHROM_RIG_HISTORY"
HINTS = {
    "readonly": ("is read-only", f"make it and its folder writable, {ANOTHER}"),
    "read-only": ("is read-only", f"ask for a user who may write there, {ANOTHER}"),
    "permission denied": ("may not be used by this user", f"grant it the rights, {ANOTHER}"),
    "disk is full": ("no space is left", f"free some space there, {ANOTHER}"),
    "no space left": ("no space is left", f"free some space there, {ANOTHER}"),
    "not a database": ("is no SQLite database", "name another file; this one is as it was"),
    "malformed": (
        "is damaged",
        "`sqlite3 FILE .recover` reads what can be read; move it away and a new one is begun",
    ),
    "is locked": (
        "is held by another program",
        "end that one, or wait for it: nothing here keeps it for long",
    ),
    "unable to open": (
        "could not be opened",
        f"its folder must be there, and be yours to write to, {ANOTHER}",
    ),
    "password": ("does not let this user in", "check user and password of the URL"),
    "does not exist": ("is not there", "create that database or role first (createdb)"),
    "connection": ("does not answer", "start the server, or check host and port of the URL"),
    "no such table": ("is no history of the rig's", "name another; this one is as it was"),
}
"""The cause and advice for each word of a database's message; the first match counts."""


def open_engine(address: Address, *, write: bool) -> Engine:
    """Returns an engine, without connecting yet."""
    if address.file is not None:
        return _sqlite(address.file, write=write)
    url = make_url(address.url)
    arguments: dict[str, Any] = {}
    if url.get_backend_name() == "postgresql":
        require_extra("postgresql", f"the history {address.label}")
        if "connect_timeout" not in url.query:
            arguments["connect_timeout"] = CONNECT_S
    return create_engine(url, connect_args=arguments, poolclass=NullPool)


def _sqlite(file: Path, *, write: bool) -> Engine:
    """Returns an engine that begins each transaction explicitly.

    Python's sqlite3 would begin one only at the first change, and not for a read before it.
    """
    mode = "rwc" if write else "ro"

    def connect() -> sqlite3.Connection:
        try:
            return _connected(file, mode, write=write)
        except sqlite3.OperationalError:
            # In WAL mode a reader makes files beside the database, and a writer makes the same
            # ones. If the reader may not, and there is no such file, then nobody is writing.
            if write or Path(f"{file}-wal").exists():
                raise
            return _connected(file, "ro&immutable=1", write=False)

    engine = create_engine(f"{SQLITE}://", creator=connect, poolclass=NullPool)
    start = "BEGIN IMMEDIATE" if write else "BEGIN"

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
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
        # The file stores the mode. If this fails because another process sets it, that is enough.
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


def _explained(label: str, said: str) -> BadInputError:
    first = said.strip().partition("\n")[0]
    for word, (what, hint) in HINTS.items():
        if word in said.lower():
            return BadInputError(f"history {label}: {what}: {first}", hint=hint)
    return BadInputError(
        f"history {label}: {first}", hint=f"see what its database says of that, {ANOTHER}"
    )
