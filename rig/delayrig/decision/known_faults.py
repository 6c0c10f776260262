# SPDX-License-Identifier: GPL-2.0-or-later
"""`.delay-rig.toml` in the candidate's tree: faults that its project knows, and accepts for a time.

A known fault is no warning until its date. The file never decides: a new fault is refused even
if it is listed.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path

import msgspec
from msgspec.structs import replace

from delayrig.base.toml import read_toml
from delayrig.decision.decision import FaultGroup
from delayrig.decision.faults import Change

FILE_NAME = ".delay-rig.toml"


class KnownFault(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One fault. `what` is its text in warnings, in which `*` stands for anything."""

    what: str
    reason: str
    until: date

    def covers(self, group: FaultGroup) -> bool:
        pattern = ".*".join(map(re.escape, self.what.split("*")))
        return re.fullmatch(pattern, group.fault.what, re.DOTALL) is not None


class KnownFaults(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file."""

    schema: int
    fault: list[KnownFault] = []


def read_known_faults(path: Path) -> list[KnownFault]:
    """Returns the faults of a file; raises `BadInputError` that names file and key."""
    return read_toml(path, KnownFaults).fault


def mark_known(
    groups: Sequence[FaultGroup], known: Sequence[KnownFault], today: date
) -> list[FaultGroup]:
    """Returns all groups; adds the reason and date to those that are accepted today."""
    accepted = [each for each in known if today <= each.until]
    marked = []
    for group in groups:
        why = [f"{each.reason}, until {each.until}" for each in accepted if each.covers(group)]
        marked.append(replace(group, known=why[0]) if why else group)
    return marked


def notes_on(groups: Sequence[FaultGroup], known: Iterable[KnownFault], today: date) -> list[str]:
    """Returns notes on the file: entries that expired, and faults that no longer occur."""
    left = [group for group in groups if group.fault.change is not Change.MENDED]
    notes = []
    for each in known:
        if not any(each.covers(group) for group in left):
            notes.append(f"{FILE_NAME}: {each.what!r} is gone: remove its entry")
        elif today > each.until:
            notes.append(f"{FILE_NAME}: {each.what!r} was accepted until {each.until}")
    return notes
