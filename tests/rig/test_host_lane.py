# SPDX-License-Identifier: GPL-2.0-or-later
"""The host lane: its verdicts, its choice of cells, and the ends of its sessions."""

import asyncio
import os
import shlex
import shutil
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from delayrig.base.errors import BadInputError, LostGuestError
from delayrig.base.paths import Paths, find_paths
from delayrig.lanes.host.actions import Siblings, Stops
from delayrig.lanes.host.record import Record
from delayrig.lanes.host.spec import PORT, Spec, cpus_in, cpus_text, write_spec
from delayrig.lanes.host.subject import BoxedSubject
from delayrig.lanes.host_lane import OWN, HostLane, cpus_of
from delayrig.lanes.lane import Assignment
from delayrig.lanes.stages import StageWatch
from delayrig.model.cell import Cell, Job, Programmer, Role
from delayrig.model.events import Event, encode_events, first, needed, read_events
from delayrig.model.kinds.agent import ClockRate, EmulatorEnd, LeftOver, SubjectEnd
from delayrig.model.kinds.library_client import HostStart
from delayrig.model.lane import LaneName
from delayrig.model.result import CellResult, Results, Verdict
from delayrig.plan.request import choose_cells, default_jobs
from delayrig.run.cell_runner import rerun_command
from delayrig.run.runner import Quiet, run_request

from tests.rig.builders import make_cell, make_chip, make_subject, request_of
from tests.rig.processes import GONE_LIMIT_S, left_running
from tests.rig.running import start_python, write_script

CPUS = sorted(os.sched_getaffinity(0))
BUILT = find_paths().build
SILENT = Quiet(lambda _: None)
TWO_CPUS = pytest.mark.skipif(len(CPUS) < 2, reason="only one CPU may be used here")


def host_cell(**changes: Any) -> Cell:
    """Returns a small write of half a second, 400 ms of which are one erase."""
    plain: dict[str, Any] = {
        "lane": LaneName.HOST,
        "icount_shift": 0,
        "chip": "W25Q128JV",
        "corner": "max",
        "region_kib": 4,
    }
    return make_cell(**(plain | changes))


def run_cells(paths: Paths, out: Path, *cells: Cell) -> Results:
    out.mkdir(exist_ok=True)
    return asyncio.run(run_request(request_of(list(cells), out), paths, SILENT))


def run_one(paths: Paths, out: Path, cell: Cell) -> CellResult:
    return run_cells(paths, out, cell).cells[0]


def events_text(out: Path, cell: Cell) -> str:
    """Returns the events of a cell as lines of JSON."""
    return (out / cell.id / "events.jsonl").read_text(encoding="utf-8")


def replace_emulator(paths: Paths, script: str) -> None:
    """Installs a script in place of the emulator; its variable `$real` names the emulator."""
    real = paths.emulator.resolve()
    (paths.state / "build").unlink()
    write_script(paths.emulator, f"real={shlex.quote(str(real))}\n{script}")
    for name in ("flashrom", "images"):
        (paths.build / name).symlink_to(BUILT / name)


def test_bus_canary_is_convicted_and_its_control_passes(paths: Paths, tmp_path: Path) -> None:
    results = run_cells(
        paths,
        tmp_path / "out",
        host_cell(name="canary", subject="canary:bus", role=Role.CANARY),
        host_cell(name="control", role=Role.CONTROL),
    )
    canary, control = results.cells
    assert canary.verdict is Verdict.TOO_SHORT, canary.reason
    assert control.verdict is Verdict.PASS, control.reason
    assert (control.lane, control.guest.mips) == ("host", [])
    assert control.emulator.realtime is not None
    assert control.time_ns.total >= 400_000_000
    assert canary.evidence[0].witness == "bus"


def test_chip_canary_is_convicted_and_its_control_passes(paths: Paths, tmp_path: Path) -> None:
    canary, control = run_cells(
        paths,
        tmp_path / "out",
        host_cell(subject="canary:chip", role=Role.CANARY),
        host_cell(subject="control:chip", role=Role.CONTROL),
    ).cells
    assert canary.verdict is Verdict.TOO_SHORT, canary.reason
    assert {item.witness for item in canary.evidence} >= {"chip"}
    assert control.verdict is Verdict.PASS, control.reason


