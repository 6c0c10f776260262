# SPDX-License-Identifier: GPL-2.0-or-later
"""What a family of parts adds to what every part has: a module for each fills one of these in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from chipgen.figures import BusyTime
from chipgen.sources import Sources
from chipgen.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Erase:
    opcode: int
    size_bytes: int
    """Of a block; of the smallest where they differ."""
    busy: BusyTime
    regions: tuple[tuple[int, int], ...] = ()
    """How many blocks of how many bytes, from address 0 on; none: all are alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A structure of the model that only some parts have."""

    member: str
    """The name of the pointer to it in `struct part`; the type is `struct part_MEMBER`."""
    lines: tuple[str, ...]
    """Its designated initialisers in C."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyFacts:
    erases: tuple[Erase, ...]
    kinds: tuple[Kind, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    name: str
    """As in the chip file; in C it is PART_NAME."""
    keys_required: tuple[str, ...]
    """The family's own keys at the top of a chip file."""
    keys_optional: tuple[str, ...] = ()
    headers: tuple[str, ...]
    """Those that declare its kinds."""
    read: Callable[[Table, int, Sources], FamilyFacts]
    """From the whole file, the size of the part in bytes and its sources."""
