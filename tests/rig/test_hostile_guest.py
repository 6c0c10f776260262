# SPDX-License-Identifier: GPL-2.0-or-later
"""Output of hostile subjects: floods, and seeded mutations of what a guest prints."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
import pytest
from delayrig.base.errors import LostGuestError, OverdueGuestError, RigError
from delayrig.base.paths import Paths
from delayrig.base.text import TAIL_LINE_MAX, log_tail
from delayrig.judge.ending import is_flood
from delayrig.lanes import host_lane as host
from delayrig.machine.guest_logs import (
    LOG_BYTES_MAX,
    LOGS,
    cut_logs,
    logs_of,
    unless_flooded,
    with_log_tails,
)
from delayrig.machine.session import unpack
from delayrig.model import workload
from delayrig.model.cell import Job, Programmer
from delayrig.model.events import Event
from delayrig.model.kinds.emulator import GaveUp, Serprog, Spi
from delayrig.model.result import CellResult, Verdict, decode_results, own_fault

from tests.conftest import Bound
from tests.flooding import Flood, build_flood
from tests.rig.builders import make_cell, make_chip, run_of, sparse_image
from tests.rig.event_builders import as_lines, made, sound_events
from tests.rig.processes import left_running
from tests.rig.test_edge_mutations import mutated
from tests.rig.test_host_lane import host_cell, run_cells
from tests.rig.test_parcel import TWO
from tests.rig.test_verdict_folder import bus_of_write, judged

CONSOLE = b'flashrom 1.4.0 on Linux 6.1\nUsing region: "rig".\nErase/write done.\nVERIFIED.\n'
IMAGE = sparse_image(
    workload.final_content(make_cell(), workload.region_of(make_cell(), make_chip()))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A valid output of a guest, and the function that reads it."""

    sound: bytes
    read: Callable[[bytes, Path], CellResult | None]


def read_parcel(content: bytes, _folder: Path) -> None:
    assert sum(map(len, unpack(content).values())) <= len(content)


def judge_with(name: str, content: bytes, folder: Path) -> CellResult:
    """Judges the cell after this content has replaced a file of its folder."""
    (folder / name).write_bytes(content)
    return judged(folder)


EVENTS = as_lines(sound_events(*bus_of_write()))
OUTPUTS = {
    "parcel": Output(sound=TWO, read=read_parcel),
    "events": Output(sound=EVENTS, read=partial(judge_with, "events.jsonl")),
    "console": Output(sound=CONSOLE, read=partial(judge_with, "stdout.txt")),
}


def sound_folder(folder: Path) -> Path:
    """Makes the folder of a cell that passes."""
    cell = folder / "run" / "cell"
    cell.mkdir(parents=True)
    files = {"events.jsonl": EVENTS, "stdout.txt": CONSOLE, "image.sparse": IMAGE}
    for name, content in files.items():
        (cell / name).write_bytes(content)
    return cell


def is_readable(result: CellResult) -> bool:
    """Returns True if results with it are read as they were written, and it contradicts nothing."""
    results = run_of(result)
    read = decode_results(msgspec.json.encode(results), "results.json")
    return read == results and own_fault(result) == ""


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.bounds(mutations=(300, 34_000))
def test_mutated_output_of_a_guest_is_refused_or_gives_a_readable_result(
    name: str, tmp_path: Path, bound: Bound
) -> None:
    output, cell = OUTPUTS[name], sound_folder(tmp_path)
    outcomes: set[str] = set()
    for seed in range(bound("mutations")):
        content = mutated(output.sound, random.Random(f"hostile {name} {seed}"))
        try:
            result = output.read(content, cell)
        except RigError:
            outcomes.add("refused")
            continue
        except Exception as error:  # noqa: BLE001 - no other exception may reach the rig
            pytest.fail(f"{name}, seed {seed}: {error!r}")
        outcomes.add(result.verdict if result else "read")
        assert result is None or is_readable(result), f"{name}, seed {seed}"
    assert len(outcomes) > 1, outcomes
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["cell"]


REASON_MAX = 600
FOLDER_BYTES_MAX = 64 << 20
DEADLINE_MS = 3_000
PATIENT_MS = 1_800_000
"""The deadline of floods that the emulator or a limit ends, so long that none reaches it."""


OVER_A_TTY = pytest.param(
    Programmer.SERPROG_DEV, marks=pytest.mark.long("each flood over a tty; quick: over TCP")
)


