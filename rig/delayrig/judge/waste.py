# SPDX-License-Identifier: GPL-2.0-or-later
"""Needless waiting: the time from when the part is ready until the subject's next command.

If QEMU saw the delays, the caller of each is known, and how long the part was busy during it.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import TypeVar

import msgspec

from delayrig.base.errors import NOT_JSON, BadInputError, LostGuestError
from delayrig.judge.delay_waits import sure_calls
from delayrig.model.cell import Cell, Role
from delayrig.model.delays import DelayCall, Delays, read_delays
from delayrig.model.events import Event, of_kind, read_events
from delayrig.model.kinds.emulator import Busy, Spi
from delayrig.model.phases import PROBE, first_read_of, overshoots, phase_changes
from delayrig.model.result import FILE_NAME

CELL_FILE = "cell.json"


Span = tuple[int, int]
"""The start and the end of a span in nanoseconds; the end is not part of it."""


def whole_delays(delays: Delays | None) -> list[DelayCall]:
    """Returns completed calls of functions that certainly delay, without the calls inside them."""
    ends_ns: dict[int, int] = {}
    found = []
    for call in sure_calls(delays) if delays else []:
        if call.end_ns is not None and call.t_ns >= ends_ns.get(call.thread, 0):
            ends_ns[call.thread] = call.end_ns
            found.append(call)
    return found


class OperationWaste(msgspec.Struct, frozen=True, kw_only=True):
    """The waste of one kind of operation in one phase."""

    subject: str
    phase: str
    operation: str
    count: int
    busy_ns: int
    waste_ns: int
    waste_ns_max: int


class CallSiteWaste(msgspec.Struct, frozen=True, kw_only=True):
    """The delays of one call site."""

    subject: str
    phase: str
    call_site: str
    count: int
    requested_ns: int
    actual_ns: int
    waste_ns: int
    """The part of `actual_ns` during which the chip was not busy."""
    waste_ns_max: int


class Waste(msgspec.Struct, frozen=True, kw_only=True):
    """Both tables, each with the largest waste first."""

    operations: list[OperationWaste]
    call_sites: list[CallSiteWaste]


Wasted = TypeVar("Wasted", OperationWaste, CallSiteWaste)


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    cell: Cell
    events: list[Event]
    delays: Delays | None = None
    """The calls of delay functions; None if QEMU did not see them."""


class Cover:
    """The union of several spans."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self.spans: list[Span] = []
        """The spans in order, without overlaps."""
        for start, end in sorted(span for span in spans if span[1] > span[0]):
            if self.spans and start <= self.spans[-1][1]:
                self.spans[-1] = (self.spans[-1][0], max(self.spans[-1][1], end))
            else:
                self.spans.append((start, end))
        self._starts = [start for start, _ in self.spans]
        self._before = [0, *accumulate(end - start for start, end in self.spans)]

    def within_ns(self, start_ns: int, end_ns: int) -> int:
        """Returns how much of the time from `start_ns` to `end_ns` is covered."""
        return max(self._until_ns(end_ns) - self._until_ns(start_ns), 0)

    def _until_ns(self, moment_ns: int) -> int:
        at = bisect_right(self._starts, moment_ns)
        if at == 0:
            return 0
        start, end = self.spans[at - 1]
        return self._before[at - 1] + min(moment_ns, end) - start


def took_ns(calls: Iterable[DelayCall]) -> int:
    return sum(call.seen_ns or 0 for call in calls)


def read_watched(folder: Path) -> list[Watched]:
    """Reads the measuring cells of a run's folder, or the one cell of a cell's folder.

    Raises `BadInputError` if their files cannot be read.
    """
    found = sorted(folder.glob(f"*/{CELL_FILE}")) if (folder / FILE_NAME).is_file() else []
    cells = {file.parent: _read_cell(file) for file in found or [folder / CELL_FILE]}
    return [
        _read_cell_folder(place, cell)
        for place, cell in cells.items()
        if (place / "events.jsonl").is_file() and (not found or cell.role is Role.MEASURE)
    ]


