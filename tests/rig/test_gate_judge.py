# SPDX-License-Identifier: GPL-2.0-or-later
"""A gate decides by safety, then performance, then doubt; it ignores a plan's expectations."""

from collections.abc import Sequence
from io import StringIO
from typing import Any

import pytest
from delayrig.decision.decision import Decision, Limits, Outcome
from delayrig.decision.gate_judge import Terms, decide
from delayrig.decision.performance import PAIRS_MIN
from delayrig.model.cell import Role
from delayrig.model.phases import TimeSplit
from delayrig.model.result import (
    CellResult,
    CpuTime,
    DelayCount,
    Ending,
    Results,
    SiteWaits,
    SubjectFacts,
    Verdict,
)
from delayrig.present.comparison import print_decision
from msgspec.structs import replace
from rich.console import Console

from tests.rig.builders import (
    CANARY,
    CONTROL,
    MS,
    SECOND,
    WATCH,
    make_cell,
    make_evidence,
    make_result,
    make_run_header,
    run_of,
)

BEFORE, AFTER = "bundled", "path:new/flashrom"


def timed(subject: str, total_ns: int = SECOND, *, name: str = "a", **changes: Any) -> CellResult:
    """Returns a cell of that subject and duration, with the changes."""
    cell = make_cell(name=name, subject=subject)
    cpu_ns = changes.pop("cpu_ns", SECOND)
    measured = {"time_ns": TimeSplit(total=total_ns), "cpu_ns": CpuTime(user=cpu_ns)}
    facts = SubjectFacts(name=subject, version="1", sha256="b" * 64)
    return make_result(cell, **{"subject": facts, **measured, **changes})


def decided(
    baseline: Sequence[CellResult], candidate: Sequence[CellResult], **more: Any
) -> Decision:
    """Decides a gate of one round, with a convicted canary and an acquitted control."""
    return decide([run_of(*baseline)], [run_of(*candidate, *WATCH)], Terms(**more))


def test_side_has_the_version_of_its_program_and_not_of_its_library() -> None:
    library = SubjectFacts(name=BEFORE, version="library", sha256="c" * 64, library=True)
    cells = [replace(timed(BEFORE), subject=library), timed(BEFORE, name="b")]
    side = decided(cells, cells).baseline
    assert (side.version, side.sha256) == ("1", "b" * 64)


def test_subject_against_itself_passes_without_a_difference() -> None:
    cells = [timed(BEFORE), timed(BEFORE, name="b")]
    decision = decided(cells, cells)
    assert (decision.exit_code, decision.outcome) == (0, Outcome.PASS)
    assert {item.pct for cell in decision.cells for item in cell.excess} == {0.0}
    assert [line.partition(":")[0] for line in decision.lines] == [
        *("Yes", "Faults", "Seen", "Checks", "Cost in time", "Cost in CPU time")
    ]
    assert decision.lines[0].startswith("Yes: ")


def test_side_is_named_by_label_or_version_and_never_by_path() -> None:
    theirs, ours = timed("path:/home/me/old/flashrom"), timed("path:/home/me/new/flashrom")
    decision = decided([theirs], [ours], labels=("", "change 4711"))
    assert decision.lines[0].startswith("Yes: change 4711 against flashrom 1 (bbbbbbbb)")
    assert decided([timed(BEFORE)], [timed(AFTER)]).baseline.title == BEFORE


@pytest.mark.parametrize("verdict", [Verdict.TOO_SHORT, Verdict.CORRUPT])
@pytest.mark.parametrize("expect", ["pass", "too_short", "corrupt", "any"])
def test_unsafe_candidate_is_refused_with_any_expectation(verdict: Verdict, expect: str) -> None:
    bad = timed(AFTER, verdict=verdict, expect=expect, reason="10 ms were 3")
    decision = decided([timed(BEFORE)], [bad])
    assert decision.exit_code == 1
    what = "10 ms were 3" if verdict is Verdict.TOO_SHORT else "wrong data: write GD25Q16C"
    assert decision.lines[0] == f"No, unsafe: new: {what}, in {bad.id}"


@pytest.mark.parametrize("verdict", [Verdict.TOO_SHORT, Verdict.OP_FAILED, Verdict.HUNG])
def test_time_has_no_cost_if_the_baseline_failed(verdict: Verdict) -> None:
    mended = decided([timed(BEFORE, verdict=verdict)], [timed(AFTER, 9 * SECOND)])
    assert mended.exit_code == 0
    assert mended.cells[0].excess == []
    assert "its time cannot be compared" in mended.cells[0].why


