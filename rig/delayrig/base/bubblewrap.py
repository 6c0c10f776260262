# SPDX-License-Identifier: GPL-2.0-or-later
"""The arguments of bubblewrap, the sandbox for foreign code.

The code sees the system's programs, and the paths that the caller adds for it to read or write. The
caller ends the arguments with `CLOSED`, which makes all other folders read-only. The network is
that of the process that starts the sandbox (`private_net.py`).

Source: bwrap(1), 0.8.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from delayrig.base.private_net import NO_NETWORK, new_net_words
from delayrig.setup.command import last_line

PROGRAM = "bwrap"
UNCONFINED_VARIABLE = "FLASHROM_RIG_UNCONFINED"
"""If it is set and not empty, foreign code runs unconfined: for machines without namespaces."""
REMEDY = (
    "install bubblewrap, and allow namespaces where a container forbids them; --unconfined, or"
    " FLASHROM_RIG_UNCONFINED=1, runs the subject without a sandbox, with all your rights"
)
NOBODY = 65534
"""The user of foreign code if the rig runs as root."""
TEMPORARY_BYTES_MAX = 16 << 20
TREES = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Links into /usr on most systems, folders of their own on others."""
KEYS = "/proc/keys"
FACTS = ("/etc/ld.so.cache", "/etc/alternatives", "/sys/devices/system/cpu")
PROBE_S = 20
CLOSED = ("--remount-ro", "/dev", "--remount-ro", "/")


def is_unconfined_by_default() -> bool:
    """Returns True if the environment asks for it. Nothing else reads the variable."""
    return bool(os.environ.get(UNCONFINED_VARIABLE))


def words_for_folders(paths: Iterable[Path]) -> list[str]:
    """Returns the arguments that make the parent folders of the paths.

    Parents that bubblewrap makes by itself are closed to other users.
    """
    found = {folder for path in paths for folder in path.parents}
    added = sorted(found - {Path("/"), Path("/usr"), Path("/tmp")})
    return [word for folder in added for word in ("--perms", "0755", "--dir", str(folder))]


def sandbox_words(*, kept: Sequence[str] = ()) -> list[str]:
    """Returns the command line up to its first mount. Root keeps only the capabilities in `kept`.

    --die-with-parent is not used: it may kill bubblewrap while the child waits for it, and then the
    child never ends. So process 1 of a sandbox must itself detect that the rig has ended.
    """
    root = ["--cap-drop", "ALL", *(word for name in kept for word in ("--cap-add", name))]
    return [
        *(shutil.which(PROGRAM) or PROGRAM, "--new-session", "--as-pid-1"),
        *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
        *(root if os.geteuid() == 0 else ["--unshare-user"]),
    ]


def system_words(temporary_bytes_max: int = TEMPORARY_BYTES_MAX) -> list[str]:
    """Returns the arguments that all sandboxes share: the system's trees, and an empty /tmp."""
    words = ["--ro-bind", "/usr", "/usr"]
    for tree in TREES:
        if Path(tree).is_symlink():
            words += ["--symlink", str(Path(tree).readlink()), tree]
        elif Path(tree).is_dir():
            words += ["--ro-bind", tree, tree]
    words += words_for_folders(map(Path, FACTS))
    for path in FACTS:
        words += ["--ro-bind-try", path, path]
    temporary = folder_words(Path("/tmp"), temporary_bytes_max)
    # A process may list its user's keys, whichever session they are from (proc_keys(5)).
    no_keys = ["--ro-bind", "/dev/null", KEYS] if Path(KEYS).exists() else []
    return [*words, "--proc", "/proc", *no_keys, "--dev", "/dev", *temporary]


def folder_words(folder: Path, bytes_max: int) -> list[str]:
    """Returns the arguments that make a tmpfs that every user may write to."""
    return ["--perms", "1777", "--size", str(bytes_max), "--tmpfs", str(folder)]


def missing_confinement() -> str:
    """Returns why no subject can be confined here; empty if one can."""
    if shutil.which(PROGRAM) is None:
        return "bubblewrap is not installed"
    probe = [*sandbox_words(), *system_words(), *CLOSED, "--", "/usr/bin/true"]
    words = [*new_net_words(), *probe]
    try:
        done = subprocess.run(words, capture_output=True, timeout=PROBE_S, check=False, text=True)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return ""
    message = last_line(done.stderr)
    what = NO_NETWORK if message.startswith(f"{words[0]}:") else "bubblewrap does not work"
    return f"{what}: {message}"
