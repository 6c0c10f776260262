# SPDX-License-Identifier: GPL-2.0-or-later
"""What a live cell asks of somebody who comes into its guest."""

from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Protocol

from delayrig.base.paths import Paths
from delayrig.lanes.lane import Assignment
from delayrig.lanes.live.clock import GuestClock
from delayrig.lanes.supplies import Supplies
from delayrig.machine.arguments import Hardware


class Visitor(Protocol):
    """Somebody who comes into the guest of a cell."""

    @property
    def extra_s(self) -> int:
        """How much time the subject gets because of that."""
        ...

    def entered(
        self, hardware: Hardware, assignment: Assignment, supplies: Supplies, scratch: Path
    ) -> Hardware:
        """The machine with what the visitor needs, which is kept below `scratch`."""
        ...

    async def beside(
        self,
        guest: Coroutine[Any, Any, GuestClock],
        assignment: Assignment,
        paths: Paths,
        scratch: Path,
    ) -> GuestClock:
        """Until the guest is done, and the visitor is gone."""
        ...
