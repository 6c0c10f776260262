# SPDX-License-Identifier: GPL-2.0-or-later
"""The errors, sorted by who is at fault. Every error carries its remedy."""

import difflib
from collections.abc import Iterable
from typing import ClassVar

import msgspec

from delayrig.setup.errors import ExitCode as ExitCode

NEAR_MAX = 3
NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError)
"""The errors of msgspec for bytes that are not JSON of the type, or hold text that is not UTF-8."""


class RigError(Exception):
    """An error for a person to read: what is wrong, and what to do about it."""

    exit_code: ClassVar[ExitCode] = ExitCode.RIG_FAULT

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class BadInputError(RigError):
    """A plan, an option, a file or a folder of the user is wrong."""

    exit_code = ExitCode.BAD_INPUT


class UnknownNameError(BadInputError):
    """A name is not among the known ones. The hint has the nearest known name, and all of them.

    If there are too many to list, `listed_by` is the command that lists them, and the hint has up
    to three near names. `note`, if given, ends the hint.
    """

    def __init__(
        self,
        message: str,
        name: str,
        known: Iterable[str],
        *,
        what: str,
        listed_by: str = "",
        note: str = "",
    ) -> None:
        names = sorted(map(str, known))
        lowered = {candidate.lower(): candidate for candidate in names}
        most = NEAR_MAX if listed_by else 1
        close = difflib.get_close_matches(name.lower(), lowered, n=most, cutoff=0.5)
        meant = " or ".join(repr(lowered[one]) for one in close)
        hint = f"did you mean {meant}? " if close else ""
        hint += f"known {what}: {listed_by or ', '.join(names)}"
        super().__init__(message, hint=f"{hint}; {note}" if note else hint)


class BuildError(BadInputError):
    """A revision cannot be built, or its build gives no flashrom. Others are not affected."""


class RigFaultError(RigError):
    """The rig or its machine failed. This says nothing about any flashrom."""


class NotProvidedError(RigFaultError):
    """The archive did not deliver what some cells need. Only those cells cannot run."""

    def __init__(self, what: str, cause: str, *, hint: str = "") -> None:
        super().__init__(f"{what} could not be fetched: {cause}", hint=hint)
        self.what = what
        self.cause = cause


class LostGuestError(RigFaultError):
    """A guest hung, died or sent nonsense."""


class OverdueGuestError(LostGuestError):
    """A guest exceeded its limit of host time.

    `is_busy` is True if its CPU computed meanwhile, as for a subject that polls without end.
    """

    def __init__(self, message: str, *, hint: str = "", is_busy: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.is_busy = is_busy
