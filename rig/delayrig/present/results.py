# SPDX-License-Identifier: GPL-2.0-or-later
"""A run in a terminal: the table, the evidence, the answer."""

from collections.abc import Mapping, Sequence
from itertools import islice

from rich.console import Console
from rich.markup import escape

from delayrig.base.errors import ExitCode
from delayrig.base.paths import as_called
from delayrig.base.text import again, counted, one_line
from delayrig.judge.judge import describe
from delayrig.model.cell import WATCHING
from delayrig.model.evidence import Evidence
from delayrig.model.result import CellResult, ContrastVerdict, Results, Verdict
from delayrig.present.console import FittedTable, plain_table, seconds
from delayrig.present.notable import STYLES, is_notable, rank

CONTRAST_STYLES = {
    ContrastVerdict.SEEN: "green",
    ContrastVerdict.MISSING: "bold red",
    ContrastVerdict.UNJUDGED: "yellow",
}
UNWATCHED = "No canary and control were among the cells: nothing shows that the rig detects faults."
ANSWERS = {
    ExitCode.PASS: "Nothing was timed too short, except where expected",
    ExitCode.UNSAFE: "Something was timed too short",
    ExitCode.RIG_FAULT: "The rig itself failed; this run says nothing",
    ExitCode.SKIPPED: "Every cell was skipped",
}
MISSING = "An expected conviction is missing"
IN_DOUBT = "In doubt: some cells could not be judged"
NAMED_MAX = 20
TABLE_MAX = 2000
"""The largest number of cells that are all printed."""
NOTABLE_MAX = 100
"""The number of cells that are printed of a larger run, the most notable first."""
TIMES = ("total s", "CPU s", "chip busy s", "overshoot s")


def print_results(results: Results, lines: Sequence[str], console: Console, *, out: str) -> None:
    """Prints the table, the evidence of cells that did not pass, and the lines of its report.

    Of more than TABLE_MAX cells it prints only the most notable.
    """
    shown = results.cells
    if len(shown) > TABLE_MAX:
        shown = sorted(filter(is_notable, shown), key=rank)[:NOTABLE_MAX]
    console.print(cell_table(shown))
    for cell in shown:
        # `remarks()` counts the canaries and controls with their expected verdicts.
        is_counted = cell.role in WATCHING and cell.is_expected
        if not (cell.verdict is Verdict.PASS or cell.not_provided or is_counted):
            _print_findings(cell, console)
    if len(shown) < len(results.cells):
        console.print(f"\n{counted(len(results.cells) - len(shown), 'cell')} not shown here.")
    if results.contrasts:
        console.print()
        console.print(contrast_table(results))
    console.print()
    console.print(f"[bold]{escape(lines[0])}[/]")
    for remark in [*lines[1:], *remarks(results)]:
        console.print(remark, markup=False)
    if out:
        console.print(f"results: {escape(out)}/results.json")


def _print_findings(cell: CellResult, console: Console) -> None:
    console.print(f"\n[{STYLES[cell.verdict]}]{cell.verdict}[/] {escape(cell.id)}")
    for line in finding_lines(cell):
        console.print(f"  {escape(line)}")
    if not cell.is_expected:
        console.print(f"  {escape(as_called(again(cell.rerun)))}", soft_wrap=True)


def finding_lines(cell: CellResult) -> list[str]:
    """Returns the reason of the verdict, unless the evidence says the same, and the evidence."""
    is_said = cell.reason in ("", *map(describe, cell.evidence))
    return [*([] if is_said else [cell.reason]), *evidence_lines(cell)]


def evidence_lines(cell: CellResult) -> list[str]:
    return [witness_line(item) for item in cell.evidence]


def witness_line(item: Evidence) -> str:
    times = f" ({item.count} times, the worst shown)" if item.count > 1 else ""
    return f"{item.witness} witness: {describe(item)}{times}"


def cell_table(cells: Sequence[CellResult]) -> FittedTable:
    """Returns the table of cells: their parameters, verdicts and times."""
    table = FittedTable(
        ("subject", "MIPS", "cores", "hazards", "chip", "job", "verdict", *TIMES),
        figures=("MIPS", "cores", *TIMES),
        least=TIMES[2:],
    )
    for cell in cells:
        times_ns = (cell.time_ns.total, cell.total_cpu_ns, cell.chip_busy_ns, cell.overshoot_ns)
        table.add_row(
            escape(subject_name(cell)),
            _speeds(cell.guest.mips) or cell.lane,
            str(cell.guest.cores),
            "+".join(cell.hazards) or "-",
            f"{cell.chip} {cell.corner}",
            cell.job,
            f"[{STYLES[cell.verdict]}]{cell.verdict}[/]{expectation(cell)}",
            *(seconds(ns if cell.time_ns.total else None) for ns in times_ns),
        )
    return table


