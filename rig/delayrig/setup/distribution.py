# SPDX-License-Identifier: GPL-2.0-or-later
"""The distribution of this machine, and the ways in which it can get the rig's packages.

Subjects and guests come from Debian's archive, and the guests need a new QEMU. There are three
ways: apt with Debian's packages, a Debian archive that the user names, or a container.
"""

import shlex
from dataclasses import dataclass
from pathlib import Path

from delayrig.setup.errors import SetupError

OS_RELEASE = Path("/etc/os-release")
QEMU_VERSION_MIN = "9.2"
INSTALLERS = {
    "debian": "apt-get install",
    "ubuntu": "apt-get install",
    "fedora": "dnf install",
    "rhel": "dnf install",
    "centos": "dnf install",
    "suse": "zypper install",
    "opensuse": "zypper install",
    "arch": "pacman -S",
    "alpine": "apk add",
}
"""The command that installs a package, by the ID of a distribution or one of its ID_LIKE."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """The content of /etc/os-release."""

    id: str
    like: tuple[str, ...] = ()
    codename: str = ""
    name: str = ""
    """The name for people: `Ubuntu 24.04.2 LTS`."""

    @property
    def is_ubuntu(self) -> bool:
        return "ubuntu" in (self.id, *self.like)

    def install(self, package: str) -> str:
        """Returns the command that installs a package; empty if none is known."""
        for word in (self.id, *self.like):
            if word in INSTALLERS:
                return f"{INSTALLERS[word]} {package}"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    release: Release
    has_apt: bool
    has_debian: bool
    has_named: bool = False
    qemu_versions: tuple[str, ...] = ()
    """The versions that apt offers if all are too old; empty if one will do or none is known."""
    engine: str = ""


def this_release() -> Release:
    text = OS_RELEASE.read_text(encoding="utf-8") if OS_RELEASE.is_file() else ""
    return read_release(text)


def read_release(text: str) -> Release:
    fields = {}
    for line in text.splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and not name.startswith("#"):
            fields[name] = _unquoted(value)
    identity = fields.get("ID", "linux")
    return Release(
        id=identity,
        like=tuple(fields.get("ID_LIKE", "").split()),
        codename=fields.get("VERSION_CODENAME", ""),
        name=fields.get("PRETTY_NAME") or fields.get("NAME") or identity,
    )


def _unquoted(value: str) -> str:
    try:
        return "".join(shlex.split(value)[:1])
    except ValueError:
        return value.strip("\"' ")


def refusal(machine: Machine) -> SetupError | None:
    """Returns None if this machine can run guests.

    Otherwise returns an error that says why not, with two other ways as its remedy.
    """
    if machine.has_debian:
        return None
    name = machine.release.name
    if not machine.has_apt:
        return _refused(machine, f"{name} has no apt to get the rig's packages and subjects by")
    if machine.qemu_versions:
        offered = f"{name} offers QEMU {machine.qemu_versions[0]}"
        return _refused(machine, f"{offered}, and guests need {QEMU_VERSION_MIN} or newer")
    if machine.has_named:
        return None
    return _refused(machine, f"apt knows no Debian archive on {name}")


def _refused(machine: Machine, message: str) -> SetupError:
    """Returns the refusal, with one sentence for each way.

    The container is first, because it needs nothing else of the machine.
    """
    if machine.engine:
        container = f"run it in a container ({machine.engine}): rig/rig --container COMMAND"
    else:
        install = machine.release.install("podman")
        how = f" (as root: {install})" if install else ""
        container = f"install podman{how} or docker, and run: rig/rig --container COMMAND"
    archive = "use a machine with Debian 12 or newer"
    if machine.has_apt and not machine.qemu_versions:
        keyring = machine.release.install("debian-archive-keyring")
        how = f" (its key, as root: {keyring})" if keyring else ""
        archive = f"name an archive of Debian: rig/rig --archive URI COMMAND{how}"
    return SetupError(message, f"one of these two:\n  - {container}\n  - {archive}")
