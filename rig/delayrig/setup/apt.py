# SPDX-License-Identifier: GPL-2.0-or-later
"""Derives the address of a release's backports from the way this machine reaches the release.

It is a function of three texts: the output of `apt-get indextargets`, /etc/os-release and the
machine's own source files. No archive host is named here, and the machine's files are not changed.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from email import message_from_string
from pathlib import PurePath

from delayrig.setup.distribution import Release, read_release
from delayrig.setup.errors import SetupError

TARGETS_COMMAND = (
    "apt-get",
    "indextargets",
    "--format",
    "$(REPO_URI)|$(CODENAME)|$(RELEASE)|$(SIGNED_BY)|$(COMPONENT)|$(SOURCESENTRY)|$(ORIGIN)",
    "Created-By: Packages",
)
ANSWER_LIMITS = (
    'Acquire::http::Timeout "10"',
    'Acquire::https::Timeout "10"',
    'Acquire::Retries "1"',
)
"""apt's settings that report an unreachable archive within a minute."""
DATES_COMMAND = ("apt-config", "dump")
DATES = ("Acquire::Check-Valid-Until", "Acquire::Check-Date")
"""Settings that make apt accept expired index files.

If this machine has them, the rig's calls use them too.
"""
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

DEBIAN = "debian"
"""Debian's ID in /etc/os-release. In lower case, the origin of its archive is the same word."""
OLDEST = "bookworm"
DEBUG_ENDING = "-debug"
ROLLING = frozenset({"sid", "unstable", "testing"})

# Fields that our own source sets. Every other field is copied from the machine's source.
OWN_FIELDS = frozenset({"types", "uris", "suites", "components", "enabled"})
OPTION_NAMES = {"arch": "Architectures", "lang": "Languages", "target": "Targets"}
# The index files of a snapshot are always expired.
SNAPSHOT = re.compile(r"/\d{8}T\d{6}Z(/|$)")
ONE_LINE = re.compile(r"^\s*deb\s+(?:\[(?P<options>[^\]]*)\]\s*)?(?P<rest>\S.*)$")

Fields = dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One index file that apt gets, and its source.

    The fields have the order of TARGETS_COMMAND.
    """

    uri: str
    codename: str
    release: str
    signed_by: str
    component: str
    entry: str
    """`FILE:N`: the N-th stanza of a deb822 file, or the N-th line of a list."""
    origin: str = ""
    """The origin of its archive; empty if apt has not fetched its lists yet."""

    @property
    def is_release(self) -> bool:
        """Returns True for the main component of a release.

        Returns False for its updates and backports, whose names have a dash.
        """
        suite = self.codename or self.release
        return "-" not in suite and self.serves(suite)

    def serves(self, suite: str) -> bool:
        """Returns True for the main component of that suite, unless it is on a CD."""
        return (
            suite != ""
            and suite in (self.codename, self.release)
            and self.component == "main"
            and not self.uri.startswith("cdrom:")
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Backports:
    """A source file for a release and its backports."""

    suite: str
    text: str


def derive_backports(targets: str, os_release: str, files: Mapping[str, str]) -> Backports:
    """Returns sources for the release, its backports, and its updates if the machine has them."""
    known, release = parse_targets(targets), read_release(os_release)
    own_releases = [target for target in _serving(known, release) if target.is_release]
    is_own = own_releases and release.is_ubuntu
    base = own_releases[0] if is_own else find_debian(known, release)
    codename = base.codename or base.release
    suite, updates = f"{codename}-backports", f"{codename}-updates"
    sources = [(base, codename)]
    sources += [(own, updates) for own in known if own.serves(updates)][:1]
    sources.append((_beside(base, suite, known), suite))
    stanzas = [_stanza(own.uri, part, _carried(own, files)) for own, part in sources]
    return Backports(suite=suite, text="\n".join(stanzas))


def derive_suite(
    suite: str, targets: str, os_release: str, files: Mapping[str, str], *, named: str = ""
) -> str:
    """Returns a source for any suite of Debian, from the `named` archive or from apt's own."""
    if named:
        return _stanza(named, suite, {"Signed-By": KEYRING})
    known = parse_targets(targets)
    own = _beside(find_debian(known, read_release(os_release)), suite, known)
    return _stanza(own.uri, suite, _carried_to_guests(own, files))


def derive_debug_suite(
    suite: str, targets: str, os_release: str, files: Mapping[str, str], *, named: str = ""
) -> str:
    """Returns a source for the debug packages of a suite.

    Debian keeps them in a separate archive, whose URI and suite end in `-debug`. A source of this
    machine for that suite is preferred.
    """
    debug = f"{suite}{DEBUG_ENDING}"
    if named:
        return _stanza(f"{named.rstrip('/')}{DEBUG_ENDING}", debug, {"Signed-By": KEYRING})
    known = parse_targets(targets)
    base = find_debian(known, read_release(os_release))
    listed = next((target for target in known if target.serves(debug)), None)
    own = listed or _beside(base, suite, known)
    uri = own.uri if listed else f"{own.uri.rstrip('/')}{DEBUG_ENDING}"
    return _stanza(uri, debug, _carried_to_guests(own, files))


