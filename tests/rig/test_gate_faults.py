# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of two builds: a gate refuses a candidate for new or worse ones, as early as it can."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from delayrig.decision.decision import Decision, Outcome
from delayrig.decision.faults import Change, compare_faults, lengths_cut
from delayrig.features.gate.early import (
    EarlyAnswer,
    FirstCells,
    Reached,
    keep_reached,
    reached_in,
    read_reached,
)
from delayrig.hazards.library_client import NOTHING_TO_ASK
from delayrig.judge.chip import WITHIN_CLOCK_ERROR
from delayrig.judge.site_waits import site_waits
from delayrig.model.cell import Cell, Role
from delayrig.model.evidence import Evidence, ObservedDelay, Witness
from delayrig.model.platform import Arch
from delayrig.model.result import CellResult, SiteWaits, Verdict

from tests.rig import delay_programs as programs
from tests.rig.builders import CANARY, CONTROL, MS, SECOND, make_cell, make_evidence
from tests.rig.test_gate_judge import AFTER, BEFORE, decided, timed

US = 1000
SYNC = ("sp_synchronize (serprog.c:160)", "serprog_init (serprog.c:700)")
MOVED = ("sp_synchronize (serprog.c:171)", "serprog_init (serprog.c:711)")
SETTLE = ("sp_settle (serprog.c:140)", "sp_synchronize (serprog.c:171)")
POLL = ("spi_poll_wip (spi25.c:309)",)
STRIPPED = ("0x62c10", "0x29002")
SIGNALS = ["signals:20"]


def site(callers: tuple[str, ...], asked_ns: int, seen_ns: int, *, count: int = 1) -> SiteWaits:
    """Returns a call site whose waits are short if the shortest took less than requested."""
    return SiteWaits(
        callers=list(callers),
        requested_ns=asked_ns,
        count=count,
        short=int(seen_ns < asked_ns),
        least_ns=(seen_ns, seen_ns),
        error_ns=10,
    )


def cell(subject: str, *sites: SiteWaits, hazards: list[str] | None = None) -> CellResult:
    """Returns a cell with those waits, which did its job."""
    short = any(each.short for each in sites)
    return timed(
        subject,
        hazards=hazards or [],
        verdict=Verdict.TOO_SHORT if short else Verdict.PASS,
        waits=list(sites),
        not_waited_ns=sum(max(s.requested_ns - s.least_ns[1], 0) for s in sites),
        job_done=True,
    )


def changes(before: CellResult, now: CellResult) -> list[Change]:
    return [fault.change for fault in compare_faults(before, now, lengths_cut([before]))]


@pytest.mark.parametrize(
    ("hazards", "whole", "expected"),
    [
        # No wait of 10 ms was whole in the baseline, so the new sleep is cut like the longer ones.
        (SIGNALS, site(POLL, 10 * US, 10 * US, count=300), Change.AS_BEFORE),
        (["refused:sleep,eperm"], site(POLL, 10 * US, 10 * US, count=300), Change.AS_BEFORE),
        # Waits of 10 ms were whole in the baseline.
        (SIGNALS, site(POLL, 10 * MS, 10 * MS, count=300), Change.NEW),
        (["refused:sleep,eperm"], site(POLL, 10 * MS, 10 * MS), Change.NEW),
        # One whole wait is no evidence: a signal comes only every 50 ms.
        (SIGNALS, site(POLL, 10 * MS, 10 * MS), Change.AS_BEFORE),
    ],
)
def test_sleep_of_a_new_length_is_cut_as_longer_ones_are(
    hazards: list[str], whole: SiteWaits, expected: Change
) -> None:
    before = cell(BEFORE, site(SYNC, SECOND, 45 * MS), whole, hazards=hazards)
    now = cell(AFTER, site(SYNC, SECOND, 45 * MS), site(SETTLE, 10 * MS, MS), hazards=hazards)
    assert expected in changes(before, now)
    assert changes(before, now).count(Change.NEW) == (expected is Change.NEW)


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        # Lines and addresses change with every commit.
        (site(SYNC, SECOND, 45 * MS), site(MOVED, SECOND, 45 * MS), Change.AS_BEFORE),
        (site(STRIPPED, SECOND, 45 * MS), site(("0x1",), SECOND, 45 * MS), Change.AS_BEFORE),
        # The wait has moved to a function of its own.
        (site(SYNC, SECOND, 45 * MS), site(SETTLE, SECOND, 45 * MS), Change.AS_BEFORE),
        # The same code requests less.
        (site(SYNC, SECOND, 45 * MS), site(SYNC, SECOND // 2, 45 * MS), Change.BETTER),
        # It requests more, which is worse only if it waits less.
        (site(POLL, 10 * MS, 2 * US), site(POLL, 100 * MS, 2 * US), Change.AS_BEFORE),
        (site(POLL, 10 * MS, 5 * MS), site(POLL, 100 * MS, 2 * US), Change.WORSE),
        (site(SYNC, SECOND, 900 * MS), site(MOVED, SECOND, 500 * MS), Change.WORSE),
        (site(SYNC, SECOND, 500 * MS), site(MOVED, SECOND, 900 * MS), Change.BETTER),
        (site(SYNC, SECOND, 500 * MS), site(MOVED, SECOND, SECOND + 69 * US), Change.MENDED),
        (site(SYNC, SECOND, SECOND + 69 * US), site(MOVED, SECOND, 500 * MS), Change.NEW),
    ],
)
def test_fault_is_known_by_what_builds_share(
    before: SiteWaits, now: SiteWaits, expected: Change
) -> None:
    assert changes(cell(BEFORE, before), cell(AFTER, now)) == [expected]


