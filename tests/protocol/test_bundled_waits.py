# SPDX-License-Identifier: GPL-2.0-or-later
"""The profile of our own flashrom, compared with the waits that flashrom prints.

The bus witness would convict a correct wait if the profile had a longer one, and would miss a short
wait if the profile had a shorter one.
"""

import re
from pathlib import Path

import pytest
from delayrig.model.chips import ChipFacts, read_chips
from delayrig.subjects.profiles.profile import Profile, read_profiles
from delayrig.subjects.subject import knows_string

from .emulator import PATHS, PROGRAM, emulator, flashrom

REGION_BYTES = 65536
ERASE_OF_REGION = "0xd8"
POLLED_WITHOUT_A_WAIT = 0
CHIPS = read_chips(PATHS.checkout)


def bundled_profile() -> Profile:
    """Returns the profile of our own flashrom."""
    return next(profile for profile in read_profiles() if profile.name == "bundled")


def profiled_chips() -> list[str]:
    """Returns the chips that have intervals in the profile; waits of other chips are not judged."""
    waits = bundled_profile().wait
    return sorted({chip for wait in waits for chip in wait.requested_us_by_chip})


@pytest.mark.parametrize("chip", profiled_chips())
def test_profile_has_the_interval_that_the_program_prints(chip: str, tmp_path: Path) -> None:
    facts = CHIPS[chip]
    printed = printed_intervals_us(facts, tmp_path) - {POLLED_WITHOUT_A_WAIT}
    (erase,) = [wait for wait in bundled_profile().wait if wait.after == [ERASE_OF_REGION]]
    assert printed == {erase.requested_us_by_chip[chip]}


def printed_intervals_us(facts: ChipFacts, folder: Path) -> set[int]:
    """Writes one region of the part; returns the intervals that flashrom prints."""
    name = next(n for n in facts.flashrom_names if knows_string(PROGRAM.read_bytes(), n))
    (folder / "layout").write_text(f"00000000:{REGION_BYTES - 1:08x} region\n")
    (folder / "after.bin").write_bytes(b"\x5a" * facts.size_bytes)
    with emulator(facts.name, "min", folder, bytes(REGION_BYTES)) as port:
        done = flashrom(
            *(f"serprog:ip=127.0.0.1:{port}", "-VV", "-c", name, "-N"),
            *("-l", folder / "layout", "-i", "region", "-w", folder / "after.bin"),
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return {int(us) for us in re.findall(r"each ([0-9]+) us apart", done.stdout + done.stderr)}
