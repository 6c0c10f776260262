# SPDX-License-Identifier: GPL-2.0-or-later
"""A job that ends with its last write."""

from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.hazard import ANYWHERE, Hazard
from delayrig.model.cell import Cell, Job
from delayrig.model.events import first
from delayrig.model.kinds.library_client import HostStart


class Unverified(Hazard):
    """`-n`: flashrom reads nothing after its last write, so it must wait for the end of that write.

    A flashrom that waits only before its next command ends while the part is busy.
    """

    name = "unverified"
    about = "flashrom is told not to verify what it wrote (-n)"
    lanes = ANYWHERE
    flashrom_option = "-n"

    def missed(self, cell: Cell, artifacts: Artifacts) -> str:
        """Returns why the option made no difference; empty if it made one."""
        if first(artifacts.events, HostStart) is not None:
            return "the library client verifies what it wrote"
        return "" if cell.job is Job.WRITE else f"nothing is verified after a {cell.job}"