def test_wait_that_moved_is_new_where_the_old_one_is_still_there() -> None:
    before = cell(BEFORE, site(SYNC, SECOND, 45 * MS), site(POLL, SECOND, SECOND + US))
    now = cell(AFTER, site(SYNC, SECOND, SECOND + US), site(POLL, SECOND, 45 * MS))
    assert changes(before, now) == [Change.NEW, Change.MENDED]


def test_second_place_of_a_stripped_program_that_is_short_is_new() -> None:
    one, other = site(STRIPPED, SECOND, 45 * MS), site(("0x77",), SECOND, 45 * MS)
    now = cell(AFTER, one, other)
    assert changes(cell(BEFORE, one), now) == [Change.NEW, Change.AS_BEFORE]


def test_code_around_a_wait_may_differ_by_some_instructions() -> None:
    # 64 instructions at 250 MIPS take 256 ns, and 5 % of the shortfall is 100 ns.
    short = site(POLL, 10 * US, 8 * US)
    assert changes(cell(BEFORE, short), cell(AFTER, site(POLL, 10 * US, 7650))) == [
        Change.AS_BEFORE
    ]
    assert changes(cell(BEFORE, short), cell(AFTER, site(POLL, 10 * US, 7600))) == [Change.WORSE]


def test_signals_strike_by_chance_so_that_a_period_more_is_no_difference() -> None:
    before = cell(BEFORE, site(SYNC, SECOND, 45 * MS), hazards=SIGNALS)
    now = cell(AFTER, site(SYNC, SECOND, 2 * MS), hazards=SIGNALS)
    assert changes(before, now) == [Change.AS_BEFORE]


def test_wait_as_long_as_one_that_signals_cut_before_is_no_new_fault() -> None:
    whole = site(POLL, SECOND, SECOND + US)
    before = cell(BEFORE, site(SYNC, SECOND, 45 * MS), whole, hazards=SIGNALS)
    now = cell(AFTER, whole, site(("spi_erase (spi25.c:1)",), SECOND, 3 * MS), hazards=SIGNALS)
    assert Change.NEW not in changes(before, now)


STEPS = ["wall-clock-step:+3600,7", "short-waits"]
ASKED_BY_RIG = site((), 99 * US, 99 * US, count=400)


def test_step_of_the_wall_clock_meets_a_wait_at_any_moment_of_it() -> None:
    before = cell(BEFORE, site((), 99 * US, 76_500), hazards=STEPS)
    now = cell(AFTER, site((), 99 * US, 63_400), hazards=STEPS)
    assert changes(before, now) == [Change.AS_BEFORE]


def test_step_of_the_wall_clock_may_meet_another_of_the_waits_that_poll_it() -> None:
    sleep = site(SYNC, SECOND, SECOND)
    before = cell(BEFORE, site((), 99 * US, 76_500), sleep, hazards=STEPS)
    now = cell(AFTER, ASKED_BY_RIG, site(POLL, 50 * US, 3 * US), sleep, hazards=STEPS)
    assert Change.NEW not in changes(before, now)


