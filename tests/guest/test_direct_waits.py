# SPDX-License-Identifier: GPL-2.0-or-later
"""Every sleep of a subject that has no delay function, as QEMU saw it in a real guest."""

import subprocess
from pathlib import Path

import pytest
from delayrig.guest.platform import Arch
from delayrig.paths import Paths
from delayrig.result import Verdict
from delayrig.witness.delay_seen import DelayCall, Delays, End, read_delays

from tests.rig.delay_programs import compiler, compiles

from .conftest import FinishedRun, run_plan

SOURCE = Path(__file__).with_name("sleeping.c")
PLAN = """\
schema = 1
about = "one cell"
subjects = ["bundled"]

[[cell]]
name = "sleeps"
at = { arch = "%s", mips = 250, cores = 1, job = "probe", chip = "GD25Q16C" }
"""
MS = 1_000_000
LINKERS = {Arch.I386: "/lib/ld-linux.so.2", Arch.ARM64: "/lib/ld-linux-aarch64.so.1"}


def is_runnable(arch: Arch) -> bool:
    """Whether it can be built, and this machine has the C library that it is to run with."""
    return compiles(arch) and (arch not in LINKERS or Path(LINKERS[arch]).exists())


ARCHES = [
    pytest.param(arch, marks=pytest.mark.skipif(not is_runnable(arch), reason="no C library"))
    for arch in Arch
]


@pytest.fixture(scope="module", params=ARCHES)
def ran(
    paths: Paths, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> FinishedRun:
    """That program in a cell of its own, without its symbols."""
    arch: Arch = request.param
    folder = tmp_path_factory.mktemp("sleeps")
    program, plan = folder / "sleeping", folder / "plan.toml"
    command, environment = compiler(arch)
    words = [*command, "-O2", "-s", "-o", str(program), str(SOURCE)]
    subprocess.run(words, check=True, env=environment)
    plan.write_text(PLAN % arch, encoding="ascii")
    return run_plan(paths, folder / "out", "--plan", str(plan), "--subject", f"path:{program}")


@pytest.fixture
def delays(ran: FinishedRun) -> Delays:
    (cell,) = ran.results.cells
    found = read_delays(ran.out / cell.id)
    assert found is not None, ran.said
    return found


def asked(delays: Delays, ns: int) -> list[DelayCall]:
    """The calls of that length."""
    return [call for call in delays.calls if call.requested_ns == ns]


@pytest.mark.parametrize(
    ("called", "ns"),
    [
        ("nanosleep", 3 * MS + 1),
        ("clock_nanosleep", 4 * MS + 1),
        ("usleep", 5_001_000),
        ("poll", 6 * MS),
        ("select", 7_001_000),
        ("ppoll", 8 * MS + 1),
        ("sleep", 1000 * MS),
    ],
)
def test_each_sleep_is_seen_with_what_it_asks_for(delays: Delays, called: str, ns: int) -> None:
    (call,) = asked(delays, ns)
    assert delays.function_of(call).name.startswith(f"{called}() at ")
    assert (call.ended, call.result) == (End.SITE, 0)
    assert call.seen_ns is not None
    assert ns <= call.seen_ns < ns + 2 * MS


def test_sleep_until_a_moment_asks_for_no_length(delays: Delays) -> None:
    (call,) = [call for call in delays.calls if call.until_ns is not None]
    assert (call.requested_ns, call.result) == (0, 0)


def test_sleep_that_ends_its_function_returns_to_the_caller(delays: Delays) -> None:
    calls = asked(delays, 2 * MS + 1)
    assert [(call.ended, call.result) for call in calls] == [(End.SITE, 0)] * 2


def test_sleep_that_goes_on_asks_for_what_is_left(delays: Delays) -> None:
    (first,) = asked(delays, 60 * MS + 1)
    after = delays.calls[delays.calls.index(first) + 1]
    assert (first.function, first.result, after.result) == (after.function, -1, 0)
    assert first.seen_ns is not None
    assert abs(first.requested_ns - first.seen_ns - after.requested_ns) < MS


def test_sleep_that_a_signal_ended_convicts_nobody_that_asks_nothing(
    ran: FinishedRun, delays: Delays
) -> None:
    (call,) = asked(delays, 70 * MS + 1)
    assert (call.ended, call.result) == (End.SITE, -1)
    (cell,) = ran.results.cells
    assert cell.verdict is Verdict.OP_FAILED
    assert cell.evidence == []
    assert "delay (some sleeps ended early, and nobody saw what followed)" in cell.unjudged
