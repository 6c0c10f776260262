# SPDX-License-Identifier: GPL-2.0-or-later
"""Every call of a delay function, as QEMU saw it in a real guest."""

import shutil
import subprocess
from pathlib import Path

import pytest
from delayrig.base.paths import Paths
from delayrig.model.delays import DelayCall, Delays, End, read_delays

from .conftest import FinishedRun, run_plan
from .plans import cell, plan

SOURCE = Path(__file__).with_name("delaying.c")
US = 1000

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


def run(paths: Paths, folder: Path, cores: int, *options: str) -> FinishedRun:
    """Builds the program and runs it in a cell of its own."""
    program, file = folder / "delaying", folder / "plan.toml"
    words = ["gcc", "-O2", "-g", "-pthread", "-o", str(program), str(SOURCE), *options]
    subprocess.run(words, check=True)
    at = f'mips = 250, cores = {cores}, job = "probe", chip = "GD25Q16C"'
    file.write_text(plan(cell("delays", at)), encoding="ascii")
    subject = f"path:{program}"
    return run_plan(paths, folder / "out", "--plan", str(file), "--subject", subject)


def delays_of(run: FinishedRun) -> Delays:
    (result,) = run.results.cells
    delays = read_delays(run.out / result.id)
    assert delays is not None, run.said
    return delays


@pytest.fixture(scope="module", params=[(1, "-pie"), (4, "-no-pie")], ids=["pie-1c", "no-pie-4c"])
def delays(
    paths: Paths, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Delays:
    cores, kind = request.param
    return delays_of(run(paths, tmp_path_factory.mktemp("delays"), cores, "-fPIE", kind))


def asked(delays: Delays, us: int, function: str = "default_delay") -> list[DelayCall]:
    """Returns the calls of that function that request that time."""
    return [
        call
        for call in delays.calls
        if call.requested_ns == us * US and delays.function_of(call).name == function
    ]


def test_plain_calls_return_and_none_is_short(delays: Delays) -> None:
    calls = asked(delays, 1001)
    assert [call.ended for call in calls] == [End.RETURN] * 4
    for call in calls:
        assert call.seen_ns is not None
        assert 1001 * US < call.seen_ns < 1500 * US
    assert delays.header.lost == 0


def test_callers_are_told_by_file_and_line(delays: Delays) -> None:
    for call in asked(delays, 1001):
        assert "tests/guest/delaying.c:" in delays.callers_of(call)[0]


def test_call_that_ends_in_a_jump_ends_where_it_returns_to(delays: Delays) -> None:
    calls = asked(delays, 2001, "internal_delay")
    assert len(calls) == 2
    assert {call.ended for call in calls} <= {End.RETURN, End.SITE}
    inner = asked(delays, 2001)
    assert [call.ended for call in inner] == [End.RETURN] * 2
    for outer, call in zip(calls, inner, strict=True):
        assert outer.seen_ns is not None
        assert call.seen_ns is not None
        assert 0 < outer.seen_ns - call.seen_ns < 1 * US


def test_handler_that_delays_lies_within_the_call_that_it_came_into(delays: Delays) -> None:
    (outer,), (inner,) = asked(delays, 60001), asked(delays, 701)
    assert outer.end_ns is not None
    assert inner.end_ns is not None
    assert outer.t_ns < inner.t_ns < inner.end_ns < outer.end_ns
    assert inner.thread == outer.thread


def test_call_that_longjmp_left_never_returns(delays: Delays) -> None:
    (call,) = asked(delays, 300001)
    assert call.ended is not End.RETURN
    assert delays.function_of(call).setjmp


def test_threads_are_told_apart(delays: Delays) -> None:
    first, second = *asked(delays, 5001), *asked(delays, 5002)
    assert first.thread != second.thread
    assert first.ended is second.ended is End.RETURN


def test_call_that_is_open_at_the_end_has_no_length(delays: Delays) -> None:
    (call,) = asked(delays, 900001)
    assert (call.ended, call.end_ns, call.seen_ns) == (End.OPEN, None, None)


def test_same_calls_are_seen_at_the_same_times_again(paths: Paths, tmp_path: Path) -> None:
    runs = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        runs.append(run(paths, tmp_path / name, 2))
    one, other = (list((each.out).glob("*/delays.jsonl")) for each in runs)
    assert one[0].read_bytes() == other[0].read_bytes()
