# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig latency` on this machine: governors, rights, and the measuring program itself."""

import asyncio
import errno
import os
import signal
import subprocess
from pathlib import Path

import msgspec
import pytest
from delayrig.base.errors import RigFaultError
from delayrig.base.paths import Paths, find_paths
from delayrig.features.latency.host_place import JOURNAL, Governors, open_host
from delayrig.features.latency.place import Line, MissingError
from delayrig.features.latency.program_output import parse_lines, reading_of
from delayrig.features.latency.result import Kind, LatencyReport, Section, Series

from tests.rig.measured import MS, US
from tests.rig.processes import is_running, stat_of
from tests.rig.running import run


def make_cpufreq(folder: Path, *, cpus: int = 2) -> Path:
    """Makes the sysfs files of cpufreq, which this machine may lack; returns the folder."""
    for cpu in range(cpus):
        place = folder / f"cpu{cpu}" / "cpufreq"
        place.mkdir(parents=True)
        (place / "scaling_governor").write_text("schedutil\n")
        (place / "scaling_available_governors").write_text("performance schedutil userspace \n")
    return folder


def governors_now(sysfs: Path) -> set[str]:
    files = sysfs.glob("cpu*/cpufreq/scaling_governor")
    return {path.read_text().strip() for path in files}


def test_governor_is_restored_also_after_a_killed_rig(tmp_path: Path) -> None:
    sysfs = make_cpufreq(tmp_path / "cpu")
    governors = Governors(tmp_path / JOURNAL, sysfs)
    assert governors.known == ("schedutil", "performance")
    governors.set_all("performance")
    governors.set_all("powersave")
    assert governors_now(sysfs) == {"powersave"}
    governors.restore()
    assert governors_now(sysfs) == {"schedutil"}
    assert not (tmp_path / JOURNAL).exists()
    governors.set_all("performance")
    Governors(tmp_path / JOURNAL, sysfs)
    assert governors_now(sysfs) == {"schedutil"}
    assert Governors(tmp_path / JOURNAL, tmp_path).known == ()


@pytest.mark.parametrize("allowed", [0, 1])
def test_governor_that_may_not_be_set_on_every_cpu_is_set_on_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: int
) -> None:
    sysfs = make_cpufreq(tmp_path / "cpu")
    governors = Governors(tmp_path / JOURNAL, sysfs)
    refusing = sorted(sysfs.glob("cpu*/cpufreq/scaling_governor"))[allowed:]
    write_text = Path.write_text

    def refuse(path: Path, text: str, encoding: str) -> int:
        if path in refusing:
            raise PermissionError(errno.EACCES, "Permission denied")
        return write_text(path, text, encoding)

    monkeypatch.setattr(Path, "write_text", refuse)
    with pytest.raises(PermissionError):
        governors.set_all("performance")
    assert governors_now(sysfs) == {"schedutil"}
    assert not (tmp_path / JOURNAL).exists()


@pytest.mark.parametrize("journal", [b"", b'{"cpu0": 1}', b'{"cpu0": "\xff"}'])
def test_damaged_journal_of_governors_is_named_and_kept(tmp_path: Path, journal: bytes) -> None:
    sysfs = make_cpufreq(tmp_path / "cpu")
    (tmp_path / JOURNAL).write_bytes(journal)
    with pytest.raises(RigFaultError, match=f"{JOURNAL}: is damaged"):
        Governors(tmp_path / JOURNAL, sysfs)
    assert (tmp_path / JOURNAL).read_bytes() == journal


def test_interrupted_measurement_restores_governors(tmp_path: Path) -> None:
    sysfs = make_cpufreq(tmp_path / "cpu")
    paths = Paths(checkout=find_paths().checkout, state=tmp_path)

    changed = asyncio.Event()

    async def measure() -> None:
        async with open_host(paths, (0,), sysfs=sysfs) as place:
            await place.set_governor("performance")
            changed.set()
            await asyncio.sleep(3600)

    async def interrupted() -> None:
        task = asyncio.create_task(measure())
        await changed.wait()
        assert governors_now(sysfs) == {"performance"}
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupted())
    assert governors_now(sysfs) == {"schedutil"}


def test_missing_cyclictest_is_an_error_that_names_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    async def ask() -> None:
        async with open_host(Paths(checkout=tmp_path, state=tmp_path), (0,)) as place:
            with pytest.raises(MissingError, match="apt-get install rt-tests"):
                await place.cyclictest([], eaters=0)

    asyncio.run(ask())


NO_REALTIME = (
    *("prlimit", "--rtprio=0:0"),
    *(("setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice") if os.geteuid() == 0 else ()),
)
"""The words before a program that make the kernel refuse it real-time priority."""


