# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of known-bad builds (flashrom/known_bad/): what each is, and what it changes."""

from enum import StrEnum
from functools import cache
from pathlib import Path

import msgspec

from delayrig.base.errors import BadInputError, nearest
from delayrig.base.paths import find_paths
from delayrig.base.toml import read_toml

PREFIX = "known-bad:"
"""Before the name of such a build where a subject is asked for."""
LISTED_BY = "`rig/rig selfcheck known-bad --list`"
FOLDER = Path("flashrom") / "known_bad"


class Kind(StrEnum):
    """What a gate has to answer."""

    UNSAFE = "unsafe"
    WASTEFUL = "wasteful"
    LEGAL = "legal"


class Sight(StrEnum):
    """Who has to see it: a witness of short waits, or the job's time or CPU time; or nobody."""

    CHIP = "chip"
    DELAY = "delay"
    TIME = "time"
    CPU = "cpu"
    NOBODY = "nobody"


class Change(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One place of a source, which must be there once."""

    file: str
    """Below flashrom/."""
    old: str = msgspec.field(name="from")
    new: str = msgspec.field(name="to")


class Mistake(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    what: str
    origin: str
    """Where such a thing was reported, or how it would come about."""
    kind: Kind = msgspec.field(name="class")
    sight: Sight = msgspec.field(name="witness", default=Sight.NOBODY)
    change: list[Change]


class Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    schema: int
    mistake: list[Mistake]


def read_mistakes(checkout: Path) -> dict[str, Mistake]:
    """All of them by name, file after file; raises `BadInputError` for a table that is wrong."""
    mistakes: dict[str, Mistake] = {}
    for path in sorted((checkout / FOLDER).glob("*.toml")):
        for mistake in read_toml(path, Table).mistake:
            _check(mistake, mistakes, path)
            mistakes[mistake.name] = mistake
    return mistakes


@cache
def own_mistakes() -> dict[str, Mistake]:
    return read_mistakes(find_paths().checkout)


def find_mistake(name: str, mistakes: dict[str, Mistake]) -> Mistake:
    """The one of that name; raises `BadInputError` with the nearest one."""
    try:
        return mistakes[name]
    except KeyError:
        raise BadInputError(
            f"there is no known-bad build {name!r}",
            hint=nearest(name, mistakes, what="builds", listed_by=LISTED_BY),
        ) from None


def changed_sources(mistake: Mistake, checkout: Path) -> dict[str, str]:
    """Each changed source in full, by its path below flashrom/; raises `BadInputError`."""
    texts: dict[str, str] = {}
    for change in mistake.change:
        try:
            source = (checkout / "flashrom" / change.file).read_text(encoding="utf-8")
        except OSError as error:
            raise BadInputError(
                f"known-bad build {mistake.name!r}: flashrom/{change.file}: {error.strerror}",
                hint=f"correct the file's name in {FOLDER}/",
            ) from error
        text = texts.get(change.file, source)
        if text.count(change.old) != 1:
            raise BadInputError(
                f"known-bad build {mistake.name!r}: its text stands {text.count(change.old)} times"
                f" in flashrom/{change.file}, and must stand there once:\n{change.old}",
                hint=f"bring its change in {FOLDER}/ up to date with the source",
            )
        texts[change.file] = text.replace(change.old, change.new)
    return texts


def _check(mistake: Mistake, others: dict[str, Mistake], path: Path) -> None:
    if mistake.name in others:
        raise BadInputError(f"{path}: two are called {mistake.name!r}", hint="rename one")
    if (mistake.kind is Kind.LEGAL) != (mistake.sight is Sight.NOBODY):
        raise BadInputError(
            f"{path}: {mistake.name!r} is {mistake.kind}, and its witness is {mistake.sight}",
            hint="what is legal has no witness, and all else has one",
        )
