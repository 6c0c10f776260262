# SPDX-License-Identifier: GPL-2.0-or-later
"""libflashrom.so.1, used as other programs use it."""

import ctypes
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from delayrig.model.events import read_events
from delayrig.model.kinds.emulator import End

from .emulator import PATHS, emulator, run
from .faulty_link import Fault, FaultyOperation, faulty_link

LIBRARY = PATHS.flashrom_build / "lib" / "libflashrom.so.1"
CLIENT = PATHS.build / "tests" / "protocol" / "library_client"
CHIP = "M25P80"
CHIP_BYTES = 1 << 20

RDID = 0x9F
READ = 0x03
PAGE_PROGRAM = 0x02

# The symbols of flashrom 1.3.0, each exported as NAME@LIBFLASHROM_1.0.
NAMES_OF_1_3 = [
    *("data_free", "flag_get", "flag_set", "init", "set_log_callback", "shutdown", "version_info"),
    *("flash_erase", "flash_getsize", "flash_probe", "flash_release"),
    *("image_read", "image_verify", "image_write", "programmer_init", "programmer_shutdown"),
    *("layout_add_region", "layout_get_region_range", "layout_include_region", "layout_new"),
    *("layout_read_fmap_from_buffer", "layout_read_fmap_from_rom", "layout_read_from_ifd"),
    *("layout_release", "layout_set"),
    *("supported_boards", "supported_chipsets", "supported_flash_chips"),
    *("wp_cfg_new", "wp_cfg_release", "wp_get_available_ranges", "wp_get_mode", "wp_get_range"),
    *("wp_ranges_get_count", "wp_ranges_get_range", "wp_ranges_release", "wp_read_cfg"),
    *("wp_set_mode", "wp_set_range", "wp_write_cfg"),
]
NAMES_SINCE = [
    "layout_exclude_region",
    "set_log_callback_v2",
    "set_log_level",
    "set_progress_callback",
    "set_progress_callback_v2",
    "supported_programmers",
]


def output_of(*words: str | Path) -> str:
    """Returns the output of a tool."""
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def test_exported_names_are_those_of_flashrom_and_one_of_ours() -> None:
    listed = output_of("nm", "-D", "--defined-only", LIBRARY)
    names = {line.split()[-1] for line in listed.splitlines() if " A " not in line}
    flashroms = {f"flashrom_{name}@@LIBFLASHROM_1.0" for name in NAMES_OF_1_3 + NAMES_SINCE}
    assert names == flashroms | {"flashrom_rig_set_realtime@@LIBFLASHROM_RIG_1.0"}


def test_soname_is_the_one_that_programs_are_linked_to() -> None:
    assert "[libflashrom.so.1]" in output_of("readelf", "-d", LIBRARY)


def test_log_callback_is_the_only_writable_object_of_all_threads() -> None:
    """The margin of the delay layer is thread-local, so it is in another section."""
    listed = output_of("readelf", "-sW", LIBRARY.resolve())
    sections = dict(re.findall(r"\[ *(\d+)\] (\S+)", output_of("readelf", "-SW", LIBRARY)))
    writable = {number for number, name in sections.items() if name in {".data", ".bss"}}
    found = {
        words[7]
        for words in map(str.split, listed.splitlines())
        if len(words) == 8 and words[3] == "OBJECT" and words[6] in writable
    }
    assert {name for name in found if not name.startswith(("completed.", "__"))} == {"caller"}


@pytest.mark.parametrize("more", [[], ["signals"]], ids=["no signals", "a signal each ms"])
def test_session_of_a_client_ends_as_expected(more: list[str], tmp_path: Path) -> None:
    with emulator(CHIP, "min", tmp_path) as port:
        done = run(CLIENT, "serprog", f"ip=127.0.0.1:{port}", CHIP, *more)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("all as expected\n")
    end = read_events(tmp_path)[-1]
    assert isinstance(end, End)
    assert end.violations == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """The library, loaded into this process, with a programmer open."""

    calls: ctypes.CDLL
    programmer: ctypes.c_void_p

    def probe(self) -> tuple[int, ctypes.c_void_p]:
        """Calls flashrom_flash_probe(); returns its status and the context."""
        context = ctypes.c_void_p()
        status = self.calls.flashrom_flash_probe(ctypes.byref(context), self.programmer, None)
        return status, context


@contextmanager
def library(port: int) -> Iterator[Library]:
    """Yields the library with a programmer on that port."""
    calls = ctypes.CDLL(str(LIBRARY))
    programmer = ctypes.c_void_p()
    parameters = f"ip=127.0.0.1:{port}".encode()
    assert calls.flashrom_init(0) == 0
    assert calls.flashrom_programmer_init(ctypes.byref(programmer), b"serprog", parameters) == 0
    yield Library(calls=calls, programmer=programmer)
    assert calls.flashrom_programmer_shutdown(programmer) == 0
    assert calls.flashrom_shutdown() == 0


@contextmanager
def faulty_library(folder: Path, operation: FaultyOperation) -> Iterator[Library]:
    """Yields the library behind a link with that fault."""
    with (
        emulator(CHIP, "zero", folder) as device,
        faulty_link(device, operation) as port,
        library(port) as opened,
    ):
        yield opened


def write(opened: Library, flags: tuple[int, ...]) -> int:
    """Writes an image without blank pages; returns the result of flashrom_image_write()."""
    status, context = opened.probe()
    assert status == 0
    for flag in flags:
        opened.calls.flashrom_flag_set(context, flag, ctypes.c_bool(True))
    image = ctypes.create_string_buffer(b"\x5a" * CHIP_BYTES, CHIP_BYTES)
    size = ctypes.c_size_t(CHIP_BYTES)
    result: int = opened.calls.flashrom_image_write(context, image, size, None)
    opened.calls.flashrom_flash_release(context)
    return result


VERIFY_AFTER_WRITE = 2  # a value of enum flashrom_flag


LOST_PAGE = FaultyOperation(fault=Fault.LIE, opcode=PAGE_PROGRAM, nth=3)


@pytest.mark.parametrize(
    ("operation", "flags", "status"),
    [
        pytest.param(
            FaultyOperation(fault=Fault.HANG_UP, opcode=PAGE_PROGRAM, nth=3), (), 2, id="third page"
        ),
        pytest.param(
            FaultyOperation(fault=Fault.HANG_UP, opcode=READ), (), 1, id="before the first page"
        ),
        pytest.param(LOST_PAGE, (), 0, id="lost page"),
        pytest.param(LOST_PAGE, (VERIFY_AFTER_WRITE,), 2, id="lost page, verified"),
    ],
)
def test_failed_write_returns_2_if_the_chip_has_changed_and_else_1(
    operation: FaultyOperation, flags: tuple[int, ...], status: int, tmp_path: Path
) -> None:
    """A lost page is found only by the flag that asks to verify."""
    with faulty_library(tmp_path, operation) as opened:
        assert write(opened, flags) == status


@pytest.mark.parametrize(("fault", "status"), [(Fault.LIE, 2), (Fault.HANG_UP, 1)])
def test_probe_distinguishes_no_chip_from_no_link(
    fault: Fault, status: int, tmp_path: Path
) -> None:
    operation = FaultyOperation(fault=fault, opcode=RDID, forever=True)
    with faulty_library(tmp_path, operation) as opened:
        assert opened.probe()[0] == status
