# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's stripped flashroms: the finder finds exactly the functions known by hand.

One function of each pair is upstream's delay, called with 1000000 after serprog's NOPs. The other
is internal_sleep(), which programmers also call, with 10000. Later builds of the packages are not
in the table.
"""

from pathlib import Path

import pytest
from delayrig.base import digest
from delayrig.base.paths import find_paths
from delayrig.subjects.finder.finding import find_in
from delayrig.subjects.profiles.profile import read_profiles
from delayrig.subjects.subject import PARTS, PROGRAM

KNOWN = {
    "73d8e8076561977615d8c46c9feaf425d3cc8c333a5820c5228d0c973ad3b400": [0x449B0, 0x44A20],
    "218b1c8dd9d685927d09ee92b1bad9efa15028b3ef9e6e916ccf18afc474e16d": [0x24C10, 0x24C90],
    "1393db0b6530bb78a7e20a0fb93be93e4437abc0b8e94005dc4331f944142cc6": [0x31460, 0x31500],
    "e29ca1700011148650d740e33620c95f24e54fc63d4590f072c59472a599c9a0": [0x377E0, 0x37860],
    "153517d7ed29b7a68944a734dc046a081e4de5074d5200513a084e4731479bc8": [0x25800, 0x258A0],
    "824f288df3b1229a03e5ee660c00f9fcc5691c93cad1b93020191bc5d2a54ec4": [0x489F0, 0x48A60],
    "2c318a3f5b747373992bd507be9f6ab308c1091527817bf2a8d2033d4cb54e1d": [0x3E360, 0x3E3E0],
}
"""The functions of the programs of 1.3.0-2.1 (amd64, i386, arm64) and 1.4.0-3 (amd64, arm64), and
of both libraries for amd64."""


def parts() -> dict[str, Path]:
    """Returns the installed programs and libraries, by digest."""
    images = find_paths().images
    found = [
        *(images / "subjects").glob(f"*/{PARTS}{PROGRAM}"),
        *(images / "libraries").glob("*/lib/libflashrom.so.1"),
    ]
    return {digest.of_file(path): path for path in found}


@pytest.mark.parametrize("sha256", KNOWN)
def test_both_delays_are_found_without_a_doubt_and_nothing_else(sha256: str) -> None:
    part = parts().get(sha256)
    if part is None:
        pytest.skip("fetched when a run first needs it")
    findings = find_in(part.read_bytes())
    assert [each.address for each in findings.found] == KNOWN[sha256]
    assert {each.doubt for each in findings.found} == {""}
    assert {each.return_sites for each in findings.found} == {()}
    assert [(each.called, each.asks) for each in findings.direct if each.argument >= 0] == [
        ("sleep", 1),
        ("usleep", 50000),
    ]


def test_addresses_that_profiles_know_are_among_these() -> None:
    known = {key: at for profile in read_profiles() for key, at in profile.delay_address.items()}
    assert known
    assert all(address in KNOWN[sha256] for sha256, address in known.items())