def test_longer_wait_that_ends_at_a_step_of_the_wall_clock_is_new_where_it_did_not() -> None:
    short, sleep = site((), 99 * US, 76_500), site(SYNC, SECOND, SECOND)
    before = cell(BEFORE, short, sleep, hazards=STEPS)
    now = cell(AFTER, short, site(SETTLE, SECOND, 5 * MS), hazards=STEPS)
    assert Change.NEW in changes(before, now)


@pytest.mark.parametrize(
    ("struck", "whole", "expected"),
    [
        (400, 0, Change.WORSE),
        (201, 199, Change.WORSE),
        (199, 201, Change.AS_BEFORE),
        (15, 0, Change.AS_BEFORE),  # too few to tell
    ],
)
def test_more_waits_cut_than_steps_of_the_wall_clock_can_meet_are_no_chance(
    struck: int, whole: int, expected: Change
) -> None:
    def waits(struck: int, whole: int) -> list[SiteWaits]:
        cut = msgspec.structs.replace(site((), 99 * US, 50 * US, count=struck), short=struck)
        return [cut, *([site((), 99 * US, 99 * US, count=whole)] if whole else [])]

    before = cell(BEFORE, *waits(4, 396), hazards=STEPS)
    assert changes(before, cell(AFTER, *waits(struck, whole), hazards=STEPS)) == [expected]
    often = cell(BEFORE, *waits(400, 0), hazards=STEPS)
    assert Change.WORSE not in changes(often, cell(AFTER, *waits(struck, whole), hazards=STEPS))


def called(
    asked_ns: int, seen_ns: int, count: int, callers: tuple[str, ...]
) -> list[ObservedDelay]:
    """Returns that number of equal calls."""
    wait = ObservedDelay(
        kind="delay",
        what="a delay",
        opened_ns=0,
        requested_ns=asked_ns,
        shortest_ns=seen_ns,
        longest_ns=seen_ns,
        clock_error_ns=10,
        callers=callers,
    )
    return [wait] * count


@pytest.mark.parametrize(("whole", "expected"), [(100, Change.AS_BEFORE), (15, Change.WORSE)])
def test_whole_waits_beside_a_longer_one_count_against_those_cut(
    whole: int, expected: Change
) -> None:
    def sites(short: int, whole: int) -> list[SiteWaits]:
        longer = called(300 * US, 300 * US, 1, POLL)
        cut, others = (
            called(100 * US, 50 * US, short, POLL),
            called(100 * US, 101 * US, whole, POLL),
        )
        return site_waits([*cut, *others, *longer])

    before = cell(BEFORE, *sites(1, 100), hazards=SIGNALS)
    assert changes(before, cell(AFTER, *sites(20, whole), hazards=SIGNALS)) == [expected]


def test_call_that_is_always_cut_is_worse_beside_whole_ones_of_the_same_function() -> None:
    whole = site_waits(called(100 * US, 101 * US, 100, POLL))
    before = cell(BEFORE, *site_waits(called(100 * US, 50 * US, 1, POLL)), *whole, hazards=SIGNALS)
    other = ("spi_poll_wip (spi25.c:400)",)
    cut = site_waits(called(100 * US, 50 * US, 20, other))
    assert changes(before, cell(AFTER, *whole, *cut, hazards=SIGNALS)) == [Change.WORSE]


def test_call_that_was_always_cut_is_as_before_beside_one_that_is_cut_by_chance() -> None:
    other = ("spi_poll_wip (spi25.c:400)",)

    def sites(often_ns: int, by_chance_ns: int) -> list[SiteWaits]:
        often = called(100 * US, often_ns, 20, POLL)
        seldom = called(100 * US, by_chance_ns, 1, other)
        return site_waits([*often, *seldom, *called(100 * US, 101 * US, 100, other)])

    before = cell(BEFORE, *sites(50 * US, 40 * US), hazards=SIGNALS)
    now = cell(AFTER, *sites(40 * US, 50 * US), hazards=SIGNALS)
    assert changes(before, now) == [Change.AS_BEFORE] * 2


