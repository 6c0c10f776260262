# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of our flashrom: its messages, its exit codes, and the files that it writes."""

import os
import pty
import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from . import emulator as programs
from .emulator import LIMIT_S, PATHS, PROGRAM, emulator
from .faulty_link import Fault, FaultyOperation, faulty_link

COMPLETION = PATHS.checkout / "flashrom" / "cli" / "completion.bash"
CHIP = "M25P80"
CHIP_BYTES = 1 << 20
BOOT_BYTES = 0x10000
LAYOUT = "000000:00ffff boot\n010000:0fffff rest\n"

RDID = 0x9F
READ = 0x03
PAGE_PROGRAM = 0x02
SHARED_ID = "c22017"
"""An ID that two chips of the table share."""


def pattern(size_bytes: int, seed: int) -> bytes:
    """Returns bytes without long runs of one value, and without the blank value FFh."""
    return bytes((i * 7 + i // 256 + seed) % 251 for i in range(size_bytes))


def flashrom(port: int, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs our flashrom with the programmer on that port until it ends."""
    return programs.flashrom(f"serprog:ip=127.0.0.1:{port}", *words)


@pytest.fixture
def chip(tmp_path: Path) -> Iterator[int]:
    """Yields the port of a blank chip without busy times."""
    with emulator(CHIP, "zero", tmp_path) as port:
        yield port


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    """Writes a layout of two regions that fill the chip."""
    path = tmp_path / "layout"
    path.write_text(LAYOUT)
    return path


@pytest.fixture
def boot(tmp_path: Path) -> Path:
    """Writes a file for the region "boot"."""
    path = tmp_path / "boot"
    path.write_bytes(pattern(BOOT_BYTES, 2))
    return path


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """Writes an image of the chip's size."""
    path = tmp_path / "image"
    path.write_bytes(pattern(CHIP_BYTES, 1))
    return path


def passed(port: int, *words: str | Path) -> str:
    """Runs our flashrom, which must pass; returns its output."""
    done = flashrom(port, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def assert_failed(done: subprocess.CompletedProcess[str], *messages: str) -> None:
    """Checks that flashrom failed, with those messages on standard error."""
    assert done.returncode == 1, done.stdout + done.stderr
    for message in messages:
        assert message in done.stderr


def test_regions_with_files_need_no_image(tmp_path: Path, layout: Path, boot: Path) -> None:
    with emulator(CHIP, "zero", tmp_path) as port:
        passed(port, "-w", "-l", layout, "-i", f"boot:{boot}")
    held = (tmp_path / "after.img").read_bytes()
    assert held == boot.read_bytes() + b"\xff" * (CHIP_BYTES - BOOT_BYTES)

    got_boot, got_rest = tmp_path / "got-boot", tmp_path / "got-rest"
    with emulator(CHIP, "zero", tmp_path, before=held) as port:
        passed(port, "-r", "-l", layout, "-i", f"boot:{got_boot}", "-i", f"rest:{got_rest}")
    assert got_boot.read_bytes() + got_rest.read_bytes() == held


def test_region_without_a_file_is_written_from_the_file_of_the_chip(
    tmp_path: Path, layout: Path, boot: Path, image: Path
) -> None:
    with emulator(CHIP, "zero", tmp_path) as port:
        passed(port, "-w", image, "-l", layout, "-i", f"boot:{boot}", "-i", "rest")
    held = (tmp_path / "after.img").read_bytes()
    assert held == boot.read_bytes() + image.read_bytes()[BOOT_BYTES:]


def test_region_file_of_another_size_is_refused(chip: int, layout: Path, boot: Path) -> None:
    boot.write_bytes(bytes(100))
    done = flashrom(chip, "-w", "-l", layout, "-i", f"boot:{boot}")
    assert_failed(done, "boot has 100 bytes", str(BOOT_BYTES))


@pytest.mark.parametrize("size_bytes", [0, CHIP_BYTES - 1, CHIP_BYTES + 1])
@pytest.mark.parametrize("option", ["-w", "-v"])
def test_file_of_another_size_than_the_chip_is_refused(
    chip: int, tmp_path: Path, size_bytes: int, option: str
) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_bytes(bytes(size_bytes))
    assert_failed(flashrom(chip, option, wrong), f"wrong has {size_bytes} bytes, the chip 1048576")


def test_file_larger_than_any_chip_is_refused_before_it_is_read(tmp_path: Path) -> None:
    huge = tmp_path / "huge"
    with huge.open("wb") as file:
        file.truncate((64 << 20) + 1)
    assert_failed(flashrom(1, "-w", huge), f"Cannot read {huge}: File too large")


def test_size_and_name_of_the_chip_are_printed_as_by_upstream_flashrom(tmp_path: Path) -> None:
    with emulator(CHIP, "zero", tmp_path) as port:
        assert "\n1048576\n" in flashrom(port, "--flash-size").stdout
    with emulator(CHIP, "zero", tmp_path) as port:
        assert re.search(
            r'^vendor="\S+" name="M25P80"$', flashrom(port, "--flash-name").stdout, re.M
        )


def test_unknown_chip_name_is_refused_with_the_nearest_one(chip: int) -> None:
    assert_failed(
        flashrom(chip, "-c", "M25P8"), 'Unknown chip "M25P8" (-c). Did you mean "M25P80"?'
    )


def test_name_of_a_chip_that_was_not_requested_is_reported(chip: int) -> None:
    done = flashrom(chip, "-c", "W25Q128.V")
    assert_failed(done, "Another chip found", '"M25P80"')


def test_missing_chip_is_reported(chip: int) -> None:
    operation = FaultyOperation(fault=Fault.LIE, opcode=RDID, forever=True)
    with faulty_link(chip, operation) as port:
        assert_failed(flashrom(port), "No chip found: nothing answers on serprog.")


def test_user_must_choose_between_chips_with_the_same_id(chip: int) -> None:
    operation = FaultyOperation(
        fault=Fault.LIE, opcode=RDID, forever=True, answer=bytes.fromhex(SHARED_ID)
    )
    with faulty_link(chip, operation) as port:
        assert_failed(
            flashrom(port), f"Several chips answer to ID {SHARED_ID}; choose one with -c:"
        )


def test_unreachable_programmer_is_reported(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    done = flashrom(port, "-r", tmp_path / "out")
    assert_failed(done, f"cannot connect to ip=127.0.0.1:{port}: Connection refused")
    assert not (tmp_path / "out").exists()


MESSAGES = {
    Fault.HANG_UP: "hung up (SPI operation)",
    Fault.GARBAGE: "sent something that is no serprog answer",
    Fault.SILENCE: "stopped answering",
}


@pytest.mark.parametrize("fault", MESSAGES)
def test_link_lost_in_a_write_reports_the_damaged_range(
    chip: int, image: Path, fault: Fault
) -> None:
    with faulty_link(chip, FaultyOperation(fault=fault, opcode=PAGE_PROGRAM, nth=3)) as port:
        done = flashrom(port, "-w", image)
    assert_failed(
        done, MESSAGES[fault], "unknown state from 0x000200 to 0x0002ff", "repeat the command"
    )
    assert "FAILED." in done.stdout
    assert "VERIFIED." not in done.stdout


def test_write_repeated_after_a_lost_link_succeeds(tmp_path: Path, image: Path) -> None:
    operation = FaultyOperation(fault=Fault.HANG_UP, opcode=PAGE_PROGRAM, nth=100)
    with emulator(CHIP, "zero", tmp_path) as device, faulty_link(device, operation) as port:
        assert_failed(flashrom(port, "-w", image))
    held = (tmp_path / "after.img").read_bytes()
    assert held[: 99 * 256] == image.read_bytes()[: 99 * 256]
    with emulator(CHIP, "zero", tmp_path, before=held) as port:
        passed(port, "-w", image)
    assert (tmp_path / "after.img").read_bytes() == image.read_bytes()


def test_link_lost_before_a_write_reports_an_unchanged_chip(chip: int, image: Path) -> None:
    with faulty_link(chip, FaultyOperation(fault=Fault.HANG_UP, opcode=READ, nth=2)) as port:
        done = flashrom(port, "-w", image)
    assert_failed(done, "hung up", "Nothing was erased or written")


def test_lost_page_fails_the_verification(chip: int, image: Path) -> None:
    with faulty_link(chip, FaultyOperation(fault=Fault.LIE, opcode=PAGE_PROGRAM, nth=5)) as port:
        done = flashrom(port, "-w", image)
    assert_failed(done, "Verification failed at 0x000400", "All was written, but the chip is in")
    assert "Erase/write done." in done.stdout


def test_lost_page_passes_without_verification(chip: int, layout: Path, image: Path) -> None:
    with faulty_link(chip, FaultyOperation(fault=Fault.LIE, opcode=PAGE_PROGRAM, nth=5)) as port:
        output = passed(port, "-n", "-l", layout, "-i", "boot", "-w", image)
    assert "Verifying" not in output


@pytest.mark.parametrize("nth", [1, 9])
def test_failed_read_keeps_the_existing_file(chip: int, tmp_path: Path, nth: int) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "out").write_text("precious")
    with faulty_link(chip, FaultyOperation(fault=Fault.HANG_UP, opcode=READ, nth=nth)) as port:
        assert_failed(flashrom(port, "-r", folder / "out"), "hung up")
    assert [path.name for path in folder.iterdir()] == ["out"]
    assert (folder / "out").read_text() == "precious"


def test_file_that_cannot_be_written_is_reported_before_the_chip_is_read(tmp_path: Path) -> None:
    done = flashrom(1, "-r", tmp_path / "none" / "out")
    assert_failed(done, "Cannot write", "No such file or directory")


def test_invalid_command_line_exits_with_2(tmp_path: Path) -> None:
    file = tmp_path / "x"
    for words in (["--ifd", "-r", file], ["-r"], ["-w", file, "-E"], ["--wp-enable"]):
        done = flashrom(1, *words)
        assert done.returncode == 2, words
        assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_log_file_has_more_than_the_screen(chip: int, tmp_path: Path, image: Path) -> None:
    output = passed(chip, "-w", image, "-o", tmp_path / "log")
    log = (tmp_path / "log").read_text()
    assert "0 erases" in log
    assert "0 erases" not in output
    assert "Verifying flash... VERIFIED." in log


def test_progress_is_shown_only_if_requested(tmp_path: Path, layout: Path, image: Path) -> None:
    words: list[str | Path] = ["-l", layout, "-i", "boot", "-w", image]
    before = bytes(BOOT_BYTES)
    with emulator(CHIP, "zero", tmp_path, before=before) as port:
        quiet = flashrom(port, *words).stdout
    with emulator(CHIP, "zero", tmp_path, before=before) as port:
        shown = flashrom(port, "--progress", *words).stdout
    assert "%" not in quiet
    tens = [f"{percent}%" for percent in range(10, 101, 10)]
    # The chip is read before the write and to verify it.
    assert re.findall(r"(?<!e )\b\d+%", shown) == tens * 2
    assert re.findall(r"write (\d+%)", shown) == tens
    assert re.findall(r"erase (\d+%)", shown) == tens


def run_on_a_terminal(port: int, *words: str | Path, status: int = 0) -> str:
    """Runs our flashrom with `--progress` on a terminal; returns its output without errors."""
    programmer = f"serprog:ip=127.0.0.1:{port}"
    command = [PROGRAM, "--no-realtime", "-p", programmer, "--progress", *words]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    sent = b""
    try:
        while chunk := os.read(ours, 65536):
            sent += chunk
    except OSError:  # EIO: the other end was closed.
        pass
    os.close(ours)
    assert process.wait(LIMIT_S) == status, sent
    return sent.decode()


def test_progress_on_a_terminal_is_overwritten_by_output(chip: int, tmp_path: Path) -> None:
    sent = run_on_a_terminal(chip, "-r", tmp_path / "out")
    shown = re.findall(r"([ \d]{3}%)\x08{4}", sent)
    assert shown[0] == "  0%"
    assert shown == sorted(shown)
    assert "100%\x08\x08\x08\x08done." in sent


def screen(sent: str) -> list[str]:
    """Returns the lines that a terminal shows; a backspace only moves its cursor."""
    lines = []
    for line in sent.split("\r\n"):
        shown: list[str] = []
        at = 0
        for character in line:
            if character != "\b":
                shown[at : at + 1] = character
            at += -1 if character == "\b" else 1
        lines.append("".join(shown))
    return lines


def test_no_progress_is_left_on_the_screen_after_a_write(tmp_path: Path, image: Path) -> None:
    with emulator(CHIP, "zero", tmp_path, before=bytes(BOOT_BYTES)) as port:
        sent = run_on_a_terminal(port, "-w", image)
    assert "Erasing and writing flash chip... Erase/write done." in screen(sent)


def test_no_progress_is_left_on_the_screen_after_a_failed_write(chip: int, image: Path) -> None:
    operation = FaultyOperation(fault=Fault.HANG_UP, opcode=PAGE_PROGRAM, nth=2000)
    with faulty_link(chip, operation) as port:
        sent = run_on_a_terminal(port, "-w", image, status=1)
    assert "Erasing and writing flash chip... Erase/write FAILED." in screen(sent)


@pytest.mark.parametrize(
    ("before", "word", "offered"),
    [
        ("flashrom", "--flash-", {"--flash-name", "--flash-size", "--flash-contents"}),
        ("-p", "serp", {"serprog"}),
        ("--chip", "M25P80", {"M25P80"}),
        ("-c", "S25FS128S", {"S25FS128S Small Sectors"}),
        ("-r", "some", set()),  # Bash itself completes files.
    ],
)
def test_completion_offers_what_the_program_lists(
    before: str, word: str, offered: set[str]
) -> None:
    call = '. "$0"; compopt() { :; }; _flashrom "$1" "$2" "$3"; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "-c", call, COMPLETION, PROGRAM, word, before],
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(filter(None, done.stdout.split("\n"))) == offered
