# SPDX-License-Identifier: GPL-2.0-or-later
"""Packages from the archive, and the retries after a failure."""

import os
from pathlib import Path

import pytest
from delayrig.base.errors import NotProvidedError
from delayrig.setup.apt import date_options
from delayrig.subjects.packages import PAUSES_S, attempts, cause_of, unpack_packages

OUT_OF_STEP = """\
I: running apt-get update...
Err:2 http://archive.example/debian trixie/main i386 Packages
  File has unexpected size (9436656 != 9437612). Mirror sync in progress? [IP: 192.0.2.1 80]
W: running chrootless mode as root might damage the host system
E: Failed to fetch http://archive.example/debian/Packages.xz  File has unexpected size (9436656 != \
9437612). Mirror sync in progress? [IP: 192.0.2.1 80]
   Hashes of expected file:
    - Filesize:9437612 [weak]
E: Some index files failed to download. They have been ignored, or old ones used instead.
E: apt-get update --error-on=any -oAPT::Status-Fd=<$fd> -oDpkg::Use-Pty=false failed
E: mmdebstrap failed to run
"""


class FakeClock:
    """A clock that advances by pauses, and by a fixed time in each attempt."""

    def __init__(self, attempt_s: float = 0) -> None:
        self.now_s = 100.0
        self.attempt_s = attempt_s
        self.pauses_s: list[float] = []

    def read(self) -> float:
        return self.now_s

    def pause(self, pause_s: float) -> None:
        """Lets time pass."""
        self.pauses_s.append(pause_s)
        self.now_s += pause_s


def test_failures_are_retried_after_growing_pauses() -> None:
    clock = FakeClock()
    assert len(list(attempts(clock.read, clock.pause))) == 1 + len(PAUSES_S)
    assert clock.pauses_s == sorted(PAUSES_S)


def test_an_archive_that_is_slow_to_fail_is_asked_once() -> None:
    clock = FakeClock()
    made = 0
    for _ in attempts(clock.read, clock.pause):
        made += 1
        clock.now_s += 25
    assert (made, clock.pauses_s) == (1, [])


def test_cause_is_the_line_that_names_the_fault_without_addresses() -> None:
    expected = "File has unexpected size (9436656 != 9437612). Mirror sync in progress?"
    assert cause_of(OUT_OF_STEP) == expected


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("", "mmdebstrap said nothing"),
        ("E: mmdebstrap failed to run\n", "mmdebstrap failed to run"),
        ("E: Unable to locate package nosuch\n", "Unable to locate package nosuch"),
        ("killed\n", "killed"),
    ],
)
def test_cause_of_other_ends(said: str, cause: str) -> None:
    assert cause_of(said) == cause


def test_archive_without_the_package_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = tmp_path / "calls"
    stand_in = tmp_path / "bin" / "mmdebstrap"
    stand_in.parent.mkdir()
    stand_in.write_text(
        f"#!/bin/sh\ncat >/dev/null\necho >> {calls}\n"
        "echo 'E: Unable to locate package x' >&2\nexit 1\n"
    )
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stand_in.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(NotProvidedError) as raised:
        unpack_packages("bookworm", ["x"], tmp_path / "root", "i386")
    assert raised.value.what == "x of bookworm for i386"
    assert raised.value.cause == "Unable to locate package x"
    assert calls.read_text().count("\n") == 1


def test_index_files_past_their_date_are_taken_where_the_machines_apt_takes_them() -> None:
    dump = 'Acquire::Retries "3";\nAcquire::Check-Valid-Until "false";\nAcquire::Check-Date "0";\n'
    assert date_options(dump) == ['Acquire::Check-Valid-Until "false"', 'Acquire::Check-Date "0"']
    assert date_options("") == []
