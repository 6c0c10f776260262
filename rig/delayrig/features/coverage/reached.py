# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the delay sites that the calls of a cell came from.

A tail call (a jump to another function at a function's end) leaves no entry in a call chain. It
shows if the chain calls one function and enters another one: then a tail call led from the first to
the second. If several tail calls may have done that, all of them count.

A call through a pointer into a programmer's driver counts if it can only have called one function,
or only one whose name begins with the name of the driver, as flashrom's do.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

import msgspec

from delayrig.model.delays import Delays, FunctionFacts, read_delays
from delayrig.subjects.finder.code_map import CodeFunction, CodeMap, Site, Watched

JUMPS_MAX = 3
"""The largest number of tail calls in a row that are followed."""


class Chain(msgspec.Struct, frozen=True):
    """A call chain of a delay function, and the requested time in the function's unit."""

    function: FunctionFacts
    addresses: tuple[int, ...]
    asked: int


class SeenCell(msgspec.Struct, frozen=True, kw_only=True):
    """The call chains that a cell showed, each once."""

    id: str
    functions: tuple[FunctionFacts, ...]
    chains: tuple[Chain, ...]
    driver: str = ""
    """The beginning of the names of its programmer's functions; empty if that is not known."""


def seen_in(folder: Path, cell: str, programmer: str) -> SeenCell | None:
    """Reads a cell's delays; None if no function was watched, or if call chains lack addresses."""
    delays = read_delays(folder)
    if delays is None:
        return None
    sites = delays.sites.values()
    if any(site.callers for site in sites) and not any(site.addresses for site in sites):
        return None
    return SeenCell(
        id=cell,
        functions=tuple(delays.header.functions),
        chains=tuple(_chains(delays)),
        # In flashrom the names of a programmer's functions begin with this word.
        driver=programmer.partition(":")[0].removesuffix("_spi"),
    )


def _chains(delays: Delays) -> Iterator[Chain]:
    each = dict.fromkeys((c.function, c.site, c.requested_ns) for c in delays.calls)
    for function, site, requested_ns in each:
        facts = delays.header.functions[function]
        addresses = tuple(delays.sites[site].addresses if site in delays.sites else ())
        yield Chain(facts, addresses, requested_ns // facts.unit_ns)


def watched_in(cells: Iterable[SeenCell], file: str) -> list[Watched]:
    """Returns a file's direct waits and delay functions; doubtful ones only if none is certain."""
    found = {each for cell in cells for each in cell.functions if each.file == file}
    sure = [each for each in found if not each.doubt]
    functions = [each for each in found if not each.direct]
    chosen = sure if any(not each.direct for each in sure) else [*sure, *functions]
    return sorted({Watched(each.address, each.argument, each.direct) for each in chosen})


class Reach:
    """Finds the sites of one file that the call chains of a cell passed through."""

    def __init__(self, code: CodeMap, driver: str = "") -> None:
        self.code = code
        self._driver = driver
        self._begins = [each.address for each in code.functions]
        self._sites = {site.address: site for each in code.functions for site in each.sites}
        self._delays = {each.address for each in code.functions if each.is_delay}
        self._waiting = {site.target for site in self._sites.values()} | self._delays

    def of(self, chains: Iterable[Chain]) -> set[int]:
        """Returns the addresses of the sites, and of the delay functions that were called."""
        return {address for chain in chains for address in self._of_chain(chain)}

    def _of_chain(self, chain: Chain) -> Iterator[int]:
        entered = chain.function.address
        yield entered
        if chain.function.direct:
            yield from (site.address for site in self._sites.values() if site.target == entered)
        for number, address in enumerate(chain.addresses):
            site = self._sites.get(address)
            if site is None or not site.through or self._is_delay(entered, site, number):
                yield from self._through_call(address, entered, chain.asked)
            entered = self._function_of(address)

    def _is_delay(self, entered: int, site: Site, number: int) -> bool:
        """Returns True if the call through a pointer led to a delay function this time."""
        return entered in self._delays or (number == 1 and entered == site.target)

    def _through_call(self, address: int, entered: int, asked: int) -> Iterator[int]:
        target = self.code.callers.get(address)
        if address in self._sites:
            yield address
        if target is not None and target != entered:
            yield from self._jumps(target, entered, asked)
        elif target is None and address not in self._sites and entered in self._waiting:
            yield from self._pointed_jumps(entered, asked)

    def _jumps(self, begin: int, entered: int, asked: int) -> set[int]:
        """Returns the tail calls that lead from the called function to the entered one."""
        direct = self._direct_jumps(begin, entered, asked, JUMPS_MAX)
        is_leaving = begin in self.code.leaving
        return direct | (self._pointed_jumps(entered, asked) if is_leaving else set())

    def _led(self, site: Site, entered: int, asked: int, depth: int = JUMPS_MAX) -> set[int]:
        """Returns the site and those after it, if its tail call leads to the entered function."""
        if not site.is_tail or site.asks not in (None, asked):
            return set()
        behind = self._direct_jumps(site.target, entered, asked, depth - 1)
        return {site.address, *behind} if behind or site.target == entered else set()

    def _direct_jumps(self, begin: int, entered: int, asked: int, depth: int) -> set[int]:
        function = self._by_address.get(begin)
        sites = function.sites if function and depth > 0 else ()
        return {each for site in sites for each in self._led(site, entered, asked, depth)}

    def _pointed_jumps(self, entered: int, asked: int) -> set[int]:
        """Returns the tail calls of the only function behind a pointer that leads there.

        Returns none if several such functions do.
        """
        pointed = [each for each in self.code.functions if each.pointed and each.sites]
        ways = [
            (each.name, way)
            for each in pointed
            for site in each.sites
            # A call of a carrier leads to that carrier, and any other to a delay function.
            if site.carries == (entered not in self._delays)
            if (way := self._led(site, entered, asked))
        ]
        if len(ways) > 1 and self._driver:
            ways = [(name, way) for name, way in ways if name.startswith(self._driver)]
        return ways[0][1] if len(ways) == 1 else set()

    @cached_property
    def _by_address(self) -> dict[int, CodeFunction]:
        return {each.address: each for each in self.code.functions}

    def _function_of(self, address: int) -> int:
        at = bisect_right(self._begins, address) - 1
        return self._begins[at] if at >= 0 else 0
