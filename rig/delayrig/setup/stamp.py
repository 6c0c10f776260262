# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of which steps of set-up are done, and for which inputs.

Every start of the rig computes all of this, so it must be cheap: it reads a few small files, does
not read the sources that it lists, and starts no program.
"""

import fcntl
import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from delayrig.setup.layout import Layout

PACKAGES = "packages"
HOST_PACKAGES = "host-packages"
TEST_PACKAGES = "test-packages"
ACCOUNT = "account"
ENVIRONMENT = "environment"
TEST_ENVIRONMENT = "test-environment"
NATIVE = "native"
IMAGES = "images"
TEST_IMAGES = "test-images"

HOST_STEPS = (HOST_PACKAGES, ENVIRONMENT, NATIVE)
GUEST_STEPS = (PACKAGES, ACCOUNT, ENVIRONMENT, NATIVE)
EVERY_STEP = (*GUEST_STEPS, IMAGES)
TEST_STEPS = (*EVERY_STEP, TEST_IMAGES, TEST_PACKAGES, TEST_ENVIRONMENT)
"""The steps of each kind of command. Cells without guests need fewer steps, the tests more.

A run provides the images of its own cells; `rig/rig setup` prepares those of the shipped plans.
"""

MARKING_LOCK = "marking.lock"
PACKAGE_DATABASE = Path("/var/lib/dpkg/status")
ACCOUNT_DATABASE = Path("/etc/passwd")
NATIVE_SOURCES = (
    *("rig/delayrig/VERSION", "meson.build", "meson.options"),
    *("emulators", "flashrom", "images"),
)
IMAGE_SOURCES = ("rig/delayrig/subjects", "rig/delayrig/machine")


def wanted_marks(layout: Layout, database: Path = PACKAGE_DATABASE) -> dict[str, str]:
    """Returns the mark of each step: a digest of its present inputs."""

    def own(name: str) -> str:
        return _read(layout.setup / name)

    top = layout.checkout
    packages = _mark(own("packages.toml"), own("packages.py"), _state_of(database))
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    python = (_read(layout.lock_of_python), version, str(layout.state))
    environment = _mark(own("environment.py"), *python)
    native = _mark(own("native.py"), environment, str(top), *_listing(top, NATIVE_SOURCES))
    images = _mark(own("images.py"), native, *_listing(top, IMAGE_SOURCES))
    account = _mark(own("account.py"), str(os.geteuid() == 0), _state_of(ACCOUNT_DATABASE))
    extras = sorted(layout.extras.glob("*.lock"))
    return {
        PACKAGES: packages,
        HOST_PACKAGES: packages,
        TEST_PACKAGES: packages,
        ACCOUNT: account,
        ENVIRONMENT: environment,
        TEST_ENVIRONMENT: _mark(environment, *map(_read, [layout.lock_of_tests, *extras])),
        NATIVE: native,
        IMAGES: images,
        TEST_IMAGES: images,
    }


def stale_steps(
    layout: Layout, wanted: dict[str, str], steps: Iterable[str] = GUEST_STEPS
) -> frozenset[str]:
    """Returns the steps of `steps` that must run: their mark differs or their result is missing."""
    found = read_marks(layout.stamp)
    made = {ENVIRONMENT: layout.python, NATIVE: layout.build / "build.ninja"}
    return frozenset(
        step
        for step in steps
        if found.get(step) != wanted[step] or (step in made and not made[step].exists())
    )


def read_marks(stamp: Path) -> dict[str, str]:
    """Returns the marks by step; none if the stamp cannot be read, so every step runs again."""
    try:
        lines = stamp.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    return dict(line.split(" ", 1) for line in lines if " " in line)


def write_mark(stamp: Path, step: str, mark: str) -> None:
    """Records a step as done. An interruption leaves either the old stamp or the new one."""
    with stamp.with_name(MARKING_LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # Two steps may end at once.
        marks = read_marks(stamp) | {step: mark}
        text = "".join(f"{name} {value}\n" for name, value in sorted(marks.items()))
        fresh = stamp.with_suffix(".new")
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(stamp)


def drop_mark(stamp: Path, step: str) -> None:
    """Records that a step has begun; until `write_mark` it counts as not done."""
    if step in read_marks(stamp):
        write_mark(stamp, step, "begun")


def _mark(*items: str) -> str:
    digest = hashlib.sha256()
    for item in items:
        digest.update(item.encode(errors="surrogateescape") + b"\0")
    return digest.hexdigest()


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def _state_of(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return "missing"
    return f"{status.st_size} {status.st_mtime_ns}"


def _listing(top: Path, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        path = top / name
        if path.is_dir():
            yield from _listed(os.fspath(path))
        else:
            yield f"{path} {_state_of(path)}"


def _listed(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        name = entry.name
        if name.startswith(".") or name.endswith(("~", ".pyc")) or name == "__pycache__":
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _listed(entry.path)
        else:
            status = entry.stat(follow_symlinks=False)
            yield f"{entry.path} {status.st_size} {status.st_mtime_ns}"
