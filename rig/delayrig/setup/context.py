# SPDX-License-Identifier: GPL-2.0-or-later
"""What every step of set-up is given."""

from dataclasses import dataclass

from delayrig.setup.console import Console
from delayrig.setup.layout import Layout
from delayrig.setup.stamp import GUEST_STEPS


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Where set-up works, whom it talks to, and what it may do."""

    layout: Layout
    console: Console
    yes: bool = False
    no_install: bool = False
    again: bool = False
    """Check the step in full, though its mark is fresh."""
    security: bool = False
    as_json: bool = False
    steps: tuple[str, ...] = GUEST_STEPS
    """What is to be done, in this order."""
