# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults that the baseline has as well, where the rig asks for more than any job does.

Delays of a job are judged whatever the baseline does. But a part that begins freshly powered, or a
wait of an hour, is the rig's own question: who answers it as before is not to blame for it.
"""

from dataclasses import dataclass

from delayrig.hazards import hazard_of
from delayrig.judge.chip import rule_of
from delayrig.model.evidence import Witness
from delayrig.model.lane import EXACT_LANE
from delayrig.model.result import CellResult, Verdict

MORE_NS_MAX, MORE_PART_MAX = 100_000, 0.05
"""By so much may a command come earlier than the baseline's: the code before it was changed."""


@dataclass(frozen=True, slots=True)
class _Fault:
    """How often one kind was seen, and how bad the worst was."""

    count: int
    short_ns: int

    def is_no_worse_than(self, known: "_Fault | None") -> bool:
        if known is None or self.count > known.count:
            return False
        return self.short_ns <= known.short_ns * (1 + MORE_PART_MAX) + MORE_NS_MAX


def is_known_fault(cell: CellResult, before: CellResult | None) -> bool:
    """Whether it is too short where the rig asks for more than a job does, and no more than the
    baseline was there."""
    if cell.lane != EXACT_LANE or before is None:
        return False
    if not cell.verdict is before.verdict is Verdict.TOO_SHORT:
        return False
    if not any(hazard_of(word).is_beyond_jobs for word in cell.hazards):
        return False
    known = _faults(before)
    return all(fault.is_no_worse_than(known.get(kind)) for kind, fault in _faults(cell).items())


def _faults(cell: CellResult) -> dict[tuple[Witness, str], _Fault]:
    found: dict[tuple[Witness, str], _Fault] = {}
    for item in cell.evidence:
        kind = item.witness, rule_of(item)
        so_far = found.get(kind, _Fault(0, 0))
        short_ns = max(so_far.short_ns, -(item.margin_ns or 0))
        found[kind] = _Fault(so_far.count + item.count, short_ns)
    return found
