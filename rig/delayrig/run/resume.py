# SPDX-License-Identifier: GPL-2.0-or-later
"""Resumes an interrupted run: which cells are done, and whether the rest has the same inputs."""

import contextlib
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from delayrig.base.atomic_file import write_json
from delayrig.base.errors import NOT_JSON, BadInputError
from delayrig.model.cell import Cell
from delayrig.model.lane import REAL_TIME
from delayrig.model.result import (
    CellResult,
    HostFacts,
    RunHeader,
    Verdict,
    own_fault,
    read_versioned,
)
from delayrig.plan.request import Request

FILE_NAME = "begun.json"
SCHEMA = 1
CELL, RESULT = "cell.json", "result.json"
FIRST_TRY = "first-try"
"""The folder in a lost cell's folder with the files of its first try."""
OF_THE_RIG = ("rig_version", "commit", "plan", "seed", "qemu_version", "image_digests")
OTHERWISE = "name another folder; to resume that run, use the same options and the same rig"


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    schema: int = SCHEMA
    run: RunHeader
    delay: list[str]
    """The options that name the delay function of path: subjects."""


def begin(request: Request, header: RunHeader) -> RunHeader:
    """Records that a run has begun, or resumes one. Returns its header, with its first start time.

    Raises `BadInputError` if the run to resume was begun with other inputs.
    """
    begun = Begun(run=header, delay=request.delay.words)
    path = request.out / FILE_NAME
    if request.resume:
        known = read_versioned(path, Begun, schema=SCHEMA)
        pairs = [(f"run.{k}", getattr(known.run, k), getattr(header, k)) for k in OF_THE_RIG]
        if any(cell.lane in REAL_TIME for cell in request.cells):
            pairs.append(("run.host", _lasting(known.run.host), _lasting(header.host)))
        for key, then, now in (*pairs, ("delay", known.delay, begun.delay)):
            if then != now:
                raise BadInputError(
                    f"{path}: key '{key}': the run was begun with {_short(then)},"
                    f" and this one has {_short(now)}",
                    hint=OTHERWISE,
                )
        return msgspec.structs.replace(header, started=known.run.started)
    write_json(path, begun)
    return header


def _lasting(host: HostFacts) -> HostFacts:
    """Returns the facts without the frequencies at the start of the run, which change."""
    cpus = [msgspec.structs.replace(cpu, khz=None) for cpu in host.cpu]
    return msgspec.structs.replace(host, cpu=cpus)


def _short(value: object) -> str:
    """Returns a short form of the value, without digests."""
    return "others" if isinstance(value, dict | msgspec.Struct) else repr(value)


def done_cells(cells: Sequence[Cell], folder: Path) -> dict[str, CellResult]:
    """Returns the results of finished cells. Cells lost by the rig are tried again."""
    done = {}
    for cell in cells:
        with contextlib.suppress(OSError, *NOT_JSON):
            place = folder / cell.id
            same = msgspec.json.decode((place / CELL).read_bytes(), type=Cell) == cell
            result = msgspec.json.decode((place / RESULT).read_bytes(), type=CellResult)
            sound = result.id == cell.id and not own_fault(result)
            if same and sound and result.verdict is not Verdict.INFRA_ERROR:
                done[cell.id] = result
    return done


def clear_cut_off(cell: Cell, folder: Path) -> None:
    place = folder / cell.id
    for leftover in (place, _set_aside(place)):
        shutil.rmtree(leftover, ignore_errors=True)


@contextlib.contextmanager
def first_try_kept(place: Path) -> Iterator[None]:
    """Moves a cell's folder away for its second try, and then into the new folder."""
    aside = _set_aside(place)
    place.rename(aside)
    try:
        yield
    finally:
        place.mkdir(exist_ok=True)
        aside.rename(place / FIRST_TRY)


def _set_aside(place: Path) -> Path:
    return place.with_name(f"{place.name}.{FIRST_TRY}")