@pytest.mark.parametrize(("hazards", "code"), [(["refused:sleep,eperm"], 0), (["no-rt"], 3)])
def test_polling_where_sleep_is_refused_is_no_cost(hazards: list[str], code: int) -> None:
    """The baseline took EPERM for a finished sleep; the candidate polls the clock instead."""
    short: dict[str, Any] = {"verdict": Verdict.TOO_SHORT, "not_waited_ns": 1_100_000_000}
    before = timed(BEFORE, 179_000_000, cpu_ns=161_000_000, hazards=hazards, job_done=True, **short)
    after = timed(AFTER, 1_278_000_000, cpu_ns=1_261_000_000, hazards=hazards)
    assert decided([before], [after]).exit_code == code


def test_worst_cell_is_named_first() -> None:
    def short(name: str, margin_ns: int) -> CellResult:
        evidence = [replace(make_evidence(), margin_ns=margin_ns)]
        return timed(AFTER, name=name, verdict=Verdict.TOO_SHORT, evidence=evidence)

    names = ["a", "b", "c"]
    candidate = [short("a", -5), short("b", -900), short("c", -70)]
    decision = decided([timed(BEFORE, name=name) for name in names], candidate)
    assert candidate[1].id in decision.lines[0]
    assert [cell.margin_ns for cell in decision.deciding] == [-900, -70, -5]


WAIT: dict[str, Any] = {"requested_ns": SECOND, "count": 1, "short": 1, "error_ns": 0}
OF_RIG = SiteWaits(callers=[], least_ns=(0, 0), **WAIT)
OF_FLASHROM = SiteWaits(callers=["serprog_delay"], least_ns=(SECOND - MS, SECOND - MS), **WAIT)


@pytest.mark.parametrize(
    ("sites", "first"),
    [
        ([[OF_FLASHROM], [OF_RIG]], 0),
        ([[OF_RIG], [OF_FLASHROM]], 1),
        ([[OF_RIG, OF_FLASHROM], [OF_RIG]], 0),
    ],
)
def test_wait_of_flashrom_is_named_before_one_of_the_rig(
    sites: list[list[SiteWaits]], first: int
) -> None:
    names = ["a", "b"]
    candidate = [
        timed(AFTER, name=name, verdict=Verdict.TOO_SHORT, waits=waits, job_done=True)
        for name, waits in zip(names, sites, strict=True)
    ]
    decision = decided([timed(BEFORE, name=name) for name in names], candidate)
    assert "1 s asked in serprog_delay" in decision.lines[0]
    assert decision.deciding[0].id == candidate[first].id
    assert decision.groups[0].fault.where == "serprog_delay"


def test_lost_data_is_named_before_a_short_wait() -> None:
    lost = timed(AFTER, name="b", verdict=Verdict.CORRUPT)
    short = timed(AFTER, verdict=Verdict.TOO_SHORT, evidence=[make_evidence()])
    decision = decided([timed(BEFORE), timed(BEFORE, name="b")], [short, lost])
    assert lost.id in decision.lines[0]


def test_cpu_time_has_its_own_limit() -> None:
    slower = timed(AFTER, cpu_ns=SECOND + 51 * MS)
    decision = decided([timed(BEFORE)], [slower])
    assert decision.exit_code == 3
    assert decision.lines[0].startswith(f"No, slower: {slower.id}: ")
    assert "CPU time +5.10 % (+51.0 ms: 1000.0 before, 1051.0 now)" in decision.lines[0]
    assert decided([timed(BEFORE)], [timed(AFTER, cpu_ns=SECOND + 50 * MS)]).exit_code == 0


NAMES = ["a", "b", "c"]
ALL_BEFORE, GOOD = ([timed(side, name=name) for name in NAMES] for side in (BEFORE, AFTER))
SLOW_B = timed(AFTER, 2 * SECOND, name="b")
DOUBT_C = timed(AFTER, name="c", verdict=Verdict.INCONCLUSIVE)
SKIPPED: dict[str, Any] = {"verdict": Verdict.SKIPPED}
LOST: dict[str, Any] = {"verdict": Verdict.INFRA_ERROR, "reason": "the guest died"}
LONG: dict[str, Any] = {"hazards": ["long-waits"]}


