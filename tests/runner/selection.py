# SPDX-License-Identifier: GPL-2.0-or-later
"""The selection of a layer's tests."""

from dataclasses import dataclass

from tests.runner.outcome import CaseResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The conditions by which tests of a layer run: the options of the run, and lists of names."""

    all_tiers: bool = False
    words: str = ""
    """A filter of names: an expression in layers of pytest, a part of the name in others."""
    names: tuple[str, ...] | None = None
    """The names to which the tests are limited; None for no limit."""
    passed: tuple[CaseResult, ...] = ()
    """The tests that passed before the run was interrupted. They do not run again."""

    def takes(self, name: str) -> bool:
        """Returns True if a test of a layer without pytest must run."""
        if self.names is not None and name not in self.names:
            return False
        if any(name == test.name for test in self.passed):
            return False
        return self.words in name

    @property
    def is_whole(self) -> bool:
        """Returns True if no test of the tier is left out."""
        return not self.words and self.names is None and not self.passed

    @property
    def can_be_resumed(self) -> bool:
        """Returns True for the whole release check of a layer."""
        return self.all_tiers and not self.words and self.names is None

    def must_run(self, name: str) -> bool:
        """Returns True if a test of that name would run if it existed."""
        return not self.words and (self.all_tiers if self.names is None else name in self.names)
