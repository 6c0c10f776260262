# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures that several files use: histories, and paths with an empty state folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from delayrig.base.paths import Paths, find_paths

from tests.rig.postgres_server import Server, running_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """Yields a real server for all tests of a session."""
    with running_server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def history_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Returns the URL of an empty history, first in SQLite, then in PostgreSQL."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'folder' / 'history.sqlite'}"
    server: Server = request.getfixturevalue("postgres")
    return server.url(server.new_database())


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """Returns paths with a new state folder and the programs of this build."""
    usual, state = find_paths(), tmp_path / "state"
    state.mkdir()
    (state / "build").symlink_to(usual.build)
    return Paths(checkout=usual.checkout, state=state)
