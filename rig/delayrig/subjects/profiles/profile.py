# SPDX-License-Identifier: GPL-2.0-or-later
"""Subject profiles: the known waits of a version of flashrom, as seen on the bus.

A profile is chosen by the version that the subject prints, never by the subject's name.
"""

import re
from functools import cache
from pathlib import Path

import msgspec

from delayrig.base.errors import BadInputError
from delayrig.base.toml import read_toml

FORK = "flashprog"
OPENS_SYNC_NOPS = "sync-nops"
OPENS_BUSY_STATUS = "busy-status"


class Wait(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"kind": "class"}
):
    """One wait: the event that opens it, and the requested time until the next request."""

    kind: str
    what: str
    opens: str
    after: list[str] = []
    requested_us: int | None = None
    requested_us_by_chip: dict[str, int] = {}
    always_judged: bool = False

    def requested_ns(self, chip: str) -> int | None:
        """Returns its length with that chip; None if that is unknown."""
        us = self.requested_us_by_chip.get(chip, self.requested_us)
        return None if us is None else us * 1000


class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The facts about some versions; `threshold_us` maps version patterns to thresholds."""

    schema: int
    name: str
    versions: list[str]
    packaged: str = ""
    """The pattern of the package versions that the profile was made for; empty if none."""
    digests: dict[str, str] = {}
    """Versions of programs that do not print theirs, by SHA-256 of the program."""
    delay_address: dict[str, int] = {}
    """Addresses of the delay function in libraries without symbols, by SHA-256 of the library."""
    delay_symbols: list[str] = []
    """The names of its delay function, which takes microseconds, in the order to look for them."""
    threshold_us: dict[str, int]
    wait: list[Wait]

    def threshold_of(self, version: str) -> int | None:
        """Returns the delay in microseconds from which that version sleeps."""
        found = (us for pattern, us in self.threshold_us.items() if re.fullmatch(pattern, version))
        return next(found, None)


@cache
def read_profiles() -> tuple[Profile, ...]:
    return tuple(read_toml(file, Profile) for file in sorted(Path(__file__).parent.glob("*.toml")))


def known_delay_symbols() -> list[str]:
    """Returns the delay functions of all profiles: they are needed before the version is known."""
    return list(dict.fromkeys(name for each in read_profiles() for name in each.delay_symbols))


def find_profile(version: str) -> Profile | None:
    """Returns the profile of that version, if any; raises `BadInputError` if several match."""
    fitting = [
        p for p in read_profiles() if any(re.fullmatch(each, version) for each in p.versions)
    ]
    if len(fitting) > 1:
        names = " and ".join(repr(profile.name) for profile in fitting)
        raise BadInputError(
            f"the profiles {names} both have version {version!r}",
            hint="change 'versions' of one of them (rig/delayrig/subjects/profiles/)",
        )
    return fitting[0] if fitting else None


def is_packaged_release(package_version: str) -> bool:
    """Returns True if a package of that version is a release that a profile was made for."""
    patterns = (each.packaged for each in read_profiles() if each.packaged)
    return any(re.fullmatch(pattern, package_version) for pattern in patterns)


def version_of_digest(sha256: str) -> str:
    """Returns the version of a program that does not print it; empty if no profile knows it."""
    return next((each.digests[sha256] for each in read_profiles() if sha256 in each.digests), "")


def delay_address_of_digest(sha256: str) -> int | None:
    """Returns the address of that library's delay function; None if no profile knows it."""
    known = (each.delay_address for each in read_profiles())
    return next((addresses[sha256] for addresses in known if sha256 in addresses), None)


def find_version(stdout: str) -> str:
    """Returns the version that a flashrom prints; empty if it prints none.

    `serprog-floor`, which runs in place of a flashrom, prints its own in the same way. A fork
    numbers its versions itself, so the result begins with its name.
    """
    found = re.search(rf"\b(flashrom|serprog-floor|{FORK}) v?([0-9][0-9A-Za-z.\-+~]*)", stdout)
    if found is None:
        return ""
    name, version = found.groups()
    return f"{name} {version}" if name == FORK else version
