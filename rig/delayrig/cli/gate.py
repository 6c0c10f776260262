# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig gate`: may a change go in?"""

import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import click
from click.decorators import FC

from delayrig.analysis.gate.decision import FILE_NAME, Decision, Limits
from delayrig.analysis.gate.judge import Terms, decide
from delayrig.analysis.gate.performance import PAIRS_MIN
from delayrig.analysis.gate.request import (
    ABORT,
    BASELINE,
    CANDIDATE,
    GateRequest,
    bisect_code,
    build_candidate,
    cells_of,
    check_built,
    check_watched,
    is_subject,
    labels_of,
    read_baseline,
    run_rounds,
)
from delayrig.base.atomic_file import write_json
from delayrig.base.errors import BadInputError, BuildError, ExitCode
from delayrig.base.paths import Paths, find_paths
from delayrig.cli.cells import (
    ClusterGiven,
    cluster_options,
    connect_option,
    lane_option,
    unconfined_option,
)
from delayrig.cli.command import (
    INTERRUPTED,
    RigCommand,
    default_out,
    delay_options,
    first_error,
    gathered,
    is_unconfined,
    run_progress,
    tell,
    until_interrupted,
)
from delayrig.cli.export import format_option, read_report, speaks, write_formats
from delayrig.cli.option_types import PLAN_NAME, SUBJECT, SUBJECT_OR_RUN, given_tree
from delayrig.cli.recording import HistoryWish, history_options, own_words, record_gate
from delayrig.cli.verbosity import make_console, note, tables_or_json, tell_json
from delayrig.images.delay_function import DelayWish
from delayrig.images.git_tree import choose_baseline, is_known, known_source, take_source
from delayrig.images.recipes import read_recipes
from delayrig.images.saved_programs import FOLDER as PROGRAMS
from delayrig.model.lane import EXACT_LANE, LaneName
from delayrig.model.result import Results
from delayrig.plan.request import check_connect, check_out, choose_cells
from delayrig.present.formats.known import wanted_formats
from delayrig.present.terminal.comparison import print_decision
from delayrig.present.terminal.console import say

PLAN = "gate"
LIMITS = {
    "slowdown": "How much longer any cell may take; up to 50 ms are no reason.",
    "cpu": "How much more CPU time it may take; up to 50 ms are no reason.",
    "total-slowdown": "How much longer all exact cells together may take.",
    "total-cpu": "How much more CPU time they may take.",
}
"""How much more than the baseline is allowed, in percent: by option."""


class _AbortingError(click.UsageError):
    """Wrong options would be wrong for each revision."""

    exit_code = ABORT


class _GateCommand(RigCommand):
    """Wrong options must not convict a revision: `git bisect run` takes 2 for bad."""

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
class _Wish:
    baseline: str | None
    candidate: str | None
    labels: tuple[str, ...]
    plan: str | None
    lane: LaneName | None
    limits: Limits
    rounds: int | None
    build: str
    bisect: bool
    out: Path | None
    jobs: int | None
    seed: int | None
    connect: str | None
    cluster: ClusterGiven
    delay: DelayWish
    formats: tuple[str, ...]
    history: HistoryWish
    dry_run: bool


def _limit_option(name: str, about: str) -> Callable[[FC], FC]:
    key = f"{name.replace('-', '_')}_pct"
    return click.option(
        f"--max-{name}",
        key,
        type=click.FloatRange(0),
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
    help="What is there: a subject, or a stored run.  [default: where the work tree of --tree left"
    " the branch upstream, or its last commit]",
)
@click.option(
    "--candidate",
    type=SUBJECT,
    metavar="S",
    help="What is to go in: a subject.  [default: the work tree of --tree, as it is]",
)
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="[SIDE=]NAME",
    help="What answers call the candidate, or the SIDE (baseline, candidate).",
)
@click.option(
    "--plan",
    type=PLAN_NAME,
    help=f"A plan's name, or a TOML file.  [default: {PLAN}, or that of RUN]",
)
@lane_option
@unconfined_option
@gathered("limits", Limits, *(_limit_option(*limit) for limit in LIMITS.items()))
@click.option(
    "--rounds",
    type=click.IntRange(1),
    help=f"Of cells of real time.  [default: {2 * PAIRS_MIN}, or 1 against RUN]",
)
@click.option("--build", default="", metavar="CMD", help="Builds the candidate first, in a shell.")
@click.option("--bisect", is_flag=True, help="Exit codes for `git bisect run`.")
@click.option("--dry-run", is_flag=True, help="Lists the cells of both and ends.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for results and cells.")
@click.option("--jobs", type=click.IntRange(1), help="Cells at a time; default: as for `run`.")
@click.option("--seed", type=click.IntRange(0), help="For all data.  [default: 1, or that of RUN]")
@connect_option
@cluster_options
@delay_options
@format_option(required=False)
@history_options
@tables_or_json
@gathered("wish", _Wish)
def gate(wish: _Wish) -> None:
    """Decides whether the candidate may take the baseline's place.

    Both run in the same cells. `--tree .` gates the change that is in this folder. Exits 1 where
    the candidate is unsafe in any, whatever a plan expects; else 3 where it takes more than it may,
    4 where something stays in doubt, and 0.
    """
    try:
        code = _gate(wish)
    except Exception as raised:
        if not wish.bisect:
            raise
        sys.exit(bisect_code(tell(raised), untestable=isinstance(first_error(raised), BuildError)))
    sys.exit(bisect_code(code) if wish.bisect else code)


