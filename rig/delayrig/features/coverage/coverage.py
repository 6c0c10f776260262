# SPDX-License-Identifier: GPL-2.0-or-later
"""Delay sites of a subject, the cells that reached each, and changed waits between two subjects.

A subject may have several builds: its program and its library, for several architectures. Its sites
are those of its first build: the program, or the library if there is no program. Sites that cells
of other builds reached count as the same sites of the first build.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from delayrig.decision.request import BASELINE, CANDIDATE
from delayrig.features.coverage.changed import (
    Changed,
    Placed,
    changed_functions,
    touched_sites,
)
from delayrig.features.coverage.reached import Reach, SeenCell, watched_in
from delayrig.model.delays import function_of_frame
from delayrig.subjects.finder.code_map import CodeFunction, CodeMap, Site, read_code_map

Key = tuple[str, int]
"""A file of a build and an address in it."""


class SiteCoverage(msgspec.Struct, frozen=True, kw_only=True):
    """One delay site, and the cells that reached it."""

    function: str
    where: str
    """The place in the form of a call chain."""
    file: str
    """The program or library that it is in."""
    address: int
    asks: int | None
    """The time in its function's unit, if it is a constant in the code."""
    cells: list[str]
    changed: bool = False
    """True if it is in a function that the change touched."""


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """All delay sites of one subject."""

    subject: str
    cells: int
    """The number of cells that were looked at."""
    sites: list[SiteCoverage]

    @property
    def reached(self) -> list[SiteCoverage]:
        return [site for site in self.sites if site.cells]


class ChangedWait(msgspec.Struct, frozen=True, kw_only=True):
    """Delay sites of one function that a change touched, or that are in a changed function."""

    function: str
    side: str
    """The side that has the sites: the baseline if the change removed them."""
    sites: int
    file_line: str
    """The place of the first site."""
    cells: list[str]
    """The cells that reached any of them."""
    around: bool = False
    """True if the change is elsewhere in the function."""


class ChangedWaits(msgspec.Struct, frozen=True, kw_only=True):
    functions: int
    """The number of the candidate's functions."""
    changed: int
    """The number of functions without an equal one."""
    named: bool
    """True if functions were compared by name."""
    waits: list[ChangedWait]
    why_not: str = ""
    """The reason why nothing is known; empty otherwise."""
    is_doubt: bool = False
    """True if a side's program is missing, so that the changes are unknown."""

    @property
    def unreached(self) -> list[ChangedWait]:
        return [wait for wait in self.waits if not wait.cells]


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """One program or library with the cells that ran it. `parts` are files by their paths in it."""

    subject: str
    parts: Mapping[str, Path]
    cells: Sequence[SeenCell]
    is_library: bool = False


class Side:
    """All builds of a subject. The sites are those of the first build."""

    def __init__(
        self, builds: Sequence[Build], *, named: bool = True, kept: Path | None = None
    ) -> None:
        self.named = named
        self._kept = kept
        delaying = [b for b in builds if any(watched_in(b.cells, file) for file in b.parts)]
        # Programs come before libraries, and what ran in the most cells comes first.
        self.builds = sorted(delaying, key=lambda b: (b.is_library, -len(b.cells)))

    def _maps(self, build: Build) -> dict[str, CodeMap]:
        """Reads the files with delay functions."""
        watched = {file: watched_in(build.cells, file) for file in build.parts}
        return {
            file: read_code_map(build.parts[file], each, named=self.named, kept=self._kept)
            for file, each in watched.items()
            if each
        }

    @cached_property
    def maps(self) -> dict[str, CodeMap]:
        return self._maps(self.builds[0]) if self.builds else {}

    @property
    def has_names(self) -> bool:
        return bool(self.maps) and all(code.named for code in self.maps.values())

    @cached_property
    def functions(self) -> list[Placed]:
        return [Placed(file, code) for file, map_ in self.maps.items() for code in map_.functions]

    @cached_property
    def cells(self) -> dict[Key, list[str]]:
        """Returns the cells that reached each site and each delay function, by its key."""
        found: dict[Key, dict[str, None]] = defaultdict(dict)
        for build in self.builds:
            maps = self._maps(build)
            counterparts = {} if build is self.builds[0] else self._counterparts(maps)
            for file, code in maps.items():
                reaches = {each: Reach(code, each) for each in {c.driver for c in build.cells}}
                for cell in build.cells:
                    chains = [each for each in cell.chains if each.function.file == file]
                    for address in reaches[cell.driver].of(chains):
                        key = counterparts.get((file, address), (file, address))
                        found[key][cell.id] = None
        for copies in self._copies():
            together = {cell: None for key in copies for cell in found.get(key, ())}
            found |= dict.fromkeys(copies, together)
        return {key: list(cells) for key, cells in found.items() if cells}

    def _copies(self) -> Iterable[list[Key]]:
        """Returns groups of sites that a compiler made from one call in the source."""
        calls: dict[tuple[str, int, str, int], list[Key]] = defaultdict(list)
        for each in self.functions:
            for site in each.code.sites:
                if site.own_line and site.asks is not None:
                    own = (each.file, each.code.address, site.where, site.asks)
                    calls[own].append((each.file, site.address))
        return (copies for copies in calls.values() if len(copies) > 1)

    def _counterparts(self, maps: Mapping[str, CodeMap]) -> dict[Key, Key]:
        """Maps another build's sites and delay functions to the first build's."""
        ours = {_identity(each.code): each for each in self.functions if _identity(each.code)}
        found: dict[Key, Key] = {}
        for file, code in maps.items():
            for each in code.functions:
                own = ours.get(_identity(each))
                if own is not None:
                    pairs = _same_addresses(each, own.code)
                    found |= {(file, one): (own.file, two) for one, two in pairs}
        return found

    @cached_property
    def sites(self) -> list[tuple[Placed, Site]]:
        """Returns all sites that count.

        The calls in a function that only passes on its caller's time do not count. The call of a
        function that passes the time on through a pointer counts only if some cell shows that the
        pointer led to a delay function. A call of a carrier does not count, because the carrier has
        the site.
        """
        confirmed = {
            (each.file, site.target)
            for each in self.functions
            for site in each.code.sites
            if site.through and self.cells.get((each.file, site.address))
        }
        return [
            (each, site)
            for each in self.functions
            for site in each.code.sites
            if not (site.hands_on or site.carries)
            and (not site.through or (each.file, site.target) in confirmed)
        ]


