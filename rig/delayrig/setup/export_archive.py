# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes prepared images and the rig's Python packages to a file, for another folder of state.

The file is a tar archive. Its first member, `manifest.json`, names every other member with its
SHA-256 digest, so a damaged one is found before any of it is used. Whoever writes the file writes
the digests, too: they do not prove who that was. `import_archive.py` reads it.
"""

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from delayrig.setup.errors import SetupError
from delayrig.setup.layout import Layout

KIND = "images of the flashrom delay rig"
SCHEMA = 1
MANIFEST = "manifest.json"
CARRIED = ("images", "wheels")
"""The exported folders of the state. Builds and snapshots are made again from them."""
BLOCK_BYTES = 1 << 20
COMPRESSION_LEVEL = 1

Entry = dict[str, Any]


def export_images(layout: Layout, file: Path) -> int:
    """Writes all prepared files to the new file, and returns their number."""
    entries = list(_entries(layout.state))
    if not entries:
        raise SetupError(
            f"{layout.state}: no image is prepared, so there is nothing to export",
            "prepare them with: rig/rig images",
        )
    fresh = file.with_name(f"{file.name}.new")
    with tarfile.open(fresh, "w:gz", compresslevel=COMPRESSION_LEVEL) as archive:
        manifest = json.dumps({"kind": KIND, "schema": SCHEMA, "files": entries}).encode()
        head = tarfile.TarInfo(MANIFEST)
        head.size = len(manifest)
        archive.addfile(head, io.BytesIO(manifest))
        for entry in entries:
            if "link" not in entry:
                archive.add(layout.state / entry["path"], entry["path"], recursive=False)
    fresh.replace(file)
    return len(entries)


def _entries(state: Path) -> Iterator[Entry]:
    for path in (path for name in CARRIED for path in sorted((state / name).rglob("*"))):
        entry: Entry = {"path": str(path.relative_to(state))}
        if path.is_symlink():
            target = path.readlink()
            inside = target.is_absolute() and target.is_relative_to(state)
            if inside or not target.is_absolute():  # Other links belong to an unpacked /dev.
                link = os.path.relpath(target, path.parent) if inside else str(target)
                yield {**entry, "link": link}
        elif path.is_file():
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            yield {**entry, "sha256": digest, "runnable": os.access(path, os.X_OK)}
