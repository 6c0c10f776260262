# SPDX-License-Identifier: GPL-2.0-or-later
"""The folders that a command needs in its container, each at the same path as outside.

The checkout is read-only except for the command's own folders. The working folder and the paths of
the command line are writable; programs under test (`path:`) are read-only.
"""

import os
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from delayrig.setup.errors import UsageError

SOURCES = ("emulators", "images", "rig")
"""The protected folders if the checkout itself is the working folder."""
SYSTEM = frozenset(
    Path("/", name) for name in ("bin", "boot", "dev", "etc", "lib", "lib64", "proc", "sbin", "sys")
) | {Path("/usr", name) for name in ("bin", "include", "lib", "libexec", "sbin", "share")}
"""Folders that the container has itself, with everything below them."""
ABOVE_SYSTEM = frozenset(Path(place) for place in ("/", "/run", "/usr", "/var", "/var/lib"))
# An argument: its option, the word before a colon (a format, or the kind of a subject), its path.
WRITTEN = re.compile(r"(?:--[\w-]+=)?(?:(?P<kind>[a-z]+):)?(?P<path>.*)", re.DOTALL)
READ_ONLY_KIND = "path"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A folder at the same place inside and outside."""

    place: Path
    writable: bool

    def option(self) -> str:
        words = ["type=bind", f"source={self.place}", f"target={self.place}"]
        return ",".join(words if self.writable else [*words, "readonly"])


def plan_mounts(
    arguments: Sequence[str],
    *,
    working: Path,
    checkout: Path,
    written: Iterable[Path] = (),
    read: Iterable[Path] = (),
) -> list[Mount]:
    """Returns the folders for a command line, and those in `written` and `read`."""
    named = list(_named(arguments, working))
    writable = {working, *written, *(folder for folder, kind in named if kind != READ_ONLY_KIND)}
    protected = {checkout, *(checkout / name for name in SOURCES)} - writable
    readable = {*read, *(folder for folder, kind in named if kind == READ_ONLY_KIND)}
    places = dict.fromkeys(protected, False) | dict.fromkeys(writable, True)
    places |= {place: False for place in readable if _around(place, places) is None}
    for place in places:
        _check(place)
    mounts = []
    for place, may in sorted(places.items()):
        around = _around(place.parent, places)
        # A folder inside another one with the same rights needs no mount.
        if around is None or may is not places[around]:
            mounts.append(Mount(place=place, writable=may))
    return mounts


def _named(arguments: Iterable[str], working: Path) -> Iterator[tuple[Path, str]]:
    """Yields the folders that the command line names, each with the word before its colon."""
    for argument in arguments:
        match = WRITTEN.fullmatch(argument)
        if match is None or "/" not in match["path"] or "://" in argument:
            continue
        place = working / match["path"]
        for path in {place, place.resolve()}:
            normal = Path("/", os.path.normpath(path).lstrip("/"))
            # Take the path itself if it is a folder, else the nearest folder above it that exists.
            yield next(p for p in (normal, *normal.parents) if p.is_dir()), match["kind"] or ""


def _around(place: Path, places: Container[Path]) -> Path | None:
    """Returns the innermost of the places that is, or contains, this one."""
    return next((above for above in (place, *place.parents) if above in places), None)


def _check(place: Path) -> None:
    if place in ABOVE_SYSTEM or not SYSTEM.isdisjoint((place, *place.parents)):
        raise UsageError(
            f"{place} cannot be passed on to a container, which has its own;"
            " work in a folder of your own, and make folders that are to be written first"
        )