def run_here(*words: str, wrapper: tuple[str, ...] = ()) -> list[Line]:
    """Runs the measuring program on this machine; returns a line for each word."""
    program = str(find_paths().latency_program)
    done = subprocess.run([*wrapper, program, *words], capture_output=True, check=True, timeout=60)
    return parse_lines(done.stdout, expected=len(words), source="rig-latency")


def test_process_that_may_not_be_real_time_measures_the_rest() -> None:
    series = [
        Series(kind=Kind.WAIT, wait="nanosleep", request_ns=US, count=3, fifo=fifo)
        for fifo in (1, 0)
    ]
    lines = run_here(*(wait.word for wait in series), wrapper=NO_REALTIME)
    refused, measured = map(reading_of, series, lines)
    assert refused.refused == "sched_setscheduler(SCHED_FIFO)"
    assert refused.why == "Operation not permitted"
    assert measured.statistics is not None
    assert measured.statistics.count == 3


@pytest.mark.long("all sweeps of this machine; quick: single series of each kind on it")
def test_run_of_a_user_without_rights_measures_the_rest_and_says_what_is_missing(
    tmp_path: Path,
) -> None:
    words = ("latency", "--quick", "--no-color", "--out", tmp_path / "out")
    done = run(*NO_REALTIME, find_paths().checkout / "rig" / "rig", *words, timeout=300)
    assert done.returncode == 0, done.stderr
    report = (tmp_path / "out" / "latency.json").read_bytes()
    (machine,) = msgspec.json.decode(report, type=LatencyReport).machines
    refused = [reading for reading in machine.readings if reading.refused]
    assert refused
    assert all(reading.series.fifo for reading in refused)
    assert any(reading.statistics for reading in machine.of(Section.TABLE))
    assert machine.cyclictest == []
    assert "missing on host: sched_setscheduler(SCHED_FIFO): Operation not permitted" in done.stdout
    assert "missing on host: cyclictest " in done.stdout
    assert any("ulimit -r" in line for line in machine.missing)
    page = (tmp_path / "out" / "latency.html").read_text(encoding="utf-8")
    assert "Operation not permitted" in page


def test_waits_on_this_machine_are_never_early_and_clock_readings_take_time() -> None:
    lines = run_here(
        "audit",
        "wait:wait=clock_nanosleep,request_ns=100000,count=20,eaters=1,slack_ns=1",
        "sweep:wait=select,from_ns=1000,to_ns=20000,step_ns=1000",
        "periods:request_ns=1000000,count=5",
        "wait:wait=nop,count=100000,limit_ms=1",
    )
    audit, sleep, sweep, periods, limited = lines
    assert 0 < audit["clock_read_ps"] < audit["loop_ps"] * 2
    assert sleep["ended_ns"] - sleep["began_ns"] >= 20 * 100_000
    assert sleep["ended_ns"] <= sweep["began_ns"] < sweep["ended_ns"] <= periods["began_ns"]
    assert periods["ended_ns"] - periods["began_ns"] >= 5 * MS
    assert (sleep["early"], sleep["count"]) == (0, 20)
    assert sleep["quantiles_ns"][0] >= 100_000
    assert sleep["voluntary_switches"] >= 1
    assert len(sweep["elapsed_ns"]) == 20
    assert all(ns >= 1000 * i for i, ns in enumerate(sweep["elapsed_ns"], start=1))
    assert (periods["early"], periods["count"]) == (0, 5)
    assert limited["count"] < 100_000


def test_measuring_program_refuses_an_unknown_wait() -> None:
    done = run(find_paths().latency_program, "audit", "wait:wait=usleep,count=1")
    assert (done.returncode, done.stdout) == (2, "")


def test_interrupted_run_leaves_no_process_and_no_half_written_file(tmp_path: Path) -> None:
    out = tmp_path / "out"
    checkout = find_paths().checkout
    command = [str(checkout / "rig" / "rig"), "latency", "--quick", "--no-color"]
    # A shell makes its background jobs ignore SIGINT, and their children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    latency = subprocess.Popen(
        [*command, "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert latency.stderr is not None
    for line in latency.stderr:
        if line.startswith("measuring host"):
            break
    latency.send_signal(signal.SIGINT)
    _, errors = latency.communicate(timeout=30)
    assert latency.returncode == 130
    assert "interrupted" in errors
    assert list(out.iterdir()) == []
    processes = [int(entry.name) for entry in Path("/proc").glob("[0-9]*")]
    assert not [p for p in processes if stat_of(p)[3:4] == [str(latency.pid)] and is_running(p)]
