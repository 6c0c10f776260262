# SPDX-License-Identifier: GPL-2.0-or-later
"""Which tests of a layer are to run."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What all layers of a run have in common; and the names of one layer, where they are given."""

    all_tiers: bool = False
    words: str = ""
    """Of the names; an expression of pytest's for its layers, else text that a name must hold."""
    names: tuple[str, ...] | None = None
    """Only these, by the names of their layer; None for no such bound."""

    def takes(self, name: str) -> bool:
        """Whether a test that pytest does not know is to run."""
        if self.names is not None and name not in self.names:
            return False
        return self.words in name
