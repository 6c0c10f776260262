# SPDX-License-Identifier: GPL-2.0-or-later
"""The program that calls libflashrom for the rig, here with our library and the emulator."""

import subprocess
from pathlib import Path

import pytest
from delayrig.model.events import Event, event_time_ns, read_events
from delayrig.model.kinds.library_client import HostEnd, HostStart
from delayrig.subjects.library import provide_library
from delayrig.subjects.recipes import read_recipes

from .emulator import PATHS, emulator, run

CHIP = "M25P80"
CHIP_BYTES = 1 << 20
REGION = slice(0x10000, 0x20000)
DISTURBED = ["--signals", "200", "--threads", "2"]


def run_client(
    folder: Path, *words: str, before: bytes = b""
) -> tuple[subprocess.CompletedProcess[str], list[Event]]:
    """Runs a job on one region; returns the finished process and its events."""
    (folder / "layout").write_text("00010000:0001ffff rig\n")
    events = folder / "client.jsonl"
    with emulator(CHIP, "min", folder, before) as port:
        done = run(
            PATHS.library_client,
            *("-p", f"serprog:ip=127.0.0.1:{port}", "-c", CHIP),
            *("-l", str(folder / "layout"), "-i", "rig", "--events", str(events), *words),
        )
    return done, read_events(events)


@pytest.mark.parametrize("noise", [[], DISTURBED], ids=["undisturbed", "disturbed"])
def test_only_the_region_is_written(noise: list[str], tmp_path: Path) -> None:
    image = bytes(range(256)) * (CHIP_BYTES // 256)
    (tmp_path / "write.bin").write_bytes(image)
    done, events = run_client(tmp_path, "-N", "-w", str(tmp_path / "write.bin"), *noise)
    assert done.returncode == 0, done.stdout + done.stderr
    content = (tmp_path / "after.img").read_bytes()
    assert content[REGION] == image[REGION]
    assert set(content[: REGION.start] + content[REGION.stop :]) == {0xFF}
    began, ended = events
    assert isinstance(began, HostStart)
    assert isinstance(ended, HostEnd)
    assert bool(ended.signals) is bool(noise)


def test_region_is_erased(tmp_path: Path) -> None:
    done, _ = run_client(tmp_path, "-E", before=bytes(CHIP_BYTES))
    assert done.returncode == 0, done.stdout
    content = (tmp_path / "after.img").read_bytes()
    assert set(content[REGION]) == {0xFF}
    assert set(content[: REGION.start] + content[REGION.stop :]) == {0}


def test_read_and_verify_see_the_content_of_the_part(tmp_path: Path) -> None:
    content = bytes(range(256)) * (CHIP_BYTES // 256)
    image = tmp_path / "read.bin"
    done, _ = run_client(tmp_path, "-r", str(image), before=content)
    assert done.returncode == 0, done.stdout
    assert image.read_bytes()[REGION] == content[REGION]
    done, _ = run_client(tmp_path, "-v", str(image), before=content)
    assert done.returncode == 0, done.stdout
    done, _ = run_client(tmp_path, "-v", str(image))
    assert done.returncode == 1
    assert "flashrom_image_verify() failed: 3" in done.stdout


def test_version_is_printed_as_flashrom_prints_it(tmp_path: Path) -> None:
    done, _ = run_client(tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("flashrom 0.")


def test_requested_delays_are_waited_in_full_although_signals_interrupt_them(
    tmp_path: Path,
) -> None:
    library = provide_library("bundled", read_recipes(PATHS.checkout), PATHS, lambda _: None)
    assert library is not None
    delays_us = [1, 999, 1000, 20000]
    words = ["--delay", str(library.delay_address), "--ask", ",".join(map(str, delays_us))]
    done, events = run_client(tmp_path, *words, *DISTURBED)
    assert done.returncode == 0, done.stdout
    began, ended = map(event_time_ns, events)
    assert ended - began >= sum(delays_us) * 1000
