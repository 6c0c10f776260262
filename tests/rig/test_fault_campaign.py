# SPDX-License-Identifier: GPL-2.0-or-later
"""The summary of a fault campaign. The runs themselves are tested in tests/protocol."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from delayrig.base.errors import ExitCode
from delayrig.features.faults.campaign import (
    EmulatorEnd,
    FaultRun,
    exit_code_of_faults,
    fault_table,
    rerun_command,
    scenarios_of,
    was_at_work,
)
from delayrig.features.faults.scenario import End, FaultKind, draw_scenario
from delayrig.model.kinds.emulator import Disconnect, Spi

from tests.rig.builders import SECOND
from tests.rig.event_builders import as_lines, made


def make_run(number: int = 0, **changes: Any) -> FaultRun:
    """Returns a run that ended well, with the changes."""
    plain = FaultRun(
        subject="bundled",
        scenario=draw_scenario(1, number),
        end=End.DONE,
        exit_code=0,
        emulator=EmulatorEnd.ENDED,
        faults=1,
        said="done",
        host_s=1.5,
        rerun="",
    )
    return msgspec.structs.replace(plain, **changes)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, ExitCode.PASS),
        ({"end": End.REFUSED}, ExitCode.PASS),
        ({"end": End.HUNG}, ExitCode.UNSAFE),
        ({"end": End.SLOW}, ExitCode.INCONCLUSIVE),
        ({"end": End.LIED}, ExitCode.UNSAFE),
        ({"emulator": EmulatorEnd.TOLD}, ExitCode.PASS),
        ({"end": End.LIED, "emulator": EmulatorEnd.FAILED}, ExitCode.RIG_FAULT),
    ],
)
def test_gravest_run_decides_the_exit_code(changes: dict[str, Any], code: ExitCode) -> None:
    assert exit_code_of_faults([make_run(), make_run(**changes), make_run()]) is code


def test_table_counts_ends_by_fault_and_subject() -> None:
    kinds = len(FaultKind)
    runs = [
        make_run(0),
        make_run(kinds, end=End.HUNG),
        make_run(1, subject="debian:trixie", end=End.REFUSED),
        make_run(0, subject="debian:trixie"),
    ]
    assert fault_table(runs).splitlines() == [
        "| fault | bundled | debian:trixie |",
        "| --- | --- | --- |",
        "| drop | 1 done, 1 hung | 1 done |",
        "| drop in |  | 1 refused |",
        "| all | 1 done, 1 hung | 1 done, 1 refused |",
    ]


@pytest.mark.parametrize(
    ("names", "ago_s", "at_work"),
    [
        (["READ", "READ"], 1, True),
        (["READ", "RDSR", "RDSR"], 1, True),
        (["READ", "READ"], 30, False),
        (["RDSR"] * 9, 1, False),
        (["STATUS", "O_DELAY", "O_EXEC"], 1, False),
        ([], 1, False),
    ],
)
def test_flashrom_is_at_work_while_it_asks_for_more_than_the_status(
    names: list[str], ago_s: int, at_work: bool, tmp_path: Path
) -> None:
    ended_ns = 100 * SECOND
    read = ended_ns - ago_s * SECOND
    events = [made(Spi, name=name, read_ns=read) for name in names]
    (tmp_path / "events").write_bytes(as_lines([*events, made(Disconnect, t_ns=ended_ns)]))
    assert was_at_work(tmp_path / "events", ended_ns) is at_work
    assert not was_at_work(tmp_path / "nothing", ended_ns)


def test_work_long_before_the_last_requests_does_not_count(tmp_path: Path) -> None:
    events = [made(Spi, name="READ", read_ns=5)]
    events += [made(Spi, name="RDSR", read_ns=5)] * 1000
    (tmp_path / "events").write_bytes(as_lines(events))
    assert not was_at_work(tmp_path / "events", 6)


def test_command_that_makes_a_run_again_names_subject_seed_and_number() -> None:
    (scenario,) = scenarios_of(3, range(17, 18))
    assert rerun_command("path:a b", scenario) == (
        "rig/rig faults --subject 'path:a b' --seed 3 --run 17"
    )
