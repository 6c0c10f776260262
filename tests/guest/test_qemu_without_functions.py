# SPDX-License-Identifier: GPL-2.0-or-later
"""A QEMU that lacks a function that the chip plugin calls is refused with a reason."""

import shutil
import subprocess
from pathlib import Path

import pytest
from delayrig.base.paths import Paths
from delayrig.machine.plugins import refusal_of_qemu
from delayrig.model.cell import Programmer
from delayrig.model.platform import PLATFORMS, Arch
from delayrig.model.programmers import DEVICES

PLATFORM = PLATFORMS[Arch.X86_64]
EVERY_DEVICE = pytest.mark.parametrize("programmer", DEVICES)


def without_function(name: str, folder: Path) -> Path:
    """Returns a copy of QEMU that exports the function by another name."""
    program = shutil.which(PLATFORM.program)
    assert program is not None
    before, after = (b"\0%s\0" % text.encode() for text in (name, name[:-1] + "_"))
    content = Path(program).read_bytes()
    assert before in content
    copy = folder / PLATFORM.program
    copy.write_bytes(content.replace(before, after))
    copy.chmod(0o755)
    return copy


def refusal(program: str, programmer: Programmer, paths: Paths) -> str:
    device = DEVICES[programmer]
    words = ("-machine", PLATFORM.machine, *device.qemu_words)
    return refusal_of_qemu(program, paths.chip_plugin, device.front, words)


@EVERY_DEVICE
def test_installed_qemu_supports_each_programmer(programmer: Programmer, paths: Paths) -> None:
    assert refusal(PLATFORM.program, programmer, paths) == ""


def test_qemu_without_a_function_is_refused_with_a_reason(paths: Paths, tmp_path: Path) -> None:
    qemu = without_function("memory_region_init_io", tmp_path)
    reason = refusal(str(qemu), Programmer.NICINTEL_SPI, paths)
    for fact in ("nicintel_spi", "memory_region_init_io", "QEMU 9.2 to 10.1"):
        assert fact in reason


def test_usb_function_is_needed_for_usb_adapters_only(paths: Paths, tmp_path: Path) -> None:
    qemu = str(without_function("usb_desc_init", tmp_path))
    assert "usb_desc_init" in refusal(qemu, Programmer.CH341A_SPI, paths)
    assert refusal(qemu, Programmer.LINUX_SPI, paths) == ""


def test_check_takes_only_yes(paths: Paths) -> None:
    plugin = f"{str(paths.chip_plugin).replace(',', ',,')},front=nicintel,check=no"
    command = [PLATFORM.program, "-nodefaults", "-display", "none", "-S", "-plugin", plugin]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert "chip plugin: not yes: check=no" in done.stderr
