# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a release's backports are, worked out from how this machine reaches the release itself.

All of it is a function of three texts: what `apt-get indextargets` says, /etc/os-release and the
machine's own source files. No archive host is known here, and the machine's files stay as they are.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from delayrig.setup.errors import SetupError

TARGETS_COMMAND = (
    "apt-get",
    "indextargets",
    "--format",
    "$(REPO_URI)|$(CODENAME)|$(RELEASE)|$(SIGNED_BY)|$(COMPONENT)|$(SOURCESENTRY)",
    "Created-By: Packages",
)
ANSWER_LIMITS = (
    'Acquire::http::Timeout "10"',
    'Acquire::https::Timeout "10"',
    'Acquire::Retries "1"',
)
"""apt's settings under which an archive that is out of reach is told within a minute."""
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

# What a source of ours says itself; every other field of the machine's source is carried over.
OWN_FIELDS = frozenset({"types", "uris", "suites", "components", "enabled"})
OPTION_NAMES = {"arch": "Architectures", "lang": "Languages", "target": "Targets"}
# A snapshot's index files are past their date by nature.
SNAPSHOT = re.compile(r"/\d{8}T\d{6}Z(/|$)")
ONE_LINE = re.compile(r"^\s*deb\s+(?:\[(?P<options>[^\]]*)\]\s*)?(?P<rest>\S.*)$")

Fields = dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One index file that apt gets, and where its source stands."""

    uri: str
    codename: str
    release: str
    signed_by: str
    component: str
    entry: str
    """`FILE:N`: the N-th stanza of a deb822 file, or the N-th line of a list."""

    def serves(self, suite: str) -> bool:
        """True for the main component of that suite, where it comes over a network or a disk."""
        return (
            suite in (self.codename, self.release)
            and self.component == "main"
            and not self.uri.startswith("cdrom:")
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Backports:
    """A source file for a release and its backports."""

    suite: str
    text: str


def derive_backports(targets: str, os_release: str, files: Mapping[str, str]) -> Backports:
    """Sources for the release, its updates where the machine has them, and its backports."""
    known = parse_targets(targets)
    codename = read_codename(os_release)
    base = find_base(known, codename)
    stanzas = [_stanza(base, codename, files)]
    stanzas += [_stanza(own, f"{codename}-updates", files) for own in _updates(known, codename)]
    suite = f"{codename}-backports"
    own = next((target for target in known if target.serves(suite)), base)
    stanzas.append(_stanza(own, suite, files))
    return Backports(suite=suite, text="\n".join(stanzas))


def derive_suite(suite: str, targets: str, os_release: str, files: Mapping[str, str]) -> str:
    """A source for any suite of the archive that this machine's own release comes from."""
    known = parse_targets(targets)
    base = find_base(known, read_codename(os_release))
    own = next((target for target in known if target.serves(suite)), base)
    fields = _fields(own, suite, files)
    # Guests may be of architectures that this machine is not.
    return _text({name: fields[name] for name in fields if name.lower() != "architectures"})


def parse_targets(text: str) -> tuple[Target, ...]:
    """The answer to TARGETS_COMMAND; a variable that this apt does not know stands there as is."""
    rows = (line.split("|") for line in text.splitlines() if line.count("|") == 5)
    cleaned = (["" if cell.startswith("$(") else cell.strip() for cell in row] for row in rows)
    return tuple(
        Target(uri=uri, codename=name, release=suite, signed_by=key, component=part, entry=entry)
        for uri, name, suite, key, part, entry in cleaned
    )


def read_codename(os_release: str) -> str:
    """VERSION_CODENAME of /etc/os-release."""
    for line in os_release.splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "VERSION_CODENAME" and value.strip("\"' "):
            return value.strip("\"' ")
    raise SetupError(
        "/etc/os-release names no VERSION_CODENAME, so this release's archive is unknown",
        "use Debian 12 or newer",
    )


def find_base(targets: tuple[Target, ...], codename: str) -> Target:
    """The release's own archive, as this machine is configured to reach it."""
    for target in targets:
        if target.serves(codename):
            return target
    raise SetupError(
        f"apt knows no archive of {codename}, the release of this machine",
        "look at /etc/apt/sources.list and /etc/apt/sources.list.d, then run (as root):\n"
        "    apt-get update",
    )


def _updates(targets: tuple[Target, ...], codename: str) -> Iterator[Target]:
    yield from [target for target in targets if target.serves(f"{codename}-updates")][:1]


def _stanza(target: Target, suite: str, files: Mapping[str, str]) -> str:
    return _text(_fields(target, suite, files))


def _fields(target: Target, suite: str, files: Mapping[str, str]) -> Fields:
    fields = {"Types": "deb", "URIs": target.uri, "Suites": suite, "Components": "main"}
    fields |= _carried(target, files)
    if SNAPSHOT.search(target.uri):
        fields.setdefault("Check-Valid-Until", "no")
    return fields


def _text(fields: Fields) -> str:
    return "".join(f"{name}: {value}\n" for name, value in fields.items())


def _carried(target: Target, files: Mapping[str, str]) -> Fields:
    """Trust and options as the machine's own source has them: never more, never less."""
    source = _find_source(target.entry, files)
    if source is None:
        return {"Signed-By": target.signed_by or KEYRING}
    return {name: value for name, value in source.items() if name.lower() not in OWN_FIELDS}


def _find_source(entry: str, files: Mapping[str, str]) -> Fields | None:
    name, _, number = entry.rpartition(":")
    text = files.get(name)
    if text is None or not number.isdecimal():
        return None
    if PurePath(name).suffix == ".sources":
        sources = list(parse_deb822(text))
        return sources[int(number) - 1] if 0 < int(number) <= len(sources) else None
    lines = text.splitlines()
    return parse_one_line(lines[int(number) - 1]) if 0 < int(number) <= len(lines) else None


def parse_deb822(text: str) -> Iterator[Fields]:
    """Stanzas of a .sources file; values keep their continuation lines."""
    fields: Fields = {}
    name = ""
    for line in [*text.splitlines(), ""]:
        if line.startswith("#"):
            continue
        if not line.strip():
            if fields:
                yield fields
            fields, name = {}, ""
        elif line[0] in " \t":
            fields[name] = f"{fields.get(name, '')}\n{line}"
        else:
            name, _, value = line.partition(":")
            fields[name] = value.strip()


def parse_one_line(line: str) -> Fields | None:
    """Options of a `deb [name=value ...] URI SUITE ...` line, as deb822 fields."""
    match = ONE_LINE.match(line)
    if match is None:
        return None
    pairs = (option.partition("=") for option in (match["options"] or "").split())
    return {
        OPTION_NAMES.get(name.lower(), name.title()): value.replace(",", " ")
        for name, _, value in pairs
        if value and not name.endswith(("+", "-"))
    }
