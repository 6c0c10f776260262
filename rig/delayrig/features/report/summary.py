# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer, for readers who read nothing else, in the same words as on a terminal."""

import re
from collections import Counter

from markupsafe import Markup

from delayrig.base.durations import in_unit_of, rounded
from delayrig.base.errors import ExitCode
from delayrig.base.text import counted
from delayrig.decision.decision import Decision, Excess, GateCell, Outcome
from delayrig.decision.faults import DATA
from delayrig.features.report.cells import all_cells
from delayrig.features.report.labels import TEMPLATES, badge, cell_link, marks_of, verdict_html
from delayrig.features.report.source import GateSource, RunSource, Sources
from delayrig.model.cell import Role
from delayrig.model.evidence import Witness
from delayrig.model.result import CellResult, ContrastVerdict, Verdict
from delayrig.present.notable import CLASSES, GRAVITY, rank
from delayrig.present.pages.page import Section, paragraph, paragraphs, rendered
from delayrig.present.results import finding_lines, remarks

WORDS = {
    ExitCode.PASS: ("good", "Good"),
    ExitCode.UNSAFE: ("bad", "Unsafe"),
    ExitCode.SLOWER: ("bad", "Slower"),
    ExitCode.INCONCLUSIVE: ("doubt", "In doubt"),
    ExitCode.SKIPPED: ("quiet", "Skipped"),
    ExitCode.RIG_FAULT: ("rig", "No answer"),
}
"""The CSS class and the word beside the sentence of each answer."""
FINDINGS_MAX = 60
EARLY = re.compile(" too early| came ")


def title_of(sources: Sources) -> str:
    """Returns the answer of a single gate, else the plan or the number of runs."""
    if len(sources.gates) == 1 and len(sources.runs) == 2:
        return headline(sources.gates[0].decision)
    if len(sources.runs) == 1:
        return f"Plan {sources.runs[0].results.run.plan}"
    return f"{len(sources.runs)} runs side by side"


def summary_of(sources: Sources) -> Markup:
    """Returns the decisions, the answers of the runs, and a line that identifies each run.

    If all runs are sides of gates, notes on the last run stand in place of the runs' answers.
    """
    parts = [_decision(gate) for gate in sources.gates]
    if not sources.gates or len(sources.runs) > 2 * len(sources.gates):
        parts += [_run(run) for run in sources.runs]
    else:
        parts += [paragraphs(dict.fromkeys(_notes(run))) for run in sources.runs[-1:]]
    parts += [_made_of(run) for run in sources.runs]
    return Markup("").join(parts)


def _made_of(run: RunSource) -> Markup:
    """Returns a line that identifies the run."""
    header = run.results.run
    side = f" ({run.side})" if run.side else ""
    label = f"{run.label}{side}: plan" if run.label else "Plan"
    lanes = ", ".join(dict.fromkeys(cell.lane for cell in run.results.cells)) or "no"
    return Markup('<p class="soft">{} {}, {} lane, seed {}, {}, rig {} ({})</p>').format(
        *(label, header.plan, lanes, header.seed, header.started),
        *(header.rig_version, header.commit or "no commit known"),
    )


def _lead(code: ExitCode, text: str) -> Markup:
    return Markup('<p class="answer">{} {}</p>').format(badge(*WORDS[code]), text)


def _decision(gate: GateSource) -> Markup:
    decision = gate.decision
    first, *others = decision.lines
    sides = f"Gate: {decision.candidate.title} against {decision.baseline.title}"
    doubts = [f"Doubt: {doubt}" for doubt in decision.doubts]
    return _lead(ExitCode(decision.exit_code), first) + paragraphs([sides, *others, *doubts])


def _notes(run: RunSource) -> list[str]:
    """Returns the lines that follow the answer of the run, and remarks on its results."""
    return [*run.report.lines[1:], *remarks(run.results)]


def _run(run: RunSource) -> Markup:
    notes = _notes(run)
    lead = _lead(run.report.code, run.named(run.report.lines[0]))
    found = Counter(cell.verdict for cell in run.results.cells)
    badges = (badge(CLASSES[each], f"{found[each]} {each}") for each in GRAVITY if found[each])
    if run.results.run.interrupted:
        notes.append("The run was interrupted: some cells of its plan are missing.")
    return lead + paragraph(Markup(" ").join(badges)) + paragraphs(notes)


