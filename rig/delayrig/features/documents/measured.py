# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures that documents quote, as pages of rig/docs/measured/ and rows of a document.

Below a line `<!-- measured: default -->` a document quotes rows of a run's table, found by the
columns that name the cell. Below `VERDICT CELL` it quotes lines of evidence, found by the text
before their last colon. Below `<!-- measured: gate -->` it quotes a gate's command and answer.
"""

import io
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from rich.console import Console
from rich.markup import escape

from delayrig.decision.decision import Decision, Outcome
from delayrig.features.selfcheck.known_bad import KnownBad, summary
from delayrig.model.cell import Job, Role
from delayrig.model.lane import EXACT_LANE
from delayrig.model.platform import Arch, labelled
from delayrig.model.programmers import DEVICES
from delayrig.model.result import CellResult, Results, Verdict
from delayrig.present.console import FittedTable
from delayrig.present.results import cell_table, evidence_lines, expectation
from delayrig.subjects.known_bad import PREFIX as KNOWN_BAD

REFERENCE = "serprog:ip"
"""The programmer that the others' host time is compared with."""
Place = tuple[str, str]
"""A programmer, and a part behind it."""
RUN_MARK = "<!-- measured: default -->"
GATE_MARK = "<!-- measured: gate -->"
INDENT = "    "
WIDTH = 400
SITUATION = ("MIPS", "cores", "hazards", "chip", "job")
"""The columns that name a cell, except its subject."""
TIMES = "Total and CPU time of each subject, in s, and any verdict but `pass`."
NAMING_COLUMNS = 6
"""The first columns name a cell: subject, MIPS, cores, hazards, chip, job."""
LICENCE = "<!-- SPDX-License-Identifier: GPL-2.0-or-later -->"
BETWEEN = re.compile(r" {2,}")


def answer_lines(results: Results) -> list[str]:
    """Returns the number of passed cells in a line, then each other verdict except skipped."""
    cells = results.measured
    passed = sum(cell.verdict is Verdict.PASS for cell in cells)
    others: dict[str, list[str]] = defaultdict(list)
    for (programmer, chip), own in _by_place(cells).items():
        for name in subjects_of(own):
            counts = Counter(cell.verdict for cell in _of_subject(own, name))
            for verdict, count in counts.items():
                if verdict not in (Verdict.PASS, Verdict.SKIPPED):
                    found = f"{count} {verdict}"
                    others[f"  {found:<15}  {programmer:<15}  {chip:<10}  "].append(name)
    asked = sum(cell.verdict is not Verdict.SKIPPED for cell in cells)
    head = f"{passed} of {asked} cells pass; the others:"
    return [head, *(line + " ".join(names) for line, names in others.items())]


def cost_rows(results: Results) -> list[tuple[str, ...]]:
    """Returns a row for each programmer and part: host time, and the times of each subject.

    The times are those of the largest region. The first row is the head.
    """
    cells = results.measured
    names = subjects_of(cells)
    rows = [("programmer", "chip", "KiB", "host time", *names)]
    for place, own in _by_place(cells).items():
        size_bytes = max(cell.region_bytes for cell in own)
        large = [cell for cell in own if cell.region_bytes == size_bytes]
        times = (_large_times(_of_subject(large, name)) for name in names)
        rows.append((*place, str(size_bytes >> 10), _relative_host_time(own, cells), *times))
    return rows


def subjects_of(cells: Sequence[CellResult]) -> list[str]:
    """Returns the names of the subjects, in the order of the plan."""
    return list(dict.fromkeys(cell.subject.name for cell in cells))


def seconds_of(cell: CellResult) -> str:
    """Returns total and CPU time, in s."""
    return f"{cell.time_ns.total / 1e9:.3f}/{cell.total_cpu_ns / 1e9:.3f}"


def _by_place(cells: Sequence[CellResult]) -> dict[Place, list[CellResult]]:
    found: dict[Place, list[CellResult]] = defaultdict(list)
    for cell in cells:
        found[cell.programmer, cell.chip].append(cell)
    return found


def _of_subject(cells: Sequence[CellResult], name: str) -> list[CellResult]:
    return [cell for cell in cells if cell.subject.name == name]


def _large_times(cells: Sequence[CellResult]) -> str:
    """Returns total and CPU time of the longest read, and of the longest write, in s.

    If a cell did not pass, its verdict stands in place of its times.
    """
    shown = []
    for job in (Job.READ, Job.WRITE):
        own = [cell for cell in cells if cell.job == job]
        if own:
            cell = max(own, key=lambda cell: cell.time_ns.total)
            passed = cell.verdict is Verdict.PASS
            shown.append(seconds_of(cell) if passed else str(cell.verdict))
    return ";".join(dict.fromkeys(shown)) or "-"


