# SPDX-License-Identifier: GPL-2.0-or-later
"""The bill of materials, read by a strict reader of the CycloneDX keys that it uses."""

from importlib.metadata import distributions
from typing import Literal

import msgspec
from delayrig.model.platform import Arch
from delayrig.subjects.guest_image import GuestImage, Kernel
from delayrig.subjects.sbom import bill_of_materials, image_components, python_components
from delayrig.subjects.subject import Subject


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


IMAGE = GuestImage(
    kernel="vmlinuz",
    kernel_sha256="1" * 64,
    initrd="initrd",
    initrd_sha256="2" * 64,
    busybox_sha256="3" * 64,
    packages={"busybox-static": "1:1.35.0-4+b1", "libstdc++6": "12.2.0"},
)
SUBJECT = Subject(
    name="debian:trixie",
    archive="subject.cpio",
    archive_sha256="4" * 64,
    program_sha256="5" * 64,
    packages={"flashrom": "1.4.0-3", "libstdc++6": "12.2.0"},
    arch=Arch.ARM64,
)
KERNEL = Kernel(path="vmlinuz-rt", sha256="6" * 64, packages={"linux-image-rt-amd64": "6.1"})


def read_bill() -> Bill:
    images = image_components({Arch.X86_64: IMAGE}, [SUBJECT, SUBJECT], {"rt": KERNEL})
    made_of = [*images, *python_components(distributions())]
    document = bill_of_materials(made_of, version="1.2")
    return msgspec.json.decode(msgspec.json.encode(document), type=Bill)


def test_bill_names_each_file_by_its_digest_and_each_package_by_its_url() -> None:
    components = {component.ref: component for component in read_bill().components}
    files = {one.name: one.hashes[0].content[0] for one in components.values() if one.hashes}
    assert files == {"kernel": "1", "busybox": "3", "debian:trixie arm64": "4", "kernel:rt": "6"}
    assert "pkg:deb/debian/busybox-static@1%3A1.35.0-4%2Bb1?arch=amd64" in components
    assert "pkg:deb/debian/flashrom@1.4.0-3?arch=arm64" in components
    assert sum("libstdc" in ref for ref in components) == 2


def test_bill_has_the_python_packages_that_are_installed() -> None:
    found = [one for one in read_bill().components if one.purl.startswith("pkg:pypi/msgspec@")]
    assert [one.version for one in found] == [msgspec.__version__]


def test_component_of_a_bill_stands_there_once() -> None:
    refs = [component.ref for component in read_bill().components]
    assert refs == sorted(set(refs))
