# SPDX-License-Identifier: GPL-2.0-or-later
"""The order in which places are measured, and when their results are saved."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import AsyncMock, Mock

import msgspec
import pytest
from delayrig.base.paths import find_paths
from delayrig.features.latency import guest_place, run
from delayrig.features.latency.place import Line, MissingError, PlaceFacts
from delayrig.features.latency.profile import GuestProfile, parse_guests
from delayrig.features.latency.result import FILE_NAME, Kind, LatencyReport, MachineReport, Series
from delayrig.features.latency.run import measure_place, run_latency
from delayrig.features.latency.series_plan import QUICK

from tests.rig.measured import LIVE, latency_request, make_machine

REFUSED: Line = {"refused": "a call", "why": "a reason"}
FACTS: Line = {
    "resolution_ns": 1,
    "coarse_resolution_ns": 4_000_000,
    "cpus": [0, 1],
    "kernel": "6.1",
    "kernel_version": "#1 SMP",
    "nice": 0,
    "slack_ns": 50_000,
}
AUDIT: Line = dict.fromkeys(("clock_read_ps", "clock_call_ps", "loop_ps", "clock_step_ns"), 1)


@dataclass(slots=True)
class FakePlace:
    """A place that refuses every series and records it with the governor at that time."""

    facts: PlaceFacts
    governor: str = ""
    requests: list[tuple[str, str]] = field(default_factory=list)

    async def measure(self, series: Sequence[Series]) -> list[Line]:
        if series[0].kind is Kind.FACTS:
            return [FACTS, AUDIT, REFUSED]
        self.requests += [(self.governor, each.word) for each in series]
        return [{**REFUSED, "why": f"governor {self.governor!r}"} for _ in series]

    async def cyclictest(self, words: Sequence[str], *, eaters: int) -> tuple[bytes, Line]:
        raise MissingError(f"no cyclictest {words} beside {eaters}")

    async def set_governor(self, name: str) -> None:
        self.governor = name


def test_only_the_series_of_a_governor_run_under_it() -> None:
    place = FakePlace(LIVE)
    found = asyncio.run(measure_place(place, QUICK, Mock()))
    requests = [(reading.series.governor, reading.series.word) for reading in found.readings]
    assert place.requests == requests
    governors = [governor for governor, _ in requests]
    assert governors[-1] == "", "the tables of the other CPU come last"
    assert set(governors) == {"", *LIVE.governors}


def test_refused_series_are_counted_by_call_and_reason() -> None:
    place = FakePlace(LIVE)
    found = asyncio.run(measure_place(place, QUICK, Mock()))
    for governor, count in Counter(governor for governor, _ in place.requests).items():
        said = f"a call: governor {governor!r} ({count} series were not measured)"
        assert said in found.missing


def test_steps_that_were_refused_count_as_done() -> None:
    progress = Mock()
    asyncio.run(measure_place(FakePlace(LIVE), QUICK, progress))
    _, steps = progress.begins.call_args.args
    assert sum(call.args[0] for call in progress.did.call_args_list) == steps


def names_in(out: Path) -> list[str]:
    report = msgspec.json.decode((out / FILE_NAME).read_bytes(), type=LatencyReport)
    return [machine.name for machine in report.machines]


def test_result_of_a_guest_is_saved_as_soon_as_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, quick = "x86_64/16", "x86_64/1000"
    saved_before_slow: list[list[str]] = []

    async def measured(profile: GuestProfile, *_: object) -> MachineReport:
        if profile.name == slow:
            for _turn in range(9):
                await asyncio.sleep(0)
            saved_before_slow.append(names_in(tmp_path))
        return make_machine(profile.name, lane="virtual")

    monkeypatch.setattr(run, "measure_place", measured)
    monkeypatch.setattr(run, "_write_pages", Mock())
    monkeypatch.setattr(guest_place, "open_guest", AsyncMock(side_effect=lambda guest, *_: guest))
    request = latency_request(tmp_path, guests=parse_guests((slow, quick)), jobs=2)
    asyncio.run(run_latency(request, find_paths(), Mock()))
    assert saved_before_slow == [[quick]]
    assert names_in(tmp_path) == [slow, quick]
