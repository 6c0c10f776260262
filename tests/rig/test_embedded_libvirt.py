# SPDX-License-Identifier: GPL-2.0-or-later
"""The embedded driver's daemons are reaped whatever other children there are."""

import shutil
import subprocess
import sys
from pathlib import Path

LIMIT_S = 60
REAPS_BEHIND_A_ZOMBIE = """\
import os, subprocess, sys, time
from delayrig.machine.embedded_libvirt import adopt_orphans

first = subprocess.Popen(["true"])
os.waitid(os.P_PID, first.pid, os.WEXITED | os.WNOWAIT)
adopt_orphans()
daemon = int(subprocess.check_output(
    ["setsid", "--fork", "sh", "-c", 'echo $$; exec "$0" 0.5', sys.argv[1]]
))
while os.path.exists(f"/proc/{daemon}"):
    time.sleep(0.01)
assert first.wait() == 0
"""


def test_daemon_is_reaped_while_another_child_waits_for_its_parent(tmp_path: Path) -> None:
    qemu = shutil.copy(str(shutil.which("sleep")), tmp_path / "qemu-system-none")
    subprocess.run(
        [sys.executable, "-c", REAPS_BEHIND_A_ZOMBIE, str(qemu)], check=True, timeout=LIMIT_S
    )
