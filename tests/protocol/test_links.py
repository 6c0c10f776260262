# SPDX-License-Identifier: GPL-2.0-or-later
"""Our flashrom over every kind of link, including slow and faulty ones."""

import json
import subprocess
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from delayrig.model.events import of_kind, read_events
from delayrig.model.kinds.emulator import FaultMade, Serprog, Spi
from delayrig.present.trace.perfetto import as_perfetto
from delayrig.present.trace.timeline import timeline_of

from .emulator import PATHS, flashrom, run, serving

CHIP = "M25P10-A"
CHIP_BYTES = 128 << 10
CONTENT = bytes((i * 7 + i // 256) % 251 for i in range(4096)).ljust(CHIP_BYTES, b"\xff")


def linked(folder: Path, *words: str | Path, chip: str = CHIP) -> AbstractContextManager[str]:
    """Serves a part on a link; yields the port or device that the emulator prints."""
    after = ("--image-out", folder / "after.img")
    return serving(folder, "--chip", chip, "--corner", "zero", *after, *words)


def write(programmer: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "content").write_bytes(CONTENT)
    return flashrom(programmer, "-w", folder / "content")


def faults(folder: Path) -> list[FaultMade]:
    return of_kind(read_events(folder), FaultMade)


def test_content_is_written_through_a_terminal(tmp_path: Path) -> None:
    tty = tmp_path / "tty"
    with linked(tmp_path, "--listen", f"pty:{tty}") as name:
        assert str(tty.readlink()) == name
        done = write(f"serprog:dev={tty}:115200", tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "after.img").read_bytes() == CONTENT
    assert not tty.is_symlink()


SPI_FIRMWARE = [
    *("stm32-vserprog", "pico-serprog", "frser-duino-ftdi", "usb-high-speed"),
    *("serprog-stm32-gd32", "serprog_pico", "serprog-due"),
]


@pytest.mark.parametrize(
    ("link", "chip"), [*((link, CHIP) for link in SPI_FIRMWARE), ("frser-atmega644", "SST29EE010")]
)
def test_content_is_written_with_the_commands_of_each_firmware(
    link: str, chip: str, tmp_path: Path
) -> None:
    """Over a memory bus, our flashrom used to hang with a buffer of 12 bytes, as for SPI."""
    with linked(tmp_path, "--link", link, chip=chip) as port:
        done = write(f"serprog:ip=127.0.0.1:{port}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "after.img").read_bytes() == CONTENT
    events = read_events(tmp_path)
    refused = {request.name for request in of_kind(events, Serprog) if not request.ack}
    assert refused == set(), "our flashrom must use only commands of the command map"


@pytest.mark.parametrize("chip", ["SST29EE010", "SST49LF040", "M50FW040"])
def test_part_on_another_bus_is_refused_with_firmware_for_spi(chip: str) -> None:
    done = run(PATHS.emulator, "--chip", chip, "--link", "frser-duino")
    assert done.returncode == 2
    assert "frser-atmega644" in done.stderr


def test_replies_leave_no_earlier_than_the_line_carries_them(tmp_path: Path) -> None:
    """At 2000000 baud a byte takes 5 us in each direction."""
    with linked(tmp_path, "--link", "baud=2000000") as port:
        done = flashrom(f"serprog:ip=127.0.0.1:{port}", "-r", tmp_path / "got")
    assert done.returncode == 0, done.stderr
    reads = of_kind(read_events(tmp_path), Spi)
    assert reads
    for read in reads:
        line_ns = (7 + read.wlen + 1 + read.rlen) * 5000
        assert read.reply_ns - read.read_ns >= line_ns


@pytest.mark.parametrize(
    "fault",
    [
        "corrupt@p=0.0005",
        "corrupt@in:p=0.0005",
        "drop@20000",
        "drop@in:3000",
        "duplicate@20000",
        "duplicate@in:3000",
        "hang-up@60",
        "nak@60",
        "nak@p=0.1",
        "delay:20000@p=0.05",
        "stall:20000@p=0.05",
    ],
)
def test_faulty_link_makes_flashrom_fail_or_the_content_is_right(
    fault: str, tmp_path: Path
) -> None:
    words = ["--fault", fault, "--seed", "5"]
    with linked(tmp_path, *words) as port:
        done = write(f"serprog:ip=127.0.0.1:{port}", tmp_path)
    assert faults(tmp_path), "the fault must take effect"
    if done.returncode == 0:
        assert (tmp_path / "after.img").read_bytes() == CONTENT
    else:
        assert done.returncode == 1
        assert done.stderr


def test_flashrom_fails_if_the_part_stays_busy(tmp_path: Path) -> None:
    with linked(tmp_path, "--fault", "stuck-wip@2") as port:
        done = write(f"serprog:ip=127.0.0.1:{port}", tmp_path)
    assert done.returncode == 1
    assert "still busy" in done.stderr
    (stuck,) = [fault for fault in faults(tmp_path) if fault.nth == 2]
    assert stuck.kind == "stuck-wip"


def test_trace_of_a_run_names_commands_and_waits(tmp_path: Path) -> None:
    with linked(tmp_path) as port:
        assert write(f"serprog:ip=127.0.0.1:{port}", tmp_path).returncode == 0
    shown = as_perfetto(timeline_of(read_events(tmp_path)))
    names = {event["name"] for event in json.loads(shown)["traceEvents"]}
    assert {"PP", "RDSR", "after RDSR"} <= names
