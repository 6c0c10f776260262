# SPDX-License-Identifier: GPL-2.0-or-later
"""Exports prepared images and the rig's Python packages to a file, and imports such a file.

The file is a tar archive, to be imported into another folder of state. Its first member,
`manifest.json`, names every other member with its SHA-256 digest, so damage is found before
anything of the file is used. The digests do not prove who wrote the file: its author writes them.

Anybody may have written a file that is imported. So everything is unpacked and checked in a fresh
folder, and then moved file by file. No step follows a link: folders are opened one by one from the
state's own, so a link on the disk cannot redirect a path. Only the standard library is used,
because nothing may be set up yet.
"""

import contextlib
import errno
import hashlib
import io
import json
import os
import re
import shutil
import stat
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from delayrig.setup.errors import BadArchiveError, SetupError
from delayrig.setup.layout import Layout
from delayrig.setup.lock import prepare_state
from delayrig.setup.scratch import scratch_beside

KIND = "images of the flashrom delay rig"
SCHEMA = 1
MANIFEST = "manifest.json"
CARRIED = ("images", "wheels")
"""The exported folders of the state. Builds and snapshots are made again from them."""
BLOCK_BYTES = 1 << 20
COMPRESSION_LEVEL = 1
MANIFEST_BYTES_MAX = 64 << 20
NAME_BYTES_MAX, PATH_BYTES_MAX = 255, 1023
DIGEST = re.compile(r"[0-9a-f]{64}")
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def export_images(layout: Layout, file: Path) -> int:
    """Writes all prepared files to the new file, and returns their number."""
    entries = list(_entries(layout.state))
    if not entries:
        raise SetupError(
            f"{layout.state}: no image is prepared, so there is nothing to export",
            "prepare them with: rig/rig images",
        )
    fresh = file.with_name(f"{file.name}.new")
    # `dereference` writes a hard link as a file of its own, because import refuses hard links.
    with tarfile.open(fresh, "w:gz", compresslevel=COMPRESSION_LEVEL, dereference=True) as archive:
        manifest = json.dumps({"kind": KIND, "schema": SCHEMA, "files": entries}).encode()
        head = tarfile.TarInfo(MANIFEST)
        head.size = len(manifest)
        archive.addfile(head, io.BytesIO(manifest))
        for entry in entries:
            if "link" not in entry:
                archive.add(layout.state / entry["path"], entry["path"], recursive=False)
    fresh.replace(file)
    return len(entries)


def _entries(state: Path) -> Iterator[dict[str, Any]]:
    for path in (path for name in CARRIED for path in sorted((state / name).rglob("*"))):
        entry: dict[str, Any] = {"path": str(path.relative_to(state))}
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    path: PurePosixPath
    link: str = ""
    """The target of a link; empty for a file."""
    sha256: str = ""
    runnable: bool = False


def import_images(layout: Layout, file: Path, *, sha256: str = "") -> int:
    """Adds the files of the archive to the state, and returns their number.

    Existing files stay: files are named by the digests of what they are made of. Raises
    `BadArchiveError`, with the file's name, if it is damaged, was not exported by the rig, or has
    another digest than `sha256`, and then adds nothing.
    """
    with _opened(file) as stream:
        _check_digest(stream, sha256, file)
        prepare_state(layout)
        with scratch_beside(layout.state / "images") as scratch:
            entries = _unpack_all(stream, scratch, file)
            for entry in entries:  # Every path is checked before the first file is moved.
                with _folder_of(entry.path, layout.state, file):
                    pass
            for entry in entries:
                _move(entry, scratch, layout.state, file)
    return len(entries)


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[io.BufferedReader]:
    """Opens a file. Refuses all but regular files, because reading from a pipe could block."""
    try:
        stream = os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    except (OSError, ValueError) as error:
        raise _refused(file, getattr(error, "strerror", None) or str(error)) from error
    with stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise _refused(file, "it is no regular file")
        yield stream


def _check_digest(stream: io.BufferedReader, sha256: str, file: Path) -> None:
    if sha256 and hashlib.file_digest(stream, "sha256").hexdigest() != sha256.lower():
        raise _refused(file, f"its SHA-256 is not {sha256}")
    stream.seek(0)


