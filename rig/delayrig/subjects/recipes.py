# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads images/recipes.toml."""

from pathlib import Path

import msgspec

from delayrig.base.toml import read_toml
from delayrig.model.platform import Arch


class GuestRecipe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The kernel and the few programs beside our agent."""

    suite: str
    kernel_packages: dict[Arch, str]
    packages: list[str]


class KernelRecipe(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A kernel other than the usual one, for cells that need it."""

    suite: str
    package: str
    arch: Arch = Arch.X86_64
    modules: list[str] = []
    """Its modules that guests with a programmer load, in this order."""


class ProgramRecipe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A program that a distribution ships: a flashrom, or the bridge between emulator and tty."""

    suite: str
    package: str
    program: str
    library_package: str = ""
    """The package with its libflashrom.so.1; empty if none is known."""


class Recipes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    schema: int
    guest: GuestRecipe
    later_guests: list[GuestRecipe]
    """Guests of architectures that the suite of `guest` does not have."""
    kernels: dict[str, KernelRecipe]
    bridge: ProgramRecipe
    tools: dict[str, ProgramRecipe]
    """Programs for guests whose subject is debugged."""
    cyclictest: ProgramRecipe
    subjects: dict[str, ProgramRecipe]
    saved: str = ""
    """The folder of programs that were saved with a run; they have precedence."""

    def guest_of(self, arch: Arch) -> GuestRecipe:
        guests = (self.guest, *self.later_guests)
        return next(guest for guest in guests if arch in guest.kernel_packages)


def read_recipes(checkout: Path) -> Recipes:
    return read_toml(checkout / "images" / "recipes.toml", Recipes)
