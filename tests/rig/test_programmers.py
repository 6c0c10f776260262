# SPDX-License-Identifier: GPL-2.0-or-later
"""Programmers that are devices of QEMU: arguments, files and refusals."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from delayrig.base import digest
from delayrig.hazards.of_cell import place_refusal, shape_of
from delayrig.judge.bus import Bus, bus_of
from delayrig.judge.trust import rig_fault
from delayrig.judge.waits import declared_classes
from delayrig.lanes.payload import (
    BEFORE,
    OPENS,
    chip_values,
    device_entries,
    spec_text,
    write_payload,
)
from delayrig.machine import plugins
from delayrig.machine.arguments import (
    SANDBOX,
    Hardware,
    hand_over_arguments,
    kernel_command_line,
    machine_of,
    qemu_arguments,
)
from delayrig.machine.plugins import ChipPlugin, refusal_of_qemu, write_settings
from delayrig.machine.snapshot import plugin_without_chip
from delayrig.model import workload
from delayrig.model.cell import Cell, Job, Programmer
from delayrig.model.chips import ChipFacts, read_chips
from delayrig.model.kinds.agent import EmulatorEnd
from delayrig.model.kinds.emulator import Start
from delayrig.model.lane import LaneName
from delayrig.model.platform import Arch
from delayrig.model.programmers import DEVICES, device_refusal, programmers_of
from delayrig.model.workload import region_of
from delayrig.subjects.guest_image import GuestImage, Kernel, with_kernel
from delayrig.subjects.recipes import read_recipes

from tests.rig.builders import CHECKOUT, make_cell, make_subject
from tests.rig.event_builders import seen_of, sound_events, without
from tests.rig.running import write_script

CHIPS = read_chips(CHECKOUT)
EVERY_DEVICE = pytest.mark.parametrize("programmer", DEVICES)


def nicintel(**changes: Any) -> Cell:
    wanted = {"programmer": Programmer.NICINTEL, "chip": "SST29EE010", "job": Job.WRITE}
    return make_cell(**{**wanted, **changes})


def hardware_of(cell: Cell, folder: Path) -> Hardware:
    chip = ChipPlugin(
        plugin=Path("/p,1/chip-plugin.so"), front="nicintel", settings=folder / "s", values={}
    )
    return Hardware(
        shape=shape_of(cell),
        preload=None,
        kernel=folder / "vmlinuz",
        initrd=folder / "initrd",
        console=folder / "console.log",
        chip=chip,
    )


def test_machine_has_card_and_chip_and_for_the_snapshot_only_the_card(
    tmp_path: Path,
) -> None:
    hardware = hardware_of(nicintel(), tmp_path)
    words = hand_over_arguments(hardware)
    assert "i82551,romfile=,addr=0x10" in words
    assert f"/p,,1/chip-plugin.so,front=nicintel,settings={tmp_path}/s" in words
    words = hand_over_arguments(replace(hardware, chip=None))
    assert "i82551,romfile=,addr=0x10" in words
    assert "-plugin" not in words


@EVERY_DEVICE
def test_qemu_with_a_chip_has_its_sandbox(programmer: Programmer, tmp_path: Path) -> None:
    hardware = hardware_of(nicintel(programmer=programmer), tmp_path)
    words = qemu_arguments(hardware, monitor_fd=3)
    assert words[words.index("-sandbox") + 1] == SANDBOX
    assert hardware.chip is not None
    assert any(str(hardware.chip.settings) in word for word in words)


def test_shape_of_a_device_is_another_machine_with_the_same_kernel_words() -> None:
    serprog, card = shape_of(make_cell()), shape_of(nicintel())
    assert machine_of(serprog) != machine_of(card)
    assert card.name == f"{serprog.name}-nicintel"
    assert kernel_command_line(card) == kernel_command_line(serprog)


USB_ADAPTERS = pytest.mark.parametrize(
    "programmer", [Programmer.CH341A_SPI, Programmer.FT2232_SPI], ids=str
)


@USB_ADAPTERS
def test_usb_adapter_has_a_kernel_with_its_driver_for_each_architecture(
    programmer: Programmer,
) -> None:
    kernels = read_recipes(CHECKOUT).kernels
    cell = nicintel(programmer=programmer, chip="W25Q128JV")
    assert shape_of(cell).kernel == DEVICES[programmer].kernel
    assert shape_of(cell).kernel in kernels
    assert shape_of(nicintel()).kernel == ""
    on_arm64 = nicintel(programmer=programmer, chip="W25Q128JV", arch=Arch.ARM64)
    assert device_refusal(on_arm64) == ""
    assert kernels[shape_of(on_arm64).kernel].arch is Arch.ARM64


@USB_ADAPTERS
def test_machine_that_boots_with_a_device_of_the_plugin_has_it_and_no_chip(
    programmer: Programmer, tmp_path: Path
) -> None:
    cell = nicintel(programmer=programmer, chip="W25Q128JV")
    chip = plugin_without_chip(shape_of(cell), Path("/p.so"), tmp_path)
    assert chip is not None
    assert chip.settings.read_text() == ""
    words = hand_over_arguments(replace(hardware_of(cell, tmp_path), chip=chip))
    assert "rig-usb" in words
    front = DEVICES[programmer].front
    assert f"/p.so,front={front},settings={chip.settings}" in words
    assert plugin_without_chip(shape_of(nicintel()), Path("/p.so"), tmp_path) is None


def test_modules_of_a_kernel_follow_the_initrd(tmp_path: Path) -> None:
    modules, initrd = tmp_path / "kernels" / "full" / "modules.cpio", tmp_path / "initrd"
    modules.parent.mkdir(parents=True)
    modules.write_bytes(b"modules")
    initrd.write_bytes(b"initrd,")
    kernel = Kernel(path="/k", sha256="k", packages={}, modules=str(modules))
    image = GuestImage(
        kernel="/usual",
        kernel_sha256="usual",
        initrd=str(initrd),
        initrd_sha256="plain",
        busybox_sha256="",
        packages={},
    )
    changed = with_kernel(image, kernel)
    assert (changed.kernel, changed.kernel_sha256) == ("/k", "k")
    assert Path(changed.initrd).read_bytes() == b"initrd,modules"
    assert changed.initrd_sha256 == digest.of_bytes(b"initrd,modules")


@pytest.mark.parametrize(
    ("programmer", "argument"),
    [
        (Programmer.NICINTEL, "nicintel"),
        (Programmer.INTERNAL, "internal"),
        (Programmer.INTERNAL_HWSEQ, "internal:ich_spi_mode=hwseq"),
        (Programmer.INTERNAL_MEMORY, "internal:laptop=this_is_not_a_laptop"),
        (Programmer.LINUX_SPI, "linux_spi:dev=/dev/spidev42.1"),
    ],
)
def test_argument_for_flashrom_names_driver_and_options(
    programmer: Programmer, argument: str
) -> None:
    assert workload.programmer_argument(nicintel(programmer=programmer)) == argument


def write_nicintel_payload(folder: Path) -> tuple[Cell, ChipFacts]:
    """Writes the payload of a cell with the card; returns the cell and its chip."""
    cell, chip = nicintel(), CHIPS["SST29EE010"]
    write_payload(cell, chip, spec_text(cell, chip, "SST29EE010", make_subject()), folder)
    return cell, chip


def test_settings_name_part_content_and_files(tmp_path: Path) -> None:
    cell, chip = write_nicintel_payload(tmp_path)
    values = chip_values(cell, region_of(cell, chip), tmp_path)
    assert values["part"] == "SST29EE010"
    assert values["corner"] == cell.corner
    assert Path(values["image_in"]).name == BEFORE
    assert Path(values["image_in"]).read_bytes()
    Path(values["events"]).write_bytes(b"{}")
    assert device_entries(cell, tmp_path) == {"events.jsonl": b"{}"}


@pytest.mark.parametrize(
    ("hazards", "state"),
    [((), "ready"), (("starts:deaf-suspended",), "deaf-suspended"), (("starts:fresh",), "ready")],
)
def test_chip_starts_in_a_state_that_the_device_supports(
    hazards: tuple[str, ...], state: str, tmp_path: Path
) -> None:
    cell = make_cell(programmer=Programmer.LINUX_SPI, chip="S25FS128S", hazards=hazards)
    values = chip_values(cell, region_of(cell, CHIPS["S25FS128S"]), tmp_path)
    assert values["start_state"] == state


def test_spec_names_the_watched_file_and_no_emulator(tmp_path: Path) -> None:
    write_nicintel_payload(tmp_path)
    assert (tmp_path / "cell" / OPENS).read_text() == "/dev/mem\n"
    spec = (tmp_path / "cell" / "spec").read_text()
    assert "emulator_outside 1" in spec.splitlines()
    assert not [line for line in spec.splitlines() if line.startswith("emulator ")]


def test_cell_number_comes_with_the_settings(tmp_path: Path) -> None:
    write_settings(tmp_path / "s", {"part": "SST29EE010"}, 3)
    assert (tmp_path / "s").read_text() == "cell=3\npart=SST29EE010\n"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, ""),
        ({"programmer": Programmer.SERPROG_IP, "arch": Arch.ARM64}, ""),
        ({"lane": LaneName.LIVE}, "only on the virtual lane"),
        ({"lane": LaneName.HOST}, "only on the virtual lane"),
        ({"arch": Arch.ARM64}, "only in x86_64 guests"),
    ],
)
def test_guests_without_the_device_are_refused(changes: dict[str, Any], message: str) -> None:
    refusal = device_refusal(nicintel(**changes))
    assert message in refusal
    assert bool(refusal) is bool(message)


REACHED = {
    Programmer.NICINTEL: (["SST29EE010", "AT29C512"], ["SST39SF040", "W25Q128JV"]),
    Programmer.INTERNAL: (["W25Q128JV"], ["W25Q256JV", "SST29EE010", "W25Q64FVx2"]),
    Programmer.INTERNAL_HWSEQ: (
        ["W25Q128JV", "M25P80", "W25Q64FVx2"],
        ["M25P10-A", "S25FL128S_256K", "AT45DB321D"],
    ),
    Programmer.INTERNAL_MEMORY: (["SST49LF040", "82802AB", "SST39SF040"], ["W25Q128JV"]),
    Programmer.LINUX_SPI: (["MX25L25635F"], ["SST29EE010"]),
    Programmer.NICINTEL_SPI: (["AT45DB321D"], ["SST49LF040"]),
    Programmer.CH341A_SPI: (["MX25L25635F"], ["SST29EE010"]),
    Programmer.FT2232_SPI: (["MX25L25635F"], ["SST29EE010"]),
}


@pytest.mark.parametrize("programmer", REACHED, ids=str)
def test_chip_must_fit_bus_and_window(programmer: Programmer) -> None:
    reached, refused = REACHED[programmer]
    refusal = DEVICES[programmer].chip_refusal
    assert [chip for chip in reached + refused if refusal(CHIPS[chip]) == ""] == reached


def test_chip_of_two_parts_is_not_reached_over_serprog() -> None:
    assert place_refusal(make_cell(chip="W25Q64FVx2"), CHIPS["W25Q64FVx2"])
    assert programmers_of(CHIPS["W25Q64FVx2"]) == ["internal:hwseq"]


def test_registers_that_the_kernel_must_find_at_boot_exist_before_the_chip(tmp_path: Path) -> None:
    shape = shape_of(nicintel(programmer=Programmer.INTERNAL_MEMORY, chip="SST49LF040"))
    assert shape.name.endswith("-internal-memory")
    chip = plugin_without_chip(shape, Path("/p.so"), tmp_path)
    assert chip is not None
    assert chip.front == "amd8111"
    assert chip.settings.read_text() == ""
    port = shape_of(nicintel(programmer=Programmer.LINUX_SPI))
    assert plugin_without_chip(port, Path("/p.so"), tmp_path) is None


def test_only_hardware_sequencing_hides_the_name_of_the_chip() -> None:
    names = {programmer: device.chip_name for programmer, device in DEVICES.items()}
    assert {key: name for key, name in names.items() if name} == {
        Programmer.INTERNAL_HWSEQ: "Opaque flash chip"
    }


def test_internal_programmer_has_the_machine_of_its_chipset(tmp_path: Path) -> None:
    cell = nicintel(programmer=Programmer.INTERNAL, chip="W25Q128JV")
    words = hand_over_arguments(hardware_of(cell, tmp_path))
    assert words[words.index("-machine") + 1] == "q35"
    assert machine_of(shape_of(cell)) != machine_of(shape_of(nicintel()))


def test_agent_has_a_file_to_watch_for_each_programmer() -> None:
    assert all(device.opens for device in DEVICES.values())


def test_bus_of_the_kernel_is_a_file_that_is_named_and_watched() -> None:
    device = DEVICES[Programmer.LINUX_SPI]
    assert device.argument == f"linux_spi:dev={device.opens[0]}"
    assert shape_of(nicintel(programmer=Programmer.LINUX_SPI)).kernel == "full"


@pytest.fixture
def try_chip(tmp_path: Path) -> Callable[[str], str]:
    """Returns a function that tries the chip with a shell script in place of QEMU."""
    plugins.refusal_of_qemu.cache_clear()

    def try_chip(script: str) -> str:
        program = write_script(tmp_path / "qemu", script)
        return refusal_of_qemu(str(program), Path("/p.so"), "nicintel", ("-device", "i82551"))

    return try_chip


@pytest.mark.parametrize(
    ("script", "refusal"),
    [
        ("exit 0", ""),
        (
            "echo 'chip plugin: this QEMU has no get_system_memory' >&2; exit 1",
            "this QEMU has no nicintel: this QEMU has no get_system_memory",
        ),
        (
            "echo 'qemu: warning: no peer' >&2; echo 'chip plugin: it needs X' >&2; exit 1",
            "this QEMU has no nicintel: it needs X",
        ),
        ("echo 'qemu: bad plugin' >&2; exit 1", "this QEMU has no nicintel: qemu: bad plugin"),
    ],
)
def test_qemu_that_refuses_the_chip_is_refused_with_its_message(
    try_chip: Callable[[str], str], script: str, refusal: str
) -> None:
    assert try_chip(script) == refusal
    assert "cannot be asked" in refusal_of_qemu("/no/qemu", Path("/p.so"), "nicintel", ())


def test_qemu_with_another_plugin_interface_is_refused_with_the_versions_that_fit(
    try_chip: Callable[[str], str],
) -> None:
    refusal = try_chip("echo 'Could not load plugin p: it requires API version 3' >&2; exit 1")
    assert "API version 3; it needs QEMU 9.2 to 10.1" in refusal
    header = (CHECKOUT / "emulators" / "programmers" / "qemu.h").read_text()
    assert plugins.QEMU_NEEDED.removeprefix("it needs ") in header


def test_qemu_that_crashes_when_tried_is_refused_with_the_versions_that_fit(
    try_chip: Callable[[str], str],
) -> None:
    refusal = try_chip("echo 'qemu: warning: no peer' >&2; kill -SEGV $$")
    assert refusal.startswith("this QEMU has no nicintel: it ended by signal 11")
    assert refusal.endswith(plugins.QEMU_NEEDED)


def test_gaps_between_cycles_convict_nobody() -> None:
    assert bus_of(nicintel(), make_subject()) is Bus.DESCRIBES
    assert declared_classes(nicintel(), None) == set()


def test_chip_in_qemu_needs_its_start_event_but_no_emulator_end() -> None:
    events = without(sound_events(), EmulatorEnd)
    assert rig_fault(nicintel(), seen_of(*events)) == ""
    assert rig_fault(make_cell(), seen_of(*events)) == "the events hold no 'emulator_end'"
    events = without(events, Start)
    assert rig_fault(nicintel(), seen_of(*events)) == "the events hold no 'start'"
