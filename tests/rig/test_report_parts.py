# SPDX-License-Identifier: GPL-2.0-or-later
"""A report of more cells than one page has room for: the others are on pages beside it."""

import itertools
import re
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest
from click.testing import CliRunner, Result
from delayrig.features.report import timelines
from delayrig.features.report.document import LIMIT_BYTES, Document, document_of
from delayrig.features.report.labels import cell_anchor
from delayrig.features.report.source import Sources, read_sources, with_facts
from delayrig.judge.exit_code import exit_code_of_run, is_expected
from delayrig.main import main
from delayrig.model.result import FILE_NAME, Verdict, write_results
from delayrig.present.results import NOTABLE_MAX, answer
from markupsafe import escape

from tests.rig.many_cells import keep_many
from tests.rig.reported import keep_run


def run_report(*words: object) -> Result:
    return CliRunner().invoke(main, ["report", *map(str, words)])


def test_run_of_thousands_of_cells_stays_below_the_limit(tmp_path: Path) -> None:
    results = keep_run(tmp_path / "run")
    passed = results.cells[0]
    many = [
        msgspec.structs.replace(passed, id=f"{'long-group-name' * 3}.bundled.{number}.{'x' * 40}")
        for number in range(3200)
    ]
    write_results(msgspec.structs.replace(results, cells=many), tmp_path)
    made = document_of(read_sources([tmp_path / FILE_NAME]))
    assert len(made.content) < LIMIT_BYTES
    assert made.content.count(b"<tr data-cell") == 3200
    assert not made.parts
    assert b"3200 cells, such as those that passed or were skipped, are not told of" in made.content


def test_many_runs_of_thousands_have_the_rest_of_their_cells_in_pages(
    tmp_path: Path,
) -> None:
    results = keep_run(tmp_path / "run")
    many = [
        msgspec.structs.replace(results.cells[0], id=f"{'group' * 9}.bundled.{number}.{'x' * 40}")
        for number in range(5000)
    ]
    cells = [*results.cells, *many]
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
    led = re.findall(r'href="([^"#]+)#([^"]+)"', page)
    assert led
    assert all(anchor in anchors[page] for page, anchor in led)


def test_ten_thousand_made_up_cells_are_summed_up_on_one_page(tmp_path: Path) -> None:
    results = keep_many(tmp_path, 10_000)
    sources = read_sources([tmp_path / FILE_NAME])
    made = document_of(sources, name="all of it.html")
    check_parts(made, sources)
    page = made.content.decode()
    assert made.folder == "all of it.cells"
    assert 'href="all%20of%20it.cells/0001-' in page
    assert str(escape(answer(results, exit_code_of_run(results.cells)))) in page
    unforeseen = [cell for cell in results.cells if not is_expected(cell)]
    assert 0 < len(unforeseen) < 100
    for cell in unforeseen:
        assert str(escape(cell.rerun)) in page
    assert '<a href="../all%20of%20it.html">' in made.parts[0].content.decode()


def test_parts_of_an_older_page_go_and_files_of_others_stay(tmp_path: Path) -> None:
    keep_many(tmp_path, 6000)
    assert run_report(tmp_path / FILE_NAME).exit_code == 0
    folder = tmp_path / "report.cells"
    older = {path.name for path in folder.iterdir()}
    (folder / "mine.html").touch()
    keep_many(tmp_path, 7600)
    done = run_report(tmp_path / FILE_NAME)
    assert "4 pages of cells in report.cells/" in done.output
    newer = {path.name for path in folder.iterdir()}
    assert len(newer - older - {"mine.html"}) == 4
    assert "mine.html" in newer
    keep_many(tmp_path, 20)
    assert run_report(tmp_path / FILE_NAME).exit_code == 0
    assert [path.name for path in folder.iterdir()] == ["mine.html"]


def test_of_too_many_cells_the_events_of_some_are_read(
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


def test_results_of_too_many_cells_are_printed_where_they_did_not_just_pass(
    tmp_path: Path,
) -> None:
    results = keep_many(tmp_path, 3000)
    done = run_report(tmp_path, "--terminal", "--no-color")
    assert f"{3000 - NOTABLE_MAX} cells are not shown here." in done.output
    unforeseen = [cell.id for cell in results.cells if not is_expected(cell)]
    assert unforeseen
    assert all(f" {cell_id}\n" in done.output for cell_id in unforeseen)
