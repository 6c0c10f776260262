# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig times`, `waste`, `parts` and `compare`: figures of runs.

The least possible time stands beside each time: the chip's busy time plus the floor. The floor is
the time to write the same bytes with the fewest transfers, in the same guest, into a part that is
never busy.
"""

import sys
from collections.abc import Hashable, Sequence
from pathlib import Path

import click
import msgspec
from rich.markup import escape

from delayrig.base.atomic_file import json_document
from delayrig.base.errors import ExitCode
from delayrig.base.text import counted
from delayrig.cli.command import RigCommand
from delayrig.cli.verbosity import answers, make_console, plain_text, print_json, tables_or_json
from delayrig.decision import two_runs
from delayrig.features.history.command import opened_history
from delayrig.features.history.recording import history_url
from delayrig.judge.waste import CallSiteWaste, OperationWaste, Waste, read_watched, waste_of
from delayrig.model.cell import Role
from delayrig.model.result import CellResult, Results, Verdict, read_results
from delayrig.present.comparison import print_beside
from delayrig.present.console import FittedTable, plain_table, say, seconds
from delayrig.present.formats.text import table
from delayrig.present.notable import STYLES

DONE = "ok"
NO_ENTRY = "no entry"
NOT_RUN = "-"
NO_CALLS = (
    "who asked for delays: no call was seen. The host lane sees none. In a guest a delay function"
    " must have been found."
)
run_argument = click.argument("run_folder", metavar="RUN", type=click.Path(path_type=Path))


class PartRow(msgspec.Struct, frozen=True, kw_only=True):
    """One part, and the outcomes of its cells in the order of the subjects."""

    chip: str
    bus: str
    outcomes: list[str]


def subject_headings(results: Results) -> dict[str, str]:
    """Returns the heading of each measured subject's column, by the subject's name."""
    versions: dict[str, str] = {}
    for cell in results.measured:
        subject = cell.subject
        versions[subject.name] = versions.get(subject.name) or subject.version
    return {name: f"{name} ({found})" if found else name for name, found in versions.items()}


def part_rows(results: Results) -> list[PartRow]:
    """Returns a row for each part of the run, by bus and name, SPI first."""
    subjects = subject_headings(results)
    measured = results.measured
    parts = {(cell.bus != "spi", cell.bus, cell.chip) for cell in measured}
    return [
        PartRow(
            chip=chip,
            bus=bus,
            outcomes=[
                outcome([c for c in measured if (c.chip, c.subject.name) == (chip, subject)])
                for subject in subjects
            ],
        )
        for _, bus, chip in sorted(parts, key=lambda part: (*part[:2], part[2].lower()))
    ]


def outcome(cells: list[CellResult]) -> str:
    """Returns the verdicts other than pass, each with its jobs and, if needed, corners.

    `ok` means that all passed, `no entry` that all were skipped, `-` that there are no cells.
    """
    if not cells:
        return NOT_RUN
    if all(cell.verdict is Verdict.SKIPPED for cell in cells):
        return NO_ENTRY
    verdicts = dict.fromkeys(c.verdict for c in cells if c.verdict is not Verdict.PASS)
    return "; ".join(f"{verdict}: {_jobs(verdict, cells)}" for verdict in verdicts) or DONE


def markdown_table(results: Results) -> str:
    """Returns the table of all parts in Markdown."""
    headings = ["part", "bus", *subject_headings(results).values()]
    rows = [[row.chip, row.bus, *row.outcomes] for row in part_rows(results)]
    return table(headings, rows)


def _jobs(verdict: Verdict, cells: list[CellResult]) -> str:
    found: dict[str, list[str]] = {}
    for cell in cells:
        if cell.verdict is verdict:
            found.setdefault(cell.job, []).append(cell.corner)
    return ", ".join(
        job if len(corners) == sum(c.job == job for c in cells) else f"{job} ({' '.join(corners)})"
        for job, corners in found.items()
    )


class TimeRow(msgspec.Struct, frozen=True, kw_only=True):
    """One measured cell. A value is None if it needs a cell that the run lacks."""

    id: str
    subject: str
    mips: float | None
    """The speed of the first core; None without a guest."""
    cores: int
    chip: str
    corner: str
    job: str
    region_bytes: int
    verdict: Verdict
    total_ns: int
    chip_busy_ns: int
    floor_ns: int | None
    ratio: float | None
    """The ratio of `total_ns` to the sum of `chip_busy_ns` and `floor_ns`."""
    overshoot_ns: int
    transfers: int
    floor_transfers: int | None
    beside_ns: int | None
    """The total of the other subject in the same cell."""


def time_rows(results: Results, *, beside: str) -> list[TimeRow]:
    """Returns a row for each timed cell, with the time of subject `beside` in the same place."""
    measured = [cell for cell in results.measured if cell.time_ns.total > 0]
    floors = {
        _work(cell): cell
        for cell in results.cells
        if cell.role == Role.FLOOR and cell.verdict is Verdict.PASS
    }
    others = {
        (_work(cell), cell.corner): cell.time_ns.total
        for cell in measured
        if cell.subject.name == beside
    }
    return [
        _row(cell, floors.get(_work(cell)), others.get((_work(cell), cell.corner)))
        for cell in measured
    ]


def _work(cell: CellResult) -> Hashable:
    """Returns a key that is equal for cells with the same work in the same guest."""
    guest = cell.guest
    return (
        *(cell.lane, guest.arch, tuple(guest.mips), guest.cores, tuple(cell.hazards)),
        *(cell.chip, cell.programmer, cell.job, cell.region_bytes),
    )


def _row(cell: CellResult, floor: CellResult | None, beside_ns: int | None) -> TimeRow:
    least_ns = cell.chip_busy_ns + floor.time_ns.total if floor else 0
    return TimeRow(
        id=cell.id,
        subject=cell.subject.name,
        mips=next(iter(cell.guest.mips), None),
        cores=cell.guest.cores,
        chip=cell.chip,
        corner=cell.corner,
        job=cell.job,
        region_bytes=cell.region_bytes,
        verdict=cell.verdict,
        total_ns=cell.time_ns.total,
        chip_busy_ns=cell.chip_busy_ns,
        floor_ns=floor.time_ns.total if floor else None,
        ratio=round(cell.time_ns.total / least_ns, 4) if least_ns else None,
        overshoot_ns=cell.overshoot_ns,
        transfers=cell.transfers,
        floor_transfers=floor.transfers if floor else None,
        beside_ns=beside_ns,
    )


@click.command(cls=RigCommand)
@run_argument
@click.option("--beside", metavar="SUBJECT", default="debian:trixie", show_default=True)
@tables_or_json
def times(run_folder: Path, beside: str) -> None:
    """Shows the time of each cell of a run, beside the least possible.

    The ratio is that of the total to the chip's busy time plus the floor: the same bytes, written
    with the fewest transfers in the same guest. Each total stands beside that of another SUBJECT.
    """
    rows = time_rows(read_results(run_folder), beside=beside)
    print_json(rows)
    make_console().print(time_table(rows, beside=beside))


@click.command(cls=RigCommand)
@click.argument("folder", metavar="RUN|CELL", type=click.Path(path_type=Path))
@tables_or_json
def waste(folder: Path) -> None:
    """Shows where a flashrom waits without need, the largest sum first.

    By operation: how long the part had been ready when the next command came. For cells in guests
    also by the call site of a delay: how long the part was not busy during it.
    """
    found = waste_of(read_watched(folder))
    print_json(found)
    console = make_console()
    for each in waste_tables(found):
        console.print(each, "")
    if not found.call_sites:
        console.print(NO_CALLS, soft_wrap=True)


@click.command(cls=RigCommand)
@run_argument
@answers
def parts(run_folder: Path) -> None:
    """Shows the outcomes of each flashrom of a run with each part, as a table for a README."""
    results = read_results(run_folder)
    print_json(part_rows(results))
    click.echo(markdown_table(results))


@click.command(cls=RigCommand)
@click.argument("first", metavar="RUN")
@click.argument("second", metavar="RUN")
@click.option("--exact", is_flag=True, help="Everything must be equal to the ns.")
@click.option("--json", "as_json", is_flag=True, help="As JSON; without --exact.")
@history_url
@plain_text
def compare(first: str, second: str, exact: bool, as_json: bool, url: str | None) -> None:
    """Compares two runs: their --out folders, or their numbers in the history.

    It compares the times of cells with the same id. Only the subject may differ: all else that
    decides times must be equal. Exits 0 if every cell could be compared, 4 if one could not, 99 if
    the subject is the same and exact time differs.

    With --exact every virtual cell must be the same in both, including its events: 0 if they are, 4
    if that is unknown (unequal images or seeds, cells or events missing), 99 if equal inputs gave
    unequal results. For runs of the history it compares the stored digests.
    """
    runs = _compared(first, url), _compared(second, url)
    if exact:
        sys.exit(_exactly(two_runs.compare_exactly(*runs)))
    beside = two_runs.compare_times(runs[0].results, runs[1].results)
    if as_json:
        sys.stdout.buffer.write(json_document(beside))
    else:
        print_beside(beside, make_console())
    sys.exit(beside.exit_code)


def _compared(word: str, url: str | None) -> two_runs.ComparedRun:
    """Returns the run of a folder, or of a number in the history; `./12` is always a folder."""
    if not (word.isascii() and word.isdigit()):
        return two_runs.compared_run(Path(word))
    store = opened_history(url)
    return two_runs.ComparedRun(
        name=f"{store.label}: run {word}", results=store.load(int(word)), path=None
    )


def _exactly(comparison: two_runs.Comparison) -> ExitCode:
    console = make_console()
    say(console, *(f"doubt: {line}" for line in comparison.doubts))
    if comparison.same_inputs:
        say(console, *(f"differs: {line}" for line in comparison.differences))
    elif comparison.differences:
        console.print(
            f"{len(comparison.differences)} figures differ, as is normal with unequal inputs"
        )
    same = "all the same" if comparison.exit_code is ExitCode.PASS else "not shown to be the same"
    console.print(f"{counted(comparison.compared, 'cell')} compared: {same}", markup=False)
    return comparison.exit_code


def time_table(rows: list[TimeRow], *, beside: str) -> FittedTable:
    times = ("total s", "busy s", "floor s", "ratio", "overshoot s")
    table = plain_table(
        ("subject", "chip", "job", "verdict"),
        ("KiB", "MIPS", "cores", *times, "transfers", f"{escape(beside)} s"),
        least=("busy s", "floor s", "transfers"),
    )
    for row in rows:
        table.add_row(
            escape(row.subject),
            f"{row.chip} {row.corner}",
            row.job,
            f"[{STYLES[row.verdict]}]{row.verdict}[/]",
            f"{row.region_bytes / 1024:g}",
            "-" if row.mips is None else f"{round(row.mips)}",
            f"{row.cores}",
            *(seconds(ns) for ns in (row.total_ns, row.chip_busy_ns, row.floor_ns)),
            "-" if row.ratio is None else f"{row.ratio:.3f}",
            seconds(row.overshoot_ns),
            f"{row.transfers}" + (f"/{row.floor_transfers}" if row.floor_transfers else ""),
            seconds(row.beside_ns),
        )
    return table


def waste_tables(waste: Waste) -> list[FittedTable]:
    operations = _table("operation", ("busy s",))
    for row in waste.operations:
        words = escape(row.subject), row.phase, row.operation, f"{row.count}"
        operations.add_row(*words, seconds(row.busy_ns), *_figures(row))
    sites = _table("delay asked for at", ("asked s", "took s"))
    for site in waste.call_sites:
        lines = escape("\n  ".join(site.call_site.split(" < ")))
        words = escape(site.subject), site.phase, lines, f"{site.count}"
        times = seconds(site.requested_ns), seconds(site.actual_ns)
        sites.add_row(*words, *times, *_figures(site))
    return [table for table in (operations, sites) if table.row_count]


def _table(what: str, figures: Sequence[str]) -> FittedTable:
    figures = ("times", *figures, "for nothing s", "each us", "most us")
    return plain_table(("subject", "phase", what), figures, least=figures[1:-3])


def _figures(row: OperationWaste | CallSiteWaste) -> tuple[str, str, str]:
    each_us, most_us = row.waste_ns / row.count / 1000, row.waste_ns_max / 1000
    return f"{row.waste_ns / 1e9:.6f}", f"{each_us:.1f}", f"{most_us:.1f}"