def test_result_has_facts_of_this_machine_and_none_of_qemu_or_libvirt(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("bwrap", "nsenter", "unshare"):
        (tools / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(tools))
    results = run_cells(paths, tmp_path / "out", host_cell(job=Job.PROBE))
    (cell,) = results.cells
    assert cell.verdict is Verdict.PASS, cell.reason
    assert (results.run.qemu_version, results.run.libvirt_version) == ("", "")
    assert set(results.run.image_digests) == {"emulator", "subject bundled"}
    assert [facts.cpu for facts in results.run.host.cpu] == CPUS
    assert cell.guest.kernel == os.uname().release == results.run.host.kernel
    assert cell.guest.clocksource == results.run.host.clocksource


def test_private_umask_changes_no_verdict(paths: Paths, tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        result = run_one(paths, tmp_path / "out", host_cell())
    finally:
        os.umask(before)
    assert result.verdict == Verdict.PASS, result.reason


@pytest.mark.parametrize(
    "changes",
    [
        *({"job": job} for job in (Job.READ, Job.ERASE, Job.VERIFY)),
        {"programmer": Programmer.SERPROG_DEV},
        {"programmer": Programmer.SERPROG_NATIVE_DELAY},
        {"programmer": Programmer.DUMMY},
    ],
)
def test_other_jobs_and_programmers_pass(
    paths: Paths, tmp_path: Path, changes: dict[str, Any]
) -> None:
    cell = run_one(paths, tmp_path / "out", host_cell(**changes))
    assert (cell.verdict, cell.evidence) == (Verdict.PASS, []), cell.reason


def test_tty_of_the_emulator_may_have_a_long_path(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = tmp_path / ("far/" * 40)
    far.mkdir(parents=True)
    monkeypatch.setenv("TMPDIR", str(far))
    monkeypatch.setattr("tempfile.tempdir", None)
    cell = run_one(paths, tmp_path / "out", host_cell(programmer=Programmer.SERPROG_DEV))
    assert cell.verdict is Verdict.PASS, cell.reason


@pytest.mark.parametrize(
    ("hazard", "record"),
    [
        ("hogs:2", '"ev":"hogs_stopped"'),
        ("stop-cont:10", '"ev":"stops"'),
        ("no-rt", '"ev":"subject_rights"'),
        ("signals:20", '"ev":"host_end"'),
        ("threads:1", '"ev":"host_end"'),
        ("link:baud=2000000", '"link":"baud=2000000"'),
        pytest.param("busy-siblings", '"ev":"siblings_stopped"', marks=TWO_CPUS),
        pytest.param("busy-siblings:0-50@100", '"ev":"siblings_stopped"', marks=TWO_CPUS),
        pytest.param("migrate:20", '"ev":"migrations"', marks=TWO_CPUS),
    ],
)
def test_hazard_takes_place_and_convicts_nobody(
    paths: Paths, tmp_path: Path, hazard: str, record: str
) -> None:
    cell = host_cell(hazards=(hazard,), cores=2)
    result = run_one(paths, tmp_path / "out", cell)
    # On a busy machine the lane may not keep up, which is inconclusive.
    assert result.verdict in (Verdict.PASS, Verdict.INCONCLUSIVE), result.reason
    assert record in events_text(tmp_path / "out", cell)


class FakeRecord(Record):
    """A record that a test can read."""

    def __init__(self) -> None:
        super().__init__()
        self.facts: dict[str, dict[str, object]] = {}

    def note(self, event: str, **facts: object) -> None:
        self.facts[event] = facts


def test_stopped_siblings_report_their_turns(tmp_path: Path) -> None:
    (tmp_path / "printed").touch()
    siblings = Siblings(record := FakeRecord(), CPUS[:1])
    siblings.begin()
    siblings.accepted(0, tmp_path / "printed")
    assert record.facts["siblings_stopped"]["turns_min"] != 0


def test_stopping_or_ending_a_subject_that_is_gone_is_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def gone(pid: int, number: int) -> None:
        raise ProcessLookupError(pid, number)

    monkeypatch.setattr(os, "kill", gone)
    stops = Stops(record := FakeRecord(), 20)
    stops.act(0)
    stops.ended()
    assert record.facts["stops"] == {"count": 1}
    hear = Mock()
    boxed: Any = SimpleNamespace(pid=1, _socket=Mock(), _hear=hear)
    BoxedSubject.end(boxed)
    hear.assert_called_once_with()


def test_emulator_that_may_not_be_realtime_runs_without_it_and_the_result_says_so(
    paths: Paths, tmp_path: Path
) -> None:
    refusal = "echo 'serprog-emu: --realtime: not permitted' >&2; exit 99"
    replace_emulator(paths, f'case "$*" in *--realtime=*) {refusal};; esac\nexec "$real" "$@"')
    cell = run_one(paths, tmp_path / "out", host_cell())
    assert (cell.verdict, cell.emulator.realtime) == (Verdict.PASS, False), cell.reason


@pytest.mark.parametrize(
    ("script", "output"),
    [
        ("echo 'no such chip today' >&2; exit 2", "no such chip today"),
        ('"$real" "$@" & sleep 0.3; echo "ouch" >&2; kill -9 $!; exit 7', "ouch"),
    ],
    ids=["never starts", "is killed during the run"],
)
def test_failed_emulator_is_infra_error_with_its_last_output(
    paths: Paths, tmp_path: Path, script: str, output: str
) -> None:
    replace_emulator(paths, script)
    cell = run_one(paths, tmp_path / "out", host_cell())
    assert cell.verdict is Verdict.INFRA_ERROR, cell.reason
    assert output in cell.reason
    assert left_running(tmp_path) == []


class KilledLane(HostLane):
    """A lane whose session is killed while the library client runs."""

    def pack(self, _assignment: Assignment, scratch: Path) -> Spec:
        (scratch / OWN).mkdir()
        (scratch / OWN / "host.jsonl").write_bytes(encode_events([HostStart(t_ns=1)]))
        return Spec(**SPEC)

    async def finish(self, _spec: Spec, _scratch: Path) -> int:
        return -signal.SIGKILL


def test_session_killed_while_the_library_client_runs_is_a_lost_guest(
    paths: Paths, tmp_path: Path
) -> None:
    assignment = Assignment(
        cell=host_cell(),
        chip=make_chip(),
        chip_name="",
        subject=make_subject(),
        folder=tmp_path,
        cpu=CPUS[0],
        watch=StageWatch(),
    )
    lane = KilledLane(request=request_of([assignment.cell], tmp_path), paths=paths)
    with pytest.raises(LostGuestError, match="the session of the cell was lost"):
        asyncio.run(lane.run_cell(assignment))


def refusal(paths: Paths, cell: Cell) -> str:
    lane = HostLane(
        request=request_of([cell], paths.state),
        paths=paths,
        refused={"debian:bookworm": "this subject cannot be started here"},
    )
    return lane.refusal(cell)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"hazards": ("low-res-timers",)}, "low-res-timers"),
        ({"hazards": ("hogs:1", "wall-clock-step:+1")}, "wall-clock-step:+1"),
        ({"pin": "9999"}, "9999"),
        ({"pin": str(CPUS[0]), "hazards": ("migrate:5",), "cores": 2}, "2 CPUs, and may use 1"),
        ({"hazards": ("busy-siblings",), "cores": 5000}, "needs 5000 CPUs"),
        ({"subject": "debian:bookworm"}, "cannot be started"),
    ],
)
def test_cell_that_this_machine_cannot_run_is_refused_with_the_reason(
    paths: Paths, changes: dict[str, Any], reason: str
) -> None:
    assert reason in refusal(paths, host_cell(**changes))


