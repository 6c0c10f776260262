# SPDX-License-Identifier: GPL-2.0-or-later
"""Stripped builds of this checkout: the finder finds the function that the symbols name."""

from pathlib import Path

import pytest
from delayrig.base.paths import find_paths
from delayrig.model.platform import Arch
from delayrig.subjects.finder.finding import find_in
from delayrig.subjects.library import OWN_LIBRARIES
from delayrig.subjects.subject import OWN_PROGRAMS
from delayrig.subjects.symbols import read_symbols

from tests.rig import delay_programs as programs

NAME = "default_delay"
BUILT = {
    **{
        f"{name} {arch}": (arch, find_paths().build_of(arch) / OWN_PROGRAMS[name])
        for arch in programs.READ
        for name in ("bundled", "canary:bus")
    },
    **{
        name: (Arch.X86_64, find_paths().build / OWN_PROGRAMS[name])
        for name in (
            "past-mistake:calibrated-loop",
            "past-mistake:eintr-ignored",
            "past-mistake:threshold-turned-round",
            "past-mistake:trusting-getres",
            "past-mistake:us-ms-slip",
            "past-mistake:wrap-32bit",
            "step:os-clock",
        )
    },
    **{
        f"{name} as a library": (Arch.X86_64, find_paths().build / OWN_LIBRARIES[name])
        for name in ("bundled", "past-mistake:eintr-ignored")
    },
}


@pytest.mark.parametrize("name", BUILT)
def test_function_of_the_symbol_is_found_without_it(name: str, tmp_path: Path) -> None:
    arch, built = BUILT[name]
    if not built.is_file() or not programs.compiles(arch):
        pytest.skip("set-up builds it")
    bare = programs.stripped(built, arch, tmp_path)
    (found,) = find_in(bare.read_bytes()).found
    assert found.address == read_symbols(built).function(NAME)
    assert (found.argument, found.argument_bits, found.unit_ns) == (0, 32, 1000)
    assert bool(found.doubt) == ("calibrated" in name)
