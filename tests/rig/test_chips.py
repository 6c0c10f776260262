# SPDX-License-Identifier: GPL-2.0-or-later
"""Facts about the emulated chips."""

from pathlib import Path

import pytest
from delayrig.base.errors import RigFaultError
from delayrig.model.chips import read_chips
from delayrig.model.workload import region_of

from tests.rig.builders import CHECKOUT, make_cell

GOOD = (
    'schema = 1\nname = "X1"\nvendor = "V"\nfamily = "spi_nor"\nsize_bytes = 65536\n'
    'flashrom_names = ["X.1"]\n'
)


def put_chip(checkout: Path, text: str) -> None:
    folder = checkout / "emulators" / "chips"
    folder.mkdir(parents=True)
    (folder / "X1.toml").write_text(text, encoding="utf-8")


def test_every_chip_has_a_name_of_flashroms_and_a_bus() -> None:
    chips = read_chips(CHECKOUT)
    files = (CHECKOUT / "emulators" / "chips").glob("*.toml")
    assert sorted(chips) == sorted(file.stem for file in files)
    for name, chip in chips.items():
        assert chip.name == name
        assert chip.flashrom_names
        assert region_of(make_cell(), chip).end_bytes <= chip.size_bytes
        assert chip.bus in ("spi", "parallel", "lpc", "fwh")
        assert (chip.bus == "spi") is chip.family.startswith("spi")


def test_chip_is_on_the_bus_that_its_file_says(tmp_path: Path) -> None:
    chips = read_chips(CHECKOUT)
    named = ("W25Q128JV", "SST39SF040", "SST49LF040", "SST49LF004B")
    assert [chips[name].bus for name in named] == ["spi", "parallel", "lpc", "fwh"]
    put_chip(tmp_path, GOOD + '[bus]\nkind = "lpc"\n')
    assert read_chips(tmp_path)["X1"].bus == "lpc"


def test_figures_that_the_rig_does_not_use_are_the_emulators_business(tmp_path: Path) -> None:
    put_chip(tmp_path, GOOD + "[clock]\nmax_hz = 5\n")
    assert read_chips(tmp_path)["X1"].size_bytes == 65536


def test_smallest_erase_of_the_whole_part_is_its_unit(tmp_path: Path) -> None:
    sizes = ("size_bytes = 65536", "size_bytes = 4096", "regions = [[2, 512]]")
    put_chip(tmp_path, GOOD + "".join(f"[[erase]]\n{size}\n" for size in sizes))
    assert read_chips(tmp_path)["X1"].erase_unit_bytes == 4096


@pytest.mark.parametrize(
    "text", [GOOD.replace('vendor = "V"\n', ""), GOOD.replace("65536", '"64K"'), GOOD + "="]
)
def test_broken_chip_file_is_a_fault_of_the_rig_that_names_it(tmp_path: Path, text: str) -> None:
    put_chip(tmp_path, text)
    with pytest.raises(RigFaultError, match=r"X1\.toml"):
        read_chips(tmp_path)
