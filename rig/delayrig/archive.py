# SPDX-License-Identifier: GPL-2.0-or-later
"""Byte-reproducible cpio archives: the same files give the same bytes on every machine."""

import os
import subprocess
from pathlib import Path

from delayrig.errors import RigFaultError

# One modification time of an initrd's file moved virtual time by a millisecond.
TIMESTAMP_S = 1_700_000_000


def write_archive(folder: Path, archive: Path) -> None:
    """Packs everything below `folder`, in the order of names, into the new file `archive`."""
    paths = sorted(folder.rglob("*"), key=lambda path: os.fsencode(path.relative_to(folder)))
    for path in [*paths, folder]:
        _normalise(path)
    names = b"".join(os.fsencode(path.relative_to(folder)) + b"\0" for path in paths)
    with archive.open("wb") as output:
        done = subprocess.run(
            ["cpio", "-o", "-0", "-H", "newc", "--reproducible", "--owner=0:0", "--quiet"],
            input=names,
            stdout=output,
            stderr=subprocess.PIPE,
            cwd=folder,
            check=False,
        )
    if done.returncode != 0:
        raise RigFaultError(
            f"cpio could not write {archive}: {done.stderr.decode(errors='replace').strip()}",
            hint="is the disk full?",
        )


def _normalise(path: Path) -> None:
    if not path.is_symlink():
        runnable = path.is_dir() or path.stat().st_mode & 0o100
        path.chmod(0o755 if runnable else 0o644)
    os.utime(path, (TIMESTAMP_S, TIMESTAMP_S), follow_symlinks=False)