def test_cores_are_required_only_if_a_hazard_needs_them(paths: Paths) -> None:
    assert refusal(paths, host_cell(cores=5000)) == ""


def test_subject_runs_on_the_pinned_cpus(paths: Paths, tmp_path: Path) -> None:
    cell = host_cell(pin=str(CPUS[-1]), job=Job.PROBE)
    assert cpus_of(cell) == [CPUS[-1]]
    assert cpus_of(host_cell()) == CPUS
    run_one(paths, tmp_path / "out", cell)
    assert f'"cpus":"{CPUS[-1]}"' in events_text(tmp_path / "out", cell)


def choice(lane: LaneName | None, *, plan: str = "smoke") -> list[Cell]:
    return choose_cells(
        plan=plan, subjects=["bundled"], patterns=[], seed=1, paths=find_paths(), lane=lane
    ).cells


def test_smoke_plan_has_the_same_cells_canaries_and_controls_on_both_lanes() -> None:
    virtual, host = choice(None), choice(LaneName.HOST)
    assert {cell.lane for cell in virtual} == {LaneName.VIRTUAL}
    assert {cell.lane for cell in host} == {LaneName.HOST}
    judging = {cell.name for cell in host if cell.role is not Role.MEASURE}
    assert judging == {"canary-bus", "control-bus", "canary-chip", "control-chip"}
    assert {cell.name for cell in virtual} == {cell.name for cell in host}