def _unpack_all(stream: io.BufferedReader, folder: Path, file: Path) -> list[Entry]:
    try:
        with tarfile.open(fileobj=stream, mode="r|gz") as archive:
            entries = _read_manifest(archive, file)
            _unpack(archive, entries, folder, file)
    except (tarfile.TarError, EOFError, OSError, ValueError, OverflowError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # The disk or the user is at fault; the launcher explains it.
        raise _refused(file, f"it is damaged ({error})") from error
    return entries


def _read_manifest(archive: tarfile.TarFile, file: Path) -> list[Entry]:
    head = archive.next()
    content = archive.extractfile(head) if head and head.name == MANIFEST else None
    if head is None or content is None or head.size > MANIFEST_BYTES_MAX:
        raise _refused(file, f"it does not begin with {MANIFEST}")
    try:
        manifest = json.loads(content.read())
        if (manifest["kind"], manifest["schema"]) != (KIND, SCHEMA):
            raise _refused(file, f"it says {manifest['kind']!r}, schema {manifest['schema']!r}")
        entries = [_checked(raw) for raw in manifest["files"]]
        _check_together(entries)
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise _refused(file, f"{MANIFEST} is not what the rig writes: {error!s:.200}") from error
    return entries


def _checked(raw: dict[str, Any]) -> Entry:
    """Checks an entry by itself; raises `ValueError`, `LookupError` or `TypeError`."""
    words = dict(raw)
    text = words.pop("path")
    is_link = set(words) == {"link"}
    if not is_link and set(words) != {"sha256", "runnable"}:
        raise ValueError(f"{text!r:.100} has the keys {sorted(map(str, words))}")
    path = _checked_path(text)
    if is_link:
        return Entry(path=path, link=_checked_link(path, words["link"]))
    if not DIGEST.fullmatch(words["sha256"]) or not isinstance(words["runnable"], bool):
        raise ValueError(f"{path} has no digest, or does not say whether it is runnable")
    return Entry(path=path, **words)


def _checked_path(text: str) -> PurePosixPath:
    path = PurePosixPath(text)
    sizes = [len(os.fsencode(name)) for name in path.parts]
    if str(path) != text or "\0" in text or len(sizes) < 2:
        raise ValueError(f"{text!r:.100} is no path of a file")
    if max(sizes) > NAME_BYTES_MAX or sum(sizes) + len(sizes) > PATH_BYTES_MAX:
        raise ValueError(f"{text[:100]!r}... is too long")
    if path.is_absolute() or ".." in path.parts or path.parts[0] not in CARRIED:
        raise ValueError(f"{path} lies outside {' and '.join(CARRIED)}")
    return path


def _checked_link(path: PurePosixPath, target: str) -> str:
    """Checks that a link leads into a carried folder.

    `..` may stand only at the beginning: after a name, its meaning would depend on the disk.
    """
    if not target or "\0" in target or len(os.fsencode(target)) > PATH_BYTES_MAX:
        raise ValueError(f"{target!r:.100} is no target of a link")
    parts = PurePosixPath(target).parts
    above = next((at for at, name in enumerate(parts) if name != ".."), len(parts))
    inside = len(path.parent.parts) - above
    leads_to = (*path.parent.parts[: max(inside, 0)], *parts[above:])
    if inside < 0 or parts[:1] == ("/",) or ".." in parts[above:] or leads_to[:1] == ():
        raise ValueError(f"{path}: a link that leads to {target}, out of the folder of state")
    if leads_to[0] not in CARRIED or len(leads_to) < 2:
        raise ValueError(f"{path}: a link that leads to {target}, which is not carried")
    return target


def _check_together(entries: list[Entry]) -> None:
    """Raises `ValueError` if a path comes twice, or lies below a file or a link."""
    paths = {entry.path for entry in entries}
    if len(paths) < len(entries):
        raise ValueError("a path comes twice")
    for path in paths:
        if not paths.isdisjoint(path.parents):
            raise ValueError(f"{path} lies behind a link or a file")


def _unpack(archive: tarfile.TarFile, entries: list[Entry], folder: Path, file: Path) -> None:
    """Unpacks every file of the manifest, checks its digest, and refuses any other member."""
    awaited = {str(entry.path): entry for entry in entries if not entry.link}
    while (member := archive.next()) is not None:
        entry = awaited.pop(member.name, None)
        content = archive.extractfile(member) if member.isreg() else None
        if entry is None or content is None:
            raise _refused(file, f"{member.name!r:.200} is not in its {MANIFEST}")
        place = folder / entry.path
        place.parent.mkdir(parents=True, exist_ok=True)
        if _copied_digest(content, place) != entry.sha256:
            raise _refused(file, f"{member.name} has another digest than {MANIFEST} says")
        place.chmod(0o755 if entry.runnable else 0o644)
    if awaited:
        raise _refused(file, f"{next(iter(awaited))} is missing")


def _copied_digest(content: IO[bytes], place: Path) -> str:
    digest = hashlib.sha256()
    with place.open("xb") as copy:
        while block := content.read(BLOCK_BYTES):
            digest.update(block)
            copy.write(block)
    return digest.hexdigest()


def _move(entry: Entry, scratch: Path, state: Path, file: Path) -> None:
    """Moves an entry to its place, unless something is there."""
    with _folder_of(entry.path, state, file) as folder:
        name = entry.path.name
        with contextlib.suppress(FileNotFoundError):
            os.stat(name, dir_fd=folder, follow_symlinks=False)
            return
        if entry.link:
            os.symlink(entry.link, name, dir_fd=folder)
        else:
            _move_file(scratch / entry.path, name, folder)


def _move_file(source: Path, name: str, folder: int) -> None:
    try:
        os.rename(source, name, dst_dir_fd=folder)
    except OSError as error:
        if error.errno != errno.EXDEV:  # The user may keep the folder on another disk.
            raise
        shutil.copy(source, f"/proc/self/fd/{folder}/{source.name}.new")
        os.rename(f"{source.name}.new", name, src_dir_fd=folder, dst_dir_fd=folder)


@contextlib.contextmanager
def _folder_of(path: PurePosixPath, state: Path, file: Path) -> Iterator[int]:
    """Opens the folder of that path, and makes it if needed; no folder on the way may be a link.

    The state's own folders may be links: the user who owns them has put them there.
    """
    top, *names = path.parent.parts
    (state / top).mkdir(exist_ok=True)
    folder = os.open(state / top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in names:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=folder)
            try:
                inner = os.open(name, FOLDER, dir_fd=folder)
            except NotADirectoryError as error:  # With O_DIRECTORY a link gives ENOTDIR.
                why = f"{path} would lie behind a link or a file of {state}"
                raise _refused(file, why) from error
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def _refused(file: Path, why: str) -> BadArchiveError:
    return BadArchiveError(
        f"{file}: refused: {why}", "write it with `rig/rig images --export FILE`, and copy it whole"
    )
