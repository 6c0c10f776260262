# SPDX-License-Identifier: GPL-2.0-or-later
"""A fault campaign: how scenarios are drawn, how each run ends, and the summary."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from delayrig.base.errors import ExitCode
from delayrig.features.faults import campaign
from delayrig.features.faults.scenario import (
    CHANGED_BYTES,
    CHANGED_OFFSET_BYTES,
    CHIPS,
    CYCLE_CHIPS,
    JOBS,
    End,
    FaultKind,
    Left,
    Scenario,
    classify,
    content_after,
    content_before,
    draw_scenario,
    file_content,
    is_finding,
)
from delayrig.model.cell import Job
from delayrig.model.kinds.emulator import Disconnect, Spi

from tests.rig.builders import SECOND
from tests.rig.event_builders import as_lines, made
from tests.rig.running import refusal_of

SIZE = 128 * 1024
SCENARIOS = [draw_scenario(1, run) for run in range(600)]
FAULT = re.compile(
    r"(drop|corrupt|duplicate)@(in:)?([1-9]\d*|p=0\.\d+)|(hang-up|nak)@([1-9]\d*|p=0\.\d+)"
    r"|(delay|stall):[1-9]\d*@[1-9]\d*|(stall|stuck-wip)@[1-9]\d*"
)


def make_scenario(**changes: Any) -> Scenario:
    """Returns a write through a link that loses a byte, with the changes."""
    plain = Scenario(
        seed=1,
        run=0,
        chip="M25P10-A",
        job=Job.WRITE,
        differs=False,
        native_delay=False,
        kind=FaultKind.DROP,
        fault="drop@1",
        fault_seed=5,
    )
    return msgspec.structs.replace(plain, **changes)


def left(scenario: Scenario, **changes: Any) -> Left:
    """Returns what a run without faults leaves, with the changes."""
    plain = Left(
        exit_code=0,
        said="done\n",
        content=content_after(scenario, SIZE),
        read_back=content_before(scenario, SIZE),
    )
    return msgspec.structs.replace(plain, **changes)


def test_scenario_depends_only_on_seed_and_number() -> None:
    assert draw_scenario(1, 7) == SCENARIOS[7] != draw_scenario(2, 7)


def test_faults_have_the_syntax_of_the_emulator() -> None:
    assert [scenario.fault for scenario in SCENARIOS if not FAULT.fullmatch(scenario.fault)] == []
    assert not [scenario for scenario in SCENARIOS if "p=0.000000" in scenario.fault]


def test_campaign_has_each_fault_equally_often_and_each_part_with_each_job() -> None:
    assert set(Counter(scenario.kind for scenario in SCENARIOS).values()) == {50}
    assert {(s.chip, s.job) for s in SCENARIOS} == {(c, j) for c in CHIPS for j in JOBS}
    assert {scenario.differs for scenario in SCENARIOS if scenario.job is Job.VERIFY} == {
        True,
        False,
    }


def test_scenario_fits_its_fault_and_its_part() -> None:
    stuck = [scenario for scenario in SCENARIOS if scenario.kind is FaultKind.STUCK_WIP]
    assert {scenario.job for scenario in stuck} == {Job.WRITE, Job.ERASE}
    # Releases refuse a part that is not on SPI, unless the programmer has its own delays.
    native = {(scenario.chip in CYCLE_CHIPS, scenario.native_delay) for scenario in SCENARIOS}
    assert native == {(True, True), (False, True), (False, False)}


def test_written_file_differs_in_one_range_and_verified_file_in_one_byte() -> None:
    before = content_before(make_scenario(), SIZE)
    written = file_content(make_scenario(), SIZE)
    at, end = CHANGED_OFFSET_BYTES, CHANGED_OFFSET_BYTES + CHANGED_BYTES
    assert (written[:at], written[end:]) == (before[:at], before[end:])
    assert written[at:end] != before[at:end]
    verify = make_scenario(job=Job.VERIFY)
    assert file_content(verify, SIZE) == before
    other = file_content(make_scenario(job=Job.VERIFY, differs=True), SIZE)
    assert sum(one != two for one, two in zip(other, before, strict=True)) == 1


def flipped(job: Job) -> bytes:
    """Returns the right content of the part, except for its last byte."""
    right = content_after(make_scenario(job=job), SIZE)
    return right[:-1] + bytes([right[-1] ^ 1])


ENDS: list[tuple[dict[str, Any], dict[str, Any], End]] = [
    *(({"job": job}, {}, End.DONE) for job in Job),
    ({}, {"exit_code": None}, End.HUNG),
    ({}, {"exit_code": None, "at_work": True}, End.SLOW),
    ({}, {"exit_code": -13}, End.CRASHED),
    ({}, {"exit_code": 1}, End.REFUSED),
    ({}, {"exit_code": 1, "said": " \n"}, End.SILENT),
    ({}, {"content": b""}, End.LIED),
    # Success is a lie if any byte of the part is wrong, or if `verify` missed the difference.
    *(({"job": job}, {"content": flipped(job)}, End.LIED) for job in Job),
    ({"job": Job.VERIFY, "differs": True}, {}, End.LIED),
    ({"job": Job.VERIFY, "differs": True}, {"exit_code": 3}, End.REFUSED),
    # Wrong bytes that were read mislead if the link altered them.
    ({"job": Job.READ, "kind": FaultKind.CORRUPT}, {"read_back": b""}, End.MISLED),
    ({"job": Job.READ, "kind": FaultKind.HANG_UP}, {"read_back": b""}, End.LIED),
]


@pytest.mark.parametrize(("scenario_changes", "changes", "end"), ENDS)
def test_run_is_classified_by_what_it_left(
    scenario_changes: dict[str, Any], changes: dict[str, Any], end: End
) -> None:
    scenario = make_scenario(**scenario_changes)
    assert classify(scenario, left(scenario, **changes), SIZE) is end


def test_only_excused_ends_are_no_findings() -> None:
    excused = [End.DONE, End.REFUSED, End.MISLED, End.SLOW]
    assert [end for end in End if not is_finding(end)] == excused


def make_run(number: int = 0, **changes: Any) -> campaign.FaultRun:
    """Returns a run that ended well, with the changes."""
    plain = campaign.FaultRun(
        subject="bundled",
        scenario=draw_scenario(1, number),
        end=End.DONE,
        exit_code=0,
        emulator=campaign.EmulatorEnd.ENDED,
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
        ({"emulator": campaign.EmulatorEnd.TERMINATED}, ExitCode.PASS),
        ({"end": End.LIED, "emulator": campaign.EmulatorEnd.FAILED}, ExitCode.RIG_FAULT),
    ],
)
def test_gravest_run_decides_the_exit_code(changes: dict[str, Any], code: ExitCode) -> None:
    assert campaign.exit_code_of_faults([make_run(), make_run(**changes), make_run()]) is code


def test_table_counts_ends_by_fault_and_subject() -> None:
    kinds = len(FaultKind)
    runs = [
        make_run(0),
        make_run(kinds, end=End.HUNG),
        make_run(1, subject="debian:trixie", end=End.REFUSED),
        make_run(0, subject="debian:trixie"),
    ]
    assert campaign.fault_table(runs).splitlines() == [
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
def test_flashrom_is_at_work_if_it_recently_sent_more_than_status_reads(
    names: list[str], ago_s: int, at_work: bool, tmp_path: Path
) -> None:
    ended_ns = 100 * SECOND
    read = ended_ns - ago_s * SECOND
    events = [made(Spi, name=name, read_ns=read) for name in names]
    (tmp_path / "events").write_bytes(as_lines([*events, made(Disconnect, t_ns=ended_ns)]))
    assert campaign.was_at_work(tmp_path / "events", ended_ns) is at_work
    assert not campaign.was_at_work(tmp_path / "nothing", ended_ns)


def test_work_long_before_the_last_requests_does_not_count(tmp_path: Path) -> None:
    events = [made(Spi, name=name, read_ns=5) for name in ("READ", *["RDSR"] * 1000)]
    (tmp_path / "events").write_bytes(as_lines(events))
    assert not campaign.was_at_work(tmp_path / "events", 6)


def test_time_limit_of_0_is_refused() -> None:
    assert "--limit-s" in refusal_of("faults", "--limit-s", "0")


def test_rerun_command_names_subject_seed_number_and_limit() -> None:
    (scenario,) = campaign.scenarios_of(3, range(17, 18))
    assert campaign.rerun_command("path:a b", scenario, 5) == (
        "rig/rig faults --subject 'path:a b' --seed 3 --run 17 --limit-s 5"
    )


def test_existing_campaign_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "faults.json").write_text("[]")
    refusal = refusal_of("faults", "--subject", "debian:nothing", "--out", tmp_path)
    assert "holds a run already" in refusal