def outcome_of(before: CellResult, after: CellResult, **terms: Any) -> tuple[int, Outcome]:
    """Decides a gate of that cell and a sound one; returns the exit code and the cell's outcome."""
    decision = beside_a_good_one(before, after, **terms)
    (found,) = [found for found in decision.cells if found.id == after.id]
    return decision.exit_code, found.outcome


def beside_a_good_one(before: CellResult, after: CellResult, **terms: Any) -> Decision:
    good = timed(BEFORE, name="b"), timed(AFTER, name="b")
    return decided([before, good[0]], [after, good[1]], **terms)


SHORT_BEFORE = cell(BEFORE, site(SYNC, SECOND, 45 * MS))
SHORT_NOW = cell(AFTER, site(MOVED, SECOND, 45 * MS))


def test_fault_of_both_is_a_warning_and_does_not_decide() -> None:
    assert outcome_of(SHORT_BEFORE, SHORT_NOW) == (0, Outcome.PASS)
    (warning,) = [
        line
        for line in beside_a_good_one(SHORT_BEFORE, SHORT_NOW).lines
        if line.startswith("Warning")
    ]
    assert warning.startswith(
        "Warning: as before: 1 s asked in sp_synchronize, 955 ms too short (0.045 s now, 0.045 s"
    )


def test_absolute_gate_asks_whether_the_candidate_is_safe_by_itself() -> None:
    assert outcome_of(SHORT_BEFORE, SHORT_NOW, absolute=True) == (1, Outcome.UNSAFE)


def test_what_the_baseline_did_not_wait_is_no_cost_of_who_waits() -> None:
    late = {"time_ns": msgspec.structs.replace(SHORT_NOW.time_ns, total=SECOND + 955 * MS)}
    right = msgspec.structs.replace(cell(AFTER, site(SYNC, SECOND, SECOND)), **late)
    assert outcome_of(SHORT_BEFORE, right) == (0, Outcome.PASS)
    late = {"time_ns": msgspec.structs.replace(SHORT_NOW.time_ns, total=3 * SECOND)}
    assert outcome_of(SHORT_BEFORE, msgspec.structs.replace(right, **late))[0] == 3


def early(short_ns: int, rule: str = "tvsl", grade: str = "datasheet") -> Evidence:
    """Returns the evidence of a command that came too early by that time."""
    found = make_evidence(Witness.CHIP, grade)
    return msgspec.structs.replace(found, rule=rule, command="RDID (0x9f)", margin_ns=-short_ns)


def at_chip(subject: str, *evidence: Evidence, **more: Any) -> CellResult:
    verdict = Verdict.TOO_SHORT
    return timed(
        subject, **{"verdict": verdict, "evidence": list(evidence), "job_done": True, **more}
    )


@pytest.mark.parametrize(
    ("before", "now", "code"),
    [
        # A program of realtime priority sends its commands faster.
        ([early(1000 * US)], [early(1140 * US)], 0),
        ([early(1000 * US)], [early(1200 * US)], 1),
        ([early(1000 * US)], [early(1000 * US, rule="tpuw")], 1),
        ([early(1000 * US)], [early(1000 * US), early(US, rule="busy")], 1),
        # A new violation of an assumed time is a doubt.
        ([early(1000 * US)], [early(1000 * US), early(US, rule="busy", grade="assumed")], 4),
    ],
)
def test_command_that_comes_too_early_is_compared_by_rule_and_margin(
    before: list[Evidence], now: list[Evidence], code: int
) -> None:
    assert outcome_of(at_chip(BEFORE, *before), at_chip(AFTER, *now))[0] == code


@pytest.mark.parametrize(
    ("grade", "doubt"),
    [
        ("assumed", "rests on assumed figures alone"),
        (WITHIN_CLOCK_ERROR, "less than the error of the clock"),
    ],
)
def test_new_doubt_is_named_by_its_kind(grade: str, doubt: str) -> None:
    doubtful = early(US, rule="busy", grade=grade)
    pair = [at_chip(BEFORE, early(US))], [at_chip(AFTER, early(US), doubtful)]
    (cell,) = decided(*pair).deciding
    assert cell.why == f"new, and {doubt}: PP came too early"


