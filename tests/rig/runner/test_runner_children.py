# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of layers: their CPU time, and their end with an interrupted run."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.rig.processes import is_running
from tests.runner.children import Children

LIMIT_S = 60.0
SPIN = "import time\nwhile time.process_time() < 0.2: pass"
WITH_A_CHILD = """\
import pathlib, signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "600"])
pathlib.Path(sys.argv[1]).write_text(str(child.pid))
child.wait()
"""


def await_pid(path: Path) -> int:
    deadline_s = time.monotonic() + LIMIT_S
    while not (path.exists() and path.read_text()):
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
    return int(path.read_text())


def test_cpu_time_is_that_of_the_program_alone(tmp_path: Path) -> None:
    children = Children()
    busy = children.run([sys.executable, "-c", SPIN], cwd=tmp_path, env=os.environ)
    idle = children.run(["sleep", "0.3"], cwd=tmp_path, env=os.environ)
    assert busy.code == idle.code == 0
    assert busy.cpu_s > 0.2 > idle.cpu_s


def test_exit_code_and_signal_are_told_apart(tmp_path: Path) -> None:
    children = Children()
    assert children.run(["sh", "-c", "exit 3"], cwd=tmp_path, env=os.environ).code == 3
    assert children.run(["sh", "-c", "kill -9 $$"], cwd=tmp_path, env=os.environ).code == -9


def test_what_runs_and_its_own_children_end_with_the_run(tmp_path: Path) -> None:
    children, note = Children(), tmp_path / "pid"
    said: list[str] = []

    def work() -> None:
        command = [sys.executable, "-c", WITH_A_CHILD, str(note)]
        try:
            children.run(command, cwd=tmp_path, env=os.environ)
        except KeyboardInterrupt:
            said.append("interrupted")

    thread = threading.Thread(target=work)
    thread.start()
    grandchild = await_pid(note)
    children.end()
    thread.join(LIMIT_S)
    assert said == ["interrupted"]
    assert not is_running(grandchild)
    with pytest.raises(KeyboardInterrupt):
        children.run(["true"], cwd=tmp_path, env=os.environ)


RUNNER = """\
import os, signal, sys
from pathlib import Path
from tests.runner.children import Children
signal.signal(signal.SIGTERM, signal.default_int_handler)
children = Children()
try:
    children.run([sys.executable, "-c", sys.argv[1], sys.argv[2]], cwd=Path("/"), env=os.environ)
except KeyboardInterrupt:
    children.end()
    sys.exit(130)
"""


def test_sigterm_ends_what_the_main_thread_waits_for(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    runner = subprocess.Popen([sys.executable, "-c", RUNNER, WITH_A_CHILD, str(note)])
    grandchild = await_pid(note)
    runner.send_signal(signal.SIGTERM)
    assert runner.wait(LIMIT_S) == 130
    assert not is_running(grandchild)


IGNORED = """\
import signal
names = ("SIGINT", "SIGHUP", "SIGQUIT")
assert all(signal.getsignal(getattr(signal, name)) is not signal.SIG_IGN for name in names)
"""
BACKGROUND = """\
import os, signal, sys
from pathlib import Path
from tests.runner.children import Children
signal.signal(signal.SIGHUP, signal.SIG_IGN)
sys.exit(Children().run([sys.executable, "-c", sys.argv[1]], cwd=Path("/"), env=os.environ).code)
"""


def test_run_in_the_background_starts_its_programs_as_from_a_terminal() -> None:
    line = f'"{sys.executable}" -c "$0" "$1" & wait $!'
    done = subprocess.run(["sh", "-c", line, BACKGROUND, IGNORED], check=False)
    assert done.returncode == 0


FAR_AWAY = """\
import os, subprocess, sys
from tests.runner.children import adopt_orphans, end_descendants
adopt_orphans()
words = ["sh", "-c", "setsid sleep 600 >/dev/null & echo $!"]
print(subprocess.run(words, stdout=subprocess.PIPE, text=True).stdout.strip(), flush=True)
end_descendants()
"""


def test_orphan_in_a_session_of_its_own_ends_with_the_run() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FAR_AWAY], stdout=subprocess.PIPE, text=True, check=True
    )
    assert not is_running(int(done.stdout))
