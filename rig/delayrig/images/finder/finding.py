# SPDX-License-Identifier: GPL-2.0-or-later
"""What reading the code of one file came to; kept by its digest, since reading takes seconds."""

import contextlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import msgspec

from delayrig.base import digest
from delayrig.base.atomic_file import replace_file
from delayrig.images.finder.candidates import Candidates, Extent
from delayrig.images.finder.direct_wait import DirectWait, direct_waits
from delayrig.images.seal import sealed, unsealed

READING = 7
"""Raised when reading changes, so that what older rigs kept is read anew."""


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    found: tuple[Extent, ...]
    """What looks like a delay function."""
    named: tuple[Extent, ...]
    """Functions that somebody else has told of, in the order that they were named."""
    direct: tuple[DirectWait, ...]
    """Waits that go past those of them that nobody doubts."""


@cache
def read_findings(part: Path, named: tuple[int, ...] = (), kept: Path | None = None) -> Findings:
    """`named` are functions that are known already; `kept` is a folder for what is found."""
    key = digest.of_value(["findings", READING, digest.of_file(part), named])[:24]
    file = None if kept is None else kept / f"{key}.json"
    if file is not None and file.is_file():
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
            return msgspec.json.decode(unsealed(file.read_bytes()) or b"", type=Findings)
    findings = find_in(part.read_bytes(), named)
    if file is not None:
        with contextlib.suppress(OSError):  # a folder that nobody may write to: read again then
            file.parent.mkdir(exist_ok=True)
            replace_file(file, sealed(msgspec.json.encode(findings)))
    return findings


def find_in(content: bytes, named: Iterable[int] = ()) -> Findings:
    """Reads the code of a whole file."""
    candidates = Candidates(content)
    found = tuple(candidates.found())
    told = tuple(map(candidates.told, named))
    # A sleep in what may be no delay function answers for itself where that is not confirmed.
    watched = [each.address for each in (*found, *told) if not each.doubt]
    return Findings(found=found, named=told, direct=tuple(direct_waits(candidates, watched)))