def _read_cell_folder(place: Path, cell: Cell) -> Watched:
    try:
        return Watched(cell=cell, events=read_events(place), delays=read_delays(place))
    except (LostGuestError, ValueError) as error:
        raise unreadable(place, error) from error


def unreadable(place: Path, error: Exception) -> BadInputError:
    return BadInputError(
        f"{place}: has no events that can be shown: {error}",
        hint="run the cell again; a report without events needs only the run's results.json",
    )


def _read_cell(file: Path) -> Cell:
    try:
        return msgspec.json.decode(file.read_bytes(), type=Cell)
    except (OSError, *NOT_JSON) as error:
        raise BadInputError(
            f"{file}: {error}", hint="name the --out folder of a run, or the folder of a cell"
        ) from error


def waste_of(watched: Iterable[Watched]) -> Waste:
    return waste_together(
        Waste(operations=list(_operations(each)), call_sites=list(_call_sites(each)))
        for each in watched
    )


def waste_together(parts: Iterable[Waste]) -> Waste:
    """Returns the sum of the waste of several cells."""
    all_parts = list(parts)
    return Waste(
        operations=_worst(row for part in all_parts for row in part.operations),
        call_sites=_worst(row for part in all_parts for row in part.call_sites),
    )


def _worst(rows: Iterable[Wasted]) -> list[Wasted]:
    return sorted(summed(rows), key=lambda row: -row.waste_ns)


def phases_of(watched: Watched, start_ns: int) -> list[tuple[int, str]]:
    """Returns the start and the name of each phase of a job that begins at `start_ns`."""
    changes = phase_changes(watched.events, first_read=first_read_of(watched.cell.job))
    return [(start_ns, PROBE), *changes]


def phase_at(watched: Watched) -> Callable[[int], str]:
    """Returns a function from a time in ns to the name of its phase."""
    starts_ns, names = zip(*phases_of(watched, 0), strict=True)
    return lambda t_ns: names[bisect_right(starts_ns, t_ns) - 1]


def _operations(watched: Watched) -> Iterator[OperationWaste]:
    phase_of = phase_at(watched)
    names = {spi.op: spi.name for spi in of_kind(watched.events, Spi)}
    for each in overshoots(watched.events):
        name = names.get(each.op or "", each.kind)
        yield OperationWaste(
            subject=watched.cell.subject,
            phase=phase_of(each.ready_ns),
            operation=f"{name} ({each.op})" if each.op else name,
            count=1,
            busy_ns=each.busy_ns,
            waste_ns=each.length_ns,
            waste_ns_max=each.length_ns,
        )


def _call_sites(watched: Watched) -> Iterator[CallSiteWaste]:
    phase_of = phase_at(watched)
    if (delays := watched.delays) is None:
        return
    busy = Cover((each.start_ns, each.until_ns) for each in of_kind(watched.events, Busy))
    for call in whole_delays(delays):
        actual_ns = call.seen_ns or 0
        waste_ns = actual_ns - busy.within_ns(call.t_ns, call.t_ns + actual_ns)
        yield CallSiteWaste(
            subject=watched.cell.subject,
            phase=phase_of(call.t_ns),
            call_site=delays.call_site(call),
            count=1,
            requested_ns=call.requested_ns,
            actual_ns=actual_ns,
            waste_ns=waste_ns,
            waste_ns_max=waste_ns,
        )


Row = TypeVar("Row", bound=msgspec.Struct)


def summed(rows: Iterable[Row]) -> list[Row]:
    """Returns the sums of rows that differ only in figures; of a figure `..._max`, the largest."""
    sums: dict[tuple[str, ...], Row] = {}
    for row in rows:
        names, figures = _parts(row)
        known = sums.get(names)
        if known is not None:
            before = _parts(known)[1]
            figures = {
                key: max(before[key], figure) if key.endswith("_max") else before[key] + figure
                for key, figure in figures.items()
            }
        sums[names] = msgspec.structs.replace(row, **figures)
    return list(sums.values())


def _parts(row: msgspec.Struct) -> tuple[tuple[str, ...], dict[str, int]]:
    values = msgspec.structs.asdict(row)
    names = tuple(value for value in values.values() if isinstance(value, str))
    return names, {key: value for key, value in values.items() if isinstance(value, int)}
