# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer: what somebody reads who reads nothing else. The same words as on a terminal."""

from collections import Counter

from markupsafe import Markup

from delayrig.base.errors import ExitCode
from delayrig.judge.exit_code import is_expected
from delayrig.judge.judge import describe
from delayrig.model.cell import Role
from delayrig.model.result import CellResult, ContrastVerdict, Verdict
from delayrig.present.notable import GRAVITY, rank
from delayrig.present.pages.page import Section, environment, paragraph
from delayrig.present.report.cell_rows import all_cells
from delayrig.present.report.headline import headline
from delayrig.present.report.labels import (
    CLASSES_OF_CODES,
    TEMPLATES,
    badge,
    cell_link,
    count,
    marks_of,
    verdict_html,
)
from delayrig.present.report.source import GateSource, RunSource, Sources
from delayrig.present.terminal.results import answer, remarks

WORDS = {
    ExitCode.PASS: "Good",
    ExitCode.UNSAFE: "Unsafe",
    ExitCode.SLOWER: "Slower",
    ExitCode.INCONCLUSIVE: "In doubt",
    ExitCode.SKIPPED: "Skipped",
    ExitCode.RIG_FAULT: "No answer",
}
"""The answer in a word, beside its sentence."""
FINDINGS_MAX = 60


def title_of(sources: Sources) -> str:
    """The answer of a gate; else what the page is about."""
    if len(sources.gates) == 1 and len(sources.runs) == 2:
        cells = [cell for run in sources.runs for cell in run.results.cells]
        return headline(sources.gates[0].decision, cells)
    if len(sources.runs) == 1:
        return f"Plan {sources.runs[0].results.run.plan}"
    return f"{len(sources.runs)} runs side by side"


def summary_of(sources: Sources) -> Markup:
    """Decisions first, then a sentence for each run that is no part of one."""
    parts = [_decision(gate) for gate in sources.gates]
    if not sources.gates or len(sources.runs) > 2 * len(sources.gates):
        parts += [_run(run) for run in sources.runs]
    else:
        parts += [paragraph(remark) for remark in _common_remarks(sources)]
    parts += [_made_of(run) for run in sources.runs]
    return Markup("").join(parts)


def _made_of(run: RunSource) -> Markup:
    """Which run it is, in a line."""
    header = run.results.run
    side = f" ({run.side})" if run.side else ""
    label = f"{run.label}{side}: plan" if run.label else "Plan"
    lanes = ", ".join(dict.fromkeys(cell.lane for cell in run.results.cells)) or "no"
    return Markup('<p class="soft">{} {}, {} lane, seed {}, {}, rig {} ({})</p>').format(
        *(label, header.plan, lanes, header.seed, header.started),
        *(header.rig_version, header.commit or "no commit known"),
    )


def _sides(gate: GateSource) -> Markup:
    decision = gate.decision
    return paragraph(f"Gate: {decision.candidate.name} against {decision.baseline.name}")


def _lead(code: ExitCode, text: str) -> Markup:
    return Markup('<p class="answer"><span class="badge {}">{}</span> {}</p>').format(
        CLASSES_OF_CODES[code], WORDS[code], text
    )


def _decision(gate: GateSource) -> Markup:
    first, *others = gate.decision.lines
    doubts = [f"Doubt: {doubt}" for doubt in gate.decision.doubts]
    lines = Markup("").join(paragraph(line) for line in [*others, *doubts])
    return _lead(ExitCode(gate.decision.exit_code), first) + _sides(gate) + lines


def _run(run: RunSource) -> Markup:
    label = f"{run.label}: " if run.label else ""
    code = run.code
    lead = _lead(code, label + answer(run.results, code))
    notes = [paragraph(remark) for remark in remarks(run.results)]
    if run.results.run.interrupted:
        notes.append(paragraph("The run was interrupted: cells that its plan has are not in it."))
    return lead + _counts(run) + Markup("").join(notes)


def _counts(run: RunSource) -> Markup:
    """How many cells came to what, the gravest first."""
    found = Counter(cell.verdict for cell in run.results.cells)
    badges = (badge(each, f"{found[each]} {each}") for each in GRAVITY if found[each])
    return Markup("<p>{}</p>").format(Markup(" ").join(badges))


def _common_remarks(sources: Sources) -> list[str]:
    return list(
        dict.fromkeys(remark for run in sources.runs[-1:] for remark in remarks(run.results))
    )


def findings_section(sources: Sources) -> Section:
    """Whatever is no pass: what was not expected first. Canaries only where they failed."""
    pairs = all_cells(sources)
    found = sorted((pair for pair in pairs if _is_finding(pair[1])), key=lambda p: rank(p[1]))
    watching = [cell for _, cell in pairs if cell.role in (Role.CANARY, Role.CONTROL)]
    contrasts = [contrast for run in sources.runs for contrast in run.results.contrasts]
    contrasts.sort(key=lambda contrast: contrast.verdict is ContrastVerdict.SEEN)
    shown = [_finding(run, cell) for run, cell in found[:FINDINGS_MAX]]
    template = environment(TEMPLATES).get_template("findings.html")
    body = template.render(
        findings=shown,
        left_out=len(found) - len(shown),
        skipped=sum(cell.verdict is Verdict.SKIPPED for _, cell in pairs),
        watching=len(watching),
        watching_well=sum(is_expected(cell) for cell in watching),
        contrasts=contrasts[:FINDINGS_MAX],
        contrasts_left_out=max(len(contrasts) - FINDINGS_MAX, 0),
    )
    return Section(key="findings", title="What was found", body=Markup(body))


def _is_finding(cell: CellResult) -> bool:
    if cell.role == Role.MEASURE and cell.verdict in (Verdict.PASS, Verdict.SKIPPED):
        return cell.verdict is Verdict.PASS and not is_expected(cell)
    return cell.role == Role.MEASURE or not is_expected(cell)


def _finding(run: RunSource, cell: CellResult) -> dict[str, object]:
    lines = [
        f"{item.witness} witness: {describe(item)}"
        + (f" ({count(item.count, 'time')}, the worst shown)" if item.count > 1 else "")
        for item in cell.evidence
    ]
    return {
        "run": run.label,
        "link": cell_link(run, cell),
        "verdict": verdict_html(cell),
        "role": "" if cell.role == Role.MEASURE else cell.role,
        "lines": lines or [cell.reason],
        "marks": marks_of(cell),
    }
