# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults that the baseline has as well, where the rig asks for more than any job does.

A part that begins freshly powered, or a wait of an hour, is the rig's own question: who answers it
as before is not to blame. A job that neither can do tells nothing of a change.
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


def is_as_before(cell: CellResult, before: CellResult | None) -> bool:
    """Whether what is wrong there tells nothing of a change: the baseline has it, too."""
    if before is None or cell.lane != EXACT_LANE or cell.verdict is not before.verdict:
        return False
    match cell.verdict:
        case Verdict.TOO_SHORT:
            return _is_known_fault(cell, before)
        case Verdict.OP_FAILED | Verdict.HUNG:
            return all(item.witness is Witness.IMAGE for item in cell.evidence)
        case _:
            return False


def _is_known_fault(cell: CellResult, before: CellResult) -> bool:
    """Whether the rig asks for more there than a job does, and it is no worse than the baseline."""
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
