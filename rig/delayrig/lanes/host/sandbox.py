# SPDX-License-Identifier: GPL-2.0-or-later
"""What a subject of this lane is confined by: bubblewrap, and `rig-confine` in its sandbox.

It sees the system's programs and libraries, its own root and the files of its cell, and none of
the machine's other files. It writes to the files that are named here alone, and reaches nothing but
its emulator: the network that it is started in (`base/private_net.py`) has no other. Its processes
are alone in their namespace. Limits and the filter of system calls are those of `images/confine/`.

Source: bwrap(1), 0.8.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from delayrig.base.private_net import NO_NETWORK, words_into_new
from delayrig.lanes.host.spec import PORT, REPORT_FD

PROGRAM = "bwrap"
REMEDY = (
    "install bubblewrap, and allow namespaces where a container forbids them; --unconfined, or"
    " FLASHROM_RIG_UNCONFINED=1, runs the subject without, with all your rights"
)
NOBODY = 65534
"""Who the subject is where the rig runs as root."""
PROCESSES_MAX = 64
MEMORY_BYTES_MAX = 4 << 30
"""Of each process, addresses that nothing lies at among them."""
TEMPORARY_BYTES_MAX = 16 << 20
OWN_BYTES_MIN, OWN_FILES = 16 << 20, 2
"""Its folder has room for that many of the largest files: who writes one anew has it twice."""
ASIDE = "kept"
"""The folder in the sandbox in which the files that are kept are this machine's."""
TREES = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Links into /usr on most systems, folders of their own on others."""
FACTS = ("/etc/ld.so.cache", "/etc/alternatives", "/sys/devices/system/cpu")
PROBE_S = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """What a subject gets of this machine. Each path is the same inside."""

    confine: Path
    """The program `rig-confine`."""
    readable: Sequence[Path]
    own: Path
    """The folder that it may write to: of a bounded size, and gone in the end."""
    kept: Sequence[Path]
    """Files in that folder, which are there already: the subject finds them as they are, and
    leaves them as they are to be."""
    terminal: Path | None = None
    """Where it finds the emulator's terminal, if that is how they talk."""
    file_bytes_max: int
    realtime: bool = True
    """Whether it may take real-time priority, where the rig could."""


def subject_uid() -> int:
    """0: whoever runs the rig."""
    return NOBODY if os.geteuid() == 0 else 0


def box_words(box: Sandbox) -> list[str]:
    words = [*_sandbox_words(realtime=box.realtime), *_system_words()]
    aside, readable = box.own.parent / ASIDE, (box.confine, *box.readable)
    words += _words_for_folders([*readable, aside / ASIDE])
    for path in readable:
        words += ["--ro-bind", str(path), str(path)]
    words += _folder_words(box.own, OWN_BYTES_MIN + OWN_FILES * box.file_bytes_max)
    for path in box.kept:
        words += ["--bind", str(path), str(aside / path.name)]
    if box.terminal is not None:
        words += ["--dev-bind", PORT, str(box.terminal)]
    limits = (subject_uid(), PROCESSES_MAX, MEMORY_BYTES_MAX, box.file_bytes_max)
    files = (box.own, aside, ",".join(path.name for path in box.kept))
    return [*words, *CLOSED, "--", str(box.confine), REPORT_FD, *map(str, (*limits, *files))]


def _words_for_folders(paths: Sequence[Path]) -> list[str]:
    """Those that the paths are in: else bubblewrap makes them as closed to others as outside."""
    found = {folder for path in paths for folder in path.parents}
    mine = sorted(found - {Path("/"), Path("/usr"), Path("/tmp")})
    return [word for folder in mine for word in ("--perms", "0755", "--dir", str(folder))]


CLOSED = ("--remount-ro", "/dev", "--remount-ro", "/")


def _sandbox_words(*, realtime: bool) -> list[str]:
    """Who is root needs no namespace of users, and keeps what it takes to become another user."""
    kept = ["CAP_SETUID", "CAP_SETGID", *(["CAP_SYS_NICE"] if realtime else [])]
    root = ["--cap-drop", "ALL", *(word for name in kept for word in ("--cap-add", name))]
    return [
        *(shutil.which(PROGRAM) or PROGRAM, "--die-with-parent", "--new-session", "--as-pid-1"),
        *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
        *(root if os.geteuid() == 0 else ["--unshare-user"]),
    ]


def _system_words() -> list[str]:
    words = ["--ro-bind", "/usr", "/usr"]
    for tree in TREES:
        if Path(tree).is_symlink():
            words += ["--symlink", str(Path(tree).readlink()), tree]
        elif Path(tree).is_dir():
            words += ["--ro-bind", tree, tree]
    words += _words_for_folders([Path(path) for path in FACTS])
    for path in FACTS:
        words += ["--ro-bind-try", path, path]
    temporary = _folder_words(Path("/tmp"), TEMPORARY_BYTES_MAX)
    return [*words, "--proc", "/proc", "--dev", "/dev", *temporary]


def _folder_words(folder: Path, bytes_max: int) -> list[str]:
    return ["--perms", "1777", "--size", str(bytes_max), "--tmpfs", str(folder)]


def missing_confinement() -> str:
    """Why no subject can be confined here; empty where it can."""
    if shutil.which(PROGRAM) is None:
        return "bubblewrap is not installed"
    probe = [*_sandbox_words(realtime=False), *_system_words(), *CLOSED, "--", "/usr/bin/true"]
    words = [*words_into_new(), *probe]
    try:
        done = subprocess.run(words, capture_output=True, timeout=PROBE_S, check=False, text=True)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return ""
    said = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
    what = NO_NETWORK if said.startswith(f"{words[0]}:") else "bubblewrap does not work"
    return f"{what}: {said}"
