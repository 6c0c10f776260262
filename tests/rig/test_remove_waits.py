# SPDX-License-Identifier: GPL-2.0-or-later
"""The list of waits that `tests/waits/remove_waits.py` removes."""

from tests.rig.running import run_python

WAITS = ("-m", "tests.waits.remove_waits", "--list")


def test_place_without_a_wait_is_refused() -> None:
    wait = run_python(*WAITS).stdout.splitlines()[0]
    assert run_python(*WAITS, wait).stdout == f"{wait}\n"
    done = run_python(*WAITS, wait, "flashrom/core/gone.c:1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no wait at flashrom/core/gone.c:1" in done.stderr
