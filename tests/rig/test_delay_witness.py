# SPDX-License-Identifier: GPL-2.0-or-later
"""The witness of the delay function: what it convicts, acquits and leaves open."""

from pathlib import Path
from typing import Any

import pytest
from delayrig import workload
from delayrig.cell import Expect, Probe, Role
from delayrig.events import Event
from delayrig.result import CellResult, Verdict
from delayrig.verdict.judge import judge_cell
from delayrig.witness.delay import (
    LOST,
    NEVER_RETURNED,
    NO_DELAYS,
    NONE_JUDGED,
    class_of,
    delay_doubts,
    observe_delays,
)
from delayrig.witness.evidence import Witness, convict_waits

from tests.rig.builders import (
    COST_NS,
    FIRST_COST_NS,
    MS,
    START_NS,
    as_lines,
    changed,
    delay,
    delay_probe,
    early,
    make_cell,
    make_chip,
    make_subject,
    sound_events,
    sparse_image,
)

US = 1000
WARM = delay(0, took_ns=COST_NS, at=START_NS)
"""A thread's first call costs more than the others."""


def judged(*events: Event) -> tuple[bool, bool]:
    """Whether the last delay of the events was short, and whether it was judged."""
    wait = observe_delays([delay_probe(), *events])[-1]
    return wait.is_short, wait.is_judged


@pytest.mark.parametrize(
    ("took_ns", "short", "is_judged"),
    [
        (100 * US - 1, True, True),
        (100 * US, False, False),
        (100 * US + COST_NS - 1, False, False),
        (100 * US + COST_NS, False, False),
        (100 * US + COST_NS + 1, False, True),
        (5000 * US, False, True),
    ],
)
def test_delay_is_good_only_with_the_cost_of_the_probe_taken_off(
    took_ns: int, short: bool, is_judged: bool
) -> None:
    # The clock steps by 1 ns: a difference as small as that is none.
    assert judged(WARM, delay(100, took_ns=took_ns)) == (short, is_judged)


def test_delay_shorter_than_the_probe_costs_is_not_judged_good() -> None:
    asked_us = COST_NS // US
    assert judged(WARM, delay(asked_us, took_ns=asked_us * US + COST_NS + 10)) == (False, False)
    assert judged(WARM, delay(asked_us + 1, took_ns=asked_us * US + US + COST_NS + 10))[1]


def test_first_call_of_a_thread_is_compared_with_a_first_call() -> None:
    took_ns = 100 * US + FIRST_COST_NS
    assert judged(delay(100, took_ns=took_ns)) == (False, False)
    assert judged(delay(100, took_ns=took_ns + 1)) == (False, True)
    assert judged(WARM, delay(100, took_ns=took_ns, tid=8)) == (False, False)
    assert judged(WARM, delay(100, took_ns=took_ns)) == (False, True)


def test_rate_error_of_the_clock_widens_long_waits() -> None:
    start = {"ev": "start", "clock_step_ns": 50, "clock_rate_error_ppm": 10}
    long_ns = 1000 * MS + COST_NS + 10_001
    for took_ns, is_judged in ((long_ns, True), (long_ns - 1, False)):
        events = [start, delay_probe(), WARM, delay(1_000_000, took_ns=took_ns)]
        assert observe_delays(events)[0].is_judged is is_judged


@pytest.mark.parametrize(
    ("us", "kind"),
    [
        (1, "delay-from-1us"),
        (9, "delay-from-1us"),
        (10, "delay-from-10us"),
        (999_999, "delay-from-100000us"),
        (1_000_000, "delay-from-1000000us"),
        (4_294_967_295, "delay-from-1000000us"),
    ],
)
def test_classes_go_by_the_length_asked_for(us: int, kind: str) -> None:
    assert class_of(us) == kind


def test_call_that_asks_for_nothing_or_never_returns_is_no_wait() -> None:
    assert observe_delays([delay_probe(), delay(0, took_ns=5), delay(7, took_ns=None)]) == []


def test_delay_without_a_probe_is_nobodys() -> None:
    assert observe_delays([delay(7, took_ns=1)]) == []


def test_conviction_names_the_call_site_the_cores_and_how_many() -> None:
    calls = [WARM, *(delay(100, took_ns=took, at=took) for took in (9000, 7000, 8000))]
    (evidence,) = convict_waits(observe_delays([delay_probe(), *calls]))
    assert evidence.witness is Witness.DELAY
    assert (evidence.count, evidence.requested_ns, evidence.grade) == (3, 100 * US, "exact")
    assert evidence.actual_ns == (7000 - COST_NS, 7000)
    assert evidence.margin_ns == 7000 - 100 * US
    assert evidence.what == "a delay for core/busy.c:154 < drivers/spi25.c:67 was too short"
    assert evidence.where == (
        "default_delay at 7000 ns, cpu 0 to 1: core/busy.c:154 < drivers/spi25.c:67"
    )


