# SPDX-License-Identifier: GPL-2.0-or-later
"""libvirt's embedded driver: a libvirt without a daemon, in this process and only for it."""

import atexit
import contextlib
import os
import shutil
import signal
import tempfile
import threading
from functools import cache
from pathlib import Path

from delayrig.base.atomic_file import replace_file
from delayrig.base.die_with_parent import READ_PARENT, become_subreaper
from delayrig.base.paths import Paths
from delayrig.base.scratch import place_of_sockets

EMBED = "embed"
"""The value of `--connect` that chooses the embedded driver."""
EMBEDDED = "/embed"
# No daemon runs beside the embedded driver, so everything that one would do is turned off.
EMBED_CONFIGURATION = """\
stdio_handler = "file"
security_driver = "none"
namespaces = []
cgroup_controllers = []
clear_emulator_capabilities = 0
"""
RUN_AS_ROOT = 'user = "root"\ngroup = "root"\ndynamic_ownership = 0\n'
REAP_PAUSE_S = 0.02
SOCKET_BYTES_MAX = 56 + 12
"""The longest path of a socket in libvirt's root, together with the name of the root itself."""
OF_PROCESS = "process-"
"""The prefix of links to roots; the PID of the root's process follows."""
GUEST_NAME = "flashrom-rig-"
"""The prefix of domain names; the PID of the rig and a `-` follow."""
NETWORK = "FLASHROM_RIG_NETWORK"
"""The environment variable with the command that starts QEMU in a network of its own."""
WITHOUT_CAPABILITIES = "--bounding-set -all --inh-caps -all"
"""The options that drop capabilities.

libvirt would drop them itself, but too early: QEMU cannot enter the network without them.
"""
# If the rig ends before setpriv requests the signal, the child has another parent, and exits.
STARTER = """\
#!/bin/sh
# Written by the rig: starts a QEMU for libvirt that ends when the rig that requested it ends.
exec ${network} setpriv --pdeathsig KILL {rights} -- sh -c '
	words="$*"
	case $words in
	*guest={name}*)
		{read_parent}
		rig=${{words#*guest={name}}}
		[ "${{rig%%-*}}" = "$parent" ] || exit 1
		;;
	esac
	exec {program} "$@"
' sh "$@"
"""


def embed_uri(paths: Paths) -> str:
    """Returns the URI of an embedded driver for this process alone: one root serves one process.

    The next process reuses what libvirt learned about QEMU. The sockets are below the root, and the
    path of a socket must be short (unix(7)), so the root is not in the folder of state.
    """
    return f"qemu:///embed?root={_root(paths.state / 'libvirt')}"


@cache
def _root(folder: Path) -> Path:
    _drop_left_behind(folder)
    (folder / "cache").mkdir(parents=True, exist_ok=True)
    root = Path(tempfile.mkdtemp(prefix="rig-", dir=place_of_sockets(SOCKET_BYTES_MAX)))
    link = folder / f"{OF_PROCESS}{os.getpid()}"
    link.symlink_to(root)
    atexit.register(_drop, link)
    (root / "cache").symlink_to(folder / "cache")
    (root / "etc").mkdir()
    as_root = RUN_AS_ROOT if os.geteuid() == 0 else ""
    (root / "etc" / "qemu.conf").write_text(EMBED_CONFIGURATION + as_root, encoding="utf-8")
    return root


def _drop_left_behind(folder: Path) -> None:
    """Removes the roots of processes that were killed.

    One of these processes may have had the PID of this one.
    """
    for link in folder.glob(f"{OF_PROCESS}*"):
        number = link.name.removeprefix(OF_PROCESS)
        if number == str(os.getpid()) or not Path("/proc", number).exists():
            _end_queried_qemu(link.resolve())
            _drop(link)


def _drop(link: Path) -> None:
    shutil.rmtree(link.resolve(), ignore_errors=True)
    link.unlink(missing_ok=True)


def _end_queried_qemu(root: Path) -> None:
    """Ends the QEMU that libvirt started in that root to query what QEMU can do.

    That QEMU makes itself a daemon, so nothing else ends it if libvirt is killed meanwhile.
    """
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (process / "cmdline").read_bytes()
            if b"qemu-system" in line and b"-daemonize" in line and os.fsencode(f"{root}/") in line:
                os.kill(int(process.name), signal.SIGKILL)


def provide_starter(program: str, paths: Paths) -> Path:
    path = paths.state / "libvirt" / program
    text = STARTER.format(
        program=program,
        name=GUEST_NAME,
        read_parent=READ_PARENT,
        network=NETWORK,
        rights=WITHOUT_CAPABILITIES if os.geteuid() == 0 else "",
    )
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode(), mode=0o755)
    return path


def adopt_orphans() -> None:
    """Makes every QEMU of the embedded driver a child of this process, and reaps it.

    Otherwise its parent is process 1, which may reap it late, and libvirt waits 2 s or more for
    that. If this process were a subreaper that does not reap, libvirt would wait for 40 s.
    """
    become_subreaper()

    def reap() -> None:
        pause = threading.Event()
        while not pause.wait(REAP_PAUSE_S):
            for child in _children() if _has_ended_child() else ():
                with contextlib.suppress(ChildProcessError, ProcessLookupError, FileNotFoundError):
                    if _is_orphaned_qemu(child):
                        os.waitpid(child, os.WNOHANG)

    threading.Thread(target=reap, name="reaper", daemon=True).start()


def _has_ended_child() -> bool:
    with contextlib.suppress(ChildProcessError):
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    return False


def _children() -> list[int]:
    """Returns all children. waitid(2) for any child names the same one until that is reaped."""
    found: list[int] = []
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found += map(int, (thread / "children").read_text(encoding="ascii").split())
    return found


def _is_orphaned_qemu(process: int) -> bool:
    """Returns True for a QEMU that is a daemon: it has a session of its own.

    libvirt waits for its own helpers, and asyncio for plain children.
    """
    name = Path(f"/proc/{process}/comm").read_text(encoding="utf-8")
    return name.startswith("qemu-system") and os.getsid(process) != os.getsid(0)