def _relative_host_time(own: Sequence[CellResult], cells: Sequence[CellResult]) -> str:
    """Returns the mean host time as a multiple of that of the same cells through `REFERENCE`.

    Only cells that passed through both programmers count.
    """
    reference = {
        _situation(cell): cell.host_s
        for cell in cells
        if cell.programmer == REFERENCE and cell.verdict is Verdict.PASS
    }
    shared = [
        cell for cell in own if cell.verdict is Verdict.PASS and _situation(cell) in reference
    ]
    if not shared:
        return "-"
    ours = fmean(cell.host_s for cell in shared)
    theirs = fmean(reference[_situation(cell)] for cell in shared)
    return f"{ours / theirs:.2f}"


def _situation(cell: CellResult) -> tuple[str | int | float, ...]:
    group, _, _ = cell.id.partition(".")
    return (group, cell.subject.name, cell.chip, cell.job, cell.guest.mips[0], cell.guest.cores)


def run_page(results: Results, made_with: str) -> str:
    """Returns the page of every exact cell of a run; `made_with` names the tools."""
    exact = [cell for cell in results.cells if cell.lane == EXACT_LANE]
    measured = [cell for cell in exact if cell.role == Role.MEASURE]
    return _page(
        "Plan `default`, cell by cell",
        f"`rig/rig run --plan {results.run.plan}`. Another checkout gives the same figures.",
        f"{TIMES} {made_with}",
        _indented(rows_by_situation(measured)),
        "Canaries and controls:",
        _indented(_lines_of([cell for cell in exact if cell.role != Role.MEASURE])),
    )


def rows_by_situation(cells: Sequence[CellResult]) -> list[str]:
    """Returns a row for each situation, with the times of each subject in it."""
    names = subjects_of(cells)
    rows: dict[tuple[str, ...], dict[str, str]] = defaultdict(dict)
    for cell in cells:
        group, _, _ = cell.id.partition(".")
        rows[group, *situation(cell)][cell.subject.name] = times(cell)
    lines = [
        (*place, *(shown.get(name, "") for name in names)) for (_, *place), shown in rows.items()
    ]
    return _columns((*SITUATION, *names), *lines, figures=("MIPS", "cores"))


def situation(cell: CellResult) -> tuple[str, ...]:
    """Returns the words of the columns `SITUATION`."""
    speed = labelled(str(round(cell.guest.mips[0])), Arch(cell.guest.arch))
    hazards = "+".join(cell.hazards) or "-"
    part = f"{cell.chip} {cell.corner}"
    if cell.programmer in DEVICES:
        part += f", {cell.programmer}"
    return speed, str(cell.guest.cores), hazards, part, cell.job


def times(cell: CellResult) -> str:
    """Returns total and CPU time, behind the verdict if that is not `pass`."""
    verdict = "" if cell.verdict is Verdict.PASS else f"{cell.verdict}{expectation(cell)}"
    return f"{verdict} {seconds_of(cell)}".strip() if cell.time_ns.total else verdict


def resolution_table(runs: Sequence[Results]) -> str:
    """Returns the smallest visible shortening, by architecture and speed of the guest."""
    found: dict[tuple[str, float], list[CellResult]] = defaultdict(list)
    for cell in (cell for run in runs for cell in run.cells):
        if cell.lane == EXACT_LANE and cell.smallest_visible_short_ns is not None:
            found[cell.guest.arch, cell.guest.mips[0]].append(cell)
    rows = [_resolution(arch, mips, found[arch, mips]) for arch, mips in sorted(found)]
    head = (
        "architecture",
        "MIPS",
        "cells",
        "delays judged",
        "the finest cell",
        "the coarsest cell",
    )
    return _table(head, rows)


