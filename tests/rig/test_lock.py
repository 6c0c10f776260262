# SPDX-License-Identifier: GPL-2.0-or-later
"""Differences between the archive now and the archive at the rig's release."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from delayrig.model.platform import Arch
from delayrig.subjects.guest_image import GuestImage, Kernel
from delayrig.subjects.lock import Entries, lock_entries, lock_state, lock_text

from tests.rig.builders import make_subject

IMAGE = GuestImage(
    kernel="/nowhere/vmlinuz",
    kernel_sha256="1" * 64,
    initrd="/nowhere/initrd",
    initrd_sha256="2" * 64,
    busybox_sha256="3" * 64,
    packages={"linux-image-6.1.0-50-cloud-amd64": "6.1.1-1", "linux-image-cloud-amd64": "6.1"},
)
PACKAGED = make_subject(
    name="debian:bookworm", packages={"flashrom": "1.3.0-2.1"}, package_version="1.3.0"
)
BUILT = make_subject(name="bundled")


def entries(**changes: Any) -> Entries:
    subject = make_subject(
        **{
            "name": PACKAGED.name,
            "packages": PACKAGED.packages,
            "package_version": "1.3.0",
            **changes,
        }
    )
    return lock_entries({Arch.X86_64: IMAGE}, [BUILT, subject], {})


def lock(checkout: Path, text: str) -> None:
    (checkout / "images").mkdir()
    (checkout / "images" / "lock.toml").write_text(text, encoding="utf-8")


def test_only_what_comes_from_the_archive_is_locked() -> None:
    locked = entries()
    assert sorted(locked) == ["busybox", "debian:bookworm", "kernel"]
    assert locked["kernel"] == {"sha256": "1" * 64, "version": "6.1.1-1"}
    assert "2" * 64 not in str(locked)


def test_lock_that_was_just_written_is_the_same(tmp_path: Path) -> None:
    lock(tmp_path, lock_text(entries()))
    assert lock_state(entries(), tmp_path) == "same"


@pytest.mark.parametrize(
    "change",
    [
        {"archive_sha256": "e" * 64},
        {"program_sha256": "e" * 64},
        {"package_version": "1.3.1"},
        {"name": "debian:sid"},
    ],
)
def test_anything_else_from_the_archive_differs(tmp_path: Path, change: dict[str, str]) -> None:
    lock(tmp_path, lock_text(entries()))
    assert lock_state(entries(**change), tmp_path) == "differs"


def test_run_of_fewer_subjects_is_still_the_same(tmp_path: Path) -> None:
    lock(tmp_path, lock_text(entries()))
    assert lock_state(lock_entries({Arch.X86_64: IMAGE}, [BUILT], {}), tmp_path) == "same"


def test_without_a_lock_everything_differs(tmp_path: Path) -> None:
    assert lock_state(entries(), tmp_path) == "differs"


def test_lock_is_in_the_order_of_names_whatever_came_first() -> None:
    turned = dict(reversed(entries().items()))
    assert list(turned) != list(entries())
    assert lock_text(turned) == lock_text(entries())
    assert lock_text(turned).startswith("# SPDX-License-Identifier: GPL-2.0-or-later\n")


def test_library_is_locked_without_the_program_that_was_compiled_around_it() -> None:
    locked = entries(name="debian:bookworm/libflashrom", library=True)
    assert locked["debian:bookworm/libflashrom"] == {
        "program_sha256": "b" * 64,
        "version": "1.3.0",
    }


def test_kernel_that_a_run_needs_is_compared_and_no_other(tmp_path: Path) -> None:
    kernel = Kernel(path="/nowhere", sha256="4" * 64, packages={"linux-image-6.1.0-50-rt": "6.1"})
    lock(tmp_path, lock_text(lock_entries({Arch.X86_64: IMAGE}, [BUILT], {"rt": kernel})))
    other = msgspec.structs.replace(kernel, sha256="5" * 64)
    assert lock_state(lock_entries({Arch.X86_64: IMAGE}, [BUILT], {}), tmp_path) == "same"
    assert (
        lock_state(lock_entries({Arch.X86_64: IMAGE}, [BUILT], {"rt": other}), tmp_path)
        == "differs"
    )


def test_parts_of_another_architecture_are_locked_beside_the_usual_ones() -> None:
    arm64 = make_subject(name=PACKAGED.name, packages=PACKAGED.packages, arch=Arch.ARM64)
    locked = lock_entries({Arch.X86_64: IMAGE, Arch.ARM64: IMAGE}, [PACKAGED, arm64], {})
    assert set(locked) == {
        *("kernel", "busybox", "debian:bookworm"),
        *("kernel arm64", "busybox arm64", "debian:bookworm arm64"),
    }