@pytest.mark.parametrize(
    ("baseline", "candidate", "code"),
    [
        # The limit of virtual time is exact.
        ([timed(BEFORE)], [timed(AFTER, SECOND + 20 * MS)], 0),
        ([timed(BEFORE)], [timed(AFTER, SECOND + 20 * MS + 1)], 3),
        ([timed(BEFORE)], [timed(AFTER, SECOND // 2)], 0),
        # Safety comes before performance, and performance before doubt.
        (ALL_BEFORE, [timed(AFTER, verdict=Verdict.TOO_SHORT), SLOW_B, DOUBT_C], 1),
        (ALL_BEFORE, [GOOD[0], SLOW_B, DOUBT_C], 3),
        (ALL_BEFORE, [GOOD[0], GOOD[1], DOUBT_C], 4),
        (ALL_BEFORE, GOOD, 0),
        # A lost guest of either side is a fault of the rig.
        ([timed(BEFORE)], [timed(AFTER, **LOST)], 99),
        ([timed(BEFORE, **LOST)], [timed(AFTER)], 99),
        # A cell that only one side has is a doubt, and so is one that only the candidate skipped.
        (ALL_BEFORE[:2], GOOD[:1], 4),
        (ALL_BEFORE[:1], GOOD[:2], 4),
        (ALL_BEFORE[:2], [GOOD[0], timed(AFTER, name="b", **SKIPPED)], 4),
        # A cell that both skipped is ignored; a gate without any other cell is a doubt.
        (
            [ALL_BEFORE[0], timed(BEFORE, name="b", **SKIPPED)],
            [GOOD[0], timed(AFTER, name="b", **SKIPPED)],
            0,
        ),
        ([timed(BEFORE, **SKIPPED)], [timed(AFTER, **SKIPPED)], 4),
        # Waits that the rig requested are no cost, even if they were too short in the baseline.
        ([timed(BEFORE, verdict=Verdict.TOO_SHORT, **LONG)], [timed(AFTER, 9 * SECOND, **LONG)], 0),
        ([timed(BEFORE, **LONG), ALL_BEFORE[1]], [timed(AFTER, 9 * SECOND, **LONG), GOOD[1]], 0),
    ],
)
def test_gravest_difference_decides_the_gate(
    baseline: list[CellResult], candidate: list[CellResult], code: int
) -> None:
    assert decided(baseline, candidate).exit_code == code


def test_limit_with_a_decimal_fraction_is_exact() -> None:
    limits = Limits(slowdown_pct=0.7, cpu_pct=5)
    for after_ns, code in ((1_007_000_000, 0), (1_007_000_001, 3)):
        decision = decided([timed(BEFORE)], [timed(AFTER, after_ns)], limits=limits)
        assert decision.exit_code == code


def test_inconclusive_candidate_is_a_doubt_even_if_expected() -> None:
    cell = timed(AFTER, verdict=Verdict.INCONCLUSIVE, expect="op_failed")
    decision = decided([timed(BEFORE)], [cell])
    assert (decision.exit_code, decision.outcome) == (4, Outcome.DOUBT)
    assert cell.id in decision.lines[0]


def test_canary_that_passes_or_convicted_control_is_a_fault_of_the_rig() -> None:
    blind = replace(CANARY, verdict=Verdict.PASS)
    for cell in (timed(AFTER), timed(AFTER, verdict=Verdict.TOO_SHORT)):
        decision = decide([run_of(timed(BEFORE))], [run_of(cell, blind, CONTROL)])
        assert decision.exit_code == 99
        assert "canary was not convicted" in decision.lines[0]
    wrong = replace(CONTROL, verdict=Verdict.TOO_SHORT)
    decision = decide([run_of(timed(BEFORE))], [run_of(timed(AFTER), CANARY, wrong)])
    assert decision.exit_code == 99


@pytest.mark.parametrize("watch", [[], [CANARY], [CONTROL]])
def test_gate_without_canary_or_control_is_in_doubt(watch: list[CellResult]) -> None:
    decision = decide([run_of(timed(BEFORE))], [run_of(timed(AFTER), *watch)])
    assert decision.exit_code == 4
    assert "nothing shows that the rig detects faults" in decision.lines[0]


def with_delays(name: str, *, seen: int, judged: int, visible_ns: int) -> CellResult:
    """Returns a cell whose delays QEMU recorded."""
    return timed(
        AFTER,
        name=name,
        delays=DelayCount(seen=seen, judged=judged),
        smallest_visible_short_ns=visible_ns,
    )


def test_answer_counts_judged_delays_and_names_the_least_visible_shortening() -> None:
    ours = [
        with_delays("a", seen=1000, judged=1000, visible_ns=11),
        with_delays("b", seen=214, judged=214, visible_ns=7_663_000),
    ]
    decision = decided([timed(BEFORE), timed(BEFORE, name="b")], ours)
    line = "delays: all 1,214 in 2 cells judged"
    line += "; the best cell shows a wait 0.011 us too short, the worst 7663 us"
    assert decision.blind == [line]
    assert f"Seen: {line}." in decision.lines


def test_unjudged_delays_are_counted_instead_of_unjudged_classes_of_waits() -> None:
    ours = with_delays("a", seen=10, judged=9, visible_ns=10_000)
    ours = replace(ours, unjudged=["program-poll"])
    assert decided([timed(BEFORE)], [ours]).blind == [
        "delays: 9 of 10 in 1 cell judged; each cell shows a wait 10 us too short",
        f"program-poll: not judged in {ours.id} (1 of 10 delays not judged there)",
    ]
    ours = replace(ours, delays=DelayCount(seen=10, judged=10))
    assert len(decided([timed(BEFORE)], [ours]).blind) == 1


def test_answer_without_recorded_delays_lists_what_is_not_visible() -> None:
    bus = timed(AFTER, judged=["erase-poll"], unjudged=["program-poll"])
    decision = decided([timed(BEFORE)], [bus])
    assert decision.blind == [
        "delays: none was seen call by call",
        "delays: not seen call by call in 1 cell",
        f"program-poll: not judged in {bus.id}",
    ]
    other = replace(bus, id=f"{bus.id}.other")
    decision = decided([timed(BEFORE)], [bus, other])
    assert decision.blind[-1] == f"program-poll: not judged in {bus.id} and 1 more"


def test_baseline_with_another_image_or_seed_is_not_compared_by_time() -> None:
    ours = run_of(timed(AFTER), *WATCH)
    arm64 = {**make_run_header().image_digests, "kernel arm64": "e" * 64}
    others = {"kernel": "e" * 64, "qemu": "d" * 64}
    headers: list[dict[str, Any]] = [{"image_digests": images} for images in (others, arm64)]
    for header in (*headers, {"seed": 2}):
        decision = decide([run_of(timed(BEFORE), **header)], [ours], Terms(stored="run"))
        assert decision.exit_code == 4
        assert decision.cells[0].excess == []
    bad = run_of(timed(AFTER, verdict=Verdict.CORRUPT), *WATCH)
    assert decide([run_of(timed(BEFORE), seed=2)], [bad], Terms(stored="run")).exit_code == 1


def test_digests_of_unused_images_do_not_matter() -> None:
    digests = make_run_header().image_digests
    theirs = run_of(timed(BEFORE), image_digests={**digests, "subject bundled": "1" * 64})
    for other, terms in (("kernel rt", Terms(stored="run")), ("live cpu plugin", Terms())):
        ours = run_of(timed(AFTER), *WATCH, image_digests={**digests, other: "2" * 64})
        assert decide([theirs], [ours], terms).exit_code == 0


def test_unreached_waits_are_said_once_with_a_remedy() -> None:
    unreached = ["the changed wait in a was reached in none", "the changed wait in b (c.c:1)"]
    terms = Terms(unreached=unreached, reached=["the changed wait in d was reached in 1 cell"])
    decision = decide([run_of(timed(BEFORE))], [run_of(timed(AFTER), *WATCH)], terms)
    assert decision.exit_code == 4
    assert decision.lines[0].endswith(f": {unreached[0]}, like 1 other")
    text = StringIO()
    print_decision(decision, Console(file=text, width=200))
    shown = text.getvalue()
    assert [shown.count(line) for line in (*unreached, *terms.reached)] == [2, 1, 1]
    assert "`--unreached ok` accepts these" in shown
    terms = Terms(reached=unreached)
    accepted = decide([run_of(timed(BEFORE))], [run_of(timed(AFTER), *WATCH)], terms)
    assert accepted.exit_code == 0
    assert not any("--unreached" in line for line in accepted.lines)


def rounds(total_ns: Sequence[int], subject: str) -> list[Results]:
    """Returns a round of real time for each duration; the first also has a virtual cell."""
    real = [run_of(timed(subject, ns, name="r", lane="live")) for ns in total_ns]
    watch = WATCH if subject == AFTER else []
    return [run_of(timed(subject), *real[0].cells, *watch), *real[1:]]


REAL = [SECOND + n * MS for n in range(PAIRS_MIN + 2)]


@pytest.mark.parametrize(("percent", "code"), [(0, 0), (1, 0), (3, 3), (50, 3), (-20, 0)])
def test_real_time_decides_if_the_interval_excludes_the_limit(percent: int, code: int) -> None:
    after = [ns * (100 + percent) // 100 for ns in REAL]
    decision = decide(rounds(REAL, BEFORE), rounds(after, AFTER))
    assert decision.exit_code == code


def test_real_time_is_a_doubt_if_the_interval_holds_the_limit() -> None:
    after = [ns * (100 if n % 2 else 104) // 100 for n, ns in enumerate(REAL)]
    decision = decide(rounds(REAL, BEFORE), rounds(after, AFTER))
    assert decision.exit_code == 4
    (time,) = [item for item in decision.cells[0].excess if item.figure == "time"]
    assert time.low_pct < 2 < time.high_pct


def test_too_few_rounds_or_a_stored_baseline_leave_real_time_in_doubt() -> None:
    few = REAL[: PAIRS_MIN - 1]
    assert decide(rounds(few, BEFORE), rounds(few, AFTER)).exit_code == 4
    whole = rounds(REAL, BEFORE), rounds(REAL, AFTER)
    assert decide(*whole, Terms(stored="run")).exit_code == 4


def test_one_short_round_refuses_the_candidate() -> None:
    after = rounds(REAL, AFTER)
    worst = replace(after[3].cells[0], verdict=Verdict.TOO_SHORT)
    after[3] = run_of(worst)
    decision = decide(rounds(REAL, BEFORE), after)
    assert decision.exit_code == 1
    assert worst.id in decision.lines[0]


def several(subject: str, total_ns: Sequence[int]) -> list[CellResult]:
    return [timed(subject, ns, name=f"n{number}") for number, ns in enumerate(total_ns)]


@pytest.mark.parametrize(
    ("verdict", "code", "outcome"),
    [
        (Verdict.PASS, 0, "pass"),
        (Verdict.TOO_SHORT, 1, "unsafe"),
        (Verdict.INCONCLUSIVE, 0, "unseen"),
        (Verdict.OP_FAILED, 4, "doubt"),
    ],
)
def test_single_round_of_real_time_is_judged_by_safety_only(
    verdict: Verdict, code: int, outcome: str
) -> None:
    real = timed(AFTER, 9 * SECOND, name="r", lane="live", verdict=verdict)
    decision = decided([timed(BEFORE)], [timed(AFTER), real])
    assert decision.exit_code == code
    (cell,) = [cell for cell in decision.cells if cell.lane == "live"]
    assert (cell.outcome, cell.excess) == (outcome, [])


def test_short_candidate_at_its_time_limit_is_a_doubt() -> None:
    short: dict[str, Any] = {"verdict": Verdict.TOO_SHORT, "evidence": [make_evidence()]}
    before = timed(BEFORE, job_done=True, **short)
    after = timed(AFTER, job_done=False, unfinished=True, ending=Ending.OUT_OF_TIME, **short)
    decision = decided([before], [after])
    (cell,) = [cell for cell in decision.cells if cell.role == Role.MEASURE]
    assert (cell.outcome, "still at work" in cell.why) == (Outcome.DOUBT, True)


def inconclusive(cell: CellResult) -> CellResult:
    """Returns the cell as inconclusive in real time, as on a busy machine."""
    reason = "this machine could not keep up"
    return replace(cell, lane="live", verdict=Verdict.INCONCLUSIVE, reason=reason, evidence=[])


def without(runs: list[Results], number: int) -> list[Results]:
    """Returns the rounds, with an inconclusive cell in real time in one of them."""
    changed = [inconclusive(cell) if cell.lane == "live" else cell for cell in runs[number].cells]
    return [*runs[:number], run_of(*changed), *runs[number + 1 :]]


@pytest.mark.parametrize(("percent", "code"), [(0, 0), (50, 3)])
def test_inconclusive_rounds_are_left_out_and_counted(percent: int, code: int) -> None:
    after = [ns * (100 + percent) // 100 for ns in REAL]
    theirs = without(rounds(REAL, BEFORE), 2)
    ours = without(rounds(after, AFTER), 5)
    decision = decide(theirs, ours)
    assert decision.exit_code == code
    (cell,) = [cell for cell in decision.cells if cell.lane == "live"]
    assert f"2 of {2 * len(REAL)} runs gave no answer: this machine could not keep up" in cell.why
    paired = sum(REAL) - REAL[2] - REAL[5]
    assert cell.excess[0].baseline_ns == paired


def test_many_inconclusive_rounds_or_one_with_evidence_are_a_doubt() -> None:
    assert len(REAL) - 3 < PAIRS_MIN
    theirs, ours = rounds(REAL, BEFORE), rounds(REAL, AFTER)
    few_before, few_after = theirs, ours
    for number in range(1, 4):
        few_before, few_after = without(few_before, number), without(few_after, number)
    assert decide(theirs, few_after).exit_code == 4
    assert decide(few_before, ours).exit_code == 4
    doubted = replace(inconclusive(ours[3].cells[0]), evidence=[make_evidence()])
    ours[3] = run_of(doubted)
    assert decide(theirs, ours).exit_code == 4


def watched(*canaries: CellResult) -> Decision:
    """Decides a gate of real time; each of the first rounds has one of the canaries."""
    ours = rounds(REAL, AFTER)
    ours[0] = run_of(*[cell for cell in ours[0].cells if cell.id != CANARY.id], canaries[0])
    for number, canary in enumerate(canaries[1:], start=1):
        ours[number] = run_of(*ours[number].cells, canary)
    return decide(rounds(REAL, BEFORE), ours)


def test_inconclusive_canary_may_be_convicted_in_a_later_round() -> None:
    decision = watched(CANARY, CANARY)
    assert decision.exit_code == 0
    assert sum(cell.id == CANARY.id for cell in decision.cells) == 1
    assert watched(inconclusive(CANARY), CANARY).exit_code == 0
    assert watched(inconclusive(CANARY), inconclusive(CANARY)).exit_code == 4
    passed = replace(CANARY, lane="live", verdict=Verdict.PASS)
    assert watched(CANARY, passed).exit_code == 99


def test_cell_is_called_not_judged_only_if_its_canary_left_it_unjudged() -> None:
    rounds_apart = watched(inconclusive(CANARY), inconclusive(CANARY))
    judged = [cell for cell in rounds_apart.cells if cell.outcome is Outcome.PASS]
    assert "live" in {cell.lane for cell in judged if cell.role == Role.MEASURE}
    assert rounds_apart.unasked == []
    real = timed(AFTER, name="r", lane="live", verdict=Verdict.TOO_SHORT)
    silent = replace(inconclusive(CANARY), id="other")
    decision = decided([timed(BEFORE)], [timed(AFTER), real, silent])
    assert [cell.outcome for cell in decision.cells if cell.id == real.id] == ["unseen"]
    (line,) = decision.unasked
    assert line == "r (lane live): its canary gave no answer: this machine could not keep up"


def test_cost_is_unknown_without_a_cell_of_the_baseline() -> None:
    decision = decided([], [timed(AFTER)])
    assert decision.exit_code == 4
    assert decision.doubts == [
        "no cell of the baseline was run to compare with, so its cost is unknown"
    ]


@pytest.mark.parametrize("place", [{"icount_shift": 6}, {"hazards": ["busy-siblings"], "cores": 4}])
def test_time_on_an_unrealistically_slow_machine_is_no_cost(place: dict[str, Any]) -> None:
    facts = make_result(make_cell(**place))
    changes: dict[str, Any] = {"guest": facts.guest, "hazards": facts.hazards}
    before, now = timed(BEFORE, **changes), timed(AFTER, 2 * SECOND, **changes)
    assert decided([before], [now]).exit_code == 0
    assert decided([timed(BEFORE)], [timed(AFTER, 2 * SECOND)]).exit_code == 3
