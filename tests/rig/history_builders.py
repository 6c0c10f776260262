# SPDX-License-Identifier: GPL-2.0-or-later
"""Small runs for histories, in the form of real ones."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from delayrig.base.errors import ExitCode
from delayrig.features.history.address import Address, find_address
from delayrig.features.history.rows import FinishedRun
from delayrig.features.history.store import History
from delayrig.model.lane import LaneName
from delayrig.model.phases import TimeSplit
from delayrig.model.result import CpuTime, Results, SubjectFacts

from tests.rig.builders import MS, make_cell, make_result, run_of

FIRST = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
DIGESTS = {
    "kernel": "c" * 64,
    "initrd": "i" * 64,
    "emulator": "e" * 64,
    "qemu": "d" * 64,
    "turns": "t" * 64,
    "subject bundled": "b" * 64,
}


def make_run(
    number: int,
    times_ms: Mapping[str, float],
    *,
    lane: LaneName = LaneName.VIRTUAL,
    subject: str = "bundled",
    sha256: str = "b" * 64,
    digests: Mapping[str, str] = DIGESTS,
    **header: Any,
) -> Results:
    """Makes a run that began `number` days after FIRST, with a cell of each name and time."""
    cells = [
        make_result(
            make_cell(name=name, lane=lane, subject=subject),
            time_ns=TimeSplit(total=round(ms * MS)),
            cpu_ns=CpuTime(user=round(ms * MS / 4)),
            subject=SubjectFacts(name=subject, sha256=sha256, version="1"),
        )
        for name, ms in times_ms.items()
    ]
    started = FIRST + dt.timedelta(days=number)
    header = {"started": started.isoformat(timespec="seconds"), **header}
    header = {"cells_planned": len(cells), "image_digests": dict(digests), **header}
    return run_of(*cells, **header)


def finished(results: Results, **more: Any) -> FinishedRun:
    """Returns a finished run that passed."""
    return FinishedRun(results=results, code=ExitCode.PASS, **more)


def address_of(url: str) -> Address:
    """Returns the address of that URL, without the variables of the environment."""
    found = find_address(url, {})
    assert found is not None
    return found


def history_of(url: str, *runs: Results) -> History:
    """Makes a history, and adds these runs one by one."""
    store = History(address_of(url))
    for run in runs:
        store.add([finished(run)])
    return store
