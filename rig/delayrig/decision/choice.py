# SPDX-License-Identifier: GPL-2.0-or-later
"""Chooses the cell to run again by a part of its id, in a finished run or in a plan."""

import difflib
import fnmatch
import itertools
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec.structs import replace

from delayrig.base.errors import NOT_JSON, BadInputError
from delayrig.base.paths import Paths
from delayrig.decision.decision import FILE_NAME as GATE_FILE
from delayrig.decision.decision import read_decision
from delayrig.decision.request import BASELINE, CANDIDATE, rounds_of
from delayrig.decision.shrink import Shrunk, first_conviction
from delayrig.hazards.of_cell import check_cell
from delayrig.model.cell import Cell, Expect, Role, place_of
from delayrig.model.chips import ChipFacts, read_chips
from delayrig.model.lane import LaneName
from delayrig.model.result import FILE_NAME, CellResult, Results, id_fault, read_results
from delayrig.plan.from_flags import words_of_cell
from delayrig.plan.request import choose_cells
from delayrig.plan.schema import plan_names
from delayrig.subjects.delay_function import DelayOptions
from delayrig.subjects.recipes import Recipes, read_recipes
from delayrig.subjects.saved_programs import is_saved, programs_beside
from delayrig.subjects.subject import check_subject

LISTED_MAX = 8
USUAL_PLAN = "default"
PIPELINE_RUN = "run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    cell: str | None
    run_folder: Path | None = None
    plan: str | None = None
    subject: str | None = None
    lane: LaneName | None = None
    seed: int | None = None
    delay: DelayOptions = field(default_factory=DelayOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """The result of an earlier run of the cell, and its inputs."""

    result: CellResult
    digests: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A cell that can be run, and its earlier result if that is known."""

    cell: Cell
    plan: str
    chips: dict[str, ChipFacts]
    recipes: Recipes
    delay: DelayOptions
    before: Before | None = None
    again: tuple[str, ...] = ()
    """The arguments of `rig/rig` that repeat this; empty: `rig/rig run` can repeat it."""


def find_id(wanted: str, ids: Sequence[str], *, where: str, hint: str) -> str:
    """Returns the one id that is `wanted`, matches it (`*`), or contains it, tried in this order.

    Raises `BadInputError` with the nearest id if none fits, or with some if several do.
    """
    # Ids replace the colons of subjects and hazards by dashes.
    part = wanted.lower().replace(":", "-")
    for found in (
        [one for one in ids if one == wanted],
        [one for one in ids if fnmatch.fnmatchcase(one, wanted)],
        [one for one in ids if part in one.lower()],
    ):
        if len(found) == 1:
            return found[0]
        if found:
            listed = "".join(f"\n    {one}" for one in found[:LISTED_MAX])
            more = f"\n    and {len(found) - LISTED_MAX} more" if len(found) > LISTED_MAX else ""
            raise BadInputError(
                f"{wanted!r} is a part of {len(found)} cells of {where}:{listed}{more}",
                hint="give a part that only one of them has, or the whole id",
            )
    near = _nearest(wanted, ids)
    meant = f"did you mean {near}? " if near else ""
    raise BadInputError(f"no cell of {where} has {wanted!r} in its id", hint=f"{meant}{hint}")


def _nearest(wanted: str, ids: Sequence[str]) -> str:
    """Returns the nearest id; empty if none is near.

    Ids are long and the typed text is short, so the parts between dots are compared.
    """
    words = wanted.lower().split(".")

    def likeness(candidate: str) -> float:
        parts = candidate.lower().split(".")
        each = [
            max(difflib.SequenceMatcher(None, word, part).ratio() for part in parts)
            for word in words
        ]
        return sum(each) / len(each)

    best = max(ids, key=likeness, default="")
    return best if best and likeness(best) >= 0.5 else ""


def choose(asked: Asked, paths: Paths) -> Chosen:
    """Returns the requested cell, without starting anything; raises `BadInputError`."""
    return (
        _from_run(asked, asked.run_folder, paths) if asked.run_folder else _from_plan(asked, paths)
    )


def _from_plan(asked: Asked, paths: Paths) -> Chosen:
    if asked.cell is None:
        raise BadInputError(
            "no cell to run again", hint="name CELL, or a run with --from, or `heterogeneous`"
        )
    plan = asked.plan or _plan_that_has(asked, paths)
    choice = choose_cells(
        plan=plan,
        subjects=[asked.subject] if asked.subject else [],
        seed=1 if asked.seed is None else asked.seed,
        paths=paths,
        lane=asked.lane,
    )
    cells = {cell.id: cell for cell in choice.cells}
    if asked.subject:
        cells = {id_: cell for id_, cell in cells.items() if cell.subject == asked.subject}
    wanted = _in_place(asked.cell, list(cells)) if asked.subject else asked.cell
    hint = f"`rig/rig run --plan {plan} --dry-run` lists them"
    found = find_id(wanted, list(cells), where=f"plan {plan}", hint=hint)
    return Chosen(
        cell=cells[found],
        plan=plan,
        chips=choice.checked.chips,
        recipes=choice.checked.recipes,
        delay=asked.delay,
    )


def _in_place(wanted: str, ids: Sequence[str]) -> str:
    """Returns the one of `ids` that differs from `wanted` only in its subject.

    Returns `wanted` if there is none, or if it is not a whole id.
    """
    if wanted.count(".") < 2 or wanted in ids:
        return wanted
    same = [one for one in ids if place_of(one) == place_of(wanted)]
    return same[0] if len(same) == 1 else wanted


def _plan_that_has(asked: Asked, paths: Paths) -> str:
    """Returns the first shipped plan with a cell that fits, beginning with the usual plan.

    Returns the usual plan if none has.
    """
    assert asked.cell is not None
    wanted = asked.cell.lower()
    others = [name for name in sorted(plan_names()) if name != USUAL_PLAN]
    for plan in (USUAL_PLAN, *others):
        choice = choose_cells(plan=plan, paths=paths, lane=asked.lane)
        ids = [cell.id for cell in choice.cells]
        if any(wanted in one.lower() or fnmatch.fnmatchcase(one, asked.cell) for one in ids):
            return plan
    return USUAL_PLAN


def _from_run(asked: Asked, run: Path, paths: Paths) -> Chosen:
    if asked.plan:
        raise BadInputError(
            f"--plan {asked.plan}: a run has its plan already",
            hint=f"leave --plan out, or --from {run}",
        )
    given = run
    run, found = find_in_run(run_below(run), asked.cell)
    results = read_results(run)
    result = next(cell for cell in results.cells if cell.id == found)
    chips = read_chips(paths.checkout)
    recipes = replace(read_recipes(paths.checkout), saved=programs_beside(run))
    cell = kept_cell(run, found) or _planned_cell(results, result, paths)
    if cell.chip not in chips:
        raise BadInputError(
            f"{run}: cell {cell.id}: this rig has no chip {cell.chip!r}",
            hint="`rig/rig chips` lists those that it has",
        )
    again = _changed(cell, asked)
    if not is_saved(again.subject, recipes):
        check_subject(again.subject, recipes, f"{run}: cell {again.id}")
    check_cell(again, chips[again.chip], run)
    options = {"--subject": asked.subject, "--lane": asked.lane, "--seed": asked.seed}
    changes = [str(word) for pair in options.items() if pair[1] is not None for word in pair]
    before = Before(result=result, digests=results.run.image_digests)
    return Chosen(
        cell=again,
        plan=results.run.plan,
        chips=chips,
        recipes=recipes,
        delay=asked.delay if asked.delay.words else delay_options_of(result.rerun),
        before=before if again == cell else None,
        again=("repro", "--from", str(given), found, *changes),
    )


def run_below(folder: Path) -> Path:
    """Returns the folder of the run or gate inside an output folder of `ci/gate.sh`."""
    has_run = any((folder / name).is_file() for name in (GATE_FILE, FILE_NAME))
    return folder if has_run or not (folder / PIPELINE_RUN).is_dir() else folder / PIPELINE_RUN


def ids_in_run(run: Path) -> list[str]:
    return _ids_in(_runs_in(run_below(run)))


def _ids_in(runs: Mapping[Path, Results]) -> list[str]:
    return list(dict.fromkeys(cell.id for results in runs.values() for cell in results.cells))


def _runs_in(run: Path) -> dict[Path, Results]:
    """Returns results by folder: the run's, or a gate's, with the candidate's rounds first."""
    if not (run / GATE_FILE).is_file():
        return {run: read_results(run)}
    sides = (*rounds_of(run, CANDIDATE), *rounds_of(run, BASELINE))
    return {side: read_results(side) for side in sides if side.is_dir()}


def find_in_run(run: Path, wanted: str | None) -> tuple[Path, str]:
    """Returns the first folder with the cell, and its whole id; the worst cell if none is named.

    The worst cell is the first conviction, or the first that decided a gate.
    """
    runs = _runs_in(run)
    if not wanted and run in runs:
        return run, first_conviction(runs[run], str(run))
    if not wanted:
        decided = read_decision(run).cells
        if not decided:
            raise BadInputError(f"{run}: the gate has no cells", hint="name another run, or a cell")
        wanted = decided[0].id
    hint = f"`{run}` lists its cells in {FILE_NAME}"
    found = find_id(wanted, _ids_in(runs), where=f"the run in {run}", hint=hint)
    return next(side for side in runs if found in (c.id for c in runs[side].cells)), found


def _changed(cell: Cell, asked: Asked) -> Cell:
    """Returns the cell with the user's changes. Another subject or lane drops the expectation."""
    again = cell if asked.seed is None else replace(cell, seed=asked.seed)
    if asked.subject and asked.subject != cell.subject:
        again = replace(
            again, subject=asked.subject, side="", role=Role.MEASURE, expect=Expect.PASS
        )
    if asked.lane and asked.lane is not cell.lane:
        # The host lane has no speeds, and each other lane has different ones. So a cell can only
        # be moved to the host lane.
        if asked.lane is not LaneName.HOST:
            raise BadInputError(
                f"--lane {asked.lane}: {cell.id} was run on the lane {cell.lane}, so it has no"
                f" speed of the lane {asked.lane}",
                hint="name its plan with --plan instead of --from",
            )
        again = replace(
            again, lane=asked.lane, expect=Expect.PASS, icount_shift=0, machine="", core_mips=()
        )
    return again


def kept_cell(run: Path, cell: str) -> Cell | None:
    """Returns the cell from its cell.json in the run, as the plan may have changed since.

    Returns None if the file is missing, or holds no valid cell.
    """
    path = (run if run.is_dir() else run.parent) / cell / "cell.json"
    if not path.is_file():
        return None
    try:
        kept = msgspec.json.decode(path.read_bytes(), type=Cell)
    except NOT_JSON:
        return None
    # The id becomes the name of a folder, and the file may come from anybody.
    return None if id_fault(kept.id) else kept


def _planned_cell(results: Results, result: CellResult, paths: Paths) -> Cell:
    choice = choose_cells(
        plan=results.run.plan,
        subjects=[result.subject.name] if result.role == Role.MEASURE else [],
        seed=results.run.seed,
        paths=paths,
        lane=LaneName(result.lane),
    )
    for cell in choice.cells:
        if place_of(cell.id) == result.place and cell.subject == result.subject.name:
            return cell
    raise BadInputError(
        f"plan {results.run.plan} has no cell {result.id} any more",
        hint="restore that cell's folder in the run: its cell.json is enough",
    )


def delay_options_of(rerun: str) -> DelayOptions:
    """Returns the delay function that the command names; no function if it cannot be parsed."""
    try:
        values = dict(itertools.pairwise(shlex.split(rerun)))
        offset = values.get("--delay-offset")
        return DelayOptions(
            symbol=values.get("--delay-symbol", ""), offset=int(offset, 16) if offset else None
        )
    except ValueError:
        return DelayOptions()


def line_of(shrunk: Shrunk) -> list[str]:
    """Returns the command that runs the found cell, without a plan."""
    delay = delay_options_of(shrunk.result.rerun).words
    return ["rig/rig", *words_of_cell(shrunk.cell), *delay]