def test_lost_data_is_new_where_the_baseline_keeps_it() -> None:
    lost: dict[str, Any] = {"verdict": Verdict.CORRUPT, "evidence": [make_evidence(Witness.IMAGE)]}
    assert outcome_of(timed(BEFORE), timed(AFTER, **lost)) == (1, Outcome.UNSAFE)
    assert outcome_of(timed(BEFORE, **lost), timed(AFTER, **lost)) == (0, Outcome.PASS)


@pytest.mark.parametrize("verdict", [Verdict.OP_FAILED, Verdict.HUNG])
def test_job_that_neither_can_do_is_not_judged_and_one_lost_is_refused(verdict: Verdict) -> None:
    failed: dict[str, Any] = {"verdict": verdict, "evidence": [make_evidence(Witness.IMAGE)]}
    pair = timed(BEFORE, **failed), timed(AFTER, **failed)
    assert outcome_of(*pair) == (0, Outcome.UNSEEN)
    assert outcome_of(timed(BEFORE), pair[1]) == (1, Outcome.UNSAFE)
    in_real_time = [msgspec.structs.replace(each, lane="live") for each in (timed(BEFORE), pair[1])]
    assert outcome_of(*in_real_time)[0] == 4


def test_subject_that_lacks_a_descriptor_and_says_so_is_a_doubt_and_not_convicted() -> None:
    scarce: dict[str, Any] = {"hazards": ["few:descriptors,4"]}
    failed = timed(AFTER, verdict=Verdict.OP_FAILED, job_done=False, **scarce)
    assert outcome_of(timed(BEFORE, **scarce), failed) == (4, Outcome.DOUBT)


def test_doubt_that_the_baseline_is_in_as_well_is_no_change() -> None:
    doubt: dict[str, Any] = {"verdict": Verdict.INCONCLUSIVE, "unjudged": ["delay (none)"]}
    assert outcome_of(timed(BEFORE, **doubt), timed(AFTER, **doubt)) == (0, Outcome.UNSEEN)
    more = {**doubt, "unjudged": ["delay (none)", "chip-busy"]}
    assert outcome_of(timed(BEFORE, **doubt), timed(AFTER, **more)) == (4, Outcome.DOUBT)


def test_question_that_must_be_answered_is_a_doubt_where_both_skip_it() -> None:
    skipped: dict[str, Any] = {"verdict": Verdict.SKIPPED, "reason": NOTHING_TO_ASK}
    pair = timed(BEFORE, **skipped), timed(AFTER, **skipped)
    asked = {pair[0].place: "what signals do"}
    assert outcome_of(*pair)[0] == 0
    decision = beside_a_good_one(*pair, questions=asked)
    assert decision.exit_code == 4
    assert f"not answered: what signals do: {NOTHING_TO_ASK}" in decision.lines[0]
    failed = timed(BEFORE, verdict=Verdict.OP_FAILED), timed(AFTER, verdict=Verdict.OP_FAILED)
    assert beside_a_good_one(*failed, questions=asked).exit_code == 0


def test_candidate_without_a_function_to_be_asked_is_unseen_and_one_with_several_a_doubt() -> None:
    for reason, code in ((NOTHING_TO_ASK, 0), ("2 functions of its library delay", 4)):
        skipped = timed(AFTER, verdict=Verdict.SKIPPED, reason=reason)
        assert outcome_of(timed(BEFORE), skipped)[0] == code


def test_job_that_was_still_at_work_when_its_time_was_over_is_a_doubt() -> None:
    hung = timed(AFTER, verdict=Verdict.HUNG, unfinished=True)
    assert outcome_of(timed(BEFORE), hung) == (4, Outcome.DOUBT)


SHORT = site(SYNC, SECOND, SECOND // 2)
LONG_ENOUGH = site(SYNC, SECOND, SECOND + 1000)
WATCHING: list[Cell] = [
    make_cell(name="canary-bus", role=Role.CANARY, subject="canary:bus"),
    make_cell(name="control-bus", role=Role.CONTROL),
]


def told(*results: CellResult) -> list[str]:
    early = EarlyAnswer(WATCHING)
    return [early.finished(each, is_candidate=each.subject.name == AFTER) for each in results]


def test_no_is_told_once_when_both_sides_and_the_checks_have_answered() -> None:
    before, now = cell(BEFORE, LONG_ENOUGH), cell(AFTER, SHORT)
    said = told(CANARY, now, CONTROL, before, now)
    assert said[:3] == ["", "", ""]
    assert said[3].startswith("new: 1 s asked in sp_synchronize, 500 ms too short")
    assert said[4] == ""


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.INFRA_ERROR])
def test_nothing_is_certain_where_a_canary_flies_on(verdict: Verdict) -> None:
    blind = msgspec.structs.replace(CANARY, verdict=verdict)
    assert not any(told(blind, CONTROL, cell(BEFORE, LONG_ENOUGH), cell(AFTER, SHORT)))