def test_id_of_a_host_lane_cell_has_the_lane_and_no_speed() -> None:
    cell = host_cell(cores=2, pin="0,2-3")
    assert cell.id == "group.bundled.host.2c.cpu0-2-3.calm.W25Q128JV-max.4kib.write"
    assert cell.mips == []
    request = replace(request_of([cell], Path("/nowhere")), unconfined=False)
    assert rerun_command(cell, request).endswith(f"--cell {cell.id} --lane host")


def plan_of(folder: Path, lane: str, pin: str) -> str:
    """Writes a plan of one cell with these two lines; returns its path."""
    plan = folder / "plan.toml"
    plan.write_text(
        f'schema = 1\nabout = "x"\nsubjects = ["bundled"]\n{lane}\n[[cell]]\nname = "a"\n{pin}\n'
        'at = { mips = 16, cores = 1, job = "read", chip = "GD25Q16C" }\n',
        encoding="utf-8",
    )
    return str(plan)


@pytest.mark.parametrize(
    ("line", "key"), [('lane = "hots"', "'lane'"), ('pin = "a"', "'cell[0].pin'")]
)
def test_plan_with_a_wrong_lane_or_pin_is_refused(tmp_path: Path, line: str, key: str) -> None:
    lane, pin = (line, "") if line.startswith("lane") else ("", line)
    with pytest.raises(BadInputError) as caught:
        choice(None, plan=plan_of(tmp_path, lane, pin))
    assert key in caught.value.message


def test_option_overrides_the_lane_of_the_plan(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, 'lane = "host"', 'pin = "0"')
    (cell,) = choice(None, plan=plan)
    assert (cell.lane, cell.pin, cell.icount_shift) == (LaneName.HOST, "0", 0)
    (cell,) = choice(LaneName.VIRTUAL, plan=plan)
    assert (cell.lane, cell.pin, cell.icount_shift) == (LaneName.VIRTUAL, "", 6)


