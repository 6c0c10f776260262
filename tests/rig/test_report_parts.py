# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports on many cells, which have several pages, and on several rounds."""

import itertools
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from delayrig.decision.decision import Decision
from delayrig.features.report import timelines
from delayrig.features.report.document import LIMIT_BYTES, Document, document_of
from delayrig.features.report.labels import cell_anchor
from delayrig.features.report.source import Sources, fold_rounds, read_sources, with_facts
from delayrig.features.report.totals import totals_section
from delayrig.judge.exit_code import exit_code_of_run
from delayrig.model.lane import LaneName
from delayrig.model.phases import TimeSplit
from delayrig.model.result import (
    FILE_NAME,
    CellResult,
    Verdict,
    read_results,
    write_results,
)
from delayrig.present.results import NOTABLE_MAX, answer
from markupsafe import escape

from tests.rig.builders import MS, SECOND, make_cell, make_evidence, make_result, run_of
from tests.rig.many_cells import keep_many
from tests.rig.reported import keep_gate, keep_run, reported


def copies(cell: CellResult, count: int, name: str) -> list[CellResult]:
    """Returns copies of the result with long ids of their own."""
    ids = (f"{name}.bundled.{number}.{'x' * 40}" for number in range(count))
    return [msgspec.structs.replace(cell, id=id_) for id_ in ids]


def test_run_of_thousands_of_cells_stays_below_the_limit(tmp_path: Path) -> None:
    results = keep_run(tmp_path / "run")
    many = copies(results.cells[0], 3200, "long-group-name" * 3)
    write_results(msgspec.structs.replace(results, cells=many), tmp_path)
    made = document_of(read_sources([tmp_path / FILE_NAME]))
    assert len(made.content) < LIMIT_BYTES
    assert made.content.count(b"<tr data-cell") == 3200
    assert not made.parts
    left_out = b"3200 cells, such as those that passed or were skipped, are not described"
    assert left_out in made.content


def test_many_runs_of_thousands_have_the_rest_of_their_cells_in_pages(tmp_path: Path) -> None:
    results = keep_run(tmp_path / "run")
    cells = [*results.cells, *copies(results.cells[0], 5000, "group" * 9)]
    write_results(msgspec.structs.replace(results, cells=cells), tmp_path)
    sources = read_sources([tmp_path / FILE_NAME] * 2)
    made = document_of(sources)
    assert "10010 cells are not in this table" in made.content.decode()
    check_parts(made, sources)


