# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a subject's delay functions are, and how a call of one is known from outside."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from delayrig.errors import BadInputError
from delayrig.images.subject import Subject
from delayrig.images.symbols import Symbols, read_symbols
from delayrig.profiles.profile import known_delay_symbols

CODE_BYTES = 32
"""So much of an entry's code tells it from all others at the same offset in a page."""
FUNCTIONS_MAX = 16
"""At once; emulators/delays/ has room for no more."""
BY_SYMBOL, BY_DIGEST, BY_USER = "symbol", "digest", "user"


class DelayWish(msgspec.Struct, frozen=True, kw_only=True):
    """Where a user says that it is; nothing where the rig is to find it."""

    symbol: str = ""
    offset: int | None = None

    @property
    def words(self) -> list[str]:
        """The options that say so."""
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
    """Of its first instruction."""
    size: int
    """In bytes; 0 where it is unknown."""
    code: bytes
    """Its first bytes, at most `CODE_BYTES`. QEMU knows the entry by these and by the offset of
    `address` in its page, wherever the file is loaded."""
    returns: tuple[int, ...] = ()
    """Its return instructions, and those of functions that it ends in by a jump."""
    return_sites: tuple[int, ...] = ()
    """What follows its direct calls in the same file: where calls end if it leaves by a jump."""
    argument: int = 0
    """Which integer argument asks, from 0."""
    argument_bits: int = 32
    unit_ns: int = 1000
    """Of one unit of that argument."""
    found_by: str = BY_SYMBOL
    """`symbol`, `debug information`, `digest`, `user` or `finder`."""
    doubt: str = ""
    """Why the finder is not sure; empty where there is no doubt."""


def find_delay_functions(subject: Subject, wish: DelayWish) -> tuple[DelayFunction, ...]:
    """Every delay function of the subject that can be found; what the user wishes comes alone.

    Raises `BadInputError` where what was asked for is not there.
    """
    if wish.offset is not None:
        return (_at_offset(subject, wish.offset),)
    if wish.symbol:
        return (_of_symbol(subject, wish.symbol),)
    return tuple(_by_symbols(subject))[:FUNCTIONS_MAX] or tuple(_by_digest(subject))


def _of_symbol(subject: Subject, name: str) -> DelayFunction:
    for found in _with_symbol(subject, name):
        return msgspec.structs.replace(found, found_by=BY_USER)
    raise BadInputError(
        f"--delay-symbol {name}: {subject.name} has no such function, or several",
        hint="`nm` lists its functions; a stripped one takes --delay-offset",
    )


def _by_symbols(subject: Subject) -> Iterator[DelayFunction]:
    for name in known_delay_symbols():
        yield from _with_symbol(subject, name)


def _with_symbol(subject: Subject, name: str) -> Iterator[DelayFunction]:
    for file, part in subject.parts.items():
        address = read_symbols(part).function(name)
        if address is not None:
            yield function_at(name, file, part, address, found_by=BY_SYMBOL)


def _by_digest(subject: Subject) -> Iterator[DelayFunction]:
    """In a library without symbols, where a profile knows the address by the library's digest."""
    libraries = [item for item in subject.parts.items() if "/libflashrom" in item[0]]
    if subject.delay_address is None or not libraries:
        return
    file, part = libraries[0]
    address = subject.delay_address
    yield function_at(f"address {address:#x}", file, part, address, found_by=BY_DIGEST)


def _at_offset(subject: Subject, offset: int) -> DelayFunction:
    file, part = next((file, part) for file, part in subject.parts.items() if "/lib" not in file)
    try:
        address = read_symbols(part).address(offset)
    except ValueError as error:
        raise BadInputError(
            f"--delay-offset {offset:#x}: {subject.name} has {error}",
            hint="it is an offset in the program's file, not an address",
        ) from error
    return function_at(f"offset {offset:#x}", file, part, address, found_by=BY_USER)


def function_at(
    name: str,
    file: str,
    part: Path,
    address: int,
    *,
    found_by: str,
    returns: Sequence[int] = (),
    return_sites: Sequence[int] = (),
) -> DelayFunction:
    """The function there, with what its file tells of it."""
    symbols = read_symbols(part)
    return DelayFunction(
        name=name,
        file=file,
        part=part,
        address=address,
        size=symbols.size(address),
        code=_code(symbols, address),
        returns=tuple(returns),
        return_sites=tuple(return_sites),
        found_by=found_by,
    )


def _code(symbols: Symbols, address: int) -> bytes:
    """Its first bytes; fewer where the function or the file ends before."""
    size = symbols.size(address)
    return symbols.code(address, min(size, CODE_BYTES) if size else CODE_BYTES)
