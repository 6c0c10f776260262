# SPDX-License-Identifier: GPL-2.0-or-later
"""The choice of a layer's tests."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The common choice of all layers of a run, and the names of one layer if they are given."""

    all_tiers: bool = False
    words: str = ""
    """A filter of names: an expression of pytest for its layers, else a text in the name."""
    names: tuple[str, ...] | None = None
    """Only these, by the names of their layer; None for no such bound."""

    def takes(self, name: str) -> bool:
        """Returns True if a test that pytest does not know is to run."""
        if self.names is not None and name not in self.names:
            return False
        return self.words in name