def check_parts(made: Document, sources: Sources) -> None:
    """Checks that each cell is in one part, no part is too large, and each link has a target."""
    anchors = {}
    for part in made.parts:
        assert len(part.content) < LIMIT_BYTES
        ids = re.findall(r'\sid="(cell-[^"]+)"', part.content.decode())
        assert ids
        anchors[f"{quote(made.folder)}/{part.name}"] = ids
    cells = [cell_anchor(run, cell) for run in sources.runs for cell in run.results.cells]
    assert sorted(itertools.chain.from_iterable(anchors.values())) == sorted(cells)
    assert len(made.content) < LIMIT_BYTES
    page = made.content.decode()
    here = set(re.findall(r'\sid="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= here
    links = re.findall(r'href="([^"#]+)#([^"]+)"', page)
    assert links
    assert all(anchor in anchors[part] for part, anchor in links)


def test_ten_thousand_cells_have_a_page_with_links_to_their_parts(tmp_path: Path) -> None:
    results = keep_many(tmp_path, 10_000)
    sources = read_sources([tmp_path / FILE_NAME])
    made = document_of(sources, name="all of it.html")
    check_parts(made, sources)
    page = made.content.decode()
    assert made.folder == "all of it.cells"
    assert 'href="all%20of%20it.cells/0001-' in page
    assert str(escape(answer(results, exit_code_of_run(results.cells)))) in page
    unforeseen = [cell for cell in results.cells if not cell.is_expected]
    assert 0 < len(unforeseen) < 100
    for cell in unforeseen:
        assert str(escape(cell.rerun)) in page
    assert '<a href="../all%20of%20it.html">' in made.parts[0].content.decode()


def test_parts_of_an_older_page_go_and_files_of_others_stay(tmp_path: Path) -> None:
    keep_many(tmp_path, 6000)
    reported(tmp_path / FILE_NAME)
    folder = tmp_path / "report.cells"
    older = {path.name for path in folder.iterdir()}
    (folder / "mine.html").touch()
    keep_many(tmp_path, 7600)
    assert "4 pages of cells in report.cells/" in reported(tmp_path / FILE_NAME)
    newer = {path.name for path in folder.iterdir()}
    assert len(newer - older - {"mine.html"}) == 4
    assert "mine.html" in newer
    keep_many(tmp_path, 20)
    reported(tmp_path / FILE_NAME)
    assert [path.name for path in folder.iterdir()] == ["mine.html"]


def test_events_of_only_some_cells_are_read_if_there_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = keep_run(tmp_path / "run")
    monkeypatch.setattr(timelines, "READ_MAX", 5)
    monkeypatch.setattr(timelines, "CANDIDATES_MAX", 2)
    convicted = next(c for c in results.cells if c.verdict is Verdict.TOO_SHORT)
    for patterns, titles in (((), 2), (("control*",), 1)):
        sources = read_sources([tmp_path / "run"])
        only = timelines.worth_reading(sources, patterns)
        page = document_of(
            with_facts(sources, jobs=1, done=lambda: None, only=only), patterns=patterns
        ).content.decode()
        assert page.count(">Timeline of ") == titles
        assert f">Timeline of {'control' if patterns else convicted.id}" in page
        assert page.count("too many cells to read what happened in each") == 2
        assert "fixed waits are in the rest" in page


def test_terminal_lists_only_notable_cells_of_a_large_run(tmp_path: Path) -> None:
    results = keep_many(tmp_path, 3000)
    output = reported(tmp_path, "--terminal", "--no-color")
    assert f"{3000 - NOTABLE_MAX:,} cells not shown here." in output
    unforeseen = [cell.id for cell in results.cells if not cell.is_expected]
    assert unforeseen
    assert all(f" {cell_id}\n" in output for cell_id in unforeseen)


CELL = make_cell(lane=LaneName.HOST)


def timed(total_ms: int, verdict: Verdict = Verdict.PASS, **changes: Any) -> CellResult:
    """Returns the result of CELL in one round."""
    return make_result(
        CELL, verdict=verdict, time_ns=TimeSplit(total=total_ms * MS), reason="why", **changes
    )


def folded(*cells: CellResult) -> tuple[CellResult, Any]:
    rounds = [(Path(f"/{number}"), run_of(cell)) for number, cell in enumerate(cells, start=1)]
    results, spreads = fold_rounds(rounds)
    (cell,) = results.cells
    return cell, spreads[cell.id]


def test_cell_is_shown_in_the_round_of_its_median_time() -> None:
    cell, spread = folded(timed(30), timed(10), timed(500), timed(20), timed(25))
    assert cell.time_ns.total == 25 * MS
    assert (spread.shown, spread.folder) == (5, Path("/5") / CELL.id)
    assert sorted(spread.total_ns.values()) == [ms * MS for ms in (10, 20, 25, 30, 500)]
    even, _ = folded(timed(40), timed(10), timed(20), timed(30))
    assert even.time_ns.total == 20 * MS


@pytest.mark.parametrize("verdict", [Verdict.TOO_SHORT, Verdict.CORRUPT, Verdict.INFRA_ERROR])
def test_round_with_the_gravest_verdict_is_shown(verdict: Verdict) -> None:
    cell, spread = folded(timed(10), timed(11), timed(99, verdict), timed(12))
    assert cell.verdict is verdict
    assert spread.shown == 3
    assert spread.verdicts == {verdict: 1, Verdict.PASS: 3}
    assert len(spread.total_ns) == 3


def test_inconclusive_round_is_shown_only_if_all_are_or_if_it_has_evidence() -> None:
    unanswered = timed(50, Verdict.INCONCLUSIVE)
    assert folded(unanswered, timed(10), unanswered)[0].verdict is Verdict.PASS
    assert folded(unanswered, unanswered)[0].verdict is Verdict.INCONCLUSIVE
    with_evidence = timed(50, Verdict.INCONCLUSIVE, evidence=[make_evidence()])
    assert folded(timed(10), with_evidence, timed(11))[0].verdict is Verdict.INCONCLUSIVE


def test_cell_that_is_not_in_every_round_keeps_the_numbers_of_its_rounds(tmp_path: Path) -> None:
    one = run_of()
    results, spreads = fold_rounds(
        [(tmp_path / "a", one), (tmp_path / "b", msgspec.structs.replace(one, cells=[timed(10)]))]
    )
    (cell,) = results.cells
    assert spreads[cell.id].shown == 2
    assert spreads[cell.id].folder == tmp_path / "b" / cell.id


ROUND_MS = (4000, 9000, 5000)


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """Makes a gate of three rounds whose third is the median; the candidate takes twice as long."""
    folder = tmp_path / "gate"
    keep_gate(folder)
    for side, factor in (("baseline", 1), ("candidate", 2)):
        shutil.rmtree(folder / side)
        for name, total_ms in zip((side, f"{side}-2", f"{side}-3"), ROUND_MS, strict=True):
            keep_run(folder / name, lane=LaneName.HOST)
            set_times(folder / name, factor * total_ms * MS)
    decision = msgspec.json.decode((folder / "gate.json").read_bytes(), type=Decision)
    replace = msgspec.structs.replace
    noisy = [
        replace(
            cell,
            lane="host",
            excess=[replace(item, low_pct=60, high_pct=140) for item in cell.excess],
        )
        for cell in decision.cells
    ]
    (folder / "gate.json").write_bytes(msgspec.json.encode(replace(decision, cells=noisy)))
    return folder


def set_times(folder: Path, total_ns: int) -> None:
    """Changes the total time of each cell that passed."""
    results = read_results(folder)
    cells = [
        msgspec.structs.replace(cell, time_ns=TimeSplit(total=total_ns))
        if cell.verdict is Verdict.PASS
        else cell
        for cell in results.cells
    ]
    write_results(msgspec.structs.replace(results, cells=cells), folder)


def test_chart_of_a_gate_shows_the_median_round_and_marks_the_others(gate: Path) -> None:
    sources = read_sources([gate])
    before, after = sources.runs
    passed = [cell for cell in after.results.cells if cell.verdict is Verdict.PASS]
    assert {cell.time_ns.total for cell in passed} == {2 * 5 * SECOND}
    assert {spread.shown for spread in before.spread.values() if len(spread.total_ns) > 1} == {3}
    assert after.folder_of(passed[0]) == gate / "candidate-3" / passed[0].id
    body = totals_section(sources).body
    assert "a stroke across them is the total of one round" in body
    assert "in 3 rounds" in body
    assert "(8.000 to 18.000)" in body


def test_page_of_several_rounds_says_which_rounds_a_figure_is_from(gate: Path) -> None:
    reported(gate)
    page = (gate / "report.html").read_text(encoding="utf-8")
    assert "3 rounds: the times of this section are sums over all of them" in page
    assert "3 pass; round 3 is shown" in page
    assert "8.000 to 18.000 s" in page
    assert "(+60.00 to +140.00)" in page
    assert "thin lines are intervals" in page
    assert "candidate-3" in page
    assert reported(gate, "--terminal", "--no-color").count("Of several rounds") == 2


def test_shared_cells_have_no_chart_if_a_subject_failed_in_most(tmp_path: Path) -> None:
    def cells_of(subject: str, failing: int) -> list[CellResult]:
        return [
            make_result(
                make_cell(subject=subject, seed=seed, name=f"n{seed}"),
                verdict=Verdict.TOO_SHORT if seed < failing else Verdict.PASS,
                time_ns=TimeSplit(total=SECOND),
            )
            for seed in range(4)
        ]

    cells = [*cells_of("path:good", 0), *cells_of("path:bad", 3)]
    write_results(run_of(*cells), tmp_path)
    body = totals_section(read_sources([tmp_path])).body
    assert "path:good: the 4 cells that it passed" in body
    assert "path:bad: the 1 cell that it passed" in body
    assert "that all of these passed" not in body


def test_page_of_one_round_does_not_mention_rounds(tmp_path: Path) -> None:
    keep_gate(tmp_path / "gate")
    reported(tmp_path / "gate")
    page = (tmp_path / "gate" / "report.html").read_text(encoding="utf-8")
    assert "rounds" not in page
