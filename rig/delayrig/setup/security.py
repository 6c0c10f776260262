# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports what is confined on this machine and what is not (SECURITY.md). Changes nothing."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from delayrig.setup.command import last_line
from delayrig.setup.console import Context, Finding, note, ok, problem

PROBE_S = 30
QEMU = "qemu-system-x86_64"
HOST_LANE_PROBE = """\
from delayrig.base.bubblewrap import missing_confinement
print(missing_confinement())
"""
NETWORK_PROBE = """\
from delayrig.base.private_net import PrivateNet
try:
    PrivateNet().close()
    print()
except OSError as error:
    print(error)
"""
SANDBOX_PROBE = """\
from delayrig.machine.arguments import SANDBOX
print(SANDBOX)
"""
NAMESPACES = "allow namespaces (sysctl user.max_user_namespaces, the container's seccomp profile)"


def run_python(
    text: str, *words: str, python: str | Path = sys.executable, timeout_s: float = PROBE_S
) -> tuple[bool, str]:
    """Runs a short program, in an interpreter that need not have the rig's packages.

    Returns True and its output, or False and the last line of its error output.
    """
    done = subprocess.run(
        [python, "-P", "-c", text, *words],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    works = done.returncode == 0
    return works, done.stdout.strip() if works else last_line(done.stderr)


def _check_user(_context: Context) -> Finding:
    if os.geteuid() == 0:
        return note(
            "root: QEMU runs with all rights, so a hole in QEMU gives a guest this machine",
            "run the rig as an ordinary user; only packages need root",
        )
    return ok(f"user {os.geteuid()}: nothing that the rig starts has further rights")


def _check_host_lane(_context: Context) -> Finding:
    _, missing = run_python(HOST_LANE_PROBE)
    if missing:
        return problem(
            f"subjects cannot be confined, so the lane refuses to run: {missing}",
            f"install bubblewrap; {NAMESPACES}; or --unconfined",
        )
    return ok("bubblewrap: own files, no network but the emulator, limits; no user namespaces")


def _check_live_network(_context: Context) -> Finding:
    _, missing = run_python(NETWORK_PROBE)
    if missing:
        return note(
            f"live guests reach the loopback interface of this machine: {missing}",
            f"{NAMESPACES}, then ask again",
        )
    return ok("live guests reach their emulators alone (with --connect URI: this machine's, too)")


def _check_sandbox(context: Context) -> Finding:
    """Checks that QEMU starts with the seccomp filter that the rig gives it."""
    if shutil.which(QEMU) is None or not context.layout.python.exists():
        return note("not checked: QEMU or the Python environment is missing", "rig/rig setup")
    works, sandbox = run_python(SANDBOX_PROBE, python=context.layout.python)
    if not works:
        return problem(f"not checked: {sandbox}", "rig/rig setup")
    words = [QEMU, "-machine", "none", "-nodefaults", "-display", "none", "-sandbox", sandbox]
    words += ["-monitor", "stdio"]
    done = subprocess.run(words, input=b"quit\n", capture_output=True, timeout=PROBE_S, check=False)
    if done.returncode != 0:
        error = last_line(done.stderr.decode(errors="replace"))
        return problem(f"QEMU does not start with it: {error}", "install a QEMU with seccomp")
    return ok(sandbox)


def _check_libvirt(_context: Context) -> Finding:
    return note(
        "the embedded driver starts QEMU with libvirt's seccomp default, without AppArmor or"
        " SELinux",
        "--connect qemu:///system uses the system's libvirt and its security driver",
    )


def _check_images(context: Context) -> Finding:
    sealed = sum(1 for _ in context.layout.state.glob("*/**/digests.json"))
    return ok(f"{sealed} kept states have digests; each run checks those that it uses, once")


CHECKS: dict[str, Callable[[Context], Finding]] = {
    "user": _check_user,
    "host lane": _check_host_lane,
    "live guests' network": _check_live_network,
    "QEMU's sandbox": _check_sandbox,
    "libvirt": _check_libvirt,
    "images": _check_images,
}
