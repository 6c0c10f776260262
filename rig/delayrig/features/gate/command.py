# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig gate`: may a change go in?"""

import shlex
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import click
from click.decorators import FC

from delayrig.base.atomic_file import write_json
from delayrig.base.errors import BadInputError, BuildError, ExitCode
from delayrig.base.paths import LAUNCHER, Paths, as_called, find_paths
from delayrig.cli import command as cli
from delayrig.cli.cells import (
    ClusterGiven,
    cluster_options,
    connect_option,
    lane_option,
    programmers_option,
    unconfined_option,
)
from delayrig.cli.option_types import PLAN_NAME, SUBJECT, SUBJECT_OR_RUN, FloatRange, given_tree
from delayrig.cli.verbosity import (
    Verbosity,
    make_console,
    note,
    print_json,
    progress_console,
    tables_or_json,
    verbosity,
)
from delayrig.decision.decision import FILE_NAME, Decision, Limits
from delayrig.decision.gate_judge import Terms, decide
from delayrig.decision.known_faults import FILE_NAME as KNOWN_FAULTS
from delayrig.decision.known_faults import KnownFault, read_known_faults
from delayrig.decision.performance import PAIRS_MIN
from delayrig.decision.request import (
    ABORT,
    BASELINE,
    CANDIDATE,
    GateRequest,
    StoredBaseline,
    bisect_code,
    build_candidate,
    cells_of,
    check_built,
    check_watched,
    is_subject,
    labels_of,
    read_baseline,
    rounds_of,
    run_rounds,
)
from delayrig.features.coverage.runs import KEPT, find_changed_waits, programs_left
from delayrig.features.coverage.terminal import changed_wait_words
from delayrig.features.export import format_option, read_report, speaks, write_formats
from delayrig.features.gate import early
from delayrig.features.history import recording
from delayrig.model.cell import WATCHING, Cell, Programmer, place_of
from delayrig.model.lane import EXACT_LANE, LaneName
from delayrig.model.result import CellResult, Results
from delayrig.plan.cells import questions_of
from delayrig.plan.request import check_connect, choose_cells
from delayrig.present.comparison import print_decision
from delayrig.present.console import RunProgress, say
from delayrig.present.formats.known import wanted_formats
from delayrig.run.out_folder import check_out, default_out
from delayrig.subjects.delay_function import DelayOptions
from delayrig.subjects.git_tree import choose_baseline, is_known, known_source, take_source
from delayrig.subjects.recipes import read_recipes
from delayrig.subjects.saved_programs import FOLDER as PROGRAMS
from delayrig.subjects.saved_programs import programs_beside
from delayrig.subjects.subject import check_flashrom

PLAN = "gate"
LIMITS = {
    "slowdown": "How much longer each cell may take; up to 50 ms are ignored.",
    "cpu": "How much more CPU time each cell may take; up to 50 ms are ignored.",
    "total-slowdown": "How much longer all cells in virtual time may take together.",
    "total-cpu": "How much more CPU time they may take together.",
}
"""The allowed excess over the baseline in percent, by option."""


class _AbortingError(click.UsageError):
    """A usage error, which ends a bisection because every revision would have it."""

    exit_code = ABORT


