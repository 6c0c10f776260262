# SPDX-License-Identifier: GPL-2.0-or-later
"""A subject's libflashrom: the packed files, and its delay function."""

import shutil
import subprocess
from pathlib import Path

import pytest
from delayrig.base import digest
from delayrig.base.paths import Paths, find_paths
from delayrig.subjects.delay_function import Askable, askable_functions
from delayrig.subjects.known_bad import LIBRARY
from delayrig.subjects.library import provide_library
from delayrig.subjects.profiles.profile import delay_address_of_digest, read_profiles
from delayrig.subjects.recipes import read_recipes
from delayrig.subjects.subject import Subject

from tests.rig.builders import CHECKOUT

BUILT = find_paths()
OURS = BUILT.flashrom_build / "lib" / LIBRARY


@pytest.fixture
def paths(paths: Paths) -> Paths:
    """Returns the paths; skips the test if the programs are not built."""
    if not BUILT.library_client.is_file() or not OURS.is_file():
        pytest.skip("the library client and the library are not built")
    return paths


def find(name: str, paths: Paths) -> Subject | None:
    """Provides the library if there is one; fails the test if something must be made for it."""
    return provide_library(name, read_recipes(CHECKOUT), paths, lambda what: pytest.fail(what))


def provide(name: str, paths: Paths) -> Subject:
    """Provides the library, which must exist."""
    library = find(name, paths)
    assert library is not None
    return library


def unpack(library: Subject, folder: Path) -> Path:
    """Unpacks the library's archive into the folder, as a guest does into its root."""
    folder.mkdir()
    with Path(library.archive).open("rb") as archive:
        subprocess.run(["cpio", "-i", "-d", "--quiet"], stdin=archive, cwd=folder, check=True)
    return folder


def test_our_library_is_packed_with_host_program_and_linker(paths: Paths, tmp_path: Path) -> None:
    library = provide("bundled", paths)
    assert library.library
    assert library.name == "bundled/libflashrom"
    assert library.program_sha256 == digest.of_file(OURS)
    assert b"\0M25P80\0" in library.program_bytes
    root = unpack(library, tmp_path / "root")
    assert (root / "lib" / LIBRARY).read_bytes() == OURS.read_bytes()
    assert (root / "usr/sbin/flashrom").read_bytes() == paths.library_client.read_bytes()
    assert list(root.glob("lib/libc.so.*"))
    assert list(root.glob("lib/ld-*"))


def test_delay_function_is_found_by_its_symbol(paths: Paths) -> None:
    listed = subprocess.run(["nm", OURS], capture_output=True, text=True, check=True).stdout
    (address,) = [line.split()[0] for line in listed.splitlines() if line.endswith("default_delay")]
    assert provide("bundled", paths).delay_address == int(address, 16)


def test_library_of_a_path_lies_beside_the_program_and_a_floor_has_none(
    paths: Paths, tmp_path: Path
) -> None:
    program = tmp_path / "flashrom"
    shutil.copyfile("/bin/true", program)
    assert find(f"path:{program}", paths) is find("floor", paths) is None
    (tmp_path / "lib").mkdir()
    shutil.copyfile(OURS, tmp_path / "lib" / LIBRARY)
    assert provide(f"path:{program}", paths).program_sha256 == digest.of_file(OURS)


def test_delay_function_of_a_stripped_library_is_found_in_its_code(
    paths: Paths, tmp_path: Path
) -> None:
    subprocess.run(["strip", "-o", tmp_path / LIBRARY, OURS], check=True)
    whole, stripped = provide("bundled", paths), provide(f"path:{tmp_path}/flashrom", paths)
    assert stripped.delay_address is None
    assert whole.delay_address is not None
    assert askable_functions(stripped) == [Askable(whole.delay_address)]


def test_canary_has_another_library_than_ours(paths: Paths) -> None:
    canary, ours = provide("canary:bus", paths), provide("bundled", paths)
    assert canary.program_sha256 != ours.program_sha256
    assert canary.delay_address is not None


def test_profile_knows_delay_functions_of_stripped_libraries_by_digest() -> None:
    known = {key: at for profile in read_profiles() for key, at in profile.delay_address.items()}
    assert known
    for sha256, address in known.items():
        assert len(sha256) == 64
        assert delay_address_of_digest(sha256) == address
    assert delay_address_of_digest("0" * 64) is None