def _gate(wish: _Wish) -> ExitCode:
    paths = find_paths()
    wanted = wanted_formats(wish.formats)
    kept_in = wish.history.address()
    wish = _with_both_sides(wish, paths)
    if wish.dry_run:
        _list_cells(_request(wish, paths))
        return ExitCode.PASS
    if wish.build:
        _build(wish)
    request = _request(wish, paths)
    folder = request.candidate.out
    with run_progress() as progress:
        runs = until_interrupted(
            run_rounds(request, paths, progress), kept=f"finished cells are kept in {folder}"
        )
    decision = _decide(request, runs, wish.limits)
    write_json(folder / FILE_NAME, decision)
    tell_json(decision)
    console = make_console(stderr=speaks(wanted))
    try:
        print_decision(decision, console)
        console.print(f"gate: {shlex.join(['rig/rig', *own_words()])}", soft_wrap=True)
        say(console, f"decision: {folder / FILE_NAME}")
        write_formats(wanted, replace(read_report(folder), source_root=request.tree))
    finally:
        record_gate(kept_in, folder)
    return ExitCode(decision.exit_code)


def _with_both_sides(wish: _Wish, paths: Paths) -> _Wish:
    """Takes a side that is not named from `--tree`, and says which it is."""
    tree = given_tree()
    if tree is None and (wish.baseline is None or wish.candidate is None):
        missing = "--baseline" if wish.baseline is None else "--candidate"
        raise BadInputError(
            f"{missing} is missing", hint="name it, or the changed tree with --tree DIR"
        )
    if wish.candidate is None and tree is not None:
        source = take_source("", tree, paths)
        note(f"candidate: {source.label}")
        wish = replace(wish, candidate=source.name)
    if wish.baseline is None and tree is not None:
        choice = choose_baseline(tree)
        source = take_source(choice.revision, tree, paths)
        note(f"baseline: {source.label}, {choice.why}")
        wish = replace(wish, baseline=source.name)
    return wish


def _build(wish: _Wish) -> None:
    try:
        build_candidate(wish.build)
    except KeyboardInterrupt:
        # Not click's exit code, which convicts: git is to end its bisection.
        click.echo("interrupted; nothing was run", err=True)
        sys.exit(INTERRUPTED)
    check_built(wish.candidate or "")


def _list_cells(request: GateRequest) -> None:
    """What is built first is left as it is."""
    theirs = [] if request.baseline is None else request.baseline.cells
    for side, cells in (("baseline", theirs), ("candidate", request.candidate.cells)):
        for cell in cells:
            click.echo(f"{side:9}  {cell.id}")
    rounds = f", {request.rounds} times each" if request.rounds > 1 else ""
    note(f"{len(theirs) + len(request.candidate.cells)} cells{rounds}")


def _request(wish: _Wish, paths: Paths) -> GateRequest:
    """Checks all that can be checked before anything is run."""
    baseline, subject = wish.baseline or "", wish.candidate or ""
    is_run = not is_subject(baseline, read_recipes(paths.checkout))
    stored = read_baseline(Path(baseline)) if is_run else None
    ours = known_source(subject, paths) if is_known(subject, paths) else None
    header = stored.results.run if stored else None
    plan = wish.plan or (header.plan if header else PLAN)
    seed = wish.seed if wish.seed is not None else header.seed if header else 1
    choice = choose_cells(
        plan=plan,
        subjects=[subject] if stored else [baseline, subject],
        seed=seed,
        paths=paths,
        lane=wish.lane or (stored.lane if stored else None),
    )
    cells = cells_of(subject, choice.cells, watched=True)
    check_watched(cells, plan)
    check_connect(wish.connect, choice.cells)
    if stored:
        stored.check_cells(cells)
    folder = (wish.out or default_out("gate")).absolute()
    theirs = [] if stored else cells_of(baseline, choice.cells, watched=False)
    # Cells of a lane of their own are asked for safety alone, so nothing is compared there.
    theirs = [cell for cell in theirs if cell.lane is choice.lane]
    if not wish.dry_run:
        check_out(folder, [*theirs, *cells], name=FILE_NAME)
    candidate = replace(
        choice.request(plan, folder, seed=seed, argv=own_words(), jobs=wish.jobs),
        cells=cells,
        connect=wish.connect,
        cluster=wish.cluster.wish(),
        unconfined=is_unconfined(),
        delay=wish.delay,
        keeps_programs=folder / PROGRAMS,
        again=lambda cell: ["repro", "--from", _from_here(folder), cell.id],
    )
    is_real = choice.lane != EXACT_LANE
    return GateRequest(
        baseline=None if stored else replace(candidate, cells=theirs),
        candidate=candidate,
        stored=stored,
        # A stored baseline has no halves of pairs to offer.
        rounds=(wish.rounds or (1 if stored else 2 * PAIRS_MIN)) if is_real else 1,
        labels=labels_of(wish.labels, {BASELINE: baseline, CANDIDATE: subject}, paths),
        tree=Path(ours.folder) if ours else None,
    )


def _from_here(folder: Path) -> str:
    """As it is to be typed where the gate was: a job's own folder is on no other machine."""
    return str(folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder)


def _decide(request: GateRequest, runs: list[list[Results]], limits: Limits) -> Decision:
    stored = request.stored
    terms = Terms(
        limits=limits,
        stored=str(stored.path) if stored else "",
        labels=(request.labels.get(BASELINE, ""), request.labels.get(CANDIDATE, "")),
    )
    baseline = [stored.results] if stored else [sides[0] for sides in runs]
    return decide(baseline, [sides[-1] for sides in runs], terms)
