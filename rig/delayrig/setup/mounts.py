# SPDX-License-Identifier: GPL-2.0-or-later
"""Which folders a command needs in its container, each at the place where it is outside.

The checkout is read-only as far as the command's own folders allow. The working folder and what
the command line names are there to be written, programs under test (`path:`) to be read.
"""

import os
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from delayrig.setup.errors import UsageError

SOURCES = ("emulators", "images", "rig")
"""What is protected where the checkout itself is the working folder."""
SYSTEM = frozenset(
    Path("/", name) for name in ("bin", "boot", "dev", "etc", "lib", "lib64", "proc", "sbin", "sys")
) | {Path("/usr", name) for name in ("bin", "include", "lib", "libexec", "sbin", "share")}
"""What the container has itself, with all that is below."""
ABOVE_SYSTEM = frozenset(Path(place) for place in ("/", "/run", "/usr", "/var", "/var/lib"))
# An option's value, and what stands before a colon: a format, or the kind of a subject.
WRITTEN = re.compile(r"(?:--[\w-]+=)?(?:(?P<kind>[a-z]+):)?(?P<path>.*)", re.DOTALL)
READ_ONLY_KIND = "path"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A folder, at the same place inside and outside."""

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
    """The folders for a command line; `written` and `read` are wanted whatever it says."""
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
        # A folder inside one with the same rights is there already.
        if around is None or may is not places[around]:
            mounts.append(Mount(place=place, writable=may))
    return mounts


def _named(arguments: Iterable[str], working: Path) -> Iterator[tuple[Path, str]]:
    """Folders that the command line names, each with what stood before its colon."""
    for argument in arguments:
        match = WRITTEN.fullmatch(argument)
        if match is None or "/" not in match["path"] or "://" in argument:
            continue
        place = working / match["path"]
        for path in {place, place.resolve()}:
            normal = Path("/", os.path.normpath(path).lstrip("/"))
            # Itself if it is a folder, or else the next one above it that is there.
            yield next(p for p in (normal, *normal.parents) if p.is_dir()), match["kind"] or ""


def _around(place: Path, places: Container[Path]) -> Path | None:
    """The innermost of the places that holds this one, or is it."""
    return next((above for above in (place, *place.parents) if above in places), None)


def _check(place: Path) -> None:
    if place in ABOVE_SYSTEM or not SYSTEM.isdisjoint((place, *place.parents)):
        raise UsageError(
            f"{place} cannot be passed on to a container, which has its own;"
            " work in a folder of your own, and make folders that are to be written first"
        )
