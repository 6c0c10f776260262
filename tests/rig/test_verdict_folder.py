# SPDX-License-Identifier: GPL-2.0-or-later
"""From a cell's folder to its result, with the shipped profile of flashrom 1.x."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from delayrig.base import digest
from delayrig.base.errors import LostGuestError
from delayrig.judge.judge import judge_cell, planned_result
from delayrig.judge.trust import CUT_OFF
from delayrig.model import workload
from delayrig.model.cell import Cell, Job
from delayrig.model.events import Event, needed
from delayrig.model.evidence import Witness
from delayrig.model.kinds.agent import SubjectEnd
from delayrig.model.kinds.emulator import Disconnect, FaultMade, Start
from delayrig.model.result import CellResult, Verdict, decode_results, own_fault

from tests.rig.builders import MS, SECOND, make_cell, make_chip, make_subject, run_of, sparse_image
from tests.rig.event_builders import (
    END_NS,
    NOP,
    START_NS,
    SYNCNOP,
    as_lines,
    busy,
    changed,
    early,
    made,
    serprog,
    sound_events,
    spi,
)

POLL_NS = 11 * MS


def bus_of_write(*, sync_ns: int = SECOND, poll_ns: int = POLL_NS) -> list[Event]:
    """Returns a synchronisation, an erase of 17 ms with three polls, a page program, and a read."""
    at = START_NS + 100 * MS
    begun = at + sync_ns + 20 * MS
    erased = begun + 17 * MS
    second = begun + 100 + poll_ns + 50
    third = second + 10 + poll_ns + 50
    programmed = erased + 40 * MS
    return [
        serprog(NOP, empty=at, read=at + 200_000),
        serprog(SYNCNOP, empty=at + sync_ns + 200_000, read=at + sync_ns + 250_000),
        spi("0x9f", read=begun - 10 * MS),
        spi("0x06", read=begun - MS),
        spi("0x20", read=begun, sr="0x03"),
        busy("0x20", start=begun, until=erased),
        spi("0x05", read=begun + 50, reply=begun + 100, sr="0x03"),
        spi("0x05", empty=second - 50, read=second, sr="0x03"),
        spi("0x05", empty=third - 50, read=third, sr="0x00"),
        spi("0x06", read=programmed - MS, margin=39 * MS, grade="datasheet"),
        spi("0x02", read=programmed, sr="0x03"),
        busy("0x02", start=programmed, until=programmed + MS, kind="program"),
        spi("0x05", read=programmed + 2 * MS, sr="0x00"),
        spi("0x03", read=programmed + 3 * MS, margin=MS, grade="datasheet"),
    ]


REGION = workload.region_of(make_cell(), make_chip())


def left_by(
    folder: Path,
    *bus: Event,
    events: list[Event] | None = None,
    lines: bytes = b"",
    cell: Cell | None = None,
    stdout: str = "flashrom 1.4.0 on Linux 6.1\nVERIFIED.\n",
    image: bytes | None = None,
    read_back: bytes | None = None,
    package_version: str = "1.4.0",
) -> CellResult:
    """Writes and judges a cell's folder: `lines`, else `events`, else sound events around `bus`."""
    cell = cell or make_cell()
    written = sound_events(*bus) if events is None else events
    (folder / "events.jsonl").write_bytes(lines or as_lines(written))
    (folder / "stdout.txt").write_text(stdout, encoding="utf-8")
    whole = sparse_image(workload.final_content(cell, REGION))
    (folder / "image.sparse").write_bytes(whole if image is None else image)
    if read_back is not None:
        (folder / "read.bin").write_bytes(read_back)
    return judged(folder, cell, package_version=package_version)


def judged(folder: Path, cell: Cell | None = None, *, package_version: str = "1.4.0") -> CellResult:
    """Judges what the folder holds."""
    subject, cell = make_subject(package_version=package_version), cell or make_cell()
    planned = planned_result(cell, make_chip(), rerun="rig/rig run")
    return judge_cell(cell, make_chip(), folder, planned, subject=subject)


