# SPDX-License-Identifier: GPL-2.0-or-later
"""The CPU plugin in a real QEMU: a guest measures the speeds of its CPUs by its own clock.

Rounds in which the host did not keep up, by the trace, do not count. A test that has too few rounds
is skipped.
"""

import socket
import statistics
import subprocess
from pathlib import Path

import pytest
from delayrig.base.paths import Paths
from delayrig.model.events import of_kind
from delayrig.model.kinds.pace import Speed, TraceEnd, TraceStart, Window

from .paced_guest import PacedRun, Round, plugin_file, run_paced_guest

pytestmark = pytest.mark.alone("cores of real speeds")
ROUNDS_MIN = 3


def median_ns(run: PacedRun, cpu: int) -> float:
    took = run.kept_ns(cpu)
    if len(took) < ROUNDS_MIN:
        pytest.skip(f"inconclusive: the host kept up in {len(took)} rounds of CPU {cpu}")
    return statistics.median(took)


def test_cores_of_60_and_240_mips_differ_by_a_factor_of_four(paths: Paths, tmp_path: Path) -> None:
    run = run_paced_guest(
        paths, tmp_path, cores=2, plugin="mips=60:240", words="work=4000 rounds=8"
    )
    assert median_ns(run, 0) / median_ns(run, 1) == pytest.approx(4.0, abs=0.1)


@pytest.mark.long("ten rounds in real time; quick: two cores of unequal speed")
def test_three_cores_have_the_ratios_of_their_speeds(paths: Paths, tmp_path: Path) -> None:
    run = run_paced_guest(
        paths, tmp_path, cores=3, plugin="mips=40:120:200", words="work=2000 rounds=10"
    )
    slow, middle, fast = (median_ns(run, cpu) for cpu in range(3))
    assert slow / middle == pytest.approx(3.0, rel=0.05)
    assert slow / fast == pytest.approx(5.0, rel=0.05)
    assert middle / fast == pytest.approx(200 / 120, rel=0.05)


def test_command_on_the_control_socket_changes_the_speed(paths: Paths, tmp_path: Path) -> None:
    control = tmp_path / "control"
    answers: list[bytes] = []

    def step(measured: Round) -> None:
        if (measured.number, measured.cpu) != (4, 1):
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.bind(str(tmp_path / "sender"))
            sender.settimeout(5)
            sender.sendto(b"0 120\n", str(control))
            answers.append(sender.recv(100))

    run = run_paced_guest(
        paths,
        tmp_path,
        cores=2,
        plugin=f"mips=60,control={control}",
        words="work=2000 rounds=10",
        on_round=step,
    )
    changes = of_kind(run.trace, Speed)
    assert [f"ok {change.t_ns}\n".encode() for change in changes] == answers
    slow = [r.took_ns for r in run.rounds if r.cpu == 0 and r.number <= 4 and run.kept(r)]
    fast = [r.took_ns for r in run.rounds if r.cpu == 0 and r.number > 5 and run.kept(r)]
    if min(len(slow), len(fast)) < ROUNDS_MIN:
        pytest.skip("inconclusive: the host did not keep up")
    assert statistics.median(slow) / statistics.median(fast) == pytest.approx(2.0, abs=0.1)
    assert not control.exists()


@pytest.mark.long("rounds in real time; quick: tests/unit/cpu tests the governors")
def test_ondemand_speeds_up_a_cpu_that_is_busy(paths: Paths, tmp_path: Path) -> None:
    run = run_paced_guest(
        paths,
        tmp_path,
        cores=2,
        plugin="governor=ondemand:powersave,min_mips=60,max_mips=240",
        words="work=4000 rounds=6",
    )
    changed = {speed.vcpu for speed in of_kind(run.trace, Speed)}
    assert changed == {0}
    # Each busy stretch includes two sampling periods of 10 ms at a quarter of the speed.
    assert median_ns(run, 1) / median_ns(run, 0) == pytest.approx(3.6, abs=0.5)


def test_trace_ends_with_the_number_of_its_windows(paths: Paths, tmp_path: Path) -> None:
    run = run_paced_guest(paths, tmp_path, cores=2, plugin="mips=0", words="work=100 rounds=1")
    windows, end = of_kind(run.trace, Window), run.trace[-1]
    assert isinstance(run.trace[0], TraceStart)
    assert isinstance(end, TraceEnd)
    assert end.windows == len(windows)
    assert end.windows_not_kept == sum(not window.kept for window in windows)
    assert all(w.t_ns - w.from_ns == w.active_ns + w.idle_ns for w in windows)


@pytest.mark.parametrize(
    ("accelerator", "argument", "message"),
    [
        ("tcg,thread=multi", "mips=fast", "cpu plugin: mips=fast: speeds in MIPS"),
        ("tcg,thread=multi", "governor=ondemand", "cpu plugin: vCPU 0: governor ondemand needs"),
        ("tcg,thread=single", "mips=60", "cpu plugin: vCPUs share a thread"),
    ],
)
def test_invalid_argument_or_accelerator_is_refused(
    paths: Paths, accelerator: str, argument: str, message: str
) -> None:
    done = subprocess.run(
        [
            *("qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none"),
            *("-smp", "2", "-accel", accelerator, "-plugin", f"{plugin_file(paths)},{argument}"),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(message)