def test_call_sites_are_convicted_apart() -> None:
    calls = [WARM, delay(50, took_ns=1), delay(50, took_ns=1, stack=["other.c:1"])]
    evidence = convict_waits(observe_delays([delay_probe(), *calls]))
    assert [item.count for item in evidence] == [1, 1]


@pytest.mark.parametrize(
    ("events", "kinds", "doubts"),
    [
        ([delay_probe(), delay(7, took_ns=9)], ["delay-from-1us"], []),
        ([delay_probe(), delay(7, took_ns=9)], [], [NONE_JUDGED]),
        ([delay_probe(lost=1), delay(7, took_ns=9)], ["delay-from-1us"], [LOST]),
        ([delay_probe(), delay(7, took_ns=None)], ["delay-from-1us"], [NEVER_RETURNED]),
        ([delay_probe(), delay(0, took_ns=9)], [], [NO_DELAYS]),
        ([delay_probe()], ["erase-poll"], [NO_DELAYS]),
    ],
)
def test_doubts_are_told(events: list[Event], kinds: list[str], doubts: list[str]) -> None:
    assert delay_doubts(events, kinds) == doubts


def verdict_of(tmp_path: Path, *calls: Event, lost: int = 0, **cell: Any) -> CellResult:
    """Of a cell of this witness in which all else is well."""
    probed = make_cell(witness=Probe.DELAY, **cell)
    events = changed(sound_events(delay_probe(lost=lost), *calls), "start", clock_step_ns=1)
    (tmp_path / "events.jsonl").write_bytes(as_lines(events))
    (tmp_path / "stdout.txt").write_bytes(b"flashrom 0.1.0-rig\n")
    content = workload.final_content(probed, workload.region_of(probed, make_chip()))
    (tmp_path / "image.sparse").write_bytes(sparse_image(content))
    return judge_cell(
        probed, make_chip(), tmp_path, subject=make_subject(), host_s=0, rerun="again"
    )


GOOD, SHORT = delay(100, took_ns=200 * US), delay(100, took_ns=99 * US)


def test_cell_passes_with_its_delays_judged(tmp_path: Path) -> None:
    result = verdict_of(tmp_path, WARM, GOOD)
    assert (result.verdict, result.witness) == (Verdict.PASS, "delay")
    assert "delay-from-100us" in result.judged
    assert result.smallest_visible_short_ns == COST_NS + 1


def test_short_delay_makes_its_cell_too_short(tmp_path: Path) -> None:
    result = verdict_of(tmp_path, WARM, GOOD, SHORT)
    assert result.verdict is Verdict.TOO_SHORT
    assert [item.witness for item in result.evidence] == [Witness.DELAY]


def test_short_delay_convicts_though_records_were_lost(tmp_path: Path) -> None:
    assert verdict_of(tmp_path, WARM, SHORT, lost=9).verdict is Verdict.TOO_SHORT


def test_lost_record_never_passes(tmp_path: Path) -> None:
    result = verdict_of(tmp_path, WARM, GOOD, lost=1)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert LOST in result.reason


def test_cell_in_which_no_delay_could_be_judged_does_not_pass(tmp_path: Path) -> None:
    assert verdict_of(tmp_path, WARM).verdict is Verdict.INCONCLUSIVE
    assert verdict_of(tmp_path, WARM, delay(100, took_ns=100 * US)).verdict is Verdict.INCONCLUSIVE


def test_cell_without_its_probe_is_the_rigs_fault(tmp_path: Path) -> None:
    cell = make_cell(witness=Probe.DELAY)
    (tmp_path / "events.jsonl").write_bytes(as_lines(sound_events()))
    (tmp_path / "image.sparse").write_bytes(b"")
    result = judge_cell(cell, make_chip(), tmp_path, subject=make_subject(), host_s=0, rerun="")
    assert result.verdict is Verdict.INFRA_ERROR


def test_canary_of_the_witness_must_be_convicted_by_it(tmp_path: Path) -> None:
    canary: dict[str, Any] = {"role": Role.CANARY, "expect": Expect.TOO_SHORT}
    seen_by_chip = early("0x02", read=START_NS + 5, margin=-1000)
    assert verdict_of(tmp_path, WARM, SHORT, **canary).verdict is Verdict.TOO_SHORT
    assert verdict_of(tmp_path, WARM, GOOD, seen_by_chip, **canary).verdict is Verdict.PASS
    assert verdict_of(tmp_path, WARM, GOOD, seen_by_chip).verdict is Verdict.TOO_SHORT