def contrast_table(results: Results) -> FittedTable:
    """Returns the figures that had to be a multiple of another subject's in the same cell."""
    names = {cell.id: cell.subject.name for cell in results.cells}
    table = plain_table(
        ("contrast", "cell", "against"), ("figure", "s", "against s", "ratio", "at least")
    )
    for contrast in results.contrasts:
        style = CONTRAST_STYLES[contrast.verdict]
        table.add_row(
            f"[{style}]{contrast.verdict}[/]",
            escape(contrast.cell),
            escape(names[contrast.against]),
            contrast.figure,
            seconds(contrast.ours_ns),
            seconds(contrast.theirs_ns),
            "-" if contrast.ratio is None else f"{contrast.ratio:.1f}",
            f"{contrast.at_least:g}",
        )
    return table


def subject_name(cell: CellResult) -> str:
    """Returns the name of the cell's subject, and the cell's role if it is no measurement."""
    name = cell.subject_label
    return name if cell.role == "measure" else f"{name} ({cell.role})"


def expectation(cell: CellResult) -> str:
    """Returns a remark on the verdict if the plan expects another one than `pass`."""
    if cell.expect == "pass":
        return ""
    if cell.is_expected:
        return " (expected)" if cell.verdict is not Verdict.PASS else ""
    return f" (expected {cell.expect})"


def remarks(results: Results) -> list[str]:
    """Returns remarks on canaries and controls, and on the lock of the archive."""
    found = []
    watching = results.watching
    if len({cell.role for cell in watching}) < len(WATCHING):
        found.append(UNWATCHED)
    elif all(cell.is_expected for cell in watching):
        found.append(f"{len(watching)} canaries and controls are as they must be.")
    if results.run.lock == "differs":
        found.append("lock: differs - the archive has moved on since images/lock.toml was made")
    return found


def lost_lines(cells: Sequence[CellResult]) -> list[str]:
    """Returns lines on cells that the rig lost, and on those that were run twice."""
    lost = [cell for cell in cells if cell.verdict is Verdict.INFRA_ERROR]
    retried = [cell for cell in cells if cell.retried_after and cell not in lost]
    return [
        *_named("Lost by the rig, so not judged", {cell.id: cell.reason for cell in lost}),
        *_named("Lost by the rig and run once more", {c.id: c.retried_after for c in retried}),
    ]


def _named(what: str, reasons: Mapping[str, str]) -> list[str]:
    """Returns a line for each of the first cells, and a count of the others."""
    lines = [
        f"{what}: {cell_id}: {one_line(reason)}"
        for cell_id, reason in islice(reasons.items(), NAMED_MAX)
    ]
    more = len(reasons) - len(lines)
    return [*lines, f"{what}: {counted(more, 'more cell')}"] if more else lines


def answer(results: Results, code: ExitCode) -> str:
    """Returns a sentence on whether any operation was timed too short, and one of counts."""
    cells = results.cells
    short = [cell for cell in cells if cell.verdict in (Verdict.TOO_SHORT, Verdict.CORRUPT)]
    expected = [cell for cell in short if cell.exit_code is ExitCode.PASS]
    passed = sum(cell.verdict is Verdict.PASS for cell in cells)
    found = f"{len(short)} too short or corrupt ({len(expected)} of them expected)"
    skipped = sum(cell.verdict is Verdict.SKIPPED for cell in cells)
    found += f", {skipped} skipped" if skipped else ""
    lost = sum(cell.verdict is Verdict.INFRA_ERROR for cell in cells)
    found += f", {lost} lost" if lost else ""
    counts = f"{len(cells)} of {results.run.cells_planned} cells: {passed} pass, {found}"
    is_missing = code is ExitCode.UNSAFE and len(short) == len(expected)
    return f"{MISSING if is_missing else ANSWERS.get(code, IN_DOUBT)}. {counts}."


def _speeds(mips: list[float]) -> str:
    """Returns one figure if all cores have the same speed, else one for each."""
    alike = len(set(mips)) == 1
    return ":".join(f"{round(speed)}" for speed in (mips[:1] if alike else mips))
