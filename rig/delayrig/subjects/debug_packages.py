# SPDX-License-Identifier: GPL-2.0-or-later
"""Fetches debug files by build ID, from the debug packages of the archive that apt uses.

Sources: deb822(5), "Build-Ids" of Debian's debug packages; apt.conf(5), "Dir"; apt-get(8),
"indextargets" and "download".
"""

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from delayrig.base.children import run_child
from delayrig.base.errors import NotProvidedError
from delayrig.setup.apt import ANSWER_LIMITS, DATES_COMMAND, date_options, derive_debug_suite
from delayrig.setup.command import answer, redact
from delayrig.subjects.packages import archive_source, cause_of

WHAT = "debug packages"
CAT = "/usr/lib/apt/apt-helper"
FIELD = re.compile(r"^(Package|Version|Build-Ids): (.*)$", re.MULTILINE)


def fetch_debug_files(
    suite: str, builds: Sequence[str], architecture: str, source: str = ""
) -> dict[str, bytes]:
    """Returns the debug files by their build IDs, of those builds that a debug package has.

    `source` is a .sources file in place of this machine's archive. Raises `NotProvidedError` if
    there is no such archive, or if it cannot be reached.
    """
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        apt = _Apt(folder, architecture, source or archive_source(suite, derive_debug_suite))
        apt.run("update", "--error-on=any")
        found = {}
        for package in sorted(packages_of(apt.index(), builds)):
            apt.run("download", package)
        for file in folder.glob("*.deb"):
            _run(["dpkg-deb", "-x", str(file), str(folder / "root")], folder)
        for build in builds:
            kept = folder / "root/usr/lib/debug/.build-id" / build[:2] / f"{build[2:]}.debug"
            if kept.is_file():
                found[build] = kept.read_bytes()
        return found


def packages_of(index: str, builds: Sequence[str]) -> set[str]:
    """Returns the packages of an index, as `NAME=VERSION`, that have one of the builds."""
    return {
        f"{told['Package']}={told['Version']}"
        for told in _stanzas(index)
        if set(builds) & set(told.get("Build-Ids", "").split())
    }


def _stanzas(index: str) -> Iterator[dict[str, str]]:
    for stanza in index.split("\n\n"):
        yield dict(FIELD.findall(stanza))


class _Apt:
    """apt with a folder of its own for its lists and its sources."""

    def __init__(self, folder: Path, architecture: str, source: str) -> None:
        self._folder = folder
        sources = folder / "debug.sources"
        sources.write_text(source, encoding="utf-8")
        sources.chmod(0o600)  # An address may hold a password.
        for made in ("lists/partial", "cache/archives/partial"):
            (folder / made).mkdir(parents=True)
        (folder / "status").touch()
        settings = [
            f'Dir::State::Lists "{folder}/lists"',
            f'Dir::State::Status "{folder}/status"',
            f'Dir::Cache "{folder}/cache"',
            f'Dir::Etc::SourceList "{sources}"',
            'Dir::Etc::SourceParts "-"',
            f'APT::Architecture "{architecture}"',
            f'APT::Architectures "{architecture}"',
            'APT::Sandbox::User "root"',
            'Acquire::Languages "none"',
            *ANSWER_LIMITS,
            *date_options(answer(DATES_COMMAND)),
        ]
        self._settings = folder / "apt.conf"
        text = "".join(f"{setting};\n" for setting in settings)
        self._settings.write_text(text, encoding="utf-8")

    def run(self, *words: str) -> str:
        return _run(["apt-get", "-q", *words], self._folder, self._settings)

    def index(self) -> str:
        """Returns the text of all package lists."""
        listed = self.run("indextargets", "--format", "$(FILENAME)", "Created-By: Packages")
        return "\n\n".join(
            _run([CAT, "cat-file", file], self._folder, self._settings) for file in listed.split()
        )


def _run(argv: list[str], folder: Path, settings: Path | None = None) -> str:
    try:
        done = run_child(
            argv,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "LC_ALL": "C.UTF-8", "APT_CONFIG": str(settings or "")},
        )
    except OSError as error:
        raise NotProvidedError(WHAT, f"{argv[0]}: {error.strerror}") from error
    if done.returncode:
        raise NotProvidedError(WHAT, cause_of(redact(done.stderr)))
    return done.stdout
