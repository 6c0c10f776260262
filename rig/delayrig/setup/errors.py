# SPDX-License-Identifier: GPL-2.0-or-later
"""The errors of set-up. Every error carries its remedy."""

from enum import IntEnum

INTERRUPTED = 130


class ExitCode(IntEnum):
    """The exit codes of launcher and rig, fixed by the design."""

    PASS = 0
    UNSAFE = 1
    BAD_INPUT = 2
    SLOWER = 3
    INCONCLUSIVE = 4
    SKIPPED = 77
    RIG_FAULT = 99


class SetupError(Exception):
    """The machine cannot run the rig, or set-up failed. This says nothing about any flashrom."""

    exit_code = ExitCode.RIG_FAULT

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


class BadArchiveError(SetupError):
    """A file that was given is not what the rig exported. Nothing of it was used."""

    exit_code = ExitCode.BAD_INPUT


class UsageError(Exception):
    """The command line is wrong. Nothing was started."""
