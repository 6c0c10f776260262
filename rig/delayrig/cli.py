# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: reads options, calls the rest, turns errors into messages and exit codes."""

import asyncio
import datetime as dt
import os
import sys
import traceback
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, ParamSpec, TypeVar

import click
import msgspec

from delayrig import __version__
from delayrig.benchmark import FILE_NAME as BENCHMARK_FILE
from delayrig.benchmark import benchmark_cells
from delayrig.chips import read_chips
from delayrig.compare import compare_exactly
from delayrig.delay_probe import DelayWish
from delayrig.determinism import FILE_NAME as DETERMINISM_FILE
from delayrig.determinism import SHAPES, check_shapes, repeat_shapes
from delayrig.errors import BadInputError, ExitCode, LostGuestError, RigError
from delayrig.events import read_events
from delayrig.exit_code import exit_code_of_run
from delayrig.fault_campaign import (
    Bench,
    exit_code_of_faults,
    fault_table,
    host_subject,
    run_campaign,
    scenes_of,
)
from delayrig.hazards import KINDS, written
from delayrig.images.kernel import Kernel, provide_kernel
from delayrig.images.lock import lock_entries, lock_state, lock_text
from delayrig.images.recipes import read_recipes
from delayrig.images.subject import BUNDLED, check_subject, known_subjects, provide_subject
from delayrig.interruption import until_told_to_end
from delayrig.parts import markdown_table
from delayrig.paths import Paths, find_paths
from delayrig.plan import find_plan, plan_names, read_plan
from delayrig.request import Request, check_connect, check_out, choose_cells
from delayrig.result import Results, read_results
from delayrig.run import run_request
from delayrig.show import (
    ManyRuns,
    RepeatProgress,
    RunProgress,
    make_console,
    print_benchmark,
    print_results,
    show_fault_run,
    show_shrunk,
    show_step,
    time_table,
    waste_tables,
)
from delayrig.shrink import NAME as SHRUNK
from delayrig.shrink import first_conviction, plan_text
from delayrig.shrink import shrink as shrink_cell
from delayrig.supplies import CpuPool, Supplies, provide_supplies
from delayrig.times import time_rows
from delayrig.trace.perfetto import as_perfetto
from delayrig.trace.timeline import timeline_of
from delayrig.trace.vcd import as_vcd
from delayrig.trials import Trials
from delayrig.waste import read_watched, waste_of

P = ParamSpec("P")
R = TypeVar("R")

SETUP_HELP = """\
Before all else the launcher sets up what is missing; it also has these commands of its own:

\b
  rig/rig setup     installs, builds and fetches everything now
  rig/rig doctor    tells what is wrong with this installation
  rig/rig clean     takes it all back
  --yes             sets up without asking
  --no-install      never installs a package
"""
INTERRUPTED = 130
FAULT_SUBJECTS = ("debian:bookworm", "debian:trixie", BUNDLED)