def gate_page(decision: Decision, runs: Sequence[Results]) -> str:
    """Returns a gate's answer, and what the delay witness could see in these runs."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for cell in decision.cells:
        if cell.outcome is Outcome.SLOWER:
            worst = max(cell.excess, key=lambda item: item.pct)
            found[cell.outcome, "beyond the limits"].append(f"`{cell.id}` (+{worst.pct:.1f} %)")
        elif cell.role == Role.MEASURE and cell.outcome is not Outcome.PASS:
            found[cell.outcome, cell.why].append(f"`{cell.id}`")
    rows = [(" ".join(cells), *answer) for answer, cells in found.items()]
    before, after = decision.baseline.name, decision.candidate.name
    return _page(
        f"A gate: {before} to {after}",
        f"`rig/rig gate --baseline {before} --candidate {after}`, after [its answer]"
        "(../tutorial/first-run.md#a-first-gate).",
        _table(("cell", "outcome", "why"), rows),
        "## What the delay witness can see",
        "The smallest shortening of a delay that would have been convicted in these cells and in "
        "those of plan `default`. It is one figure for each cell.",
        resolution_table(runs),
    )


def known_bad_page(plain: KnownBad, strange: KnownBad, right: Results) -> str:
    """Returns a gate's answers to known-bad builds, and verdicts on what must not be accused."""
    outcomes = {build.name: build.outcome for build in strange.builds}
    found: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for build in plain.builds:
        answers = (build.kind, build.outcome, outcomes.get(build.name, "-"))
        found[answers].append(f"`{build.name}`")
    rows = [
        (*key, str(len(names)), " ".join(names) if key[1] != key[2] else "")
        for key, names in found.items()
    ]
    return _page(
        "What a gate says of each known-bad build",
        "[What each does](../../../flashrom/known_bad/README.md): `rig/rig selfcheck known-bad "
        "--list`. A build without symbols and with an unknown version may be left in doubt.",
        f"`rig/rig selfcheck known-bad`: {summary(plain)}",
        f"`rig/rig selfcheck known-bad --stripped --renamed`: {summary(strange)}",
        _table(
            ("class", "the gate says", "stripped and renamed", "builds", "if the answers differ"),
            rows,
        ),
        "## Correct subjects, which must never be accused",
        f"`rig/rig run --plan {right.run.plan}`. An accusation is a cell that is `too_short` or "
        "`corrupt`.",
        right_table(right),
    )


def right_table(results: Results) -> str:
    """Returns a table of counts of verdicts; subjects with the same counts share a row."""
    found: dict[str, Counter[Verdict]] = defaultdict(Counter)
    for cell in results.measured:
        found[cell.subject.name][cell.verdict] += 1
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, counts in sorted(found.items()):
        alike[_verdicts(counts)].append(name)
    rows = [(_listed(names), *counts) for counts, names in alike.items()]
    total = sum(found.values(), Counter[Verdict]())
    head = ("subject", "cells of each", "pass", "in doubt", "accused")
    return _table(head, [*rows, ("all", *_verdicts(total))])


def _listed(names: Sequence[str]) -> str:
    """Returns the names; known-bad builds are only counted."""
    others = [f"`{name}`" for name in names if not name.startswith(KNOWN_BAD)]
    builds = len(names) - len(others)
    return " ".join([*others, f"{builds} of `{KNOWN_BAD}`"] if builds else others)


def newest_page(results: Results, programmers: Results) -> str:
    """Returns the verdicts of released flashroms: with versions and findings, and by programmer."""
    cells = results.measured
    versions = {cell.subject.name: cell.subject.version for cell in cells if cell.subject.version}
    first = {cell.subject.name: cell for cell in reversed(cells) if cell.evidence}
    findings = [
        line
        for cell in reversed(first.values())
        for line in (f"{cell.verdict} {cell.id}", f"  {evidence_lines(cell)[0]}")
    ]
    return _page(
        "What the newest flashroms do",
        f"`rig/rig run --plan {results.run.plan}`. Suites change; these versions were measured:",
        _table(("subject", "version"), [(f"`{n}`", v) for n, v in sorted(versions.items())]),
        TIMES,
        _indented(rows_by_situation(cells)),
        "One finding for each convicted subject:",
        _indented(findings),
        "## By programmer",
        f"`rig/rig run --plan {programmers.run.plan}`: every job, on 1, 2 and 4 cores where the "
        "programmer is a card or a chipset. Builds without a driver are skipped; releases "
        "refuse memory buses over serprog.",
        _indented(answer_lines(programmers)),
        "Total and CPU time of reading and of writing that many KiB, in s. Host time is "
        f"relative to that of the same cell over `{REFERENCE}`; it differs on other machines.",
        _indented(_columns(*cost_rows(programmers), figures=("KiB", "host time"))),
    )


def firmwares_page(results: Results) -> str:
    """Returns which flashroms cope with which firmware; devices with equal answers share a row."""
    cells = results.measured
    versions = {cell.subject.name: cell.subject.version or "" for cell in cells}
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for cell in cells:
        device = "`+`".join(word.removeprefix("link:") for word in cell.hazards)
        found[f"`{device}`", f"{cell.chip}, {cell.job}"][cell.subject.name] = cell.verdict
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for (device, part), verdicts in found.items():
        alike[part, *(verdicts.get(name, "-") for name in versions)].append(device)
    rows = [(" ".join(devices), *answers) for answers, devices in alike.items()]
    head = ("device", "part, job", *(f"`{name}` {text}".strip() for name, text in versions.items()))
    return _page(
        "Which flashroms cope with which serprog firmwares",
        f"`rig/rig run --plan {results.run.plan}`. [What the words mean and where firmwares do "
        "it](../reference/serprog-emulator.md#links). `too_short` is the fault of the client and "
        "the device together: it waited as long as it must, and the device began later.",
        _table(head, rows),
    )


