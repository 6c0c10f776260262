# SPDX-License-Identifier: GPL-2.0-or-later
"""A PostgreSQL server for tests, on loopback and a Unix socket, in a temporary folder."""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

ACCOUNT = "postgres"
USER = "rig"
PASSWORD = "s3cret"
LIMIT_S = 60
NUMBERS = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A running server."""

    folder: Path
    port: int

    def url(self, database: str) -> str:
        """Returns the URL through the server's socket."""
        return f"postgresql://{USER}:{PASSWORD}@:{self.port}/{database}?host={self.folder}"

    def tcp_url(self, database: str) -> str:
        """Returns the URL through loopback."""
        return f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{self.port}/{database}"

    def connect(self, database: str = "postgres") -> psycopg.Connection:
        """Connects as the superuser."""
        return psycopg.connect(self.url(database), autocommit=True)

    def new_database(self) -> str:
        """Makes an empty database; returns its name."""
        name = f"history_{next(NUMBERS)}"
        with self.connect() as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return name


@contextlib.contextmanager
def running_server() -> Iterator[Server]:
    """Runs the newest server of the distribution, and ends it afterwards."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parts[4]))
    if not found:
        pytest.skip("no PostgreSQL here: `rig/rig setup --tests` installs it")
    # The account cannot reach into pytest's own folder.
    folder = Path(tempfile.mkdtemp(prefix="rig-postgres-"))
    try:
        as_account = _give_away(folder)
        _init(found[-1], folder, as_account)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        command = [*as_account, "--pdeathsig", "INT", str(found[-1] / "postgres")]
        command += ["-D", str(folder / "data"), "-k", str(folder), "-p", str(port)]
        command += ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
        try:
            server = Server(folder=folder, port=port)
            _wait(server, process)
            yield server
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=LIMIT_S)
    finally:
        shutil.rmtree(folder)


def _give_away(folder: Path) -> list[str]:
    """Returns the prefix of commands that run as the server's account.

    PostgreSQL does not run as root, so root gives the folder to ACCOUNT.
    """
    if os.geteuid() != 0:
        return ["setpriv"]
    account = pwd.getpwnam(ACCOUNT)
    os.chown(folder, account.pw_uid, account.pw_gid)
    ids = ["--reuid", str(account.pw_uid), "--regid", str(account.pw_gid)]
    return ["setpriv", *ids, "--clear-groups"]


def _init(programs: Path, folder: Path, as_account: list[str]) -> None:
    secret = folder / "password"
    secret.write_text(PASSWORD, encoding="utf-8")
    command = [*as_account, str(programs / "initdb"), "-D", str(folder / "data"), "--no-sync"]
    command += ["-U", USER, "-A", "scram-sha-256", f"--pwfile={secret}", "-E", "UTF8"]
    command += ["--locale=C.UTF-8"]
    subprocess.run(command, check=True, capture_output=True, timeout=LIMIT_S, cwd=folder)


def _wait(server: Server, process: subprocess.Popen[bytes]) -> None:
    """Blocks until the server's file says that it is ready; raises `RuntimeError` with its log."""
    state = server.folder / "data" / "postmaster.pid"
    for _ in range(LIMIT_S * 10):
        if state.is_file() and state.read_text(encoding="utf-8").split()[-1:] == ["ready"]:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.1)
            break
    raise RuntimeError((server.folder / "log").read_text(encoding="utf-8", errors="replace"))