def explained(function: Callable[P, R]) -> Callable[P, R]:
    """Prints the rig's own errors with their remedies and exits with their codes.

    What nobody foresaw is a fault of the rig as well: Python's own exit code would be 1, which
    says that a flashrom was timed too short.
    """

    @wraps(function)
    def inner(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as raised:  # noqa: BLE001 (the last resort, see above)
            error = _first_error(raised)
            if isinstance(error, RigError):
                _fail(error)
            traceback.print_exception(raised)
            sys.exit(ExitCode.RIG_FAULT)

    return inner


def _first_error(raised: BaseException) -> BaseException:
    found = raised
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found


def _fail(error: RigError) -> NoReturn:
    console = make_console(stderr=True)
    console.print(f"error: {error.message}", style="bold red", markup=False, soft_wrap=True)
    if error.hint:
        console.print(f"  {error.hint}", markup=False, soft_wrap=True)
    sys.exit(error.exit_code)


class Hex(click.ParamType[int]):
    """A number written in hexadecimal, with or without 0x."""

    name = "hex"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Of the text of an option."""
        try:
            return int(str(value), 16)
        except ValueError:
            self.fail(f"{value!r} is no hexadecimal number", param, ctx)


@click.group(
    epilog=SETUP_HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="rig/rig")
def main() -> None:
    """Runs flashrom in guests of many speeds against chips that keep their own time.

    It answers whether any operation was timed too short, and how long programming took.
    """


@main.command()
@click.option("--plan", default="default", show_default=True, help="A plan's name, or a TOML file.")
@click.option(
    "--subject", "subjects", multiple=True, help="Runs this flashrom instead; repeatable."
)
@click.option("--cell", "patterns", multiple=True, help="Only cells whose id matches; repeatable.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for results and cells.")
@click.option("--jobs", type=click.IntRange(1), help="Guests at a time; default: the CPUs.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="For all data.")
@click.option(
    "--connect", metavar="URI", help="Runs guests through this libvirt; `embed` needs no daemon."
)
@click.option("--delay-symbol", default="", help="The delay function of path: subjects.")
@click.option(
    "--delay-offset",
    metavar="HEX",
    type=Hex(),
    help="The same by its offset in the program's file.",
)
@click.option("--dry-run", is_flag=True, help="Lists the cells and ends.")
@click.option("--no-color", is_flag=True, help="Plain text; NO_COLOR does the same.")
@explained
def run(
    plan: str,
    subjects: tuple[str, ...],
    patterns: tuple[str, ...],
    out: Path | None,
    jobs: int | None,
    seed: int,
    connect: str | None,
    delay_symbol: str,
    delay_offset: int | None,
    dry_run: bool,
    no_color: bool,
) -> None:
    """Runs a plan: every cell in its guest, a verdict for each, and the answer."""
    paths = find_paths()
    choice = choose_cells(
        plan=plan, subjects=list(subjects), patterns=list(patterns), seed=seed, paths=paths
    )
    if dry_run:
        for cell in choice.cells:
            click.echo(f"{cell.id}" + (f"  expect {cell.expect}" if cell.expect != "pass" else ""))
        click.echo(f"{len(choice.cells)} cells", err=True)
        return
    check_connect(connect, choice.cells)
    folder = out or _default_out(plan)
    check_out(folder, choice.cells)
    request = Request(
        plan=plan,
        cells=choice.cells,
        contrasts=choice.contrasts,
        chips=choice.chips,
        recipes=choice.recipes,
        out=folder,
        jobs=jobs or len(os.sched_getaffinity(0)),
        seed=seed,
        connect=connect,
        argv=sys.argv[1:],
        delay=DelayWish(symbol=delay_symbol, offset=delay_offset),
    )
    results = _run(request, paths, no_color=no_color)
    code = exit_code_of_run(results.cells, results.contrasts)
    print_results(results, code, make_console(no_color=no_color), out=str(folder))
    sys.exit(code)


@main.command()
@click.argument("cell", required=False)
@click.option("--plan", default="default", show_default=True, help="The plan that names the cell.")
@click.option(
    "--from",
    "run_folder",
    type=click.Path(path_type=Path, exists=True),
    help="Plan and seed of this run; without CELL its first conviction.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder for what is tried.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="For all data.")
@click.option(
    "--limit-s", type=click.FloatRange(1), default=120, show_default=True, help="Host time for it."
)
@explained
def shrink(
    cell: str | None,
    plan: str,
    run_folder: Path | None,
    out: Path | None,
    seed: int,
    limit_s: float,
) -> None:
    """Looks for the simplest cell in which CELL's conviction still shows.

    CELL is the id of a cell, as `rig/rig run --dry-run` lists them; * stands for anything. Ends
    with the one line that runs what was found, and exits 1, as that line does.
    """
    if run_folder is not None:
        results = read_results(run_folder)
        plan, seed = results.run.plan, results.run.seed
        cell = cell or first_conviction(results, str(run_folder))
    if cell is None:
        raise BadInputError("no cell to shrink", hint="name CELL, or a run with --from")
    paths = find_paths()
    choice = choose_cells(plan=plan, subjects=[], patterns=[cell], seed=seed, paths=paths)
    cells, chips = choice.cells, choice.chips
    if len(cells) > 1:
        raise BadInputError(
            f"{len(cells)} cells of {plan} match {cell}", hint=f"name one, such as {cells[0].id}"
        )
    folder = out or _default_out(SHRUNK)
    check_out(folder, cells)
    found = folder / f"{SHRUNK}.toml"
    trials = Trials(
        chips=chips,
        recipes=choice.recipes,
        paths=paths,
        out=folder,
        plan=str(found),
        argv=sys.argv[1:],
        preparing=lambda what: click.echo(f"making {what}", err=True),
    )
    work = shrink_cell(cells[0], chips, trials.run, limit_s=limit_s, watch=show_step)
    kept = f"what was tried is kept in {folder}"
    shrunk = _until_interrupted(work, kept=kept, no_color=False)
    found.write_text(plan_text(shrunk.cell))
    show_shrunk(shrunk, str(found))
    sys.exit(ExitCode.UNSAFE)


def _run(request: Request, paths: Paths, *, no_color: bool) -> Results:
    with RunProgress(make_console(stderr=True, no_color=no_color)) as progress:
        return _until_interrupted(
            run_request(request, paths, progress),
            kept=f"finished cells are kept in {request.out}",
            no_color=no_color,
        )


def _until_interrupted(work: Coroutine[Any, Any, R], *, kept: str, no_color: bool) -> R:
    try:
        return asyncio.run(until_told_to_end(work))
    except (KeyboardInterrupt, asyncio.CancelledError):
        make_console(stderr=True, no_color=no_color).print(f"interrupted; {kept}", markup=False)
        sys.exit(INTERRUPTED)


def _default_out(plan: str) -> Path:
    now = dt.datetime.now(dt.UTC)
    return Path("out") / f"{Path(plan).stem}-{now:%Y%m%d-%H%M%S}"


@main.command()
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("--exact", is_flag=True, required=True, help="Everything must be equal to the ns.")
@click.option("--no-color", is_flag=True, help="Plain text; NO_COLOR does the same.")
@explained
def compare(first: Path, second: Path, exact: bool, no_color: bool) -> None:  # noqa: ARG001
    """Compares the virtual cells of two runs, given their --out folders.

    Exits 0 where every planned cell is the same in both, 4 where that cannot be said (unequal
    images or seeds, cells or events missing), 99 where equal ones gave unequal results.
    """
    console = make_console(no_color=no_color)
    comparison = compare_exactly(first, second)
    for line in comparison.doubts:
        console.print(f"doubt: {line}", markup=False, soft_wrap=True)
    if comparison.same_inputs:
        for line in comparison.differences:
            console.print(f"differs: {line}", markup=False, soft_wrap=True)
    elif comparison.differences:
        console.print(
            f"{len(comparison.differences)} figures differ, as those of unequal inputs do"
        )
    same = "all the same" if comparison.exit_code is ExitCode.PASS else "not shown to be the same"
    console.print(f"{comparison.compared} cells compared: {same}", markup=False)
    sys.exit(comparison.exit_code)


@main.group()
def benchmark() -> None:
    """Measures the rig itself."""


@benchmark.command("cells")
@click.option("--plan", default="default", show_default=True, help="A plan's name, or a TOML file.")
@click.option("--cell", "patterns", multiple=True, help="Only cells whose id matches; repeatable.")
@click.option("--boots", type=click.IntRange(1), default=8, show_default=True, help="To boot, too.")
@click.option("--jobs", type=click.IntRange(1), help="Guests at a time; default: the CPUs.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for what was found.")
@click.option("--no-color", is_flag=True, help="Plain text; NO_COLOR does the same.")
@explained
def benchmark_of_cells(
    plan: str,
    patterns: tuple[str, ...],
    boots: int,
    jobs: int | None,
    out: Path | None,
    no_color: bool,
) -> None:
    """Tells where the host time of a plan's cells goes, and what booting each would cost.

    Other work on this host makes wall times longer; CPU times and ratios say more then.
    """
    request, paths = _own_request(plan, patterns, 1, jobs, out or _default_out("benchmark"))
    console = make_console(no_color=no_color)
    with ManyRuns(make_console(stderr=True, no_color=no_color)) as progress:
        found = _until_interrupted(
            benchmark_cells(request, paths, boots=boots, progress=progress, began=progress.began),
            kept=f"finished cells are kept in {request.out}",
            no_color=no_color,
        )
    print_benchmark(found, console)
    console.print(f"results: {request.out / BENCHMARK_FILE}", markup=False, soft_wrap=True)


def _own_request(
    plan: str, patterns: tuple[str, ...], seed: int, jobs: int | None, out: Path
) -> tuple[Request, Paths]:
    """A run of the rig for its own sake."""
    paths = find_paths()
    choice = choose_cells(plan=plan, subjects=[], patterns=list(patterns), seed=seed, paths=paths)
    check_out(out, choice.cells)
    request = Request(
        plan=plan,
        cells=choice.cells,
        contrasts=[],
        chips=choice.chips,
        recipes=choice.recipes,
        out=out.absolute(),
        jobs=jobs or len(os.sched_getaffinity(0)),
        seed=seed,
        connect=None,
        argv=sys.argv[1:],
    )
    return request, paths


@main.group()
def selfcheck() -> None:
    """Puts the rig itself to the test."""


@selfcheck.command()
@click.option(
    "--repeats",
    type=click.IntRange(2),
    default=6,
    show_default=True,
    help="Of every shape; with 6, every condition comes up.",
)
@click.option("--shapes", type=click.IntRange(1), default=10, show_default=True, help="How many.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="For all data.")
@click.option("--jobs", type=click.IntRange(1), help="Guests at a time; default: the CPUs.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for what was found.")
@click.option("--no-color", is_flag=True, help="Plain text; NO_COLOR does the same.")
@explained
def determinism(
    repeats: int, shapes: int, seed: int, jobs: int | None, out: Path | None, no_color: bool
) -> None:
    """Repeats guests of several shapes: is everything the same to the nanosecond?

    Every other repeat is made on a loaded host, some through libvirt, some with snapshots of
    their own. Exits 0 where all are the same, 4 where that cannot be said, 99 where a cell
    differs; its first differing event is named.
    """
    request, paths = _own_request(str(SHAPES), (), seed, jobs, out or _default_out("determinism"))
    check_shapes(shapes, len(request.cells))
    request = replace(request, cells=request.cells[:shapes])
    file = request.out / DETERMINISM_FILE
    with RepeatProgress(make_console(no_color=no_color), repeats) as progress:
        answer = _until_interrupted(
            repeat_shapes(
                request, paths, repeats=repeats, progress=progress, finished=progress.repeated
            ),
            kept=f"finished repeats are in {file}",
            no_color=no_color,
        )
    progress.answered(answer, str(file))
    sys.exit(answer.exit_code)


@main.command()
@click.argument("run_folder", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--beside", metavar="SUBJECT", default="debian:trixie", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="For machines; all times in nanoseconds.")
@click.option("--no-color", is_flag=True, help="Plain text; NO_COLOR does the same.")
@explained
def times(run_folder: Path, beside: str, as_json: bool, no_color: bool) -> None:
    """Tells what each cell of a run took, beside what it could not do without.

    The ratio is that of the total to the chip's busy time and the floor: the same bytes, written
    with the fewest transfers in the same guest. Each stands beside the total of another SUBJECT.
    """
    rows = time_rows(read_results(run_folder), beside=beside)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(rows)))
    else:
        make_console(no_color=no_color).print(time_table(rows, beside=beside))


@main.command()
@click.argument("folder", metavar="RUN|CELL", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="For machines; all times in nanoseconds.")
@click.option("--no-color", is_flag=True, help="Plain text; NO_COLOR does the same.")
@explained
def waste(folder: Path, as_json: bool, no_color: bool) -> None:
    """Tells where a flashrom waits for nothing, the largest sum first.

    By operation: how long the part had been ready when the next command came. Where cells of the
    delay witness are among them, also by who asked for a delay: how much of it the part was not
    busy at all.
    """
    found = waste_of(read_watched(folder))
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(found)))
        return
    for table in waste_tables(found):
        make_console(no_color=no_color).print(table, "")


TRACE_FORMATS = {"perfetto": as_perfetto, "vcd": as_vcd}


@main.command()
@click.argument("events", metavar="CELL|EVENTS", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "kind",
    type=click.Choice(sorted(TRACE_FORMATS)),
    default="perfetto",
    show_default=True,
    help="For ui.perfetto.dev and chrome://tracing, or for waveform viewers such as GTKWave.",
)
@click.option("-o", "--output", type=click.File("wb", atomic=True), default="-", help="A file.")
@explained
def trace(events: Path, kind: str, output: BinaryIO) -> None:
    """Turns the events of a cell into something to look at.

    CELL is the folder of a cell in a run's --out folder, EVENTS a file that serprog-emu or the
    dummy programmer left. Requests, commands, busy times, waits, delays, violations and faults each
    have a track of their own; times begin with the first of them.
    """
    try:
        timeline = timeline_of(read_events(events))
    except (LostGuestError, KeyError, TypeError) as error:
        raise BadInputError(
            f"{events}: not events that can be shown: {error}",
            hint="name a cell's folder, or an events.jsonl",
        ) from error
    output.write(TRACE_FORMATS[kind](timeline))


@main.command()
@click.argument("run_folder", metavar="RUN", type=click.Path(path_type=Path))
@explained
def parts(run_folder: Path) -> None:
    """Tells what each flashrom of a run did with each part, as a table for a README."""
    click.echo(markdown_table(read_results(run_folder)))


@main.command()
@click.option(
    "--subject", "names", multiple=True, help="Runs this flashrom instead of all three; repeatable."
)
@click.option("--runs", type=click.IntRange(1), default=72, show_default=True, help="For each.")
@click.option("--run", "number", type=click.IntRange(0), help="Only the run of this number.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the faults.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for results and findings.")
@click.option("--jobs", type=click.IntRange(1), default=8, show_default=True, help="At a time.")
@click.option(
    "--limit-s", type=float, default=60, show_default=True, help="A run that lasts longer hangs."
)
@explained
def faults(
    names: tuple[str, ...],
    runs: int,
    number: int | None,
    seed: int,
    out: Path | None,
    jobs: int,
    limit_s: float,
) -> None:
    """Lets things go wrong on the link: does flashrom end, and does it tell the truth?

    Runs on this machine and by its clock, so says nothing of delays. Exits 1 where a flashrom
    hung, crashed or called wrong data right, 99 where the emulator failed.
    """
    paths = find_paths()
    folder = out or _default_out("faults")
    check_out(folder, [])
    recipes = read_recipes(paths.checkout)
    for name in names:
        check_subject(name, recipes, "--subject")
    numbers = range(runs) if number is None else range(number, number + 1)
    bench = Bench(
        emulator=paths.emulator,
        chips=read_chips(paths.checkout),
        out=folder.absolute(),
        limit_s=limit_s,
    )
    with ExitStack() as stack:
        tell = lambda what: click.echo(f"making {what}", err=True)  # noqa: E731
        subjects = [
            stack.enter_context(
                host_subject(provide_subject(name, recipes, paths, tell), folder.absolute())
            )
            for name in names or FAULT_SUBJECTS
        ]
        done = run_campaign(
            bench, subjects, scenes_of(seed, numbers), jobs=jobs, finished=show_fault_run
        )
    (folder / "faults.json").write_bytes(msgspec.json.format(msgspec.json.encode(done)) + b"\n")
    click.echo(fault_table(done))
    sys.exit(exit_code_of_faults(done))


@main.command()
@explained
def plans() -> None:
    """Lists the plans that come with the rig."""
    for name in plan_names():
        click.echo(f"{name:12} {read_plan(find_plan(name)).about}")


@main.command()
@explained
def chips() -> None:
    """Lists the emulated chips."""
    for chip in read_chips(find_paths().checkout).values():
        click.echo(f"{chip.name:12} {chip.vendor:12} {chip.bus:4} {chip.size_bytes >> 10:6} KiB")


@main.command()
@explained
def hazards() -> None:
    """Lists what may happen to a subject while it runs, and how a plan names it."""
    for kind in KINDS:
        click.echo(f"{written(kind):32} {kind.concern:12} {kind.about}")


@main.command()
@explained
def subjects() -> None:
    """Lists the flashroms that can be put to the test."""
    for name in known_subjects(read_recipes(find_paths().checkout)):
        click.echo(name)


@main.command()
@click.option("--update-lock", is_flag=True, help="Writes images/lock.toml anew.")
@explained
def images(update_lock: bool) -> None:
    """Fetches and packs what guests are made of, and boots the snapshots of the shipped plans."""
    paths = find_paths()
    supplies = asyncio.run(_provide_images(paths))
    kernels = _every_kernel(paths) if update_lock else supplies.kernels
    entries = lock_entries(supplies.images, supplies.programs, kernels)
    if update_lock:
        (paths.checkout / "images" / "lock.toml").write_text(lock_text(entries), "utf-8")
    click.echo(
        f"kernel, {len(supplies.programs)} programs, {len(supplies.snapshots)} snapshots;"
        f" lock: {lock_state(entries, paths.checkout)}"
    )


PREPARED_PLANS = ("smoke", "default")


async def _provide_images(paths: Paths) -> Supplies:
    recipes = read_recipes(paths.checkout)
    cells = []
    for plan in PREPARED_PLANS:
        choice = choose_cells(plan=plan, subjects=[], patterns=[], seed=1, paths=paths)
        cells += choice.cells
    return await provide_supplies(
        cells=cells,
        recipes=recipes,
        paths=paths,
        pool=CpuPool(len(os.sched_getaffinity(0))),
        preparing=_say_making,
    )


def _every_kernel(paths: Paths) -> dict[str, Kernel]:
    """Also those that no shipped plan's set-up needs: the lock names them all."""
    recipes = read_recipes(paths.checkout).kernels
    return {
        name: provide_kernel(name, recipe, paths, _say_making) for name, recipe in recipes.items()
    }


def _say_making(what: str) -> None:
    click.echo(f"making {what}", err=True)
