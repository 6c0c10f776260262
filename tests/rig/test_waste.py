# SPDX-License-Identifier: GPL-2.0-or-later
"""Needless waits of a flashrom, by operation and by call site."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from delayrig.base.errors import BadInputError
from delayrig.judge.waste import Cover, Watched, read_watched, waste_of
from delayrig.model.cell import Role
from delayrig.model.delays import DelayCall, encode_delays
from delayrig.model.events import Event
from delayrig.model.result import FILE_NAME

from tests.rig.builders import delay, delays_of, make_cell
from tests.rig.event_builders import as_lines, busy, serprog, spi
from tests.rig.running import answer_of, refusal_of

US = 1000


def watched(*events: Event, subject: str = "bundled", calls: Sequence[DelayCall] = ()) -> Watched:
    """Returns a cell with those events and delay calls."""
    cell = make_cell(subject=subject)
    return Watched(cell=cell, events=list(events), delays=delays_of(*calls))


def erase(start: int, *, busy_ns: int = 100, late_ns: int = 7) -> list[Event]:
    """Returns an erase, and the status reads during it and after it."""
    ready = start + busy_ns
    return [
        spi("0x20", read=start),
        busy("0x20", start=start, until=ready),
        spi("0x05", read=start + 1, sr="0x03"),
        spi("0x05", read=ready + late_ns),
    ]


def program(start: int, *, busy_ns: int = 50, late_ns: int = 3) -> list[Event]:
    """Returns a page program, and the status read after it."""
    ready = start + busy_ns
    return [
        spi("0x02", read=start),
        busy("0x02", start=start, until=ready, kind="program"),
        spi("0x05", read=ready + late_ns),
    ]


def test_spans_that_overlap_are_counted_once() -> None:
    cover = Cover([(10, 20), (15, 30), (30, 31), (50, 60), (55, 55)])
    assert cover.spans == [(10, 31), (50, 60)]
    assert cover.within_ns(0, 100) == 31
    assert cover.within_ns(20, 55) == 16
    assert cover.within_ns(15, 18) == 3
    assert cover.within_ns(31, 50) == cover.within_ns(70, 60) == 0


def test_operations_are_summed_and_have_their_maximum() -> None:
    events = [*erase(1000), *erase(2000, late_ns=40), *program(3000)]
    erased, programmed = waste_of([watched(*events)]).operations
    assert (erased.phase, erased.operation, erased.count) == ("erase", "SE (0x20)", 2)
    assert (erased.busy_ns, erased.waste_ns, erased.waste_ns_max) == (200, 47, 40)
    assert (programmed.phase, programmed.operation) == ("write", "PP (0x02)")
    assert programmed.waste_ns == 3


def test_operations_are_sorted_by_waste_in_each_subject_and_need_a_status_read() -> None:
    rows = waste_of([watched(*erase(1000, late_ns=1), *program(3000, late_ns=2))]).operations
    assert [row.operation for row in rows] == ["PP (0x02)", "SE (0x20)"]
    cells = [watched(*erase(1000)), watched(*erase(1000), subject="debian:trixie")]
    assert [row.subject for row in waste_of(cells).operations] == ["bundled", "debian:trixie"]
    assert waste_of([watched(*erase(1000)[:3])]).operations == []


@pytest.mark.parametrize(
    ("busy_times", "waste_ns"),
    [
        ([], 100 * US),
        ([(0, 1000)], 100 * US),
        ([(0, 1000 + 30 * US)], 70 * US),
        ([(1000 + 30 * US, 900 * US)], 30 * US),
        ([(1000 + 30 * US, 1000 + 50 * US)], 80 * US),
        ([(0, 900 * US)], 0),
        ([(900 * US, 901 * US)], 100 * US),
        ([(at, at + 10 * US) for at in range(1000, 200 * US, 20 * US)], 50 * US),
    ],
    ids=["never", "before", "begin", "end", "middle", "always", "after", "several times"],
)
def test_delay_is_wasted_while_the_part_is_not_busy(
    busy_times: list[tuple[int, int]], waste_ns: int
) -> None:
    work = [busy("0x20", start=start, until=until) for start, until in busy_times]
    call = delay(90, took_ns=100 * US, at=1000)
    (site,) = waste_of([watched(*work, calls=[call])]).call_sites
    assert (site.requested_ns, site.actual_ns) == (90 * US, 100 * US)
    assert site.waste_ns == waste_ns


def test_call_sites_have_their_phase_and_callers() -> None:
    calls = [
        delay(5, took_ns=10 * US, at=10),
        delay(5, took_ns=10 * US, at=30 * US),
        delay(5, took_ns=20 * US, at=50 * US),
        delay(5, took_ns=None, at=80 * US),
    ]
    events = [serprog("NOP", empty=20, read=25), *erase(20 * US)]
    rows = waste_of([watched(*events, calls=calls)]).call_sites
    assert [(row.phase, row.count) for row in rows] == [("erase", 2), ("probe", 1)]
    assert rows[0].call_site == "core/busy.c:154 < drivers/spi25.c:67"
    assert rows[0].waste_ns_max == 20 * US


def write_cell(folder: Path, *, lines: bytes = b"", **cell: Any) -> Path:
    """Makes the folder of a finished cell, with these lines before its events; returns it."""
    folder.mkdir(parents=True, exist_ok=True)
    described = {**msgspec.to_builtins(make_cell()), **cell}
    (folder / "cell.json").write_bytes(msgspec.json.encode(described))
    (folder / "events.jsonl").write_bytes(lines + as_lines(erase(1000)))
    return folder


def test_run_is_read_without_canaries_and_a_cell_by_itself(tmp_path: Path) -> None:
    write_cell(tmp_path / "one", name="one")
    write_cell(tmp_path / "two", name="two", role=Role.CANARY)
    (tmp_path / FILE_NAME).write_text("{}", encoding="ascii")
    assert [cell.cell.name for cell in read_watched(tmp_path)] == ["one"]
    assert [cell.cell.name for cell in read_watched(tmp_path / "two")] == ["two"]


def test_unknown_key_of_a_cell_is_ignored_and_an_unknown_event_refused(
    tmp_path: Path,
) -> None:
    found = waste_of(read_watched(write_cell(tmp_path, witness="delay")))
    assert ([row.count for row in found.operations], found.call_sites) == ([1], [])
    write_cell(tmp_path, lines=b'{"ev":"delay","t_ns":1,"end_ns":9,"requested_us":5}\n')
    assert "line 1: Invalid value 'delay'" in refusal_of("waste", tmp_path)


def test_command_says_if_no_delay_call_was_seen(tmp_path: Path) -> None:
    folder = write_cell(tmp_path)
    assert "who asked for delays: no call was seen" in answer_of("waste", folder)
    seen = encode_delays(delays_of(delay(5, took_ns=9 * US, at=1000)))
    (tmp_path / "delays.jsonl").write_bytes(seen)
    answer = answer_of("waste", folder)
    assert "no call was seen" not in answer
    assert "core/busy.c:154" in answer


def test_folder_without_a_run_or_a_cell_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"cell\.json"):
        read_watched(tmp_path)
