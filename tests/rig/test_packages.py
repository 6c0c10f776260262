# SPDX-License-Identifier: GPL-2.0-or-later
"""Packages from the archive: retries, the lock, and the software bill of materials."""

import os
import tomllib
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest
from delayrig.base.errors import NotProvidedError
from delayrig.model.platform import Arch
from delayrig.present.results import remarks
from delayrig.setup.apt import date_options
from delayrig.subjects.guest_image import GuestImage, Kernel
from delayrig.subjects.lock import (
    Entries,
    lock_entries,
    lock_state,
    lock_text,
    subject_entries,
    update_lock,
)
from delayrig.subjects.packages import PAUSES_S, attempts, cause_of, unpack_packages
from delayrig.subjects.recipes import read_recipes
from delayrig.subjects.sbom import bill_of_materials, image_components, python_components

from tests.rig.builders import CHECKOUT, make_subject, run_of
from tests.rig.running import write_script

OUT_OF_STEP = """\
I: running apt-get update...
Err:2 http://archive.example/debian trixie/main i386 Packages
  File has unexpected size (9436656 != 9437612). Mirror sync in progress? [IP: 192.0.2.1 80]
W: running chrootless mode as root might damage the host system
E: Failed to fetch http://archive.example/debian/Packages.xz  File has unexpected size (9436656 != \
9437612). Mirror sync in progress? [IP: 192.0.2.1 80]
   Hashes of expected file:
    - Filesize:9437612 [weak]
E: Some index files failed to download. They have been ignored, or old ones used instead.
E: apt-get update --error-on=any -oAPT::Status-Fd=<$fd> -oDpkg::Use-Pty=false failed
E: mmdebstrap failed to run
"""


class FakeClock:
    """A clock that advances only in pauses, and records them."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.pauses_s: list[float] = []

    def read(self) -> float:
        return self.now_s

    def pause(self, pause_s: float) -> None:
        """Records the pause, and advances the clock by it."""
        self.pauses_s.append(pause_s)
        self.now_s += pause_s


def test_failures_are_retried_after_growing_pauses_unless_they_come_late() -> None:
    clock, slow = FakeClock(), FakeClock()
    assert len(list(attempts(clock.read, clock.pause))) == 1 + len(PAUSES_S)
    assert clock.pauses_s == sorted(PAUSES_S)
    count = 0
    for _ in attempts(slow.read, slow.pause):
        count += 1
        slow.now_s += 25
    assert (count, slow.pauses_s) == (1, [])


@pytest.mark.parametrize(
    ("output", "cause"),
    [
        (OUT_OF_STEP, "File has unexpected size (9436656 != 9437612). Mirror sync in progress?"),
        ("", "mmdebstrap said nothing"),
        ("E: mmdebstrap failed to run\n", "mmdebstrap failed to run"),
        ("E: Unable to locate package nosuch\n", "Unable to locate package nosuch"),
        ("killed\n", "killed"),
    ],
)
def test_cause_is_the_line_that_names_the_fault_without_addresses(output: str, cause: str) -> None:
    assert cause_of(output) == cause


def test_package_that_the_archive_lacks_is_not_requested_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = tmp_path / "calls"
    script = f"cat >/dev/null; echo >> {calls}; echo 'E: Unable to locate package x' >&2; exit 1"
    fake = write_script(tmp_path / "bin" / "mmdebstrap", script)
    monkeypatch.setenv("PATH", f"{fake.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(NotProvidedError) as raised:
        unpack_packages("bookworm", ["x"], tmp_path / "root", "i386")
    assert raised.value.what == "x of bookworm for i386"
    assert raised.value.cause == "Unable to locate package x"
    assert calls.read_text().count("\n") == 1


def test_expired_index_files_are_accepted_if_the_machines_apt_accepts_them() -> None:
    dump = 'Acquire::Retries "3";\nAcquire::Check-Valid-Until "false";\nAcquire::Check-Date "0";\n'
    assert date_options(dump) == ['Acquire::Check-Valid-Until "false"', 'Acquire::Check-Date "0"']
    assert date_options("") == []


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
    subject = msgspec.structs.replace(PACKAGED, **changes)
    return lock_entries({Arch.X86_64: IMAGE}, [BUILT, subject], {})


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Returns a checkout without a lock."""
    (tmp_path / "images").mkdir()
    return tmp_path


