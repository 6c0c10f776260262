# SPDX-License-Identifier: GPL-2.0-or-later
"""A gate's page begins with the verdict in words: the fault and its size, without paths."""

from typing import Any

import msgspec
import pytest
from delayrig.decision.decision import Decision
from delayrig.features.report.summary import headline, short_words
from delayrig.model.evidence import Evidence, Witness
from delayrig.model.result import CellResult, SiteWaits, Verdict

from tests.rig.builders import MS, SECOND, make_evidence
from tests.rig.test_gate_judge import AFTER, BEFORE, decided, several, timed

WAIT = "1 s synchronisation wait after the serprog NOPs was too short"
US = 1000


def lasted(
    what: str, requested_ns: int, longest_ns: int, witness: Witness = Witness.BUS
) -> Evidence:
    return msgspec.structs.replace(
        make_evidence(witness),
        what=what,
        requested_ns=requested_ns,
        actual_ns=(longest_ns - 1, longest_ns),
        margin_ns=longest_ns - requested_ns,
    )


def told(before: list[CellResult], after: list[CellResult]) -> str:
    decision: Decision = decided(before, after)
    said = headline(decision)
    assert AFTER not in said
    return said


def unsafe(*evidence: Evidence, verdict: Verdict = Verdict.TOO_SHORT, reason: str = "") -> str:
    facts: dict[str, Any] = {"evidence": list(evidence), "verdict": verdict, "reason": reason}
    return told([timed(BEFORE)], [timed(AFTER, **facts)])


@pytest.mark.parametrize(
    ("item", "words", "headline_words"),
    [
        (
            lasted(WAIT, SECOND, SECOND // 2),
            "the 1 s synchronisation wait after the serprog NOPs lasts 0.5 s",
            "a wait of 1 s lasts 0.5 s",
        ),
        (
            msgspec.structs.replace(
                make_evidence(),
                what="RDID (0x9f) came 40000 ns before",
                margin_ns=-40_000,
                rule="tres",
                command="RDID (0x9f)",
            ),
            "RDID (0x9f) comes 40 us before the part is ready",
            "RDID (0x9f) comes 40 us before the part is ready",
        ),
    ],
)
def test_wait_that_is_too_short_is_told_with_its_length(
    item: Evidence, words: str, headline_words: str
) -> None:
    assert short_words(item) == words
    assert unsafe(item) == f"Unsafe: {headline_words}"


def test_delay_that_is_too_short_is_told_with_its_length() -> None:
    item = lasted("a delay for a.c:1 < b.c:2 was too short", 10 * MS, 40 * US, Witness.DELAY)
    assert short_words(item) == "a delay of 10 ms lasts 0.04 ms"
    site = SiteWaits(
        callers=["a (a.c:1)"],
        requested_ns=10 * MS,
        count=1,
        short=1,
        least_ns=(40 * US, 40 * US),
        error_ns=0,
    )
    facts: dict[str, Any] = {"waits": [site], "verdict": Verdict.TOO_SHORT}
    assert told([timed(BEFORE)], [timed(AFTER, **facts)]) == (
        "Unsafe: a wait of 10 ms lasts 0.04 ms"
    )


def test_lost_data_and_a_wait_of_no_known_length_are_told_in_words() -> None:
    assert unsafe(verdict=Verdict.CORRUPT) == "Unsafe: data was corrupted"
    assert unsafe(reason="10 ms were 3") == "Unsafe: 10 ms were 3"


def test_slower_is_told_with_absolute_figures() -> None:
    one = told([timed(BEFORE)], [timed(AFTER, SECOND + 613 * MS)])
    assert one == "Slower: one cell takes 61.3 % more time (613 ms)"
    two = [timed(AFTER, cpu_ns=2 * SECOND), timed(AFTER, cpu_ns=3 * SECOND, name="b")]
    both = told([timed(BEFORE), timed(BEFORE, name="b")], two)
    assert both == "Slower: 2 cells take up to 200 % more CPU time (2 s)"
    each = told(several(BEFORE, [SECOND] * 10), several(AFTER, [1019 * MS] * 10))
    assert each == "Slower: all cells together take 1.9 % more time (190 ms)"


def test_good_doubtful_and_failed_gates_say_so() -> None:
    good = told([timed(BEFORE)], [timed(AFTER, SECOND // 2)])
    assert good == "Good: nothing is too short in 1 cell, time -50.0 %, CPU time +0.0 %"
    doubt = told(several(BEFORE, [SECOND] * 2), [*several(AFTER, [SECOND])])
    assert doubt == "In doubt: 1 cell of 2 gave no sure answer"
    skipped = [timed(side, verdict=Verdict.SKIPPED) for side in (BEFORE, AFTER)]
    assert told(skipped[:1], skipped[1:]) == "In doubt: nothing shows that the rig sees"
    lost = timed(AFTER, verdict=Verdict.INFRA_ERROR)
    assert told([timed(BEFORE)], [lost]) == "No answer: the rig itself failed"
