# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of delay calls that QEMU writes of a real guest."""

import shutil
import subprocess
from pathlib import Path

import pytest
from delayrig.base.paths import Paths
from delayrig.model.delays import DelayCall, Delays, End

from .conftest import FinishedRun, run_plan
from .plans import cell, plan, write_plan

SOURCE = Path(__file__).with_name("delaying.c")
US = 1000

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


def run(paths: Paths, folder: Path, cores: int, *options: str) -> FinishedRun:
    """Builds the program and runs it in a cell."""
    program = folder / "delaying"
    words = ["gcc", "-O2", "-g", "-pthread", "-o", str(program), str(SOURCE), *options]
    subprocess.run(words, check=True)
    at = f'mips = 250, cores = {cores}, job = "probe", chip = "GD25Q16C"'
    words = ["--plan", write_plan(folder, plan(cell("delays", at))), "--subject", f"path:{program}"]
    return run_plan(paths, folder / "out", *words)


@pytest.fixture(scope="module", params=[(1, "-pie"), (4, "-no-pie")], ids=["pie-1c", "no-pie-4c"])
def delays(
    paths: Paths, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Delays:
    cores, kind = request.param
    return run(paths, tmp_path_factory.mktemp("delays"), cores, "-fPIE", kind).delays


def calls_for(delays: Delays, us: int, function: str = "default_delay") -> list[DelayCall]:
    """Returns the calls of that function that request that time."""
    return [
        call
        for call in delays.calls
        if call.requested_ns == us * US and delays.function_of(call).name == function
    ]


def test_each_plain_call_returns_and_takes_at_least_the_requested_time(delays: Delays) -> None:
    calls = calls_for(delays, 1001)
    assert [call.ended for call in calls] == [End.RETURN] * 4
    for call in calls:
        assert call.seen_ns is not None
        assert 1001 * US < call.seen_ns < 1500 * US
    assert delays.header.lost == 0


def test_caller_is_named_by_file_and_line(delays: Delays) -> None:
    for call in calls_for(delays, 1001):
        assert "tests/guest/delaying.c:" in delays.callers_of(call)[0]


def test_call_that_ends_in_a_jump_ends_with_the_function_that_it_jumps_to(delays: Delays) -> None:
    calls = calls_for(delays, 2001, "internal_delay")
    assert len(calls) == 2
    assert {call.ended for call in calls} <= {End.RETURN, End.SITE}
    inner = calls_for(delays, 2001)
    assert [call.ended for call in inner] == [End.RETURN] * 2
    for outer, call in zip(calls, inner, strict=True):
        assert outer.seen_ns is not None
        assert call.seen_ns is not None
        assert 0 < outer.seen_ns - call.seen_ns < 1 * US


def test_call_in_a_signal_handler_lies_within_the_interrupted_call(delays: Delays) -> None:
    (outer,), (inner,) = calls_for(delays, 60001), calls_for(delays, 701)
    assert outer.end_ns is not None
    assert inner.end_ns is not None
    assert outer.t_ns < inner.t_ns < inner.end_ns < outer.end_ns
    assert inner.thread == outer.thread


def test_call_that_longjmp_leaves_does_not_return(delays: Delays) -> None:
    (call,) = calls_for(delays, 300001)
    assert call.ended is not End.RETURN
    assert delays.function_of(call).setjmp


def test_calls_of_two_threads_have_different_thread_ids(delays: Delays) -> None:
    first, second = *calls_for(delays, 5001), *calls_for(delays, 5002)
    assert first.thread != second.thread
    assert first.ended is second.ended is End.RETURN


def test_call_that_is_open_at_the_end_has_no_end_and_no_duration(delays: Delays) -> None:
    (call,) = calls_for(delays, 900001)
    assert (call.ended, call.end_ns, call.seen_ns) == (End.OPEN, None, None)


def test_two_runs_record_equal_calls_at_equal_times(paths: Paths, tmp_path: Path) -> None:
    runs = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        runs.append(run(paths, tmp_path / name, 2))
    (one,), (other,) = (list(each.out.glob("*/delays.jsonl")) for each in runs)
    assert one.read_bytes() == other.read_bytes()