def _verdicts(counts: Counter[Verdict]) -> tuple[str, ...]:
    accused = counts[Verdict.TOO_SHORT] + counts[Verdict.CORRUPT]
    doubts = counts.total() - counts[Verdict.PASS] - accused
    return tuple(map(str, (counts.total(), counts[Verdict.PASS], doubts, accused)))


def requoted(text: str, results: Results) -> str:
    """Returns the document with its quoted figures replaced by those of the run."""
    rows = {_name(line): line for line in _lines_of(results.cells)}
    cells = {f"{INDENT}{cell.verdict} {cell.id}": cell for cell in results.cells}
    evidence: dict[str, str] = {}

    def anew(line: str) -> str:
        if line in cells:
            evidence.clear()
            evidence.update((_claim(each), each) for each in evidence_lines(cells[line]))
        found = evidence.get(_claim(line.strip()))
        return f"{INDENT}  {found}" if found else _requoted(line, rows.get(_name(line)))

    return _replaced(text, RUN_MARK, anew)


def requoted_answer(text: str, decision: Decision) -> str:
    """Returns the document with the answers that it quotes replaced by that of the gate.

    Below each mark there is a command, and below that the answer.
    """
    answer = "".join(f"{INDENT}{line}\n" for line in decision.lines)
    quoted = re.compile(rf"({re.escape(GATE_MARK)}\n\n{INDENT}[^\n]+\n\n)(?:{INDENT}[^\n]+\n)+")
    return quoted.sub(lambda found: found[1] + answer, text)


def _claim(line: str) -> str:
    """Returns the text before the last colon, which has no figures."""
    return line.rpartition(": ")[0]


def _replaced(text: str, mark: str, anew: Callable[[str], str]) -> str:
    """Replaces the indented lines below the mark, up to the first line of unindented text."""
    lines, quoting = [], False
    for line in text.split("\n"):
        is_quoted = line.startswith(INDENT)
        quoting = line == mark or (quoting and (is_quoted or not line))
        lines.append(anew(line) if quoting and is_quoted else line)
    return "\n".join(lines)


def _requoted(line: str, known: str | None) -> str:
    """Returns the new line, cut to the number of columns of the old one."""
    if known is None:
        return line
    columns = len(BETWEEN.split(line.strip()))
    ends = [found.end() for found in re.finditer(r"\S+(?: \S+)*", known)]
    return INDENT + known[: ends[columns - 1]]


def _name(line: str) -> tuple[str, ...]:
    return tuple(BETWEEN.split(line.strip())[:NAMING_COLUMNS])


def _lines_of(cells: Sequence[CellResult]) -> list[str]:
    return _printed(cell_table(cells))


def _columns(head: Sequence[str], *rows: Sequence[str], figures: Sequence[str]) -> list[str]:
    """Returns the lines of a table; the columns `figures` are aligned to the right."""
    table = FittedTable(tuple(map(escape, head)), figures=figures)
    for row in rows:
        table.add_row(*row)
    return _printed(table)


def _printed(table: FittedTable) -> list[str]:
    page = io.StringIO()
    Console(file=page, width=WIDTH, no_color=True).print(table)
    return [line.rstrip() for line in page.getvalue().splitlines()]


def _resolution(arch: str, mips: float, cells: Sequence[CellResult]) -> tuple[str, ...]:
    visible = [cell.smallest_visible_short_ns or 0 for cell in cells]
    judged = sum(cell.delays.judged for cell in cells if cell.delays is not None)
    ends = (f"{ns / 1000:.3f} us" for ns in (min(visible), max(visible)))
    return (arch, f"{mips:g}", str(len(cells)), f"{judged:,}", *ends)


def _page(title: str, *parts: str) -> str:
    made = "<!-- Written by `rig/rig measure`. -->"
    return "\n\n".join([f"{LICENCE}\n{made}\n# {title}", *parts]) + "\n"


def _indented(lines: Iterable[str]) -> str:
    return "\n".join(f"{INDENT}{line}".rstrip() for line in lines)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(word.replace('|', '/') for word in row)} |" for row in lines)
