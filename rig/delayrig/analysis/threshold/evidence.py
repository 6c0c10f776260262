# SPDX-License-Identifier: GPL-2.0-or-later
"""What an answer is made of: the seam between the cells and the words."""

import msgspec

from delayrig.analysis.threshold.figures import Cost
from delayrig.analysis.threshold.sleep_facts import SleepFacts
from delayrig.model.result import HostFacts


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """All that an answer is made of."""

    subject: str
    lane: str
    seed: int
    jobs: list[str]
    costs: list[Cost]
    costs_by_round: list[list[Cost]]
    """The same for each round alone; one list where there is one round."""
    sleep: dict[str, SleepFacts]
    """By profile, those without jobs among them."""
    weights: dict[str, int] = {}
    """By profile; 1 where it is not in it. One of 0 counts for safety alone."""
    doubts: list[str]
    host: HostFacts