class _GateCommand(cli.RigCommand):
    """A command whose usage errors end a bisection: git takes click's code 2 for a bad revision."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: object,
    ) -> click.Context:
        is_bisect = "--bisect" in args
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            if is_bisect:
                raise _AbortingError(error.message, ctx=error.ctx) from error
            raise


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    baseline: str | None
    candidate: str | None
    labels: tuple[str, ...]
    plan: str | None
    lane: LaneName | None
    limits: Limits
    absolute: bool
    known_faults: Path | None
    unreached: str
    rounds: int | None
    build: str
    bisect: bool
    out: Path | None
    jobs: int | None
    seed: int | None
    programmers: tuple[Programmer, ...]
    connect: str | None
    cluster: ClusterGiven
    delay: DelayOptions
    formats: tuple[str, ...]
    history: recording.HistoryOptions
    dry_run: bool


def _limit_option(name: str, about: str) -> Callable[[FC], FC]:
    key = f"{name.replace('-', '_')}_pct"
    return click.option(
        f"--max-{name}",
        key,
        type=FloatRange(0),
        default=getattr(Limits(), key),
        show_default=True,
        metavar="PCT",
        help=about,
    )


@click.command(cls=_GateCommand)
@click.option(
    "--baseline",
    type=SUBJECT_OR_RUN,
    metavar="S|RUN",
    help="The flashrom in use: a subject, or a stored run.  [default: where the work tree of --tree"
    " left the branch upstream, or its last commit]",
)
@click.option(
    "--candidate",
    type=SUBJECT,
    metavar="S",
    help="The flashrom to take its place: a subject.  [default: the work tree of --tree, as it is]",
)
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="[SIDE=]NAME",
    help="The name of the candidate, or of SIDE (baseline, candidate), in answers.",
)
@click.option(
    "--plan",
    type=PLAN_NAME,
    help=f"A plan's name, or a TOML file.  [default: {PLAN}, or that of RUN]",
)
@lane_option
@unconfined_option
@cli.gathered("limits", Limits, *(_limit_option(*limit) for limit in LIMITS.items()))
@click.option(
    "--absolute",
    is_flag=True,
    help="Asks whether the candidate is safe by itself, whatever the baseline does.",
)
@click.option(
    "--known-faults",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help=f"Known faults, which give no warning until a date.  [default: {KNOWN_FAULTS} in --tree]",
)
@click.option(
    "--unreached",
    type=click.Choice(("doubt", "ok")),
    default="doubt",
    show_default=True,
    help="Answer if no cell reached a changed wait.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1),
    help=f"Runs of each cell of real time.  [default: {2 * PAIRS_MIN}, or 1 against RUN]",
)
@click.option("--build", default="", metavar="CMD", help="Builds the candidate first, in a shell.")
@click.option(
    "--bisect", is_flag=True, help="Ends with the exit codes that `git bisect run` needs."
)
@click.option("--dry-run", is_flag=True, help="Lists the cells of both and ends.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for results and cells.")
@click.option("--jobs", type=click.IntRange(1), help="Cells at a time; default: as for `run`.")
@click.option(
    "--seed", type=click.IntRange(0), help="Seed of all random data.  [default: 1, or that of RUN]"
)
@programmers_option
@connect_option
@cluster_options
@cli.delay_options
@format_option(required=False)
@recording.history_options
@tables_or_json
@cli.gathered("options", _Options)
def gate(options: _Options) -> None:
    """Decides whether the candidate may take the baseline's place.

    Both run in the same cells. `--tree .` gates the change in this folder. Exits 1 if a fault is
    new or worse; else 3 if the candidate costs more than it may; else 4 if what changed cannot be
    judged; else 0. Faults of both are warnings.
    """
    try:
        code = _gate(options)
    except Exception as raised:
        if not options.bisect:
            raise
        is_untestable = isinstance(cli.first_error(raised), BuildError)
        sys.exit(bisect_code(cli.print_error(raised), untestable=is_untestable))
    sys.exit(bisect_code(code) if options.bisect else code)


def _gate(options: _Options) -> ExitCode:
    paths = find_paths()
    wanted = wanted_formats(options.formats)
    kept_in = options.history.address()
    options = _with_both_sides(options, paths)
    if options.dry_run:
        _list_cells(_request(options, paths))
        return ExitCode.PASS
    if options.build:
        _build(options)
    request = _request(options, paths)
    folder = request.candidate.out
    kept = f"{folder} keeps its finished cells; the same command runs all cells again"
    with _GateProgress(request, options) as progress:
        runs = cli.until_interrupted(run_rounds(request, paths, progress), kept=kept)
    seen = (cell for sides in runs for results in sides for cell in results.cells)
    early.keep_reached(paths.state / early.REACHED, seen)
    if request.stored:
        copy = folder / BASELINE / request.stored.path.name
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(request.stored.path.read_bytes())
    decision = _decide(request, runs, options, paths)
    write_json(folder / FILE_NAME, decision)
    print_json(decision)
    console = make_console(stderr=speaks(wanted))
    try:
        print_decision(decision, console)
        say(console, f"gate: {as_called(shlex.join([LAUNCHER, *recording.own_words()]))}")
        say(console, f"decision: {folder / FILE_NAME}")
        write_formats(wanted, replace(read_report(folder), source_root=request.tree))
    finally:
        recording.record(kept_in, folder)
    return ExitCode(decision.exit_code)


class _GateProgress(RunProgress):
    """The progress of a gate, which also prints a No as soon as it is certain."""

    def __init__(self, request: GateRequest, options: _Options) -> None:
        super().__init__(progress_console(), lines=verbosity() is Verbosity.VERBOSE)
        stored = request.stored.results.measured if request.stored else []
        self._early = early.EarlyAnswer(request.candidate.cells, stored, absolute=options.absolute)

    def finished(self, result: CellResult) -> None:
        super().finished(result)
        side = result.id.split(".")[1]
        if certain := self._early.finished(result, is_candidate=side == CANDIDATE):
            note(f"certain already: No, unsafe: {certain}")


def _with_both_sides(options: _Options, paths: Paths) -> _Options:
    """Takes a missing side from `--tree`, and prints what it took."""
    tree = given_tree()
    missing = [each for each in (BASELINE, CANDIDATE) if getattr(options, each) is None]
    if not missing:
        return options
    if tree is None:
        raise BadInputError(
            f"--{missing[0]} is missing", hint="name it, or the changed tree with --tree DIR"
        )
    # The choice of a baseline may refuse the tree, so it comes before any copy.
    choice = choose_baseline(tree) if BASELINE in missing else None
    if CANDIDATE in missing:
        source = take_source("", tree, paths)
        note(f"candidate: {source.label}")
        options = replace(options, candidate=source.name)
    if choice is not None:
        source = take_source(choice.revision, tree, paths)
        note(f"baseline: {source.label}, {choice.why}")
        options = replace(options, baseline=source.name)
    return options


def _build(options: _Options) -> None:
    try:
        build_candidate(options.build)
    except KeyboardInterrupt:
        # git must end its bisection; click would exit with 1, which means a bad revision.
        click.echo("interrupted; nothing was run", err=True)
        sys.exit(cli.INTERRUPTED)
    check_built(options.candidate or "")


def _list_cells(request: GateRequest) -> None:
    """Prints the cells of both sides, without building anything."""
    theirs = [] if request.baseline is None else request.baseline.cells
    for side, cells in (("baseline", theirs), ("candidate", request.candidate.cells)):
        for cell in cells:
            click.echo(f"{side:9}  {cell.id}")
    rounds = f", {request.rounds} times each" if request.rounds > 1 else ""
    note(f"{len(theirs) + len(request.candidate.cells)} cells{rounds}")


def _request(options: _Options, paths: Paths) -> GateRequest:
    """Returns the request, after each check that is possible before anything runs."""
    baseline, subject = options.baseline or "", options.candidate or ""
    is_run = not is_subject(baseline, read_recipes(paths.checkout))
    stored = read_baseline(Path(baseline)) if is_run else None
    header = stored.results.run if stored else None
    plan = options.plan or (header.plan if header else PLAN)
    seed = options.seed if options.seed is not None else header.seed if header else 1
    choice = choose_cells(
        plan=plan,
        subjects=({} if stored else {baseline: "--baseline"}) | {subject: "--candidate"},
        seed=seed,
        paths=paths,
        lane=options.lane or (stored.lane if stored else None),
        programmers=options.programmers,
    )
    for option, name in (("--baseline", baseline), ("--candidate", subject)):
        check_flashrom(name, choice.checked.chips.values(), option)
    ours = known_source(subject, paths) if is_known(subject, paths) else None
    cells = cells_of(subject, choice.cells, watched=True)
    check_watched(cells, plan)
    # Canaries and controls come first, because no early answer is certain before theirs.
    cells.sort(key=lambda cell: cell.role not in WATCHING)
    check_connect(options.connect, choice.cells)
    if stored:
        stored.check_cells(cells)
    theirs = [] if stored else cells_of(baseline, choice.cells, watched=False)
    folder = options.out or default_out("gate")
    if not options.dry_run:
        check_out(folder, [*theirs, *cells], name=FILE_NAME)
    folder = folder.absolute()
    candidate = replace(
        choice.request(plan, folder, seed=seed, argv=recording.own_words(), jobs=options.jobs),
        cells=cells,
        connect=options.connect,
        cluster=options.cluster.options(),
        unconfined=cli.is_unconfined(),
        delay=options.delay,
        keeps_programs=folder / PROGRAMS,
        again=lambda cell: ["repro", "--from", _from_here(folder), cell.id],
        first=_first(folder, stored, cells, paths).places,
    )
    is_real = choice.checked.lane != EXACT_LANE
    tree = Path(ours.folder) if ours else None
    return GateRequest(
        baseline=None if stored else replace(candidate, cells=theirs),
        candidate=candidate,
        stored=stored,
        # With a stored baseline there are no pairs of runs, so more rounds gain nothing.
        rounds=(options.rounds or (1 if stored else 2 * PAIRS_MIN)) if is_real else 1,
        questions=questions_of(choice.checked.plan, choice.cells),
        labels=labels_of(options.labels, {BASELINE: baseline, CANDIDATE: subject}, paths),
        known=_known_faults(options, tree),
        tree=tree,
    )


def _first(
    folder: Path, stored: StoredBaseline | None, cells: Iterable[Cell], paths: Paths
) -> early.FirstCells:
    theirs = Path(programs_beside(stored.folder)) if stored else folder / PROGRAMS
    measured = early.reached_in(stored.results.cells) if stored else {}
    return early.FirstCells(
        sides=(theirs / BASELINE, folder / PROGRAMS / CANDIDATE),
        reached=early.read_reached(paths.state / early.REACHED) | measured,
        watching={place_of(cell.id) for cell in cells if cell.role in WATCHING},
        kept=paths.images / KEPT,
    )


def _from_here(folder: Path) -> str:
    """Returns the folder for use in a command: relative if possible, to be valid elsewhere, too."""
    return str(folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder)


def _decide(
    request: GateRequest, runs: list[list[Results]], options: _Options, paths: Paths
) -> Decision:
    stored = request.stored
    reached, unreached = _changed_waits(request, options, paths)
    terms = Terms(
        limits=options.limits,
        absolute=options.absolute,
        questions=request.questions,
        known=request.known,
        stored=str(stored.path.resolve()) if stored else "",
        labels=(request.labels.get(BASELINE, ""), request.labels.get(CANDIDATE, "")),
        reached=reached,
        unreached=unreached,
    )
    baseline = [stored.results] if stored else [sides[0] for sides in runs]
    return decide(baseline, [sides[-1] for sides in runs], terms)


def _known_faults(options: _Options, tree: Path | None) -> list[KnownFault]:
    """Returns the faults of the file that the user named, else of that in the candidate's tree."""
    in_tree = tree / KNOWN_FAULTS if tree else None
    path = options.known_faults or (in_tree if in_tree and in_tree.is_file() else None)
    return read_known_faults(path) if path else []


def _changed_waits(
    request: GateRequest, options: _Options, paths: Paths
) -> tuple[list[str], list[str]]:
    """Returns lines on the changed waits that cells reached, and on those that none reached."""
    folder, stored = request.candidate.out, request.stored
    theirs = [stored.folder] if stored else rounds_of(folder, BASELINE)
    programs = programs_left(stored.folder, paths, cli.say_making) if stored else []
    changed = find_changed_waits(theirs, rounds_of(folder, CANDIDATE), paths, programs)
    words = changed_wait_words(changed)
    if options.unreached == "ok":
        return [*words.unreached, *words.reached], []
    return words.reached, words.unreached
