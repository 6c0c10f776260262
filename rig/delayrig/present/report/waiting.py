# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a flashrom waited longest for nothing: by operation, by call site, by silence."""

from collections.abc import Iterable, Iterator

from markupsafe import Markup

from delayrig.analysis.figures.waste import CallSiteWaste, OperationWaste, waste_together
from delayrig.base.durations import rounded
from delayrig.model.cell import Role
from delayrig.present.pages.page import Section, paragraph, table_html
from delayrig.present.report.facts import CellFacts, Silence, add_silence
from delayrig.present.report.labels import subject_of
from delayrig.present.report.source import RunSource, Sources
from delayrig.present.tables import Row, words_and_figures

ROWS_MAX = 15
NO_EVENTS = "Only the results are here, and not what happened in the cells."
NOT_READ = (
    "There are too many cells to read what happened in each. rig/rig waste reads that of the cells"
    " that it is given."
)
EXPLAINED = (
    "Sums over all cells of a subject that measure it. While the part is ready and the subject has"
    " not noticed, time is lost; so is all of a delay while the part is not busy."
)


def waiting_section(sources: Sources) -> Section:
    """Each table the largest sum first."""
    if not sources.has_events:
        return _section(paragraph(why_not(sources)))
    body = [paragraph(EXPLAINED)]
    for run in sources.runs:
        together = waste_together(facts.waste for _, facts in _measured(run))
        label = f"{run.label}: " if run.label else ""
        body.append(_operations(label, together.operations))
        if together.call_sites:
            body.append(_call_sites(label, together.call_sites))
        silences = _silences(_measured(run))
        if silences:
            body.append(_silence_table(label, silences))
    return _section(Markup("").join(body))


def why_not(sources: Sources) -> str:
    """Where nothing is known of events."""
    return NOT_READ if any(run.drawable for run in sources.runs) else NO_EVENTS


def _section(body: Markup) -> Section:
    return Section(key="waiting", title="Waited for nothing", body=body)


def _measured(run: RunSource) -> Iterator[tuple[str, CellFacts]]:
    for cell in run.results.cells:
        if cell.role == Role.MEASURE and cell.id in run.facts:
            yield subject_of(cell), run.facts[cell.id]


def _shown(rows: int) -> str:
    return "" if rows <= ROWS_MAX else f" (the first {ROWS_MAX} of {rows})"


def _operations(label: str, rows: list[OperationWaste]) -> Markup:
    return table_html(
        words_and_figures(
            f"{label}from the part being ready to the next command, by operation"
            + _shown(len(rows)),
            ["subject", "phase", "operation"],
            ["times", "busy", "for nothing", "each", "most"],
            [
                Row(
                    values=[
                        *(row.subject, row.phase, row.operation, f"{row.count:,}"),
                        *(rounded(row.busy_ns), rounded(row.waste_ns)),
                        *(rounded(row.waste_ns // row.count), rounded(row.waste_ns_max)),
                    ],
                    marks={"subject": row.subject},
                )
                for row in rows[:ROWS_MAX]
            ],
        )
    )


def _call_sites(label: str, rows: list[CallSiteWaste]) -> Markup:
    return table_html(
        words_and_figures(
            f"{label}by who asked for the delay" + _shown(len(rows)),
            ["subject", "phase", "asked for at"],
            ["times", "asked", "took", "for nothing", "most"],
            [
                Row(
                    values=[
                        *(row.subject, row.phase, _call_site(row.call_site), f"{row.count:,}"),
                        *(rounded(row.requested_ns), rounded(row.actual_ns)),
                        *(rounded(row.waste_ns), rounded(row.waste_ns_max)),
                    ],
                    marks={"subject": row.subject},
                )
                for row in rows[:ROWS_MAX]
            ],
        )
    )


def _call_site(text: str) -> Markup:
    """The nearest caller first, a line for each."""
    return Markup("<br>").join(Markup("<code>{}</code>").format(one) for one in text.split(" < "))


def _silences(cells: Iterable[tuple[str, CellFacts]]) -> list[tuple[str, Silence]]:
    sums: dict[tuple[str, str, str, str], Silence] = {}
    for subject, facts in cells:
        for each in facts.silences:
            key = (subject, each.phase, each.after, each.before)
            sums[key] = add_silence(sums[key], each) if key in sums else each
    named = [(key[0], silence) for key, silence in sums.items()]
    return sorted(named, key=lambda pair: -pair[1].total_ns)


def _silence_table(label: str, rows: list[tuple[str, Silence]]) -> Markup:
    return table_html(
        words_and_figures(
            f"{label}silences of 1 ms and more on the bus while the part was ready: fixed"
            " waits, and what the subject computed" + _shown(len(rows)),
            ["subject", "phase", "between"],
            ["times", "total", "each", "most"],
            [
                Row(
                    values=[
                        *(subject, each.phase, f"{each.after} and {each.before}"),
                        *(f"{each.count:,}", rounded(each.total_ns)),
                        *(rounded(each.total_ns // each.count), rounded(each.most_ns)),
                    ],
                    marks={"subject": subject},
                )
                for subject, each in rows[:ROWS_MAX]
            ],
        )
    )
