# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds a subject's delay functions, and how QEMU recognises a call of one."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from delayrig.base.durations import NS_PER_US
from delayrig.base.errors import BadInputError
from delayrig.subjects.finder.candidates import Extent
from delayrig.subjects.finder.debug_info import debug_functions
from delayrig.subjects.finder.finding import MAY_END_EARLY, DirectWait, Findings, read_findings
from delayrig.subjects.profiles.profile import known_delay_symbols
from delayrig.subjects.subject import Subject
from delayrig.subjects.symbols import read_symbols

FUNCTIONS_MAX = 16
WATCHED_MAX = 64
"""The limit of watched functions and sleeps together, which emulators/delay_plugin/ sets."""
BY_SYMBOL, BY_DIGEST, BY_USER = "symbol", "digest", "user"
BY_DEBUG_INFORMATION, BY_FINDER = "debug information", "finder"
BY_CALL = "call"
LIBRARY_PART = "/libflashrom"
KEPT = "delays"
"""The folder beside a subject's archive with the findings from its code."""


class DelayOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The symbols or the file offset that the user names; empty if the rig must find them."""

    symbol: str = ""
    offset: int | None = None

    @property
    def symbols(self) -> list[str]:
        return [name.strip() for name in self.symbol.split(",") if name.strip()]

    @property
    def words(self) -> list[str]:
        if self.offset is not None:
            return ["--delay-offset", f"{self.offset:#x}"]
        return ["--delay-symbol", self.symbol] if self.symbol else []


class DelayFunction(msgspec.Struct, frozen=True, kw_only=True):
    """One delay function of a subject. Addresses are those of its ELF file."""

    name: str
    """Its symbol, or `address 0x...`."""
    file: str
    """The path in the subject's root."""
    part: Path
    """The same file on this machine."""
    address: int
    size: int
    # See `Extent`.
    returns: tuple[int, ...] = ()
    return_sites: tuple[int, ...] = ()
    """The known return addresses of its calls; empty if it ends only at `returns`."""
    leaves: bool = False
    """True if it may end by a jump to code whose return instructions are unknown."""
    argument: int = 0
    """The number of the integer argument with the time, from 0."""
    argument_bits: int = 32
    unit_ns: int = 1000
    """The length of one unit of that argument."""
    found_by: str = BY_SYMBOL
    """`symbol`, `debug information`, `digest`, `user` or `finder`; `call` for a direct wait."""
    doubt: str = ""
    """Why the finder is not sure; empty if there is no doubt."""
    counters: tuple[str, ...] = ()
    """See `Extent`."""
    wait: DirectWait | None = None
    """The call of a sleeping function at `address`, if this is no function."""


def find_delay_functions(subject: Subject, options: DelayOptions) -> tuple[DelayFunction, ...]:
    """Returns the known delay functions and those found in the code; doubtful ones last.

    If the user names functions, returns only these. Raises `BadInputError` if one does not exist.
    """
    if options.offset is not None:
        return (_with_own_findings(subject, _at_offset(subject, options.offset)),)
    if options.symbol:
        named = (_of_symbol(subject, name) for name in options.symbols)
        return tuple(_with_own_findings(subject, function) for function in named)
    known = _known(subject)
    read = [
        each
        for file, part in parts_under_test(subject)
        for each in _read(subject, file, part, known)
    ]
    return tuple(sorted(read, key=lambda each: bool(each.doubt))[:FUNCTIONS_MAX])


class Askable(msgspec.Struct, frozen=True):
    """A delay function of a library, as the library client calls it."""

    address: int
    per_us: int = 1
    """The number of its units in a microsecond."""
    argument: int = 0
    """The number of the argument with the time."""


