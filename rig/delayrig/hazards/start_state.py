# SPDX-License-Identifier: GPL-2.0-or-later
"""A part that is not idle when the subject starts: asleep, suspended, just powered."""

from collections.abc import Callable

from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.hazard import ANYWHERE, Hazard
from delayrig.model.cell import Cell
from delayrig.model.chips import ChipFacts
from delayrig.model.events import first
from delayrig.model.kinds.emulator import StateBegins


def _is_unlocked(chip: ChipFacts) -> bool:
    """Returns False if all locks are set at power-up, so that no program or erase has an effect."""
    return chip.protection.kind not in ("global", "unlock")


def _suspends(chip: ChipFacts) -> bool:
    """Returns True if the part shows a suspended erase; otherwise no subject can notice one."""
    return chip.suspend is not None and bool(chip.suspend.erase_flag) and _is_unlocked(chip)


def _suspends_programs(chip: ChipFacts) -> bool:
    suspend = chip.suspend
    shows = suspend is not None and suspend.programs and bool(suspend.program_flag)
    return shows and _is_unlocked(chip)


def _waits(*names: str) -> Callable[[ChipFacts], bool]:
    return lambda chip: any(name in chip.wait for name in names)


RAMPS = ("ramp-1ms", "ramp-10ms", "ramp-100ms")
# The start states, each with the condition that a part must meet. The emulator has the same
# conditions (emulators/model/start_state.c).
STATES: dict[str, Callable[[ChipFacts], bool]] = {
    "fresh": _waits("power_up_to_select", "power_up_to_write"),
    **dict.fromkeys(RAMPS, lambda _: True),
    "resetting": _waits("soft_reset"),
    "asleep": _waits("deep_power_down"),
    "erasing": _is_unlocked,
    "suspending": _suspends,
    "erase-suspended": _suspends,
    "program-suspended": _suspends_programs,
    "deaf-suspended": lambda chip: _suspends_programs(chip) and "soft_reset" in chip.wait,
    "write-enabled": lambda _: True,
    "protected": lambda chip: bool(chip.protection.bits),
}


AT_PINS = ("fresh", "resetting", *RAMPS)
"""The states that begin when a serprog client turns the pins on; devices have no such event."""


class Starts(Hazard):
    name = "starts"
    form = "STATE"
    legend = f"STATE is one of {', '.join(STATES)}"
    values = STATES
    about = "an SPI NOR that is not idle when the subject comes, such as starts:asleep"
    emulator_option = "--starts"
    lanes = ANYWHERE
    phase_ns = 100_000
    """The state ends independently of the program, so waits vary by up to this time."""

    def __init__(self, value: str) -> None:
        super().__init__(value)
        self.start_state = "" if value in AT_PINS else value
        if value == "asleep":  # No subject knows that before its first command.
            self.explained_rules = ("power_down",)

    def chip_refusal(self, chip: ChipFacts) -> str:
        if chip.family == "spi_nor" and STATES[self.value](chip):
            return ""
        return f"a {chip.name} cannot start in the state {self.value}"

    def missed(self, cell: Cell, artifacts: Artifacts) -> str:
        """Returns a reason if the state never began; some states wait for the pins or a command."""
        if first(artifacts.events, StateBegins) is not None:
            return ""
        return "it did not turn its pins on, or sent the part no command"
