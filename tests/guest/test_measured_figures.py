# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures in documents, compared with those of a fresh run."""

import pytest
from delayrig.base.paths import Paths
from delayrig.features.documents.command import PAGES, QUOTING, made_with
from delayrig.features.documents.measured import INDENT, requoted, situation, times
from delayrig.model.result import CellResult

from .conftest import FinishedRun, run_plan

CELLS = ("pairs.bundled.62mips.*", "demonstration.bundled.*", "host.debian-trixie.*")


@pytest.fixture(scope="module")
def run(paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """Runs some cells of the plan that the document quotes."""
    words = [word for cell in CELLS for word in ("--cell", cell)]
    return run_plan(paths, tmp_path_factory.mktemp("figures") / "out", "--plan", "default", *words)


@pytest.fixture
def page(paths: Paths, run: FinishedRun) -> str:
    """Returns the page of the measured plan; skips if it was measured with other programs."""
    text = (paths.checkout / PAGES / "default.md").read_text(encoding="utf-8")
    if made_with(run.results, paths) not in text:
        pytest.skip("measured with other programs: `rig/rig measure` measures with these")
    return text


def rows_of(text: str) -> list[list[str]]:
    """Returns the words of each row of a table."""
    return [line.split() for line in text.splitlines() if line.startswith(INDENT)]


def test_page_of_the_plan_has_the_figures_of_a_fresh_run(run: FinishedRun, page: str) -> None:
    def is_shown(cell: CellResult) -> bool:
        words, figures = " ".join(situation(cell)).split(), times(cell).split()[-1]
        return any(row[: len(words)] == words and figures in row for row in known)

    known = rows_of(page)
    assert [cell.id for cell in run.results.cells if not is_shown(cell)] == []


@pytest.mark.usefixtures("page")
@pytest.mark.parametrize("name", QUOTING)
def test_document_quotes_the_figures_of_a_fresh_run(
    run: FinishedRun, paths: Paths, name: str
) -> None:
    text = (paths.checkout / name).read_text(encoding="utf-8")
    assert rows_of(requoted(text, run.results)) == rows_of(text)