@pytest.mark.parametrize("programmer", [Programmer.SERPROG_IP, OVER_A_TTY])
@pytest.mark.parametrize(
    ("flood", "verdict", "reason"),
    [
        (Flood.OUTPUT, Verdict.OP_FAILED, "signal 25"),
        (Flood.LINE, Verdict.OP_FAILED, "signal 25"),
        (Flood.NOPS, Verdict.OP_FAILED, "after 65536 idle requests"),
        (Flood.GARBAGE, Verdict.OP_FAILED, "after 4096 refused requests"),
        (Flood.STATUS, Verdict.OP_FAILED, "after 20000 records"),
        (Flood.STUBBORN, Verdict.OP_FAILED, "after 65536 idle requests"),
        (Flood.DEAF, Verdict.HUNG, "did not end by its deadline"),
    ],
)
def test_flooding_subject_is_ended_and_harms_no_other_cell(
    paths: Paths,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    flood: Flood,
    verdict: Verdict,
    reason: str,
    programmer: Programmer,
) -> None:
    monkeypatch.setattr("delayrig.lanes.payload.RECORDS_MAX", 20_000)
    monkeypatch.setattr("delayrig.lanes.payload.RECORDS_PER_KIB", 0)
    deadline_ms = DEADLINE_MS if flood is Flood.DEAF else PATIENT_MS
    monkeypatch.setattr(host, "DEADLINE_MS", deadline_ms)
    if flood is not Flood.STATUS:
        monkeypatch.setattr("delayrig.lanes.payload.RECORDS_MAX", 200_000)
    out = tmp_path / "out"
    program = build_flood(flood, tmp_path)
    flooding = host_cell(subject=f"path:{program}", programmer=programmer, job=Job.PROBE)
    flooded, other = run_cells(paths, out, flooding, host_cell(name="other", job=Job.PROBE)).cells
    assert flooded.verdict is verdict, flooded.reason
    assert reason in flooded.reason
    assert len(flooded.reason) <= REASON_MAX
    assert other.verdict is Verdict.PASS, other.reason
    written = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    assert written <= FOLDER_BYTES_MAX
    assert left_running(tmp_path) == []


def request(*, gap_ns: int, ack: bool = True) -> Event:
    return made(Serprog, read_ns=5, gap_ns=gap_ns, ack=ack)


GAVE_UP: Event = made(GaveUp, t_ns=9, bound="records", count=4)


@pytest.mark.parametrize(
    ("events", "flood"),
    [
        ([request(gap_ns=-1)] * 3, False),
        ([request(gap_ns=-1)] * 3 + [GAVE_UP], True),
        ([made(Spi, read_ns=5, gap_ns=0)] * 3 + [GAVE_UP], False),
        ([request(gap_ns=7, ack=False)] * 3 + [request(gap_ns=7), GAVE_UP], True),
        ([request(gap_ns=7)] * 3 + [request(gap_ns=-1), GAVE_UP], False),
    ],
    ids=[
        "was served",
        "waits for no reply",
        "waits for the reply",
        "is refused",
        "polls without end",
    ],
)
def test_flood_is_requests_without_waits_until_the_emulator_gave_up(
    events: list[Event], flood: bool
) -> None:
    assert is_flood(events) is flood


def test_guest_that_floods_its_console_is_lost_with_the_tails_of_its_logs(tmp_path: Path) -> None:
    console = logs_of(tmp_path)[0]

    async def flood() -> None:
        while True:
            with console.open("ab") as log:
                log.write(b"the same again\n" * 100_000)
            await asyncio.sleep(0.01)

    message = r"floods console\.log: .*; console\.log: .*the same again; qemu\.log: nothing"
    with pytest.raises(LostGuestError, match=message), with_log_tails(tmp_path, LOGS):
        asyncio.run(unless_flooded(flood(), logs_of(tmp_path)))
    cut_logs(logs_of(tmp_path))
    assert console.stat().st_size == LOG_BYTES_MAX


def test_guest_that_floods_nothing_finishes_its_work(tmp_path: Path) -> None:
    async def work() -> int:
        logs_of(tmp_path)[0].write_bytes(b"a few words\n")
        await asyncio.sleep(0.01)
        return 7

    assert asyncio.run(unless_flooded(work(), logs_of(tmp_path))) == 7


@pytest.mark.parametrize(
    ("log", "tail"),
    [
        (b"", ""),
        (b"one\n\ntwo\n", "one | two"),
        (b"lost\nthree\nfour\nfive", "three | four | five"),
        (b"x" * 100_000, "x" * TAIL_LINE_MAX + "..."),
    ],
)
def test_log_tail_has_few_and_short_lines(log: bytes, tail: str) -> None:
    assert log_tail(log, 3) == tail


def test_log_tails_keep_the_type_of_the_error(tmp_path: Path) -> None:
    with (
        pytest.raises(OverdueGuestError, match=r"late; console\.log: nothing") as caught,
        with_log_tails(tmp_path, LOGS),
    ):
        raise OverdueGuestError("late", is_busy=True)
    assert caught.value.is_busy