def date_options(dump: str) -> list[str]:
    """Returns the settings for expired index files from the output of DATES_COMMAND."""
    lines = (line.rstrip(";") for line in dump.splitlines())
    return [line for line in lines if line.partition(" ")[0] in DATES]


def parse_targets(text: str) -> tuple[Target, ...]:
    """Parses the output of TARGETS_COMMAND.

    A variable that this apt does not know becomes empty.
    """
    rows = (line.split("|") for line in text.splitlines() if line.count("|") == 6)
    cleaned = (["" if cell.startswith("$(") else cell.strip() for cell in row] for row in rows)
    names = [field.name for field in fields(Target)]
    return tuple(Target(**dict(zip(names, row, strict=True))) for row in cleaned)


def debian_codename(release: Release) -> str:
    """Returns a Debian release whose programs run on this machine: its own, or else `OLDEST`."""
    return release.codename if release.id == DEBIAN and release.codename else OLDEST


def find_debian(targets: Sequence[Target], release: Release) -> Target:
    """Returns Debian's archive as this machine is configured to reach it.

    A derivative may have it in addition to its own archive. On Debian testing and unstable, the
    codename in /etc/os-release may differ from the one in the archive.
    """
    found = _debian(targets, release)
    if found is not None:
        return found
    if release.id != DEBIAN:
        raise SetupError(
            f"apt knows no Debian archive on {release.name}",
            "name one with --archive URI, or run it in a container: rig/rig --container COMMAND",
        )
    raise SetupError(
        f"apt knows no archive of {release.codename or 'Debian'}, the release of this machine",
        "look at /etc/apt/sources.list and /etc/apt/sources.list.d, then run (as root):\n"
        "    apt-get update",
    )


def has_debian(targets: str, release: Release) -> bool:
    return _debian(parse_targets(targets), release) is not None


def _debian(targets: Sequence[Target], release: Release) -> Target | None:
    releases = [target for target in targets if target.is_release]
    signed = [target for target in releases if target.origin.lower() == DEBIAN]
    # A mirror may set another origin, and without fetched lists there is no origin. So on Debian,
    # targets of any origin are accepted.
    on_debian = releases if release.id == DEBIAN else []
    unnamed = [target for target in on_debian if {target.codename, target.release} & ROLLING]
    for group in (_serving(signed, release), _serving(on_debian, release), signed, unnamed):
        if group:
            return group[0]
    return None


def _serving(targets: Sequence[Target], release: Release) -> list[Target]:
    return [target for target in targets if target.serves(release.codename)]


def _beside(base: Target, suite: str, targets: Sequence[Target]) -> Target:
    """Returns the target that has the suite, perhaps on another mirror, else `base`."""
    own = (target for target in targets if target.serves(suite) and target.origin == base.origin)
    return next(own, base)


def _stanza(uri: str, suite: str, more: Fields) -> str:
    own = {"Types": "deb", "URIs": uri, "Suites": suite, "Components": "main"} | more
    if SNAPSHOT.search(uri):
        own.setdefault("Check-Valid-Until", "no")
    return "".join(f"{name}: {value}\n" for name, value in own.items())


def _carried(target: Target, files: Mapping[str, str]) -> Fields:
    """Returns the key and the options exactly as the machine's own source has them."""
    source = _find_source(target.entry, files)
    if source is None:
        return {"Signed-By": target.signed_by or KEYRING}
    return {name: value for name, value in source.items() if name.lower() not in OWN_FIELDS}


def _carried_to_guests(target: Target, files: Mapping[str, str]) -> Fields:
    """Returns the fields of `_carried`, but no architectures: guests may have others."""
    carried = _carried(target, files)
    return {name: carried[name] for name in carried if name.lower() != "architectures"}


def _find_source(entry: str, files: Mapping[str, str]) -> Fields | None:
    name, _, number = entry.rpartition(":")
    text = files.get(name)
    if text is None or not number.isdecimal():
        return None
    is_deb822 = PurePath(name).suffix == ".sources"
    sources = parse_deb822(text) if is_deb822 else map(parse_one_line, text.splitlines())
    return dict(enumerate(sources, 1)).get(int(number))


def parse_deb822(text: str) -> list[Fields]:
    """Returns the stanzas of a .sources file. Values keep their continuation lines."""
    lines = [line.rstrip() for line in text.splitlines() if not line.startswith("#")]
    stanzas = re.split(r"\n{2,}", "\n".join(lines).strip("\n"))
    return [dict(message_from_string(stanza).items()) for stanza in stanzas if stanza]


def parse_one_line(line: str) -> Fields | None:
    """Returns the options of a `deb [name=value ...] URI SUITE ...` line as deb822 fields."""
    match = ONE_LINE.match(line)
    if match is None:
        return None
    pairs = (option.partition("=") for option in (match["options"] or "").split())
    return {
        OPTION_NAMES.get(name.lower(), name.title()): value.replace(",", " ")
        for name, _, value in pairs
        if value and not name.endswith(("+", "-"))
    }
