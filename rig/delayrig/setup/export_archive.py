# SPDX-License-Identifier: GPL-2.0-or-later
"""Moves prepared images and the rig's Python packages from one folder of state to another.

The file is a tar archive. Its first member, `manifest.json`, names every other member with its
SHA-256 digest, so a damaged or foreign file is refused before any of it is used. Only the standard
library is used, because nothing may be set up yet.
"""

import hashlib
import io
import json
import os
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any

from delayrig.setup.errors import SetupError
from delayrig.setup.layout import Layout
from delayrig.setup.lock import prepare_state
from delayrig.setup.scratch import scratch_beside

KIND = "images of the flashrom delay rig"
SCHEMA = 1
MANIFEST = "manifest.json"
MANIFEST_BYTES_MAX = 64 << 20
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


def import_images(layout: Layout, file: Path) -> int:
    """Adds the files of the archive to the state, and returns their number.

    Existing files stay: files are named by the digests of what they are made of. Raises
    `SetupError`, with the file's name, if it is damaged or was not exported by the rig.
    """
    prepare_state(layout)
    try:
        with (
            scratch_beside(layout.state / "images") as scratch,
            tarfile.open(file, "r|gz") as archive,
        ):
            entries = _read_manifest(archive, file)
            _unpack(archive, entries, scratch, file)
            _take_over(entries, scratch, layout.state)
    except (tarfile.TarError, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # The disk or the user is at fault; the launcher explains it.
        raise _refused(file, f"it is damaged ({error})") from error
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


def _read_manifest(archive: tarfile.TarFile, file: Path) -> list[Entry]:
    head = archive.next()
    content = archive.extractfile(head) if head and head.name == MANIFEST else None
    if head is None or content is None or head.size > MANIFEST_BYTES_MAX:
        raise _refused(file, f"it does not begin with {MANIFEST}")
    try:
        manifest = json.loads(content.read())
        if (manifest["kind"], manifest["schema"]) != (KIND, SCHEMA):
            raise _refused(file, f"it says {manifest['kind']!r}, schema {manifest['schema']!r}")
        entries: list[Entry] = manifest["files"]
        paths = [PurePosixPath(entry["path"]) for entry in entries]
    except (ValueError, KeyError, TypeError) as error:
        raise _refused(file, f"{MANIFEST} is not what the rig writes ({error!r})") from error
    links = {path for path, entry in zip(paths, entries, strict=True) if "link" in entry}
    for path in paths:
        if not links.isdisjoint(path.parents):
            raise _refused(file, f"{path} lies behind a link")
        if path.is_absolute() or ".." in path.parts or path.parts[0] not in CARRIED:
            raise _refused(file, f"{path} lies outside {' and '.join(CARRIED)}")
    return entries


def _unpack(archive: tarfile.TarFile, entries: list[Entry], folder: Path, file: Path) -> None:
    """Unpacks every file of the manifest, checks its digest, and refuses any other member."""
    awaited = {entry["path"]: entry for entry in entries if "link" not in entry}
    while (member := archive.next()) is not None:
        entry = awaited.pop(member.name, None)
        content = archive.extractfile(member) if member.isfile() else None
        if entry is None or content is None:
            raise _refused(file, f"{member.name} is not in its {MANIFEST}")
        place = folder / entry["path"]
        place.parent.mkdir(parents=True, exist_ok=True)
        if _copied_digest(content, place) != entry["sha256"]:
            raise _refused(file, f"{member.name} has another digest than {MANIFEST} says")
        place.chmod(0o755 if entry["runnable"] else 0o644)
    if awaited:
        raise _refused(file, f"{next(iter(awaited))} is missing")


def _copied_digest(content: IO[bytes], place: Path) -> str:
    digest = hashlib.sha256()
    with place.open("wb") as copy:
        while block := content.read(BLOCK_BYTES):
            digest.update(block)
            copy.write(block)
    return digest.hexdigest()


def _take_over(entries: list[Entry], folder: Path, state: Path) -> None:
    for entry in entries:
        place = state / entry["path"]
        place.parent.mkdir(parents=True, exist_ok=True)
        if "link" in entry:
            target = Path(str(entry["link"]))
            leads_to = Path(os.path.normpath(place.parent / target))
            if target.is_absolute() or not leads_to.is_relative_to(state):
                raise SetupError(
                    f"{entry['path']}: a link that leads to {target}, out of the folder of state",
                    "export the images again, from a folder of state that the rig made",
                )
            if not place.is_symlink():
                place.symlink_to(entry["link"])
        elif not place.exists():
            shutil.move(folder / entry["path"], place)


def _refused(file: Path, why: str) -> SetupError:
    return SetupError(
        f"{file}: refused: {why}", "write it with `rig/rig images --export FILE`, and copy it whole"
    )