def test_only_files_from_the_archive_are_locked() -> None:
    locked = entries()
    assert sorted(locked) == ["busybox", "debian:bookworm", "kernel"]
    assert locked["kernel"] == {"sha256": "1" * 64, "version": "6.1.1-1"}
    assert "2" * 64 not in str(locked)


@pytest.mark.parametrize("key", ["archive_sha256", "program_sha256", "package_version"])
def test_changed_subject_differs_from_the_lock_and_a_missing_one_does_not(
    checkout: Path, key: str
) -> None:
    update_lock(entries(), checkout)
    assert lock_state(entries(), checkout) == "same"
    assert lock_state(lock_entries({Arch.X86_64: IMAGE}, [BUILT], {}), checkout) == "same"
    assert lock_state(entries(**{key: "e" * 64}), checkout) == "differs"


def test_lock_that_lacks_an_entry_is_incomplete_unless_another_differs(checkout: Path) -> None:
    assert lock_state(entries(), checkout) == "incomplete"
    update_lock(entries(), checkout)
    assert lock_state(entries(name="debian:sid"), checkout) == "incomplete"
    more = subject_entries([make_subject(name="debian:sid", packages={"flashrom": "2"})])
    assert lock_state(more | entries(), checkout) == "incomplete"
    assert lock_state(more | entries(package_version="2"), checkout) == "differs"


@pytest.mark.parametrize(("state", "printed"), [("same", 0), ("incomplete", 0), ("differs", 1)])
def test_remark_about_the_archive_is_printed_only_if_the_lock_differs(
    state: str, printed: int
) -> None:
    lines = remarks(run_of(lock=state))
    assert sum("the archive has moved on" in line for line in lines) == printed


def test_lock_is_sorted_by_name() -> None:
    backwards = dict(reversed(entries().items()))
    assert list(backwards) != list(entries())
    assert lock_text(backwards) == lock_text(entries())
    assert lock_text(backwards).startswith("# SPDX-License-Identifier: GPL-2.0-or-later\n")


def test_update_keeps_what_this_call_did_not_prepare(checkout: Path) -> None:
    arm64 = lock_entries({Arch.ARM64: IMAGE}, [], {})
    update_lock(arm64 | entries(), checkout)
    update_lock(entries(program_sha256="e" * 64), checkout)
    assert lock_state(arm64 | entries(program_sha256="e" * 64), checkout) == "same"


def test_version_of_a_program_that_is_no_flashrom_is_not_locked() -> None:
    socat = make_subject(name="socat", packages={"socat": "1.7.4.4-2"})
    assert subject_entries([socat]) == {
        "socat": {"archive_sha256": "a" * 64, "program_sha256": "b" * 64}
    }


def test_library_is_locked_without_the_program_that_was_compiled_around_it() -> None:
    locked = entries(name="debian:bookworm/libflashrom", library=True)
    assert locked["debian:bookworm/libflashrom"] == {"program_sha256": "b" * 64, "version": "1.3.0"}


def test_lock_compares_only_the_kernels_that_the_run_needs(checkout: Path) -> None:
    kernel = Kernel(path="/nowhere", sha256="4" * 64, packages={"linux-image-6.1.0-50-rt": "6.1"})
    other = msgspec.structs.replace(kernel, sha256="5" * 64)
    locked, same, differing = (
        lock_entries({Arch.X86_64: IMAGE}, [BUILT], kernels)
        for kernels in ({"rt": kernel}, {}, {"rt": other})
    )
    update_lock(locked, checkout)
    assert lock_state(same, checkout) == "same"
    assert lock_state(differing, checkout) == "differs"


