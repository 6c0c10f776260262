# SPDX-License-Identifier: GPL-2.0-or-later
"""The components of the rig's images and its Python environment, as a bill of materials.

Source: CycloneDX 1.6, JSON; package URLs: purl-spec, types `deb` and `pypi`.
"""

from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import Distribution
from typing import Any
from urllib.parse import quote

from delayrig.model.platform import PLATFORMS, Arch, labelled
from delayrig.subjects.guest_image import GuestImage, Kernel
from delayrig.subjects.subject import Subject

FORMAT = {
    "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
    "bomFormat": "CycloneDX",
    "specVersion": "1.6",
}
NAME = "flashrom-delay-rig"

Component = dict[str, Any]


def bill_of_materials(components: Iterable[Component], *, version: str) -> dict[str, Any]:
    """Returns the document, with each component once, sorted by reference."""
    by_ref = {component["bom-ref"]: component for component in components}
    return {
        **FORMAT,
        "version": 1,
        "metadata": {"component": {"type": "application", "name": NAME, "version": version}},
        "components": [by_ref[ref] for ref in sorted(by_ref)],
    }


def image_components(
    images: Mapping[Arch, GuestImage], subjects: Iterable[Subject], kernels: Mapping[str, Kernel]
) -> Iterator[Component]:
    """Yields kernels, busybox and subjects with their digests, each with its packages."""
    for arch, image in images.items():
        yield _file(labelled("kernel", arch), image.kernel_sha256)
        yield _file(labelled("busybox", arch), image.busybox_sha256)
        yield from _debian(image.packages, arch)
    for name, kernel in kernels.items():
        yield _file(f"kernel:{name}", kernel.sha256)
        yield from _debian(kernel.packages, kernel.arch)
    for subject in subjects:
        yield _file(subject.label, subject.archive_sha256)
        yield from _debian(subject.packages, subject.arch)


def python_components(distributions: Iterable[Distribution]) -> Iterator[Component]:
    """Yields the packages of a Python environment (`importlib.metadata.distributions()`)."""
    for distribution in distributions:
        name, version = distribution.metadata["Name"], distribution.version
        purl = f"pkg:pypi/{name.lower().replace('_', '-')}@{quote(version, safe='')}"
        yield _library(name, version, purl)


def _file(name: str, sha256: str) -> Component:
    digest = [{"alg": "SHA-256", "content": sha256}]
    return {"type": "file", "bom-ref": f"{name}@{sha256[:12]}", "name": name, "hashes": digest}


def _debian(packages: Mapping[str, str], arch: Arch) -> Iterator[Component]:
    for name, version in packages.items():
        where = f"debian/{quote(name, safe='')}@{quote(version, safe='')}"
        yield _library(name, version, f"pkg:deb/{where}?arch={PLATFORMS[arch].debian}")


def _library(name: str, version: str, purl: str) -> Component:
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