def test_folder_of_a_sound_write_passes_with_its_figures(tmp_path: Path) -> None:
    result = left_by(tmp_path, *bus_of_write())
    assert (result.verdict, result.evidence) == (Verdict.PASS, [])
    assert result.judged == ["chip-busy", "erase-poll", "serprog-sync"]
    assert result.unjudged == []
    assert (result.subject.version, result.subject.threshold_us) == ("1.4.0", 100_000)
    assert (result.guest.kernel, result.guest.clocksource) == ("6.1.0", "tsc")
    assert (result.guest.mips, result.guest.cores) == ([250.0], 1)
    assert (result.cpu_ns.user, result.cpu_ns.sys) == (30 * MS, 7 * MS)
    assert result.context_switches == 42
    assert (result.region_bytes, result.transfers) == (65536, len(bus_of_write()) - 4)
    assert (result.chip_busy_ns, result.wire_ns) == (18 * MS, 0)
    assert result.overshoot_ns == 5 * MS + 210 + MS
    assert result.time_ns.total == END_NS - START_NS
    # The synchronisation may last 250 us longer than requested, a poll 1 ms and 50 ns.
    assert result.smallest_visible_short_ns == 250_000 + 1
    assert result.events_sha256 == digest.of_file(tmp_path / "events.jsonl")
    assert result.rerun == "rig/rig run"


def test_folder_with_a_shortened_wait_is_too_short_each_time_it_is_judged(tmp_path: Path) -> None:
    result = left_by(tmp_path, *bus_of_write(poll_ns=9 * MS))
    assert result.verdict is Verdict.TOO_SHORT
    assert [item.requested_ns for item in result.evidence] == [10 * MS]
    result = left_by(tmp_path, *bus_of_write(sync_ns=300 * MS))
    assert result.verdict is Verdict.TOO_SHORT
    (evidence,) = result.evidence
    assert (evidence.witness, evidence.requested_ns) == (Witness.BUS, SECOND)
    assert evidence.actual_ns == (300 * MS, 300 * MS + 250_000)
    assert left_by(tmp_path, *bus_of_write(sync_ns=300 * MS)) == result


@pytest.mark.parametrize("version", ["1.4.0", "7.0"])
def test_waits_of_a_program_that_is_no_known_release_are_not_judged(
    tmp_path: Path, version: str
) -> None:
    result = left_by(
        tmp_path,
        *bus_of_write(sync_ns=1, poll_ns=1),
        stdout=f"flashrom {version} on Linux\n",
        package_version="",
    )
    assert (result.verdict, result.evidence) == (Verdict.INCONCLUSIVE, [])
    assert "build it unstripped" in result.reason
    assert result.judged == ["chip-busy"]
    assert result.smallest_visible_short_ns is None


def test_folder_with_an_early_command_is_too_short_without_any_profile(tmp_path: Path) -> None:
    event = early("0x02", read=START_NS + 5, margin=-7)
    result = left_by(tmp_path, event, stdout="flashrom 7.0 on Linux\n")
    assert result.verdict is Verdict.TOO_SHORT
    assert result.evidence[0].margin_ns == -7


def test_wrong_byte_in_the_part_or_outside_the_region_is_corrupt(tmp_path: Path) -> None:
    right = workload.final_content(make_cell(), REGION)
    wrong = bytearray(right)
    wrong[5 * 4096 + 17] ^= 1
    result = left_by(tmp_path, *bus_of_write(), image=sparse_image(bytes(wrong)))
    assert result.verdict is Verdict.CORRUPT
    assert result.evidence[0].where == hex(workload.REGION_OFFSET_BYTES + 5 * 4096)
    assert not result.job_done
    outside = sparse_image(right) + sparse_image(b"\0" * 4096, offset=0x1000)
    result = left_by(tmp_path, *bus_of_write(), image=outside)
    assert (result.verdict, result.evidence[0].where) == (Verdict.CORRUPT, "0x1000")


def test_invalid_image_is_a_lost_guest(tmp_path: Path) -> None:
    with pytest.raises(LostGuestError):
        left_by(tmp_path, *bus_of_write(), image=b"\0" * 4103)


