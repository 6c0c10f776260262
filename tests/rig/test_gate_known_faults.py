# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults that the baseline has as well: which of them do not refuse a candidate."""

from typing import Any

import msgspec
import pytest
from delayrig.analysis.gate.decision import Outcome
from delayrig.hazards.library_client import NOTHING_TO_ASK
from delayrig.model.evidence import Evidence, Witness
from delayrig.model.result import CellResult, Verdict

from tests.rig.builders import make_evidence
from tests.rig.test_gate_judge import AFTER, BEFORE, decided, timed

US = 1000
PASSED = [timed(BEFORE, name="b")], [timed(AFTER, name="b")]


def early(short_ns: int, rule: str = "tvsl", count: int = 1) -> Evidence:
    """A command that came that much before its time."""
    found = make_evidence(Witness.CHIP)
    what = f"RDID (0x9f) came {short_ns} ns before the part was ready (rule {rule})"
    return msgspec.structs.replace(found, what=what, margin_ns=-short_ns, count=count)


def short(subject: str, *evidence: Evidence, hazard: str = "starts:fresh") -> CellResult:
    changes: dict[str, Any] = {"verdict": Verdict.TOO_SHORT, "evidence": list(evidence)}
    return timed(subject, hazards=[hazard], **changes)


def outcome_of(before: CellResult, after: CellResult) -> tuple[int, Outcome]:
    """Of that cell beside one in which all is well."""
    decision = decided([before, *PASSED[0]], [after, *PASSED[1]])
    (cell,) = [cell for cell in decision.cells if cell.id == after.id]
    return decision.exit_code, cell.outcome


@pytest.mark.parametrize("hazard", ["starts:fresh", "long-waits"])
def test_fault_known_before_where_the_rig_asks_for_more_than_a_job_does(hazard: str) -> None:
    before = short(BEFORE, early(1000 * US), hazard=hazard)
    after = short(AFTER, early(1010 * US), hazard=hazard)
    assert outcome_of(before, after) == (0, Outcome.UNSEEN)
    decision = decided([before, *PASSED[0]], [after, *PASSED[1]])
    assert "1 of them no worse than there" in decision.lines[2]


def test_fault_of_a_job_is_judged_whatever_the_baseline_does() -> None:
    for hazard in ("signals:20", "low-res-timers"):
        before = short(BEFORE, early(1000 * US), hazard=hazard)
        after = short(AFTER, early(1000 * US), hazard=hazard)
        assert outcome_of(before, after) == (1, Outcome.UNSAFE)


@pytest.mark.parametrize(
    "worse",
    [
        [early(1200 * US)],
        [early(1000 * US, rule="tpuw")],
        [early(1000 * US), early(1 * US, rule="busy")],
        [early(1000 * US, count=2)],
    ],
)
def test_fault_that_is_worse_than_the_known_one_is_unsafe(worse: list[Evidence]) -> None:
    before = short(BEFORE, early(1000 * US))
    assert outcome_of(before, short(AFTER, *worse)) == (1, Outcome.UNSAFE)


def test_lost_data_is_never_known_before() -> None:
    corrupt: dict[str, Any] = {"hazards": ["starts:fresh"], "verdict": Verdict.CORRUPT}
    pair = timed(BEFORE, **corrupt), timed(AFTER, **corrupt)
    assert outcome_of(*pair) == (1, Outcome.UNSAFE)


@pytest.mark.parametrize("verdict", [Verdict.OP_FAILED, Verdict.HUNG])
def test_job_that_neither_can_do_is_unseen_and_one_lost_is_a_doubt(verdict: Verdict) -> None:
    failed: dict[str, Any] = {"verdict": verdict, "evidence": [make_evidence(Witness.IMAGE)]}
    pair = timed(BEFORE, **failed), timed(AFTER, **failed)
    assert outcome_of(*pair) == (0, Outcome.UNSEEN)
    assert outcome_of(timed(BEFORE), pair[1]) == (4, Outcome.DOUBT)
    early_too = timed(AFTER, verdict=verdict, evidence=[early(1)])
    assert outcome_of(pair[0], early_too) == (4, Outcome.DOUBT)


def test_candidate_without_a_function_to_be_asked_is_unseen_and_one_with_several_a_doubt() -> None:
    for reason, code in ((NOTHING_TO_ASK, 0), ("2 functions of its library delay", 4)):
        skipped = timed(AFTER, verdict=Verdict.SKIPPED, reason=reason)
        assert outcome_of(timed(BEFORE), skipped)[0] == code
