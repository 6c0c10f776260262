# SPDX-License-Identifier: GPL-2.0-or-later
"""The distribution's package manager, as root or through sudo."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from delayrig.setup.apt import TARGETS_COMMAND, Backports, derive_backports
from delayrig.setup.command import Done, answer, run_logged, succeeds
from delayrig.setup.console import Context
from delayrig.setup.distribution import OS_RELEASE
from delayrig.setup.layout import Layout

LOCK_WAIT_S = 300
ARCHIVE_REMEDY = (
    "look at the lines above; where the archive is out of reach, mend this machine's network or its"
    " apt sources;\nwhere dpkg was interrupted, run as root: dpkg --configure -a"
)


def install_argv(names: Sequence[str], *options: str) -> list[str]:
    """Returns the command that installs packages and their dependencies, and no other."""
    return ["apt-get", "install", "--no-install-recommends", *options, *names]


@dataclass(frozen=True, slots=True, kw_only=True)
class AptGet:
    """apt-get with the machine's sources, or with a folder of other sources."""

    context: Context
    privilege: tuple[str, ...] = ()
    """The words before a command that must run as root."""
    sources: Path | None = None
    """The folder of other sources; None for the machine's own."""
    suite: str = ""
    """The suite to prefer; empty for the machine's own choice."""

    def update(self) -> None:
        """Updates the lists of packages. Some of the machine's own sources may be unreachable."""
        done = self._run("fetching lists of packages", ["apt-get", *self._options(), "update"])
        if self.sources is not None:
            done.require("fetching the lists of backports", ARCHIVE_REMEDY)
        elif done.code != 0:
            self.context.console.warn(f"apt-get update failed (see {done.log}); going on without")

    def install(self, names: Sequence[str]) -> None:
        """Installs packages. Waits if another package manager is running."""
        preferred = ["-t", self.suite] if self.suite else []
        options = ["-y", "-o", f"DPkg::Lock::Timeout={LOCK_WAIT_S}", *self._options(), *preferred]
        done = self._run(f"installing {', '.join(names)}", install_argv(names, *options))
        done.require("installing packages", ARCHIVE_REMEDY)

    def candidate(self, name: str) -> str:
        """Returns the version that would be installed; empty if there is none."""
        policy = answer(["apt-cache", *self._options(), "policy", name])
        lines = (line.strip() for line in policy.splitlines())
        found = [line.partition(":")[2].strip() for line in lines if line.startswith("Candidate:")]
        return found[0] if found and found[0] != "(none)" else ""

    def offers(self, name: str) -> tuple[str, ...]:
        """Returns the versions that the sources offer, newest first."""
        rows = answer(["apt-cache", *self._options(), "madison", name]).splitlines()
        return tuple(row.split("|")[1].strip() for row in rows if row.count("|") == 2)

    def download_size_bytes(self, names: Sequence[str]) -> int:
        """Returns the size of the download; 0 if it is unknown."""
        options = ["-qq", "-y", "--print-uris"]
        rows = answer(install_argv(names, *options, *self._options())).splitlines()
        sizes = (row.rsplit(" ", 2)[1] for row in rows if row.startswith("'"))
        return sum(int(size) for size in sizes if size.isdecimal())

    def forget_lists(self) -> None:
        """Removes lists of our own sources, which are large and belong to root."""
        if self.sources is not None:
            succeeds([*self.privilege, "rm", "-rf", "--", str(self.context.layout.apt / "lists")])

    def _run(self, what: str, argv: list[str]) -> Done:
        self.context.console.say(what)
        variables = ["env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8"]
        return run_logged(self.context, "apt", [*self.privilege, *variables, *argv])

    def _options(self) -> list[str]:
        if self.sources is None:
            return []
        return [
            *("-o", "Dir::Etc::sourcelist=/dev/null"),
            *("-o", f"Dir::Etc::sourceparts={self.sources}"),
            *("-o", f"Dir::State::lists={self.context.layout.apt / 'lists'}"),
        ]


def find_privilege(*, interactive: bool) -> tuple[str, ...] | str:
    """Returns the words before a command that run it as root, or why that is impossible."""
    if shutil.which("apt-get") is None:
        return "this distribution has no apt-get"
    if os.geteuid() == 0:
        return ()
    if shutil.which("sudo") is None:
        return "you are not root, and there is no sudo"
    if not interactive and not succeeds(["sudo", "-n", "true"]):
        return "you are not root, and sudo wants a password but there is no terminal to ask on"
    return ("sudo",) if interactive else ("sudo", "-n")


def find_backports() -> Backports:
    return derive_backports(
        read_targets(), OS_RELEASE.read_text(encoding="utf-8"), read_source_files()
    )


def read_targets() -> str:
    """Returns apt's configured index files.

    Names and origins of releases are there only if apt has their lists.
    """
    command, verb, *rest = TARGETS_COMMAND
    return answer(TARGETS_COMMAND) or answer((command, verb, "--no-release-info", *rest))


def read_source_files() -> dict[str, str]:
    apt = Path("/etc/apt")
    files = [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*"))]
    return {
        str(file): file.read_text(encoding="utf-8", errors="replace")
        for file in files
        if file.is_file() and os.access(file, os.R_OK)
    }


def write_backports(layout: Layout, backports: Backports) -> Path:
    folder = layout.apt / "sources.d"
    folder.mkdir(parents=True, exist_ok=True)
    (layout.apt / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    file = folder / "backports.sources"
    file.touch(mode=0o600)  # An address may hold a password.
    file.write_text(backports.text, encoding="utf-8")
    return folder