def findings_section(sources: Sources) -> Section:
    """Returns measured cells other than passed and skipped, unexpected verdicts, and contrasts."""
    pairs = all_cells(sources)
    found = sorted((pair for pair in pairs if _is_finding(pair[1])), key=lambda p: rank(p[1]))
    watching = [cell for run in sources.runs for cell in run.results.watching]
    contrasts = [contrast for run in sources.runs for contrast in run.results.contrasts]
    contrasts.sort(key=lambda contrast: contrast.verdict is ContrastVerdict.SEEN)
    shown = [_finding(run, cell) for run, cell in found[:FINDINGS_MAX]]
    body = rendered(
        TEMPLATES,
        "findings.html",
        findings=shown,
        left_out=len(found) - len(shown),
        skipped=sum(cell.verdict is Verdict.SKIPPED for _, cell in pairs),
        watching=len(watching),
        watching_well=sum(cell.is_expected for cell in watching),
        contrasts=contrasts[:FINDINGS_MAX],
        contrasts_left_out=max(len(contrasts) - FINDINGS_MAX, 0),
    )
    return Section(key="findings", title="What was found", body=body)


def _is_finding(cell: CellResult) -> bool:
    if cell.role == Role.MEASURE and cell.verdict in (Verdict.PASS, Verdict.SKIPPED):
        return cell.verdict is Verdict.PASS and not cell.is_expected
    return cell.role == Role.MEASURE or not cell.is_expected


def _finding(run: RunSource, cell: CellResult) -> dict[str, object]:
    return {
        "run": run.label,
        "link": cell_link(run, cell),
        "verdict": verdict_html(cell),
        "role": "" if cell.role == Role.MEASURE else cell.role,
        "lines": finding_lines(cell),
        "marks": marks_of(cell),
    }


def headline(decision: Decision) -> str:
    """Returns one line about a gate; it contains no path."""
    match decision.outcome:
        case Outcome.UNSAFE:
            return f"Unsafe: {_unsafe(decision.deciding[0])}"
        case Outcome.SLOWER:
            return f"Slower: {_slower(decision)}"
        case Outcome.PASS:
            return f"Good: {_good(decision)}"
        case Outcome.DOUBT | Outcome.UNSEEN:
            return f"In doubt: {_doubt(decision)}"
        case Outcome.RIG_FAULT:
            return "No answer: the rig itself failed"


def _unsafe(worst: GateCell) -> str:
    fault = next(iter(worst.refusing), None)
    if fault is None:
        return "a wait is too short"
    if fault.asked_ns is not None and fault.now_ns is not None:
        lasts = in_unit_of(fault.asked_ns, fault.now_ns[1])
        return f"a wait of {rounded(fault.asked_ns)} lasts {lasts}"
    if fault.witness == Witness.CHIP and fault.margin_ns is not None:
        command = re.split(EARLY, fault.what)[0]
        return f"{command} comes {rounded(-fault.margin_ns)} before the part is ready"
    return "data was corrupted" if fault.witness == DATA else fault.what


def _slower(decision: Decision) -> str:
    total = [item for item in decision.total if item.outcome is Outcome.SLOWER]
    if total:
        return f"all cells together take {_more(total[0])}"
    slower = [cell for cell in decision.cells if cell.outcome is Outcome.SLOWER]
    found = [item for cell in slower for item in cell.excess if item.outcome is Outcome.SLOWER]
    cells = "one cell takes" if len(slower) == 1 else f"{len(slower)} cells take up to"
    return f"{cells} {_more(max(found, key=lambda item: item.pct))}"


def _more(item: Excess) -> str:
    return f"{item.pct:.3g} % more {item.figure} ({rounded(item.more_ns)})"


def _good(decision: Decision) -> str:
    cells = [cell for cell in decision.cells if cell.outcome is Outcome.PASS]
    measured = [cell for cell in cells if cell.role == Role.MEASURE]
    words = [f"nothing is too short in {counted(len(measured), 'cell')}"]
    items: dict[str, list[Excess]] = {}
    for item in (item for cell in measured for item in cell.excess):
        items.setdefault(item.figure, []).append(item)
    for figure, found in items.items():
        before_ns = sum(item.baseline_ns for item in found)
        change_pct = 100 * sum(item.more_ns for item in found) / before_ns
        words.append(f"{figure} {change_pct:+.1f} %")
    return ", ".join(words)


def _doubt(decision: Decision) -> str:
    if decision.doubts:
        return decision.doubts[0]
    measured = [cell for cell in decision.cells if cell.role == Role.MEASURE]
    doubtful = sum(cell.outcome is Outcome.DOUBT for cell in measured)
    if not doubtful:
        return "nothing shows that the rig detects faults"
    return f"{counted(doubtful, 'cell')} of {len(measured)} gave no sure answer"
