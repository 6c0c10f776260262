# SPDX-License-Identifier: GPL-2.0-or-later
"""An ordinary user sets up a checkout and uses it; only installing packages needs root."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from delayrig.base.paths import Paths

from tests.rig.processes import left_running

from .fresh_checkout import copy_checkout, run_line
from .provided import skip_if_refused

NOBODY = 65534
COMMANDS = {
    "rig/rig run --plan smoke --out out/run": 0,
    "rig/rig gate --baseline path:good --candidate path:short --plan smoke --out out/gate": 1,
    "rig/rig try path:good --lane live --region 4 --out out/live": 0,
    "rig/rig try path:good --lane host --region 4 --out out/host": 0,
    "tests/run rig protocol -k 'confinement or host_session or test_ends'": 0,
}
"""Commands with their exit codes."""


@pytest.fixture(scope="module")
def checkout(paths: Paths) -> Iterator[Path]:
    """Yields a checkout with two programs, which the ordinary user owns."""
    with tempfile.TemporaryDirectory(prefix="user-") as name:
        folder = Path(name)
        fresh = copy_checkout(paths, folder / "rig", linked=False)
        shutil.copy2(paths.flashrom_build / "flashrom", fresh / "good")
        shutil.copy2(paths.flashrom_build / "flashrom-short", fresh / "short")
        (folder / "tmp").mkdir()
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", name], check=True)
        yield fresh
        assert left_running(name, 10) == []
        assert list((folder / "tmp").glob("flashrom-*")) == []


def as_user(checkout: Path, line: str) -> subprocess.CompletedProcess[str]:
    """Runs the line as a user who is not root and cannot get any capability."""
    drop_root = (
        *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
        *("--bounding-set=-all", "--inh-caps=-all"),
    )
    variables = {"HOME": str(checkout.parent), "TMPDIR": str(checkout.parent / "tmp")}
    return run_line(checkout, line, variables, drop_root if os.geteuid() == 0 else ())


@pytest.mark.long("sets up a checkout and runs five commands; quick: tests/rig/test_confinement.py")
def test_commands_of_an_ordinary_user_give_their_exit_codes(checkout: Path) -> None:
    for line, code in COMMANDS.items():
        done = as_user(checkout, line)
        skip_if_refused(done.returncode, done.stdout)
        assert done.returncode == code, f"{line}\n{done.stdout}"
    owners = {path.stat().st_uid for path in checkout.rglob("*") if not path.is_symlink()}
    assert owners == {NOBODY if os.geteuid() == 0 else os.geteuid()}
