# SPDX-License-Identifier: GPL-2.0-or-later
"""Unpacks distribution packages into a folder, from the archive that this machine's apt uses."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from threading import Lock
from urllib.parse import unquote

from delayrig.base.errors import NotProvidedError, RigFaultError
from delayrig.base.interruption import pause, run_child
from delayrig.setup.apt import ANSWER_LIMITS, DATES_COMMAND, date_options, derive_suite
from delayrig.setup.arguments import named_archive
from delayrig.setup.command import answer, redact
from delayrig.setup.errors import SetupError
from delayrig.setup.install import read_source_files, read_targets

LISTING = "packages.txt"
_asking = Lock()
PAUSES_S = (2.0, 6.0)
"""The pauses between attempts."""
NO_ATTEMPT_AFTER_S = 15.0
"""No attempt follows after this time: an archive that fails so slowly is unreachable."""
FINAL = ("Unable to locate package", "has no installation candidate", "No such suite")
"""apt's messages for failures that another attempt does not fix."""
ERROR = "E: "
VAGUE = ("main()", "mmdebstrap failed", "apt-get", "Some index files", "run_chroot")
ADDRESS = re.compile(r"^Failed to fetch \S+ +| *\[IP: [^]]*\]$")


def unpack_packages(
    suite: str, packages: list[str], folder: Path, architecture: str = "", *, release: str = ""
) -> dict[str, str]:
    """Unpacks `packages` and all their dependencies into the new `folder`.

    They are for this machine, or for `architecture`, as dpkg names it. `release` is the release
    that the suite adds to, as backports do; empty if the suite is a release. Returns the version of
    every unpacked package. Nothing is configured and no script runs. A failure is retried after
    growing pauses; raises `NotProvidedError` if the last attempt failed.
    """
    what = f"{', '.join(packages)} of {suite}{f' for {architecture}' if architecture else ''}"
    # apt prefers the release to its backports unless the backports are the default release.
    preference = [f'APT::Default-Release "{suite}"'] if release else []
    argv = _mmdebstrap_words(suite, packages, folder, architecture, *preference)
    sources = "\n".join(map(archive_source, filter(None, [suite, release])))
    messages = ""
    for _ in attempts(time.monotonic, pause):
        shutil.rmtree(folder, ignore_errors=True)
        try:
            done = run_child(
                argv,
                given=sources,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, "LC_ALL": "C.UTF-8"},
            )
        except FileNotFoundError as error:
            raise RigFaultError("mmdebstrap is not installed", hint="rig/rig setup") from error
        if done.returncode == 0:
            forget_sources(folder)
            # Downloaded packages are called NAME_VERSION_ARCH.deb, with ':' written as %3a.
            listed = (folder / LISTING).read_text(encoding="utf-8").split()
            parts = (name.split("_") for name in listed if name.endswith(".deb"))
            return {package: unquote(version) for package, version, _ in parts}
        messages = redact(done.stderr)
        if any(words in messages for words in FINAL):
            break
    raise NotProvidedError(
        what,
        cause_of(messages),
        hint="check this machine's network and archive (`rig/rig doctor`), then start again",
    )


def forget_sources(folder: Path) -> None:
    """Removes the list of sources, because an address may hold a password."""
    shutil.rmtree(folder / "etc" / "apt" / "sources.list.d", ignore_errors=True)


def attempts(now_s: Callable[[], float], wait: Callable[[float], None]) -> Iterator[None]:
    """Yields once for each attempt, after a pause except before the first."""
    began_s = now_s()
    yield
    for pause_s in PAUSES_S:
        if now_s() - began_s > NO_ATTEMPT_AFTER_S:
            return
        wait(pause_s)
        yield


def cause_of(messages: str) -> str:
    """Returns the line of apt that names the fault, without the address."""
    lines = [line.strip() for line in messages.splitlines() if line.strip()]
    errors = [line.removeprefix(ERROR) for line in lines if line.startswith(ERROR)]
    precise = [line for line in errors if not line.startswith(VAGUE)]
    return ADDRESS.sub("", (precise or errors or lines or ["mmdebstrap said nothing"])[0])


def _mmdebstrap_words(
    suite: str, packages: list[str], folder: Path, arch: str, *preference: str
) -> list[str]:
    options = [*ANSWER_LIMITS, *date_options(answer(DATES_COMMAND)), *preference]
    return [
        "mmdebstrap",
        # No part of the packages is run, so root is not needed. As root, newer versions refuse
        # this mode without `--skip`.
        "--mode=chrootless",
        "--variant=extract",
        "--skip=check/chrootless",
        *(f"--aptopt={option}" for option in options),
        *([f"--architectures={arch}"] if arch else []),
        f"--include={','.join(packages)}",
        f'--extract-hook=ls "$1"/var/cache/apt/archives > "$1"/{LISTING}',
        suite,
        str(folder),
        "-",
    ]


def archive_source(suite: str, derive: Callable[..., str] = derive_suite) -> str:
    """Returns a .sources file for the suite in the archive of this machine's release."""
    os_release = Path("/etc/os-release").read_text(encoding="utf-8")
    try:
        named = named_archive(os.environ)
        # One thread asks apt, which takes half a second of CPU; the others wait for its answer.
        with _asking:
            targets = _targets()
        return derive(suite, targets, os_release, read_source_files(), named=named)
    except SetupError as error:
        raise RigFaultError(error.message, hint=error.remedy) from error


_targets = cache(read_targets)