READ = make_cell(job=Job.READ)
CONTENT = workload.initial_content(READ, REGION)


@pytest.mark.parametrize(
    ("read_back", "verdict"),
    [
        (CONTENT, Verdict.PASS),
        *((wrong, Verdict.CORRUPT) for wrong in (CONTENT[:-1] + b"\0", b"", None)),
    ],
    ids=["whole", "last byte", "empty", "none"],
)
def test_read_must_return_the_parts_content(
    tmp_path: Path, read_back: bytes | None, verdict: Verdict
) -> None:
    result = left_by(tmp_path, *bus_of_write(), cell=READ, read_back=read_back)
    assert result.verdict is verdict


@pytest.mark.parametrize("broken", [b"{}\n", b"not JSON\n"])
def test_invalid_or_missing_events_are_a_lost_guest(tmp_path: Path, broken: bytes) -> None:
    with pytest.raises(LostGuestError):
        judged(tmp_path)
    (tmp_path / "events.jsonl").write_bytes(broken)
    with pytest.raises(LostGuestError):
        judged(tmp_path)


def test_command_earlier_by_less_than_the_error_of_the_clock_is_inconclusive(
    tmp_path: Path,
) -> None:
    bus = early("0x02", read=START_NS + 5, margin=-7)
    result = left_by(tmp_path, events=changed(sound_events(bus), Start, clock_step_ns=8))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.reason.startswith("less than the error of the clock: ")


def test_scripted_clock_is_a_fault_of_the_rig(tmp_path: Path) -> None:
    result = left_by(tmp_path, events=changed(sound_events(), Start, clock="scripted"))
    assert result.verdict is Verdict.INFRA_ERROR
    assert "scripted" in result.reason


@pytest.mark.parametrize(
    ("sooner_ns", "verdict"), [(1, Verdict.INFRA_ERROR), (0, Verdict.OP_FAILED)]
)
def test_failure_after_the_emulator_was_ended_is_infra_error(
    tmp_path: Path, sooner_ns: int, verdict: Verdict
) -> None:
    failed = changed(sound_events(), SubjectEnd, exit_code=1)
    hung_up_ns = needed(failed, SubjectEnd).t_ns - sooner_ns
    (tmp_path / "emulator.log").write_text(f"serprog-emu: {CUT_OFF}\n", encoding="ascii")
    result = left_by(tmp_path, events=changed(failed, Disconnect, t_ns=hung_up_ns))
    assert result.verdict is verdict, result.reason


def test_failure_after_requested_faults_names_them(tmp_path: Path) -> None:
    faults = [
        made(FaultMade, t_ns=START_NS + at, kind=kind, at="request", nth=at)
        for at, kind in ((3, "nak"), (4, "drop"), (5, "nak"))
    ]
    failed = changed(sound_events(*faults), SubjectEnd, exit_code=1)
    result = left_by(tmp_path, events=failed)
    assert result.verdict is Verdict.OP_FAILED
    assert result.reason.endswith("(after 3 faults on request: drop, nak)")


HUGE = msgspec.Raw(b"9" * 400)
"""A number that is too large for a float."""
WRONG: list[Any] = [None, -1, "text", [], {}, 1e300, True, HUGE]


@pytest.mark.parametrize("value", WRONG, ids=lambda value: "huge" if value is HUGE else repr(value))
def test_any_wrong_value_is_a_lost_guest_or_a_result_that_can_be_read(
    tmp_path: Path, value: Any
) -> None:
    lines = as_lines(sound_events(*bus_of_write())).splitlines()
    for number, line in enumerate(lines):
        event = msgspec.json.decode(line)
        for key in event:
            wrong = msgspec.json.encode({**event, key: value})
            spoilt = b"\n".join([*lines[:number], wrong, *lines[number + 1 :]])
            try:
                result = left_by(tmp_path, lines=spoilt)
            except LostGuestError:
                continue
            assert own_fault(result) == "", (key, event)
            whole = run_of(result)
            assert decode_results(msgspec.json.encode(whole), "it").cells == [result]
