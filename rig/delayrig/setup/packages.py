# SPDX-License-Identifier: GPL-2.0-or-later
"""Distribution packages: finds those that the rig needs and lacks, and installs them."""

import shutil
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from delayrig.setup.command import answer, commands, succeeds
from delayrig.setup.console import Context, human_size, human_time
from delayrig.setup.errors import SetupError
from delayrig.setup.install import (
    AptGet,
    find_backports,
    find_privilege,
    install_argv,
    write_backports,
)
from delayrig.setup.layout import Layout

QUERY = ("dpkg-query", "-W", "-f", "${Package}\t${Version}\t${db:Status-Status}\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    name: str
    reason: str
    version_min: str = ""
    """The oldest upstream version that will do; empty if any will."""
    optional: bool = False
    architectures: Sequence[str] = ()
    """The architectures that need it, by dpkg's names; empty for all."""
    guests_only: bool = False
    tests_only: bool = False
    displaces: str = ""
    """A pattern of dpkg-query for packages that conflict with it.

    If one of them is installed, this package is not wanted.
    """
    installed: str = ""
    """The installed version of a lacking package, which is too old; empty if none is installed."""

    @property
    def label(self) -> str:
        return f"{self.name} (>= {self.version_min})" if self.version_min else self.name

    @property
    def why(self) -> str:
        return f"{self.reason} (installed: {self.installed})" if self.installed else self.reason


def ensure_host_packages(context: Context) -> bool:
    """Installs the packages that cells without guests need. Returns False if none was missing.

    On another distribution it does nothing: meson reports what is missing.
    """
    if shutil.which(QUERY[0]) is None:
        return False
    return ensure_packages(context, for_guests=False)


def ensure_packages(context: Context, *, for_tests: bool = False, for_guests: bool = True) -> bool:
    """Installs missing packages. Returns False if none was missing."""
    wanted = read_wanted(context.layout, for_tests=for_tests, for_guests=for_guests)
    lacking = lacking_of(wanted)
    if not lacking:
        return False
    context.console.begin("distribution packages")
    context.console.say("missing:")
    width = max(len(package.label) for package in lacking)
    for package in lacking:
        context.console.say(f"  {package.label:<{width}}  {package.why}")
    apt = allowed_apt(context, lacking)
    started_s = time.monotonic()
    obtain(context, apt, lacking)
    if still_lacking := lacking_of(wanted):
        raise refused("apt-get ended well, but packages are still missing", still_lacking)
    took = human_time(time.monotonic() - started_s)
    count = f"{len(lacking)} packages" if len(lacking) > 1 else lacking[0].name
    context.console.say(f"installed {count} in {took}")
    return True


def read_packages(path: Path) -> tuple[Package, ...]:
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    if content.get("schema") != 1:
        raise SetupError(f"{path}: key 'schema' is not 1", "check out the whole tree again")
    return tuple(Package(name=name, **entry) for name, entry in content["packages"].items())


def read_wanted(
    layout: Layout, *, for_tests: bool = False, for_guests: bool = True
) -> tuple[Package, ...]:
    """Returns the packages of packages.toml for a machine like this one.

    They are those of the rig, without `for_guests` for the host lane alone; or those that only its
    tests need.
    """
    listed = read_packages(layout.setup / "packages.toml")
    own = [
        package
        for package in listed
        if package.tests_only is for_tests and (for_guests or not package.guests_only)
    ]
    return wanted_on(own, answer(["dpkg", "--print-architecture"]).strip(), _any_installed)


def wanted_on(
    listed: Iterable[Package], architecture: str, is_there: Callable[[str], bool]
) -> tuple[Package, ...]:
    """Returns the packages for this architecture that conflict with no installed one."""
    return tuple(
        package
        for package in listed
        if (not package.architectures or architecture in package.architectures)
        and not (package.displaces and is_there(package.displaces))
    )


def _any_installed(pattern: str) -> bool:
    rows = answer(["dpkg-query", "-W", "-f", "${db:Status-Status}\n", pattern])
    return "installed" in rows.splitlines()


def lacking_of(wanted: Sequence[Package]) -> tuple[Package, ...]:
    """Returns the packages that this machine lacks or has in too old a version."""
    lines = answer([*QUERY, *(package.name for package in wanted)]).splitlines()
    rows = (line.split("\t") for line in lines if line.count("\t") == 2)
    installed = {name: version for name, version, status in rows if status == "installed"}
    return find_lacking(wanted, installed, new_enough)


def find_lacking(
    wanted: Iterable[Package], installed: Mapping[str, str], enough: Callable[[str, str], bool]
) -> tuple[Package, ...]:
    """Returns the packages that are missing or too old, without optional ones."""
    lacking = []
    for package in wanted:
        version = installed.get(package.name, "")
        is_good = version and (not package.version_min or enough(version, package.version_min))
        if not package.optional and not is_good:
            lacking.append(replace(package, installed=version))
    return tuple(lacking)


def new_enough(version: str, version_min: str) -> bool:
    """Returns True if a package's version is upstream's `version_min` or newer."""
    upstream = version.split(":", 1)[-1]
    return succeeds(["dpkg", "--compare-versions", upstream, "ge", version_min])


def allowed_apt(context: Context, lacking: Sequence[Package]) -> AptGet:
    """Returns the way to install, or raises if this machine or its user does not allow it."""
    if context.no_install:
        raise refused("distribution packages are missing, and --no-install is set", lacking)
    privilege = find_privilege(interactive=context.console.interactive)
    if isinstance(privilege, str):
        raise refused(f"distribution packages are missing, and {privilege}", lacking)
    apt = AptGet(context=context, privilege=privilege)
    size_bytes = apt.download_size_bytes([package.name for package in lacking])
    if size_bytes:
        context.console.say(f"to download: {human_size(size_bytes)}")
    how = "with sudo" if apt.privilege else "as root"
    asked = context.console.interactive and not context.yes
    if asked and not context.console.ask(f"Install them now, {how}?"):
        raise refused(
            "distribution packages are missing, and you declined to install them", lacking
        )
    return apt


def refused(message: str, lacking: Sequence[Package]) -> SetupError:
    """Returns the error for missing packages, with an administrator's commands to install them."""
    labels = ", ".join(package.label for package in lacking)
    lines = commands(["apt-get", "update"], install_argv([package.name for package in lacking]))
    advice = "".join(
        f"\nwhere the release has no {package.label}, take it from its backports suite (-t SUITE)"
        for package in lacking
        if package.version_min
    )
    return SetupError(f"{message}: {labels}", f"run, as root:\n{lines}{advice}")


def obtain(context: Context, apt: AptGet, lacking: Sequence[Package]) -> None:
    """Installs from the release, or from its backports if the release has too old a version."""
    apt.update()
    from_release, backported = [], []
    for package in lacking:
        candidate = apt.candidate(package.name) if package.version_min else ""
        if package.version_min and not (candidate and new_enough(candidate, package.version_min)):
            backported.append(package)
        else:
            from_release.append(package.name)
    if from_release:
        apt.install(from_release)
    if backported:
        obtain_backported(context, apt, backported)
    context.layout.state.mkdir(parents=True, exist_ok=True)
    with context.layout.installed.open("a", encoding="utf-8") as file:
        file.writelines(f"{package.name}\n" for package in lacking if not package.installed)


def obtain_backported(context: Context, apt: AptGet, packages: Sequence[Package]) -> None:
    """Installs packages from the release's backports, through sources of our own."""
    backports = find_backports()
    names = [package.name for package in packages]
    context.console.say(f"{', '.join(names)}: from {backports.suite}, as the release's is too old")
    own = replace(apt, sources=write_backports(context.layout, backports), suite=backports.suite)
    try:
        own.update()
        for package in packages:
            offers = own.offers(package.name)
            if not any(new_enough(version, package.version_min) for version in offers):
                raise SetupError(
                    f"neither this release nor {backports.suite} offers {package.label};"
                    f" on offer: {', '.join(offers) or 'none'}",
                    "use a newer release of the distribution, or a mirror that carries backports",
                )
        own.install([*names, *_relatives(names)])
    finally:
        own.forget_lists()


def _relatives(names: Sequence[str]) -> list[str]:
    # QEMU refuses modules of another build, and then libvirt's capability probe dies. So installed
    # packages of the same source are updated, too.
    query = ["dpkg-query", "-W", "-f", "${source:Package} ${Package} ${db:Status-Status}\n"]
    rows = [line.split(" ") for line in answer(query).splitlines()]
    installed = [row for row in rows if row[-1] == "installed"]
    sources = {row[0] for row in installed if row[1] in names}
    return [row[1] for row in installed if row[0] in sources and row[1] not in names]
