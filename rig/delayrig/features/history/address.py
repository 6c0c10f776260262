# SPDX-License-Identifier: GPL-2.0-or-later
"""The address of the history, a database named by a URL in SQLAlchemy's form; a choice of runs."""

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from delayrig.base.errors import BadInputError
from delayrig.setup.layout import data_home, find_layout

VARIABLE = "FLASHROM_RIG_HISTORY"
NONE = "none"
"""The word that stands in place of a URL if there is to be no history."""
FOLDER, FILE_NAME = "flashrom-delay-rig", "history.sqlite"
OPTION = "--history"
EXAMPLES = "such as sqlite:////srv/rig/history.sqlite or postgresql://user@host/database"
PSYCOPG = "postgresql+psycopg"
"""The driver that comes with the rig."""
SQLITE = "sqlite"
AGO = re.compile(r"(\d{1,6})([hdw])")
UNITS = {"h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A choice of runs. An empty value sets no condition."""

    numbers: tuple[int, ...] = ()
    subject: str = ""
    plan: str = ""
    lane: str = ""
    since: str = ""
    before: str = ""
    limit: int | None = None
    """The number of newest runs to take."""


def moment(text: str, now: dt.datetime, *, option: str) -> str:
    """Returns the UTC time of a date, a time or an age; raises `BadInputError`."""
    ago = AGO.fullmatch(text)
    try:
        if ago:
            found = now - dt.timedelta(**{UNITS[ago[2]]: int(ago[1])})
        elif not (found := dt.datetime.fromisoformat(text)).tzinfo:
            found = found.replace(tzinfo=dt.UTC)
        return found.astimezone(dt.UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError) as error:
        raise BadInputError(
            f"{option} {text}: {error}",
            hint="give a date (2026-01-31), a time of UTC (2026-01-31T12:00), or 12h, 7d, 8w ago",
        ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    url: str = field(repr=False)
    """The URL, including a password."""
    label: str
    """The URL without a password, or the path of the file; for messages."""
    file: Path | None = None


def find_address(given: str | None, environment: Mapping[str, str]) -> Address | None:
    """Returns the given address, else that of the environment, else the user's default file.

    Returns None for the word `none`; raises `BadInputError` for a wrong URL.
    """
    for source, url in ((OPTION, given), (VARIABLE, environment.get(VARIABLE))):
        if url:
            return None if url == NONE else _parsed(url, source)
    return _of_file(default_file(environment))


def default_file(environment: Mapping[str, str]) -> Path:
    """Returns the file among the user's data, which `rig/rig clean` keeps.

    A user without a home has it in the rig's folder of state.
    """
    try:
        return data_home(environment) / FOLDER / FILE_NAME
    except RuntimeError:
        return find_layout(environment).state / FILE_NAME


def without_passwords(words: list[str]) -> list[str]:
    """Returns the command line without passwords, which the URL of a history may contain."""
    kept = list(words)
    for at, word in enumerate(kept):
        if word.startswith(f"{OPTION}="):
            kept[at] = f"{OPTION}={_safe(word.partition('=')[2])}"
        elif at and kept[at - 1] == OPTION:
            kept[at] = _safe(word)
    return kept


def _safe(url: str) -> str:
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        return "***"
    # libpq also accepts a password as a parameter after the question mark.
    plain = parsed.difference_update_query([name for name in parsed.query if "pass" in name])
    return plain.render_as_string(hide_password=True)


def _of_file(path: Path) -> Address:
    from sqlalchemy.engine import URL

    url = URL.create(SQLITE, database=str(path))
    return Address(url=url.render_as_string(hide_password=False), label=str(path), file=path)


def _parsed(text: str, source: str) -> Address:
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError

    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        message = f"{source}: {_safe(text)!r} is no URL of a database"
        raise BadInputError(message, hint=f"give a URL {EXAMPLES}, or {NONE!r}") from error
    if url.drivername in ("postgresql", "postgres"):
        url = url.set(drivername=PSYCOPG)
    try:
        url.get_dialect().import_dbapi()
    except (NoSuchModuleError, ImportError) as error:
        raise BadInputError(
            f"{source}: this Python has no driver for {url.drivername!r}: {error}",
            hint=f"take a URL {EXAMPLES}; their drivers come with the rig",
        ) from error
    if url.get_backend_name() == SQLITE:
        if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
            raise BadInputError(
                f"{source}: {_safe(text)} names no file",
                hint="sqlite:///history.sqlite is one here, sqlite:////srv/history.sqlite another",
            )
        return _of_file(Path(url.database).absolute())
    return Address(url=url.render_as_string(hide_password=False), label=_safe(str(text)))