def test_host_and_live_lanes_leave_cpus_to_their_emulators() -> None:
    assert default_jobs(LaneName.VIRTUAL) == len(CPUS)
    assert default_jobs(LaneName.HOST) == max(len(CPUS) // 2, 1)
    assert default_jobs(LaneName.LIVE) == max(len(CPUS) // 4, 1)


EMULATOR = find_paths().emulator
LIMIT_S = 60
PARENT = """
import os, subprocess, sys
words = [sys.executable, "-S", "-m", "delayrig.lanes.host.session", sys.argv[1], str(os.getpid())]
sys.exit(subprocess.run(words, start_new_session=True).returncode)
"""


SPEC: dict[str, Any] = {
    "emulator": [],
    "subject": [],
    "subject_file_bytes_max": 1 << 20,
    "cpus": CPUS,
    "pinned": False,
    "deadline_ms": 30_000,
    "lines": [],
}


def spec_of(folder: Path, *subject: str, **changes: object) -> Path:
    """Writes a session whose subject is the given command; returns its file."""
    emulator = [
        *(str(EMULATOR), "--chip", "GD25Q16C", "--listen", "tcp:127.0.0.1:0"),
        *("--measure-wake", "0", "--events", str(folder / "events.jsonl")),
    ]
    path = folder / "session.json"
    write_spec(Spec(**(SPEC | {"emulator": emulator, "subject": list(subject)} | changes)), path)
    return path


def begin(spec: Path) -> subprocess.Popen[str]:
    """Starts the session as a child of a process that a test can kill."""
    return start_python("-c", PARENT, spec, stdout=None)


def run(spec: Path) -> list[Event]:
    """Runs the session until it ends; returns its events."""
    assert begin(spec).wait(LIMIT_S) == 0
    return read_events(spec.parent / "agent.jsonl")


def test_session_reports_ends_of_subject_and_emulator_and_leaves_no_process(tmp_path: Path) -> None:
    events = run(spec_of(tmp_path, "/bin/sh", "-c", f"echo {PORT}; exit 3"))
    assert needed(events, SubjectEnd).exit_code == 3
    assert needed(events, SubjectEnd).timed_out is False
    assert needed(events, EmulatorEnd).exit_code == 0
    assert int((tmp_path / "stdout.txt").read_text()) > 0
    assert first(events, LeftOver) is None
    assert left_running(tmp_path, GONE_LIMIT_S) == []


def test_subject_has_the_timer_slack_of_ordinary_processes(tmp_path: Path) -> None:
    run(spec_of(tmp_path, "/bin/cat", "/proc/self/timerslack_ns"))
    assert (tmp_path / "stdout.txt").read_text() == "50000\n"


def test_subject_is_killed_at_its_deadline(tmp_path: Path) -> None:
    events = run(spec_of(tmp_path, "/bin/sleep", "1000", deadline_ms=200))
    assert needed(events, SubjectEnd).timed_out is True
    assert needed(events, SubjectEnd).signal == signal.SIGKILL


def test_subject_that_floods_its_output_is_ended(tmp_path: Path) -> None:
    events = run(spec_of(tmp_path, "/usr/bin/yes", str(tmp_path)))
    assert needed(events, SubjectEnd).signal == signal.SIGXFSZ
    assert (tmp_path / "stdout.txt").stat().st_size <= 1 << 20


def test_child_that_a_subject_leaves_behind_is_ended(tmp_path: Path) -> None:
    shell = f"setsid sh -c 'sleep 1000; echo {tmp_path}' & sleep 0.2"
    events = run(spec_of(tmp_path, "/bin/sh", "-c", shell))
    assert needed(events, SubjectEnd).exit_code == 0
    assert needed(events, LeftOver).count >= 1
    assert left_running(tmp_path, GONE_LIMIT_S) == []


def test_clocks_are_compared_over_the_whole_session(tmp_path: Path) -> None:
    events = run(spec_of(tmp_path, "/bin/sleep", "0.2"))
    rate = needed(events, ClockRate)
    assert rate.monotonic_ns >= 200_000_000
    assert rate.raw_ns_min <= rate.raw_ns_max


@pytest.mark.parametrize("number", range(25))
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_session_dies_with_its_parent(tmp_path: Path, number: int, sent: signal.Signals) -> None:
    # The arguments of each process name a path in this folder, by which the test finds it.
    subject = shutil.copy("/bin/sleep", tmp_path)
    lines = ["hogs 1", "stops_hz 50"]
    parent = begin(spec_of(tmp_path, str(subject), "1000", lines=lines))
    time.sleep(0.01 * number)
    parent.send_signal(sent)
    parent.wait(LIMIT_S)
    assert left_running(tmp_path, GONE_LIMIT_S) == []


@pytest.mark.parametrize(
    ("text", "cpus"), [("", []), ("0", [0]), ("0-3", [0, 1, 2, 3]), ("7,0-1,4\n", [0, 1, 4, 7])]
)
def test_cpu_lists_have_the_kernels_format(text: str, cpus: list[int]) -> None:
    assert cpus_in(text) == cpus
    assert cpus_in(cpus_text(cpus)) == cpus