def askable_functions(subject: Subject) -> list[Askable]:
    """Returns the library's known delay function, or all that the finder does not doubt."""
    found = {
        each.address: Askable(each.address, NS_PER_US // each.unit_ns, each.argument)
        for each in find_delay_functions(subject, DelayOptions())
        if LIBRARY_PART in each.file and each.unit_ns in (1, NS_PER_US) and not each.doubt
    }
    known = subject.delay_address
    return list(found.values()) if known is None else [found.get(known, Askable(known))]


def direct_waits(subject: Subject, options: DelayOptions) -> dict[str, tuple[DirectWait, ...]]:
    """Returns the waits outside of the delay functions, by the file's path in the root."""
    # The known functions are those that the user names, else those that `_known()` returns.
    is_asked_for = options.symbol or options.offset is not None
    known = list(find_delay_functions(subject, options)) if is_asked_for else _known(subject)
    return {
        file: _findings(subject, part, known).direct for file, part in parts_under_test(subject)
    }


def find_watched(subject: Subject, options: DelayOptions) -> tuple[DelayFunction, ...]:
    """Returns what QEMU watches: delay functions, and direct waits.

    Waits that cannot be judged come last; the record only mentions them. Waits that end when a file
    is ready are omitted. The result is empty if no call could be judged.
    """
    parts = dict(parts_under_test(subject))
    direct = [
        _as_function(file, parts[file], wait)
        for file, waits in direct_waits(subject, options).items()
        for wait in waits
        if wait.why_not != MAY_END_EARLY
    ]
    found = (*find_delay_functions(subject, options), *sorted(direct, key=lambda each: each.doubt))
    return found[:WATCHED_MAX] if any(is_watchable(each) for each in found) else ()


def is_watchable(function: DelayFunction) -> bool:
    """Returns True if its calls can be judged."""
    return function.wait is None or not function.wait.why_not


def _as_function(file: str, part: Path, wait: DirectWait) -> DelayFunction:
    return DelayFunction(
        name=f"{wait.called}() at {wait.site:#x}",
        file=file,
        part=part,
        address=wait.site,
        size=0,
        return_sites=wait.return_sites,
        argument=wait.argument,
        unit_ns=wait.unit_ns,
        found_by=BY_CALL,
        doubt=wait.why_not,
        wait=wait,
    )


def parts_under_test(subject: Subject) -> list[tuple[str, Path]]:
    """Returns the files under test, which do not include the rig's client of a library."""
    parts = subject.parts.items()
    return [(file, part) for file, part in parts if not subject.library or "/lib" in file]


def _known(subject: Subject) -> list[DelayFunction]:
    """Returns the functions by symbols, else by debug information, else from a profile."""
    ways = (_by_symbols, _in_debug_information, _by_digest)
    return next((found for way in ways if (found := list(way(subject)))), [])


def _read(
    subject: Subject, file: str, part: Path, known: list[DelayFunction]
) -> Iterator[DelayFunction]:
    """Yields the known functions with the findings about them, and then further functions."""
    findings = _findings(subject, part, known)
    here = [each for each in known if each.part == part]
    yield from map(_with_facts, here, findings.named)
    addresses = {each.address for each in here}
    for extent in findings.found:
        if extent.address not in addresses:
            name = read_symbols(part).name(extent.address) or f"address {extent.address:#x}"
            yield _with_facts(function_at(name, file, part, extent.address, BY_FINDER), extent)


def _findings(subject: Subject, part: Path, known: list[DelayFunction]) -> Findings:
    named = tuple(each.address for each in known if each.part == part)
    return read_findings(part, named, Path(subject.archive).parent / KEPT)


def _with_facts(function: DelayFunction, extent: Extent) -> DelayFunction:
    found = msgspec.structs.asdict(extent)
    facts = {name: found[name] for name in function.__struct_fields__ if name in found}
    facts |= {"address": function.address, "size": function.size or extent.size}
    return msgspec.structs.replace(function, **facts)


def _with_own_findings(subject: Subject, function: DelayFunction) -> DelayFunction:
    return _with_facts(function, _findings(subject, function.part, [function]).named[0])


def _of_symbol(subject: Subject, name: str) -> DelayFunction:
    for found in (*_by_symbols(subject, name), *_in_debug_information(subject, name)):
        return msgspec.structs.replace(found, found_by=BY_USER)
    raise BadInputError(
        f"--delay-symbol {name}: {subject.name} has no such function, or several",
        hint="`nm` lists its functions; a stripped one takes --delay-offset",
    )


def _by_symbols(subject: Subject, *names: str) -> Iterator[DelayFunction]:
    """Yields the functions with those names, or with all names in profiles."""
    for name in names or known_delay_symbols():
        for file, part in parts_under_test(subject):
            address = read_symbols(part).function(name)
            if address is not None:
                yield function_at(name, file, part, address, BY_SYMBOL)


def _in_debug_information(subject: Subject, *names: str) -> Iterator[DelayFunction]:
    """Yields these functions by debug information instead, which may be in a separate file."""
    for file, part in parts_under_test(subject):
        found = debug_functions(part, list(names) or known_delay_symbols())
        for name, address in found.items():
            yield function_at(name, file, part, address, BY_DEBUG_INFORMATION)


def _by_digest(subject: Subject) -> Iterator[DelayFunction]:
    """Yields the function of a library without symbols whose digest is in a profile."""
    libraries = [item for item in parts_under_test(subject) if LIBRARY_PART in item[0]]
    address = subject.delay_address
    if address is not None and libraries:
        yield function_at(f"address {address:#x}", *libraries[0], address, BY_DIGEST)


def _at_offset(subject: Subject, offset: int) -> DelayFunction:
    file, part = next((file, part) for file, part in subject.parts.items() if "/lib" not in file)
    try:
        address = read_symbols(part).address(offset)
    except ValueError as error:
        raise BadInputError(
            f"--delay-offset {offset:#x}: {subject.name} has {error}",
            hint="it is an offset in the program's file, not an address",
        ) from error
    return function_at(f"offset {offset:#x}", file, part, address, BY_USER)


def function_at(name: str, file: str, part: Path, address: int, found_by: str) -> DelayFunction:
    return DelayFunction(
        name=name,
        file=file,
        part=part,
        address=address,
        size=read_symbols(part).size(address),
        found_by=found_by,
    )
