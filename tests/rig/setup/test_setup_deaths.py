# SPDX-License-Identifier: GPL-2.0-or-later
"""However the launcher or the rig dies, the exit code is not 1: that means an unsafe flashrom."""

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import click
import pytest
from delayrig.base.paths import find_paths
from delayrig.main import COMMANDS, main

from tests.conftest import Bound
from tests.rig.launching import LAUNCHER, SYSTEM_PYTHON, copy_launcher, launch_copy, pretend_ready
from tests.rig.running import run

pytestmark = pytest.mark.skipif(not SYSTEM_PYTHON.exists(), reason="needs the system's Python")

RIG_FAULT, UNTESTABLE, INTERRUPTED = 99, 125, 130
CLOSED = {0: "<&-", 1: ">&-", 2: "2>&-"}
BISECTION = "gate --bisect --baseline bundled --candidate bundled --dry-run"
HELP = [f"{command.name} --help" for command in COMMANDS]
COMMAND_LINES = [
    *("plans", BISECTION, "report /nowhere"),
    *("gate --bisect", "run --dry-run", "doctor --lane host", "no-such-command"),
]
# Root can write to read-only files, unless it drops its capabilities.
WITHOUT_CAPABILITIES = (
    ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
)


def start(line: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Runs a shell command with the state of this checkout."""
    environment = {**os.environ, "FLASHROM_RIG_STATE": str(find_paths().state), **more}
    return run("sh", "-c", line, stdin=subprocess.DEVNULL, env=environment)


def code_of(done: subprocess.CompletedProcess[str]) -> int:
    """Returns the exit code; checks that the output has no traceback."""
    assert "Traceback" not in done.stderr + done.stdout, done.stderr
    return done.returncode


def rig(words: str) -> str:
    return f"{shlex.quote(str(LAUNCHER))} {words}"


@pytest.mark.bounds(commands=(3, 200))
def test_closed_descriptor_changes_no_exit_code(bound: Bound) -> None:
    for words in [*COMMAND_LINES, *HELP][: bound("commands")]:
        code = code_of(start(rig(words)))
        for closed in CLOSED.values():
            assert code_of(start(f"{rig(words)} {closed}")) == code, (words, closed)


def test_three_closed_descriptors_change_no_exit_code() -> None:
    assert code_of(start(f"{rig('plans')} <&- >&- 2>&-")) == 0


@pytest.mark.bounds(commands=(0, 200))
def test_too_little_memory_is_a_rig_fault(bound: Bound) -> None:
    for words in ["plans", BISECTION, *HELP[: bound("commands")]]:
        done = start(f"ulimit -v 45000; exec {rig(words)}")
        wanted = UNTESTABLE if "--bisect" in words else RIG_FAULT
        assert code_of(done) == wanted, (words, done.stderr)
        assert len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.parametrize("size_kib", [8000, 20000, 24000, 33000])
def test_even_less_memory_is_a_rig_fault(size_kib: int) -> None:
    assert code_of(start(f"ulimit -v {size_kib}; exec {rig(BISECTION)}")) == UNTESTABLE


@pytest.mark.parametrize(
    ("death", "code"),
    [
        *(("kill -KILL $$", RIG_FAULT), ("kill -SEGV $$", RIG_FAULT)),
        *(("exit 1", RIG_FAULT), ("exit 120", RIG_FAULT)),
        *(("exit 101", 1), ("exit 3", 3), ("exit 0", 0), ("exit 130", INTERRUPTED)),
    ],
)
def test_exit_code_is_1_only_if_the_rig_says_so(tmp_path: Path, death: str, code: int) -> None:
    copy, state = copy_launcher(tmp_path), tmp_path / "state"
    pretend_ready(copy, state, death)
    assert launch_copy(copy, state, "run").returncode == code
    bisected = launch_copy(copy, state, "gate", "--bisect").returncode
    assert bisected == (UNTESTABLE if code == RIG_FAULT else code)


@pytest.mark.parametrize("module", ["launcher.py", "errors.py"])
def test_launcher_that_cannot_be_imported_is_a_rig_fault(tmp_path: Path, module: str) -> None:
    copy, state = copy_launcher(tmp_path), tmp_path / "state"
    (copy / "delayrig" / "setup" / module).unlink()
    assert launch_copy(copy, state, "run").returncode == RIG_FAULT
    assert launch_copy(copy, state, "gate", "--bisect").returncode == UNTESTABLE


def test_rig_that_cannot_be_imported_is_a_rig_fault(tmp_path: Path) -> None:
    copy, state = copy_launcher(tmp_path), tmp_path / "state"
    pretend_ready(copy, state, f'exec {sys.executable} "$@"')
    done = launch_copy(copy, state, "gate", "--bisect")
    assert done.returncode == UNTESTABLE
    assert "says nothing about any flashrom" in done.stderr


def code_after(number: signal.Signals, script: str, tmp_path: Path) -> int:
    """Sends a signal to a launcher whose rig runs the script; returns its exit code."""
    copy, state = copy_launcher(tmp_path), tmp_path / "state"
    pretend_ready(copy, state, script)
    environment = {**os.environ, "FLASHROM_RIG_STATE": str(state)}
    command = [str(copy / "rig"), "run"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as launcher:
        assert launcher.stdout is not None
        assert launcher.stdout.readline() == b"up\n"
        launcher.send_signal(number)
        launcher.stdout.read()
    return launcher.returncode


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_to_the_launcher_reaches_the_rig(tmp_path: Path, number: signal.Signals) -> None:
    loop = "echo up; while :; do sleep 1; done"
    assert code_after(number, f"trap 'exit 7' {number.name[3:]}; {loop}", tmp_path) == 7


def test_signal_that_kills_the_rig_also_ends_the_launcher(tmp_path: Path) -> None:
    script = "echo up; exec sleep 600"
    assert code_after(signal.SIGTERM, script, tmp_path) == -signal.SIGTERM


def test_rig_does_not_begin_without_its_launcher() -> None:
    words = ["-P", "-X", "started_by=1", "-m", "delayrig", "plans"]
    done = run(sys.executable, *words)
    assert (done.returncode, done.stdout) == (RIG_FAULT, "")


@pytest.mark.skipif(not WITHOUT_CAPABILITIES, reason="only root can drop its capabilities")
def test_read_only_state_is_a_rig_fault(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o555)
    for words, code in (("run --yes", RIG_FAULT), (BISECTION, UNTESTABLE), ("plans", 0)):
        done = start(
            f"{shlex.join(WITHOUT_CAPABILITIES)} {rig(words)}", FLASHROM_RIG_STATE=str(state)
        )
        assert code_of(done) == code, (words, done.stderr)


def test_path_that_is_not_ascii_needs_no_locale(tmp_path: Path) -> None:
    out = tmp_path / "Ausgabe-\u00e4\u2603"
    words = f"run --dry-run --out {shlex.quote(str(out))}"
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert code_of(start(rig(words), **locale)) == 0
    absent = start(rig(f"report {shlex.quote(str(out))}"), **locale)
    assert code_of(absent) == 2
    assert str(out) in absent.stderr.replace("\n", "")


@pytest.mark.parametrize("raised", [click.Abort(), KeyboardInterrupt(), EOFError()], ids=repr)
def test_interruption_inside_click_exits_with_130(
    monkeypatch: pytest.MonkeyPatch, raised: BaseException
) -> None:
    monkeypatch.setattr(click.Group, "invoke", Mock(side_effect=raised))
    with pytest.raises(SystemExit) as ended:
        main(["plans"])
    assert ended.value.code == INTERRUPTED
