# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages of measured figures, and the rows and lines that a document quotes from them."""

from delayrig.decision.decision import Outcome
from delayrig.features.documents.measured import (
    GATE_MARK,
    RUN_MARK,
    answer_lines,
    cost_rows,
    firmwares_page,
    gate_page,
    known_bad_page,
    newest_page,
    requoted,
    requoted_answer,
    resolution_table,
    right_table,
    run_page,
)
from delayrig.features.selfcheck.known_bad import Answered, KnownBad
from delayrig.model.cell import Role
from delayrig.model.phases import TimeSplit
from delayrig.model.result import CpuTime, DelayCount, Results, Verdict
from delayrig.present.results import evidence_lines
from delayrig.subjects.known_bad import Kind, Sight
from msgspec.structs import replace

from tests.rig.builders import (
    SECOND,
    make_cell,
    make_evidence,
    make_result,
    make_run_header,
    run_of,
)
from tests.rig.test_gate_judge import AFTER, BEFORE, decided, timed

HEAD = "    subject  MIPS  cores  hazards  chip           job    verdict  total s  CPU s"


def seen_run(*visible_ns: int) -> Results:
    """Returns a run with a cell for each smallest visible shortening; cell N takes N seconds."""
    cells = [
        make_result(
            make_cell(name=f"c{number}", cores=number),
            smallest_visible_short_ns=visible,
            delays=DelayCount(seen=10, judged=9),
            time_ns=TimeSplit(total=number * SECOND),
            cpu_ns=CpuTime(user=SECOND // 4, sys=SECOND // 4),
        )
        for number, visible in enumerate(visible_ns, start=1)
    ]
    return run_of(*cells)


def controls_of(run: Results) -> Results:
    """Returns the run with its cells as controls, because each control has its own row."""
    return replace(run, cells=[replace(cell, role=Role.CONTROL) for cell in run.cells])


def row_of(run: Results, figure: str) -> str:
    """Returns the first line with that figure on the page of the run."""
    return next(line for line in run_page(run, "").splitlines() if figure in line)


def test_subjects_in_the_same_cell_share_a_row_with_times_and_verdicts() -> None:
    good, other = seen_run(20, 30).cells
    facts = replace(good.subject, name="debian:sid")
    bad = replace(good, subject=facts, verdict=Verdict.TOO_SHORT)
    page = run_page(run_of(good, bad, other), "")
    rows = [line for line in page.splitlines() if "/0.500" in line]
    assert rows[0].endswith(" 1.000/0.500  too_short 1.000/0.500")
    assert rows[1].endswith(" 2.000/0.500")


def test_quoted_row_gets_the_figures_of_the_run_and_keeps_its_columns() -> None:
    run = controls_of(seen_run(20, 30))
    row = row_of(run, " 2.000 ")
    stale = row[: row.index("2.000")] + "9.000"
    text = "\n".join(["# A", RUN_MARK, "", HEAD, stale, "    other  1  2  3  4  5  6", "", "End"])
    quoted = requoted(text, run).split("\n")
    assert quoted[4] == row[: row.index("2.000")] + "2.000"
    assert quoted[3].split() == HEAD.split()
    assert quoted[4].index("2.000") == quoted[3].index("total s") + len("total s") - len("2.000")
    assert quoted[5:] == ["    other  1  2  3  4  5  6", "", "End"]
    unmarked = f"{RUN_MARK}\n\nwords\n\n{stale}\n"
    assert requoted(unmarked, run) == unmarked


def test_resolution_table_has_a_row_for_each_speed() -> None:
    page = resolution_table([seen_run(20, 3000), seen_run(25)])
    (row,) = [line for line in page.splitlines() if line.startswith("| x86_64 ")]
    assert row.split(" | ")[2:4] == ["3", "27"]
    assert row.endswith("| 0.020 us | 3.000 us |")


def test_quoted_gate_answer_is_replaced_as_a_whole() -> None:
    head = f"{GATE_MARK}\n\n    rig/rig gate\n\n"
    text = f"{head}    Seen: nothing.\n    Gone: words.\n\nSeen: words.\n\n    Seen: nothing.\n"
    answer = "    Seen: all.\n    Cost in time: none.\n"
    decision = replace(
        decided([timed(BEFORE)], [timed(AFTER)]), lines=["Seen: all.", "Cost in time: none."]
    )
    fresh = f"{head}{answer}\nSeen: words.\n\n    Seen: nothing.\n"
    assert requoted_answer(text, decision) == fresh
    assert requoted_answer(fresh, decision) == fresh


def test_gate_page_names_the_cells_that_became_slower_in_one_row() -> None:
    cells = ["a", "b"]
    before = [timed(BEFORE, name=name) for name in cells]
    decision = decided(before, [timed(AFTER, SECOND * 3 // 2, name=name) for name in cells])
    slower = [cell for cell in decision.cells if cell.outcome is Outcome.SLOWER]
    (row,) = [line for line in gate_page(decision, [seen_run(20)]).splitlines() if "slower" in line]
    assert len(slower) == 2
    assert all(f"`{cell.id}` (+50.0 %)" in row for cell in slower)


def test_quoted_evidence_gets_the_figures_of_the_run() -> None:
    run = seen_run(20)
    (cell,) = run.cells
    convicted = replace(cell, verdict=Verdict.TOO_SHORT, evidence=[make_evidence()])
    (line,) = evidence_lines(convicted)
    claim, _, figures = line.rpartition(": ")
    head = f"{RUN_MARK}\n\n    too_short {cell.id}\n"
    others = "      chip witness: another claim: 1 s asked\n\nEnd\n"
    stale = f"{head}      {claim}: 7 s asked, 6 s seen\n{others}"
    fresh = f"{head}      {claim}: {figures}\n{others}"
    assert requoted(stale, replace(run, cells=[convicted])) == fresh
    assert requoted(stale, run) == stale


def test_table_counts_right_verdicts_and_subjects_with_equal_ones_share_a_row() -> None:
    verdicts = [Verdict.PASS, Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.TOO_SHORT]
    cells = [make_result(make_cell(name=f"c{n}"), verdict=v) for n, v in enumerate(verdicts)]
    table = right_table(run_of(*cells))
    assert "| `bundled` | 4 | 2 | 1 | 1 |" in table
    assert "| all | 4 | 2 | 1 | 1 |" in table
    first, *others = [
        replace(cells[0], subject=replace(cells[0].subject, name=name))
        for name in ("bundled", "another", "known-bad:no-relax")
    ]
    table = right_table(run_of(first, *others))
    assert "| `another` `bundled` 1 of `known-bad:` | 1 | 1 | 0 | 0 |" in table


def answers_of(disguise: str, *outcomes: Outcome) -> KnownBad:
    builds = [
        Answered(
            name=f"b{number}",
            what="a mistake",
            kind=Kind.UNSAFE,
            sight=Sight.CHIP,
            outcome=outcome,
            right=True,
            cells=[],
        )
        for number, outcome in enumerate(outcomes)
    ]
    return KnownBad(run=make_run_header(), disguise=disguise, watched=True, builds=builds)


def test_known_bad_builds_with_the_same_answers_share_a_row() -> None:
    unsafe, doubt = Outcome.UNSAFE, Outcome.DOUBT
    plain = answers_of("", unsafe, unsafe, unsafe)
    strange = answers_of("stripped:renamed:", unsafe, doubt, unsafe)
    page = known_bad_page(plain, strange, seen_run(20))
    assert "| unsafe | unsafe | unsafe | 2 |  |" in page
    assert "| unsafe | unsafe | doubt | 1 | `b1` |" in page
    assert "`rig/rig selfcheck known-bad --stripped --renamed`: 3 of 3 builds" in page


def test_page_of_firmwares_has_a_row_for_each_device_and_a_column_for_each_flashrom() -> None:
    old = replace(seen_run(20).cells[0], hazards=["starts:asleep", "link:silent=1"])
    facts = replace(old.subject, name="debian:sid", version="1.8.0")
    new = replace(old, subject=facts, verdict=Verdict.HUNG)
    other = replace(old, hazards=["link:exec-acks=1"])
    page = firmwares_page(run_of(old, new, other))
    assert "| `debian:sid` 1.8.0 |" in page
    lines = page.splitlines()
    assert any(line.startswith("| `starts:asleep`+`silent=1` |") for line in lines)
    assert any(line.endswith("| pass | hung |") for line in lines)
    assert any(line.endswith("| pass | - |") for line in lines)


def test_page_of_the_newest_has_versions_and_evidence() -> None:
    good, bad = seen_run(20, 30).cells
    facts = replace(bad.subject, name="debian:sid", version="1.8.0")
    bad = replace(bad, subject=facts, verdict=Verdict.TOO_SHORT, evidence=[make_evidence()])
    page = newest_page(run_of(good, bad), run_of())
    assert "| `debian:sid` | 1.8.0 |" in page
    evidence = page[page.index("One finding for each ") :]
    assert f"too_short {bad.id}" in evidence
    assert all(line in evidence for line in evidence_lines(bad))
    assert good.id not in evidence


def test_answers_of_programmers_are_counted_and_their_costs_compared() -> None:
    wire, *_ = seen_run(20).cells
    wire = replace(wire, programmer="serprog:ip", job="read", region_bytes=128 << 10, host_s=2.0)
    card = replace(wire, programmer="nicintel", host_s=5.0, time_ns=TimeSplit(total=1_500_000_000))
    other = replace(card.subject, name="debian:sid")
    failed = replace(card, subject=other, verdict=Verdict.OP_FAILED, host_s=90.0)
    small = replace(failed, region_bytes=4096, verdict=Verdict.SKIPPED)
    run = run_of(wire, card, failed, small)
    head, *others = answer_lines(run)
    assert head.startswith("2 of 3 cells pass")
    assert [line.split() for line in others] == [
        ["1", "op_failed", "nicintel", wire.chip, "debian:sid"]
    ]
    _, *costs = cost_rows(run)
    assert [row[3] for row in costs] == ["1.00", "2.50"]
    assert costs[1][4].startswith("1.500/")
    assert costs[1][5] == "op_failed"
