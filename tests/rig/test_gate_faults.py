# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of two builds: a gate refuses a candidate for new or worse ones, if possible early."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from delayrig.decision.decision import Decision, Outcome
from delayrig.decision.decision_text import change_words
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
from msgspec.structs import replace

from tests.rig import delay_programs as programs
from tests.rig.builders import CANARY, CONTROL, MS, SECOND, make_cell, make_evidence
from tests.rig.test_gate_judge import AFTER, BEFORE, decided, timed

US = 1000
SYNC = ("sp_synchronize (serprog.c:160)", "serprog_init (serprog.c:700)")
MOVED = ("sp_synchronize (serprog.c:171)", "serprog_init (serprog.c:711)")
SETTLE = ("sp_settle (serprog.c:140)", "sp_synchronize (serprog.c:171)")
POLL = ("spi_poll_wip (spi25.c:309)",)
ERASE = ("spi_erase (spi25.c:1)",)
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


def cell(subject: str, *sites: SiteWaits, hazards: Sequence[str] = ()) -> CellResult:
    """Returns a cell with those waits, which did its job."""
    short = any(waits.short for waits in sites)
    return timed(
        subject,
        hazards=list(hazards),
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
def test_short_sleep_of_a_new_length_is_new_only_if_shorter_ones_were_whole(
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
        (site(STRIPPED, SECOND, 45 * MS), site(MOVED, SECOND, 45 * MS), Change.AS_BEFORE),
        (site(MOVED, SECOND, 45 * MS), site(STRIPPED, SECOND, 45 * MS), Change.AS_BEFORE),
        # The wait has moved to another function.
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
def test_faults_are_matched_by_function_and_length(
    before: SiteWaits, now: SiteWaits, expected: Change
) -> None:
    assert changes(cell(BEFORE, before), cell(AFTER, now)) == [expected]


@pytest.mark.parametrize(
    ("now", "words"),
    [
        ([site(SYNC, SECOND, 45 * MS)], ["as before"]),
        ([site(SYNC, SECOND, SECOND)], ["mended"]),
        ([site(POLL, US, US)], ["no longer requested"]),
        (
            [site(SYNC, SECOND, 45 * MS), site(SETTLE, 10 * MS, MS)],
            ["as before", "another wait, cut like others before"],
        ),
    ],
)
def test_wait_that_one_side_does_not_make_has_other_words(
    now: list[SiteWaits], words: list[str]
) -> None:
    before = cell(BEFORE, site(SYNC, SECOND, 45 * MS), hazards=SIGNALS)
    after = cell(AFTER, *now, hazards=SIGNALS)
    faults = compare_faults(before, after, lengths_cut([before]))
    assert sorted(map(change_words, faults), reverse=True) == sorted(words, reverse=True)
    warnings = [line for line in decided([before], [after]).lines if line.startswith("Warning")]
    assert all("as before" in line for line in warnings)


def test_short_wait_of_another_function_is_new_if_the_old_wait_remains() -> None:
    before = cell(BEFORE, site(SYNC, SECOND, 45 * MS), site(POLL, SECOND, SECOND + US))
    now = cell(AFTER, site(SYNC, SECOND, SECOND + US), site(POLL, SECOND, 45 * MS))
    assert changes(before, now) == [Change.NEW, Change.MENDED]


def test_second_short_site_of_a_stripped_program_is_new() -> None:
    one, other = site(STRIPPED, SECOND, 45 * MS), site(("0x77",), SECOND, 45 * MS)
    now = cell(AFTER, one, other)
    assert changes(cell(BEFORE, one), now) == [Change.NEW, Change.AS_BEFORE]


STEPS = ["wall-clock-step:+3600,7", "short-waits"]
CALLS_OF_RIG = site((), 99 * US, 99 * US, count=400)
STEPPED = site((), 99 * US, 76_500)
WHOLE, SLEEP = site(POLL, SECOND, SECOND + US), site(SYNC, SECOND, SECOND)


def test_wait_that_a_signal_cut_earlier_is_as_before() -> None:
    before = cell(BEFORE, site(SYNC, SECOND, 45 * MS), hazards=SIGNALS)
    now = cell(AFTER, site(SYNC, SECOND, 2 * MS), hazards=SIGNALS)
    assert changes(before, now) == [Change.AS_BEFORE]


def test_wait_that_a_step_of_the_wall_clock_cut_earlier_is_as_before() -> None:
    now = cell(AFTER, site((), 99 * US, 63_400), hazards=STEPS)
    assert changes(cell(BEFORE, STEPPED, hazards=STEPS), now) == [Change.AS_BEFORE]


@pytest.mark.parametrize(
    ("hazards", "before", "now", "is_new"),
    [
        # Signals cut another wait of the same length.
        (SIGNALS, [site(SYNC, SECOND, 45 * MS), WHOLE], [WHOLE, site(ERASE, SECOND, MS)], False),
        # A step meets another wait that polls the wall clock.
        (STEPS, [STEPPED, SLEEP], [CALLS_OF_RIG, site(POLL, 50 * US, 3 * US), SLEEP], False),
        # A step ends a longer wait.
        (STEPS, [STEPPED, SLEEP], [STEPPED, site(SETTLE, SECOND, 5 * MS)], True),
    ],
)
def test_wait_that_a_hazard_cuts_is_new_if_the_hazard_cut_no_such_wait_before(
    hazards: list[str], before: list[SiteWaits], now: list[SiteWaits], *, is_new: bool
) -> None:
    sides = cell(BEFORE, *before, hazards=hazards), cell(AFTER, *now, hazards=hazards)
    assert (Change.NEW in changes(*sides)) is is_new


@pytest.mark.parametrize(
    ("struck", "whole", "expected"),
    [
        (400, 0, Change.WORSE),
        (201, 199, Change.WORSE),
        (199, 201, Change.AS_BEFORE),
        (15, 0, Change.AS_BEFORE),  # too few to decide
    ],
)
def test_more_short_waits_than_the_wall_clock_steps_can_cause_are_worse(
    struck: int, whole: int, expected: Change
) -> None:
    def waits(struck: int, whole: int) -> list[SiteWaits]:
        cut = replace(site((), 99 * US, 50 * US, count=struck), short=struck)
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
def test_short_waits_are_as_before_among_enough_whole_ones(whole: int, expected: Change) -> None:
    def sites(short: int, whole: int) -> list[SiteWaits]:
        longer = called(300 * US, 300 * US, 1, POLL)
        cut, others = (
            called(100 * US, 50 * US, short, POLL),
            called(100 * US, 101 * US, whole, POLL),
        )
        return site_waits([*cut, *others, *longer])

    before = cell(BEFORE, *sites(1, 100), hazards=SIGNALS)
    assert changes(before, cell(AFTER, *sites(20, whole), hazards=SIGNALS)) == [expected]


def test_call_site_that_is_always_cut_is_worse_than_one_rarely_cut() -> None:
    whole = site_waits(called(100 * US, 101 * US, 100, POLL))
    before = cell(BEFORE, *site_waits(called(100 * US, 50 * US, 1, POLL)), *whole, hazards=SIGNALS)
    other = ("spi_poll_wip (spi25.c:400)",)
    cut = site_waits(called(100 * US, 50 * US, 20, other))
    assert changes(before, cell(AFTER, *whole, *cut, hazards=SIGNALS)) == [Change.WORSE]


def test_call_site_that_was_always_cut_is_as_before_beside_one_rarely_cut() -> None:
    other = ("spi_poll_wip (spi25.c:400)",)

    def sites(often_ns: int, by_chance_ns: int) -> list[SiteWaits]:
        often = called(100 * US, often_ns, 20, POLL)
        rarely = called(100 * US, by_chance_ns, 1, other)
        return site_waits([*often, *rarely, *called(100 * US, 101 * US, 100, other)])

    before = cell(BEFORE, *sites(50 * US, 40 * US), hazards=SIGNALS)
    now = cell(AFTER, *sites(40 * US, 50 * US), hazards=SIGNALS)
    assert changes(before, now) == [Change.AS_BEFORE] * 2


def outcome_of(before: CellResult, after: CellResult, **terms: Any) -> tuple[int, Outcome]:
    """Decides a gate of that cell and a sound one; returns the exit code and the cell's outcome."""
    decision = decided_with_a_good_cell(before, after, **terms)
    (found,) = [found for found in decision.cells if found.id == after.id]
    return decision.exit_code, found.outcome


def decided_with_a_good_cell(before: CellResult, after: CellResult, **terms: Any) -> Decision:
    """Decides a gate of that cell and a sound one."""
    good = timed(BEFORE, name="b"), timed(AFTER, name="b")
    return decided([before, good[0]], [after, good[1]], **terms)


SHORT_BEFORE = cell(BEFORE, site(SYNC, SECOND, 45 * MS))
SHORT_NOW = cell(AFTER, site(MOVED, SECOND, 45 * MS))


def test_fault_of_both_sides_is_only_a_warning() -> None:
    assert outcome_of(SHORT_BEFORE, SHORT_NOW) == (0, Outcome.PASS)
    (warning,) = [
        line
        for line in decided_with_a_good_cell(SHORT_BEFORE, SHORT_NOW).lines
        if line.startswith("Warning")
    ]
    assert warning.startswith(
        "Warning: as before: 1 s asked in sp_synchronize, 955 ms too short (0.045 s now, 0.045 s"
    )


def test_absolute_gate_refuses_a_fault_of_both_sides() -> None:
    assert outcome_of(SHORT_BEFORE, SHORT_NOW, absolute=True) == (1, Outcome.UNSAFE)


def test_time_that_the_baseline_did_not_wait_is_no_cost() -> None:
    late = {"time_ns": replace(SHORT_NOW.time_ns, total=SECOND + 955 * MS)}
    right = replace(cell(AFTER, site(SYNC, SECOND, SECOND)), **late)
    assert outcome_of(SHORT_BEFORE, right) == (0, Outcome.PASS)
    late = {"time_ns": replace(SHORT_NOW.time_ns, total=3 * SECOND)}
    assert outcome_of(SHORT_BEFORE, replace(right, **late))[0] == 3


def early(short_ns: int, rule: str = "tvsl", grade: str = "datasheet") -> Evidence:
    """Returns the evidence of a command that came too early by that time."""
    found = make_evidence(Witness.CHIP, grade)
    return replace(found, rule=rule, command="RDID (0x9f)", margin_ns=-short_ns)


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
def test_early_commands_are_matched_by_rule(
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
def test_new_doubt_is_described_by_its_kind(grade: str, doubt: str) -> None:
    doubtful = early(US, rule="busy", grade=grade)
    pair = [at_chip(BEFORE, early(US))], [at_chip(AFTER, early(US), doubtful)]
    (cell,) = decided(*pair).deciding
    assert cell.why == f"new, and {doubt}: PP came too early"


def failed(verdict: Verdict) -> dict[str, Any]:
    return {"verdict": verdict, "evidence": [make_evidence(Witness.IMAGE)]}


LOST, CANNOT, HANGS = map(failed, (Verdict.CORRUPT, Verdict.OP_FAILED, Verdict.HUNG))
LIVE = {"lane": "live"}
SCARCE = {"hazards": ["few:descriptors,4"]}
UNJUDGED = {"verdict": Verdict.INCONCLUSIVE, "unjudged": ["delay (none)"]}
NO_FUNCTION: dict[str, Any] = {"verdict": Verdict.SKIPPED, "reason": NOTHING_TO_ASK}


@pytest.mark.parametrize(
    ("before", "now", "code", "outcome"),
    [
        ({}, LOST, 1, Outcome.UNSAFE),
        (LOST, LOST, 0, Outcome.PASS),
        *(({}, bad, 1, Outcome.UNSAFE) for bad in (CANNOT, HANGS)),
        *((bad, bad, 0, Outcome.UNSEEN) for bad in (CANNOT, HANGS)),
        *((LIVE, bad | LIVE, 4, Outcome.DOUBT) for bad in (CANNOT, HANGS)),
        ({}, HANGS | {"unfinished": True}, 4, Outcome.DOUBT),
        (SCARCE, SCARCE | {"verdict": Verdict.OP_FAILED, "job_done": False}, 4, Outcome.DOUBT),
        (UNJUDGED, UNJUDGED, 0, Outcome.UNSEEN),
        (UNJUDGED, UNJUDGED | {"unjudged": ["delay (none)", "chip-busy"]}, 4, Outcome.DOUBT),
        # The library of the candidate has no delay function, or two.
        ({}, NO_FUNCTION, 0, Outcome.UNSEEN),
        ({}, NO_FUNCTION | {"reason": "2 functions of its library delay"}, 4, Outcome.DOUBT),
    ],
)
def test_outcome_of_a_cell_follows_from_both_results(
    before: dict[str, Any], now: dict[str, Any], code: int, outcome: Outcome
) -> None:
    assert outcome_of(timed(BEFORE, **before), timed(AFTER, **now)) == (code, outcome)


def test_required_answer_that_both_sides_skip_is_a_doubt() -> None:
    pair = timed(BEFORE, **NO_FUNCTION), timed(AFTER, **NO_FUNCTION)
    questions = {pair[0].place: "what signals do"}
    assert outcome_of(*pair)[0] == 0
    decision = decided_with_a_good_cell(*pair, questions=questions)
    assert decision.exit_code == 4
    assert f"not answered: what signals do: {NOTHING_TO_ASK}" in decision.lines[0]
    failed = timed(BEFORE, verdict=Verdict.OP_FAILED), timed(AFTER, verdict=Verdict.OP_FAILED)
    assert decided_with_a_good_cell(*failed, questions=questions).exit_code == 0


SHORT = site(SYNC, SECOND, SECOND // 2)
LONG_ENOUGH = site(SYNC, SECOND, SECOND + 1000)
WATCHING: list[Cell] = [
    make_cell(name="canary-bus", role=Role.CANARY, subject="canary:bus"),
    make_cell(name="control-bus", role=Role.CONTROL),
]


def early_answers(*results: CellResult) -> list[str]:
    """Returns the early answer after each of these results, empty if there is none."""
    answer = EarlyAnswer(WATCHING)
    return [answer.finished(cell, is_candidate=cell.subject.name == AFTER) for cell in results]


def test_candidate_is_refused_early_once_both_sides_and_the_checks_have_ended() -> None:
    before, now = cell(BEFORE, LONG_ENOUGH), cell(AFTER, SHORT)
    answers = early_answers(CANARY, now, CONTROL, before, now)
    assert answers[:3] == ["", "", ""]
    assert answers[3].startswith("new: 1 s asked in sp_synchronize, 500 ms too short")
    assert answers[4] == ""


def both(before: SiteWaits, now: SiteWaits, **more: Any) -> tuple[CellResult, CellResult]:
    """Returns the cells of both sides, each with one call site."""
    return cell(BEFORE, before, **more), cell(AFTER, now, **more)


@pytest.mark.parametrize(
    ("canary", "sides"),
    [
        (replace(CANARY, verdict=Verdict.PASS), both(LONG_ENOUGH, SHORT)),
        (replace(CANARY, verdict=Verdict.INFRA_ERROR), both(LONG_ENOUGH, SHORT)),
        (CANARY, both(LONG_ENOUGH, SHORT, hazards=SIGNALS)),
        (CANARY, both(SHORT, SHORT)),
    ],
)
def test_doubt_gives_no_early_answer(
    canary: CellResult, sides: tuple[CellResult, CellResult]
) -> None:
    assert not any(early_answers(canary, CONTROL, *sides))
    assert not any(early_answers(CONTROL, *sides, canary))


def test_fault_with_a_start_state_of_the_part_is_an_early_answer() -> None:
    sides = both(LONG_ENOUGH, SHORT, hazards=["starts:protected"])
    assert early_answers(CANARY, CONTROL, *sides)[-1].startswith("new: ")


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
def test_no_cell_is_first_if_names_are_missing(saved: Saved) -> None:
    before, after = saved("before", programs.FLASHROM), saved("after", FASTER, "-s")
    assert places(before, after) == set()


def test_reached_functions_are_stored_and_extended(tmp_path: Path) -> None:
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


@pytest.mark.parametrize("content", ["", "[]", '{"a": 1}'])
def test_damaged_file_of_reached_functions_is_ignored(tmp_path: Path, content: str) -> None:
    file = tmp_path / "reached.json"
    file.write_text(content)
    assert read_reached(file) == {}


def test_short_wait_of_two_witnesses_is_one_fault() -> None:
    seen = [
        replace(make_evidence(Witness.BUS), requested_ns=asked_ns)
        for asked_ns in (SECOND, 2 * SECOND)
    ]
    now = replace(cell(AFTER, site(SYNC, SECOND, SECOND - MS)), evidence=seen)
    faults = compare_faults(cell(BEFORE, site(SYNC, SECOND, SECOND)), now, {})
    assert sorted((fault.witness, fault.asked_ns) for fault in faults) == [
        ("bus", 2 * SECOND),
        ("delay", SECOND),
    ]