def _same_addresses(one: CodeFunction, two: CodeFunction) -> Iterator[tuple[int, int]]:
    """Yields the addresses of a function and its sites in two builds; none if the numbers differ.

    An argument that one compiler shows as a constant may be unknown in the other build's code, so
    calls of carriers are counted apart.
    """
    for carries in (False, True):
        sides = [[site.address for site in f.sites if site.carries is carries] for f in (one, two)]
        if len(sides[0]) == len(sides[1]):
            yield from zip(*sides, strict=True)
            if not carries:
                yield one.address, two.address


def _identity(function: CodeFunction) -> str:
    """Returns a key that all builds share; empty for functions without sites that do not delay."""
    is_interesting = function.sites or function.is_delay
    return (function.name or function.key) if is_interesting else ""


def coverage_of(subject: str, side: Side, baseline: Side | None = None) -> Coverage:
    """Returns the coverage of a subject; marks what changed since the baseline, if there is one."""
    changed = [each.after for each in _changed(baseline, side)] if baseline else []
    marked = {(each.file, each.code.address) for each in changed if each}
    return Coverage(
        subject=subject,
        cells=len({cell.id for build in side.builds for cell in build.cells}),
        sites=[
            SiteCoverage(
                function=_name_of(each.code),
                where=site.where,
                file=each.file,
                address=site.address,
                asks=site.asks,
                cells=side.cells.get((each.file, site.address), []),
                changed=(each.file, each.code.address) in marked,
            )
            for each, site in side.sites
        ],
    )


def changed_waits(baseline: Side, candidate: Side) -> ChangedWaits:
    """Returns the delay sites that a change touched, with the cells that reached them.

    Both sides must have been read with the same `named`.
    """
    changed = _changed(baseline, candidate)
    found = [wait for each in changed for wait in _waits_of(each, baseline, candidate)]
    return ChangedWaits(
        functions=len(candidate.functions),
        changed=len(changed),
        named=candidate.has_names,
        waits=sorted(found, key=lambda wait: (bool(wait.cells), wait.function)),
    )


def _changed(baseline: Side, candidate: Side) -> list[Changed]:
    return changed_functions(
        baseline.functions, candidate.functions, named=baseline.has_names and candidate.has_names
    )


def _waits_of(changed: Changed, baseline: Side, candidate: Side) -> Iterable[ChangedWait]:
    touched, after = touched_sites(changed), changed.after
    if after is not None:
        yield from _grouped(after, touched.sites, CANDIDATE, candidate)
        if touched.around:
            yield _wait(after, touched.around, CANDIDATE, candidate, around=True)
        elif after.code.is_delay and not (touched.sites or touched.gone):
            # The delay function itself changed: cells that called it reached the change.
            called = candidate.cells.get((after.file, after.code.address), [])
            name = _name_of(after.code)
            yield ChangedWait(function=name, side=CANDIDATE, sites=0, file_line="", cells=called)
    if changed.before is not None:
        yield from _grouped(changed.before, touched.gone, BASELINE, baseline)


def _grouped(
    function: Placed, sites: Sequence[Site], side: str, cells: Side
) -> Iterable[ChangedWait]:
    """Yields a wait for the sites that some cell reached, and one for the others."""
    reached = [site for site in sites if cells.cells.get((function.file, site.address))]
    for each in (reached, [site for site in sites if site not in reached]):
        if each:
            yield _wait(function, each, side, cells)


def _wait(
    function: Placed, sites: Sequence[Site], side: str, cells: Side, *, around: bool = False
) -> ChangedWait:
    found = [cells.cells.get((function.file, site.address), []) for site in sites]
    return ChangedWait(
        function=_name_of(function.code),
        side=side,
        sites=len(sites),
        file_line=sites[0].where,
        cells=list(dict.fromkeys(cell for each in found for cell in each)),
        around=around,
    )


def _name_of(function: CodeFunction) -> str:
    """Returns the function's symbol or its name in call chains, else its address."""
    found = [function_of_frame(site.where) for site in function.sites[:1]]
    names = [name for name in found if not (name.startswith("0x") or ":" in name)]
    return function.name or (names[0] if names else f"the function at {function.address:#x}")
