# SPDX-License-Identifier: GPL-2.0-or-later
"""The serprog emulator, as the tests in this folder start it."""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from delayrig.base.paths import Paths

LIMIT_S = 60


@contextmanager
def emulator(
    paths: Paths, chip: str, corner: str, folder: Path, before: bytes = b""
) -> Iterator[int]:
    """Serves a part on a free port of loopback; leaves events.jsonl and after.img in the folder."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    (folder / "before.img").write_bytes(before)
    command = [str(paths.emulator), "--chip", chip, "--corner", corner]
    command += ["--image-in", str(folder / "before.img"), "--image-out", str(folder / "after.img")]
    command += ["--listen", f"tcp:127.0.0.1:{port}", "--events", str(folder / "events.jsonl")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        process.stderr.readline()
        yield port
        process.wait(LIMIT_S)
    finally:
        process.kill()
        process.wait()
