# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles are complete; the version, which a digest may give, chooses one."""

import re
import tomllib

import pytest
from delayrig.base.errors import BadInputError
from delayrig.model.chips import read_chips
from delayrig.subjects.profiles import profile as profile_module
from delayrig.subjects.profiles.profile import (
    OPENS_BUSY_STATUS,
    OPENS_SYNC_NOPS,
    Profile,
    find_profile,
    find_version,
    read_profiles,
    version_of_digest,
)

from tests.rig.builders import CHECKOUT

PROFILES = pytest.mark.parametrize("profile", read_profiles(), ids=lambda profile: profile.name)


@pytest.mark.parametrize(
    ("name", "versions"),
    [
        ("flashrom 1.x", ["1.3.0", "1.4.0", "1.4", "1.10.2"]),
        ("bundled", ["0.1.0-rig", "0.1.0-rig-canary"]),
        ("floor", ["0.1.0-floor"]),
        ("", ["", "1", "1.", "0.9.9", "2.0", "11.3", "1.4.0-rc1", "1x3", "unknown", "0.1.0"]),
    ],
)
def test_version_finds_its_profile_if_there_is_one(name: str, versions: list[str]) -> None:
    profiles = [find_profile(version) for version in versions]
    assert {profile.name if profile else "" for profile in profiles} == {name}


def test_version_of_two_profiles_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = (
        Profile(schema=1, name=name, versions=versions, threshold_us={}, wait=[])
        for name, versions in (("one", ["1[.]2"]), ("two", ["3", "1[.].*"]))
    )
    monkeypatch.setattr(profile_module, "read_profiles", lambda: (one, two))
    assert find_profile("1.3") is two
    with pytest.raises(BadInputError, match=r"'one' and 'two' both have version '1\.2'"):
        find_profile("1.2")


def profile_of(version: str) -> Profile:
    profile = find_profile(version)
    assert profile is not None
    return profile


def test_threshold_is_that_of_the_version() -> None:
    thresholds = {"1.3.0": 100_000, "1.4.0": 100_000, "1.5.0": 100, "1.9": 100, "1.10.0": None}
    found = {version: profile_of("1.3.0").threshold_of(version) for version in thresholds}
    assert found == thresholds


def test_profile_of_releases_is_that_of_the_design() -> None:
    waits = profile_of("1.3.0").wait
    requested = {opcode: wait.requested_us for wait in waits for opcode in wait.after or ["nop"]}
    assert requested == {
        "nop": 1_000_000,
        "0x02": 10,
        "0x20": 10_000,
        "0x52": 100_000,
        "0xd8": 100_000,
        "0x60": 1_000_000,
        "0xc7": 1_000_000,
    }
    assert {wait.kind for wait in waits if wait.always_judged} == {"serprog-sync"}


@pytest.mark.parametrize(
    ("stdout", "version"),
    [
        ("flashrom 1.4.0 on Linux 6.1 (x86_64)\n", "1.4.0"),
        ("flashrom v1.3.0 on Linux\n", "1.3.0"),
        ("noise\nflashrom 0.1.0-rig on Linux\n", "0.1.0-rig"),
        ("flashrom 1.5.0-devel (git:v1.4-2-gabc)\n", "1.5.0-devel"),
        ("flashrom unknown on Linux 6.1.0-50-cloud-amd64 (x86_64)\nhttps://flashrom.org\n", ""),
        ("serprog-floor 0.1.0-floor\n", "0.1.0-floor"),
        ("flashprog v1.6 on Linux 6.1\n", "flashprog 1.6"),
        ("myflashrom 1.4.0\n", ""),
        ("", ""),
    ],
)
def test_version_is_read_from_the_output(stdout: str, version: str) -> None:
    assert find_version(stdout) == version


def test_program_without_a_version_is_recognised_by_its_digest() -> None:
    digests = {digest for profile in read_profiles() for digest in profile.digests}
    assert digests
    for digest in digests:
        assert find_profile(version_of_digest(digest)) is not None
        assert version_of_digest(digest[::-1]) == ""


@PROFILES
def test_each_wait_has_a_known_opening_figures_and_opcodes_of_no_other_wait(
    profile: Profile,
) -> None:
    assert bool(profile.wait) is (profile.name != "floor")
    chips = read_chips(CHECKOUT)
    for wait in profile.wait:
        assert wait.opens in (OPENS_SYNC_NOPS, OPENS_BUSY_STATUS)
        assert bool(wait.after) is (wait.opens == OPENS_BUSY_STATUS)
        assert all(re.fullmatch("0x[0-9a-f]{2}", opcode) for opcode in wait.after)
        assert wait.requested_us_by_chip.keys() <= chips.keys()
        figures = [*wait.requested_us_by_chip.values(), wait.requested_us]
        assert any(figure is not None and figure > 0 for figure in figures)
    opcodes = [opcode for wait in profile.wait for opcode in wait.after]
    assert len(set(opcodes)) == len(opcodes)


def test_erase_waits_of_our_profile_follow_from_the_chips_typical_times() -> None:
    # The driver polls after a 32nd of the typical time, or after 100 ms if that is less. For this
    # part the emulator's chip file has the same typical times as the driver.
    text = (CHECKOUT / "emulators/chips/W25Q128JV.toml").read_text(encoding="utf-8")
    typical = {f"{erase['opcode']:#04x}": erase["typ_us"] for erase in tomllib.loads(text)["erase"]}
    waits = {
        opcode: wait.requested_ns("W25Q128JV")
        for wait in profile_of("0.1.0-rig").wait
        for opcode in wait.after
        if wait.kind == "erase-poll"
    }
    assert waits == {
        opcode: min(typ_us // 32, 100_000) * 1000
        for opcode, typ_us in typical.items()
        if opcode in waits
    }
    assert len(waits) == 3
