# SPDX-License-Identifier: GPL-2.0-or-later
"""Delay sites that the cells of a gate reached, by source file, and the changed waits."""

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from delayrig.base.paths import find_paths
from delayrig.decision.request import BASELINE, CANDIDATE, rounds_of
from delayrig.features.coverage.changed_wait_text import changed_wait_lines
from delayrig.features.coverage.coverage import Coverage, SiteCoverage
from delayrig.features.coverage.runs import RunCoverage, find_gate_coverage
from delayrig.features.coverage.terminal import by_source, coverage_sentence
from delayrig.features.report.source import GateSource, Sources
from delayrig.present.pages.page import Section, bullets, paragraph, table_html
from delayrig.present.tables import Table, words_and_figures

NAMES_MAX = 12
NOTHING_TOLD = "Nothing tells which delay sites were reached: no cell has call chains."
UNKNOWN_FILE = "no debug information tells the file"


def coverage_section(sources: Sources) -> Section | None:
    """Makes the section of a page's gates; None if it has none."""
    body = Markup("").join(map(_gate_html, sources.gates))
    return Section(key="coverage", title="Waits that were tested", body=body) if body else None


def _gate_html(gate: GateSource) -> Markup:
    stored = gate.decision.baseline.stored
    before = [Path(stored)] if stored else rounds_of(gate.path, BASELINE)
    found = find_gate_coverage(before, rounds_of(gate.path, CANDIDATE), find_paths())
    return coverage_html(found)


def coverage_html(found: RunCoverage) -> Markup:
    changed = bullets(changed_wait_lines(found.changed)) if found.changed else Markup("")
    if not found.coverages:
        return paragraph(NOTHING_TOLD)
    return changed + Markup("").join(map(_coverage_html, found.coverages))


def _coverage_html(coverage: Coverage) -> Markup:
    sentence = f"{coverage.subject}: {coverage_sentence(coverage)}."
    return paragraph(sentence) + table_html(_table(coverage))


def _table(coverage: Coverage) -> Table:
    rows = [
        (
            source or UNKNOWN_FILE,
            _names([site for site in sites if not site.cells]),
            f"{len(sites)}",
            f"{sum(bool(site.cells) for site in sites)}",
        )
        for source, sites in by_source(coverage.sites)
    ]
    caption = "Delay sites by source file"
    return words_and_figures(caption, ("file", "reached by none"), ("sites", "reached"), rows)


def _names(sites: Sequence[SiteCoverage]) -> str:
    """Returns the functions, each once."""
    names = list(dict.fromkeys(site.function for site in sites))
    more = f" and {len(names) - NAMES_MAX} more" if len(names) > NAMES_MAX else ""
    return ", ".join(names[:NAMES_MAX]) + more
