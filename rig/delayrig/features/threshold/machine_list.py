# SPDX-License-Identifier: GPL-2.0-or-later
"""The list of machines that somebody cares for: a TOML file of names, guests and weights."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from delayrig.base.errors import BadInputError
from delayrig.base.toml import read_toml
from delayrig.features.threshold.guests import WEIGHT_MAX, Profile, parse_guest

UPSTREAM_US = 100
"""The threshold of flashrom since 1.5."""


class ListedMachine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    guest: str
    """As `--guest` has it."""
    weight: int = 1

    @property
    def profile(self) -> Profile:
        return parse_guest(self.guest)


class MachineList(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file; `present_us` is the threshold that these machines have now."""

    schema: Literal[1]
    present_us: int = UPSTREAM_US
    machine: Sequence[ListedMachine]

    @property
    def guests(self) -> list[str]:
        return [each.guest for each in self.machine]

    @property
    def weights(self) -> dict[str, int]:
        """Returns by profile how much it counts: machines of one profile count together."""
        found: dict[str, int] = {}
        for each in self.machine:
            found[each.profile.name] = found.get(each.profile.name, 0) + each.weight
        return found

    @property
    def names(self) -> dict[str, str]:
        """Returns by profile what its machines are called."""
        found: dict[str, list[str]] = {}
        for each in self.machine:
            found.setdefault(each.profile.name, []).append(each.name)
        return {profile: " and ".join(names) for profile, names in found.items()}


def read_machines(path: Path) -> MachineList:
    """Raises `BadInputError` that names the file."""
    found = read_toml(path, MachineList)
    if not found.machine:
        raise BadInputError(
            f"{path}: looked for a [[machine]], and found none",
            hint='write [[machine]] with name = "..." and guest = "250x2" for each',
        )
    for each in found.machine:
        if not 0 <= each.weight <= WEIGHT_MAX:
            raise BadInputError(
                f"{path}: machine {each.name!r}: weight is not from 0 to {WEIGHT_MAX}",
                hint="a machine of weight 0 counts for safety alone",
            )
        try:
            parse_guest(each.guest)
        except BadInputError as error:
            raise BadInputError(f"{path}: {error.message}", hint=error.hint) from None
    return found