def test_parts_of_another_architecture_are_locked_beside_the_usual_ones() -> None:
    arm64 = make_subject(name=PACKAGED.name, packages=PACKAGED.packages, arch=Arch.ARM64)
    locked = lock_entries({Arch.X86_64: IMAGE, Arch.ARM64: IMAGE}, [PACKAGED, arm64], {})
    assert set(locked) == {
        *("kernel", "busybox", "debian:bookworm"),
        *("kernel arm64", "busybox arm64", "debian:bookworm arm64"),
    }


class Hash(msgspec.Struct, forbid_unknown_fields=True):
    alg: Literal["SHA-256"]
    content: str


class Component(msgspec.Struct, rename={"ref": "bom-ref"}, forbid_unknown_fields=True):
    type: Literal["file", "library", "application"]
    name: str
    ref: str = ""
    version: str = ""
    purl: str = ""
    hashes: list[Hash] = []


class Metadata(msgspec.Struct, forbid_unknown_fields=True):
    component: Component


class Bill(msgspec.Struct, rename={"schema": "$schema"}, forbid_unknown_fields=True):
    schema: Literal["http://cyclonedx.org/schema/bom-1.6.schema.json"]
    bomFormat: Literal["CycloneDX"]  # noqa: N815
    specVersion: Literal["1.6"]  # noqa: N815
    version: Literal[1]
    metadata: Metadata
    components: list[Component]


IMAGE_WITH_BUSYBOX = msgspec.structs.replace(
    IMAGE, packages={"busybox-static": "1:1.35.0-4+b1", "libstdc++6": "12.2.0"}
)
SUBJECT = make_subject(
    name="debian:trixie",
    archive_sha256="4" * 64,
    packages={"flashrom": "1.4.0-3", "libstdc++6": "12.2.0"},
    arch=Arch.ARM64,
)
KERNEL = Kernel(path="vmlinuz-rt", sha256="6" * 64, packages={"linux-image-rt-amd64": "6.1"})
KERNEL_ARM64 = Kernel(
    path="vmlinuz", sha256="7" * 64, packages={"linux-image-arm64": "6.1"}, arch=Arch.ARM64
)


def read_bill() -> Bill:
    kernels = {"rt": KERNEL, "full-arm64": KERNEL_ARM64}
    images = image_components({Arch.X86_64: IMAGE_WITH_BUSYBOX}, [SUBJECT, SUBJECT], kernels)
    components = [*images, *python_components(distributions())]
    document = bill_of_materials(components, version="1.2")
    return msgspec.json.decode(msgspec.json.encode(document), type=Bill)


def test_bill_names_each_file_by_its_digest_and_each_package_by_its_url() -> None:
    components = {component.ref: component for component in read_bill().components}
    files = {one.name: one.hashes[0].content[0] for one in components.values() if one.hashes}
    extra = {"kernel:rt": "6", "kernel:full-arm64": "7"}
    assert files == {"kernel": "1", "busybox": "3", "debian:trixie arm64": "4", **extra}
    assert "pkg:deb/debian/busybox-static@1%3A1.35.0-4%2Bb1?arch=amd64" in components
    assert "pkg:deb/debian/flashrom@1.4.0-3?arch=arm64" in components
    assert sum("libstdc" in ref for ref in components) == 2
    assert "pkg:deb/debian/linux-image-rt-amd64@6.1?arch=amd64" in components
    assert "pkg:deb/debian/linux-image-arm64@6.1?arch=arm64" in components


def test_bill_has_the_installed_python_packages_and_each_component_once() -> None:
    components = read_bill().components
    found = [one for one in components if one.purl.startswith("pkg:pypi/msgspec@")]
    assert [one.version for one in found] == [msgspec.__version__]
    refs = [component.ref for component in components]
    assert refs == sorted(set(refs))


def test_every_kernel_that_a_recipe_offers_is_locked() -> None:
    locked = tomllib.loads((CHECKOUT / "images" / "lock.toml").read_text(encoding="utf-8"))
    kernels = read_recipes(CHECKOUT).kernels
    assert kernels
    assert {f"kernel:{name}" for name in kernels} <= locked["image"].keys()
