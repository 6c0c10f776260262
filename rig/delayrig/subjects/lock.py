# SPDX-License-Identifier: GPL-2.0-or-later
"""images/lock.toml: the files that the archive delivered when the rig was released.

Only files from the archive are locked; a run's own digests cover what this machine compiles.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from delayrig.model.platform import Arch, labelled
from delayrig.subjects.guest_image import GuestImage, Kernel
from delayrig.subjects.subject import Subject

LOCK = Path("images", "lock.toml")
HEADER = """\
# SPDX-License-Identifier: GPL-2.0-or-later
# Written by `rig/rig images --update-lock`: versions and SHA-256 digests of what was fetched.
schema = 1
"""

Entries = dict[str, dict[str, str]]


def lock_entries(
    images: Mapping[Arch, GuestImage], subjects: Iterable[Subject], kernels: Mapping[str, Kernel]
) -> Entries:
    """Returns the entries to compare, by their names."""
    entries: Entries = {}
    for arch, image in images.items():
        version = _kernel_version(image.packages)
        entries[labelled("kernel", arch)] = {"sha256": image.kernel_sha256, **version}
        entries[labelled("busybox", arch)] = {"sha256": image.busybox_sha256}
    for name, kernel in kernels.items():
        entries[f"kernel:{name}"] = {"sha256": kernel.sha256, **_kernel_version(kernel.packages)}
    return entries | subject_entries(subjects)


def subject_entries(subjects: Iterable[Subject]) -> Entries:
    """Returns the entries of subjects from the archive."""
    entries: Entries = {}
    for subject in subjects:
        if subject.packages:
            facts = entries[subject.label] = {
                "archive_sha256": subject.archive_sha256,
                "program_sha256": subject.program_sha256,
            }
            if subject.package_version:
                facts["version"] = subject.package_version
            if subject.library:  # Its archive contains a program that this machine compiled.
                del facts["archive_sha256"]
    return entries


def _kernel_version(packages: dict[str, str]) -> dict[str, str]:
    name = next((name for name in packages if re.match("linux-image-[0-9]", name)), "")
    return {"version": packages[name]} if name else {}


def lock_state(entries: Entries, checkout: Path) -> str:
    """Returns `same` if every entry is in the lock file with the same values.

    Returns `differs` if an entry has other values there, else `incomplete`.
    """
    locked = _read_lock(checkout)
    known = {name: facts for name, facts in entries.items() if name in locked}
    if locked | known != locked:
        return "differs"
    return "same" if known == entries else "incomplete"


def update_lock(entries: Entries, checkout: Path) -> None:
    """Writes the entries into the lock file, and keeps the others there."""
    locked = _read_lock(checkout) | entries
    (checkout / LOCK).write_text(lock_text(locked), encoding="utf-8")


def _read_lock(checkout: Path) -> Entries:
    path = checkout / LOCK
    text = path.read_text("utf-8") if path.is_file() else ""
    found: Entries = tomllib.loads(text).get("image", {})
    return found


def lock_text(entries: Entries) -> str:
    lines = [HEADER]
    for name, facts in sorted(entries.items()):
        lines.append(f'[image."{name}"]')
        lines += [f'{key} = "{value}"' for key, value in sorted(facts.items())]
        lines.append("")
    return "\n".join(lines)
