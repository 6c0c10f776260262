# SPDX-License-Identifier: GPL-2.0-or-later
"""A connection to the database of a history, with the rules that all writers keep."""

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.pool import NullPool

from delayrig.analysis.history.address import SQLITE, Address
from delayrig.base.extras import require_extra

WAIT_S = 30
"""For another writer, who needs some milliseconds."""
CONNECT_S = 5


def open_engine(address: Address, *, write: bool) -> Engine:
    """Connects to nothing yet."""
    if address.file is not None:
        return _sqlite(address.file, write=write)
    url = make_url(address.url)
    if url.get_backend_name() == "postgresql":
        require_extra("postgresql", f"the history {address.label}")
    arguments: dict[str, Any] = {}
    if url.get_backend_name() == "postgresql" and "connect_timeout" not in url.query:
        arguments["connect_timeout"] = CONNECT_S
    return create_engine(url, connect_args=arguments, poolclass=NullPool)


def _sqlite(file: Path, *, write: bool) -> Engine:
    """A transaction is begun by us, since Python's own module would begin it too late."""
    mode = "rwc" if write else "ro"

    def connect() -> sqlite3.Connection:
        try:
            return _connected(file, mode, write=write)
        except sqlite3.OperationalError:
            # A reader of WAL makes a file beside it. Where it may not, nobody is writing either:
            # a writer would have made it.
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
        # Kept in the file; where another is just at it, that one has seen to it.
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
    else:
        connection.execute("SELECT count(*) FROM sqlite_schema")
    return connection