def test_what_signals_do_by_chance_is_not_certain_before_the_end() -> None:
    before, now = cell(BEFORE, LONG_ENOUGH, hazards=SIGNALS), cell(AFTER, SHORT, hazards=SIGNALS)
    assert not any(told(CANARY, CONTROL, before, now))


def test_state_of_a_part_ends_no_wait() -> None:
    found = ["starts:protected"]
    before, now = cell(BEFORE, LONG_ENOUGH, hazards=found), cell(AFTER, SHORT, hazards=found)
    assert told(CANARY, CONTROL, before, now)[-1].startswith("new: ")


def test_fault_of_both_is_no_no() -> None:
    assert not any(told(CANARY, CONTROL, cell(BEFORE, SHORT), cell(AFTER, SHORT)))


FASTER = programs.FLASHROM.replace("programmer_delay(flash, 500)", "programmer_delay(flash, 50)")
REACHED: Reached = {"spi.write": {"poll_status"}, "id.probe": {"probe"}, "canary.write": set()}
Saved = Callable[..., Path]


@pytest.fixture
def saved(tmp_path: Path) -> Saved:
    def save(name: str, text: str, *flags: str) -> Path:
        program = programs.build(tmp_path / f"{name}-built", text, *flags)
        return Path(programs.packed(program, tmp_path / name).archive).parent

    return save


def places(baseline: Path, candidate: Path, reached: Reached = REACHED) -> set[str]:
    chosen = FirstCells(
        sides=(baseline, candidate), reached=reached, watching={"canary.write"}, kept=baseline
    )
    return set(chosen.places())


@pytest.mark.skipif(not programs.compiles(Arch.X86_64), reason="needs gcc")
def test_cells_of_a_changed_function_run_first_with_the_canaries(saved: Saved) -> None:
    before, after = saved("before", programs.FLASHROM), saved("after", FASTER)
    assert places(before, after) == {"id.probe", "canary.write"}
    assert places(before, before) == set()
    assert places(before, after, {}) == set()
    assert places(before.with_name("gone"), after) == set()


@pytest.mark.skipif(not programs.compiles(Arch.X86_64), reason="needs gcc")
def test_nothing_is_first_where_names_are_missing(saved: Saved) -> None:
    before, after = saved("before", programs.FLASHROM), saved("after", FASTER, "-s")
    assert places(before, after) == set()


def test_what_cells_reached_is_kept_and_added_to(tmp_path: Path) -> None:
    file = tmp_path / "reached.json"
    seen = cell(BEFORE, site(SYNC, SECOND, SECOND))
    assert read_reached(file) == {}
    keep_reached(file, [seen])
    assert read_reached(file) == reached_in([seen])
    (names,) = reached_in([seen]).values()
    assert "sp_synchronize" in names
    file.write_text('{"id.probe": ["probe"]}')
    keep_reached(file, [seen])
    assert len(read_reached(file)) == 2


@pytest.mark.parametrize("broken", ["", "[]", '{"a": 1}'])
def test_file_that_cannot_be_read_is_as_none(tmp_path: Path, broken: str) -> None:
    file = tmp_path / "reached.json"
    file.write_text(broken)
    assert read_reached(file) == {}


def test_wait_that_bus_and_delay_saw_too_short_is_one_fault() -> None:
    seen = [
        msgspec.structs.replace(make_evidence(Witness.BUS), requested_ns=asked_ns)
        for asked_ns in (SECOND, 2 * SECOND)
    ]
    now = msgspec.structs.replace(cell(AFTER, site(SYNC, SECOND, SECOND - MS)), evidence=seen)
    faults = compare_faults(cell(BEFORE, site(SYNC, SECOND, SECOND)), now, {})
    assert sorted((fault.witness, fault.asked_ns) for fault in faults) == [
        ("bus", 2 * SECOND),
        ("delay", SECOND),
    ]
