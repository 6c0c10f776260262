# SPDX-License-Identifier: GPL-2.0-or-later
"""What can go wrong with a database, in words and with the remedy."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from delayrig.base.errors import BadInputError

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
"""By a word of what the database says; the first that is in it counts."""


@contextmanager
def explained(label: str) -> Iterator[None]:
    """Raises `BadInputError` for what a database complains of; not for two writers of one run."""
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
