# SPDX-License-Identifier: GPL-2.0-or-later
"""The errors of set-up. Every error carries its remedy."""

EXIT_PASS = 0
EXIT_UNSAFE = 1
EXIT_BAD_USAGE = 2
EXIT_RIG_FAULT = 99
EXIT_INTERRUPTED = 130


class SetupError(Exception):
    """The machine cannot run the rig, or set-up failed. This says nothing about any flashrom."""

    exit_code = EXIT_RIG_FAULT

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


class BadArchiveError(SetupError):
    """A file that was given is not what the rig exported. Nothing of it was used."""

    exit_code = EXIT_BAD_USAGE


class UsageError(Exception):
    """The command line is wrong. Nothing was started."""
