# SPDX-License-Identifier: GPL-2.0-or-later
"""Files on disk with digests that show damage: in a file beside them, or in their first line.

They protect against damage, not against attacks: a user who can write to the folder can write its
digests, too.

The digest of a sparse file omits stretches of zeros: holes cost no time, and a hole that is filled
with zeros is no change. It is made of CRCs, which are four times as fast as a secure hash, because
it need not resist attacks.
"""

import contextlib
import hashlib
import os
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from delayrig.base import digest
from delayrig.base.atomic_file import replace_file, whole_folder
from delayrig.base.errors import NOT_JSON

FILE_NAME, SPARSE_NAME = "seal.json", "digests.json"
STRETCH_BYTES = 1 << 16
ZEROS = bytes(STRETCH_BYTES)
DigestOf = Callable[[Path], str]
T = TypeVar("T")


@contextlib.contextmanager
def sealed_folder(folder: Path) -> Iterator[Path]:
    """Yields a folder to fill; then adds the digests of its files, and renames it to `folder`.

    A damaged folder of that name is removed first. If another run is faster, its folder stays.
    """
    if fault_of(folder):
        shutil.rmtree(folder, ignore_errors=True)
    with whole_folder(folder) as made:
        yield made
        write_seal(made / FILE_NAME, made, files_below(made))


def fault_of(folder: Path) -> str:
    """Returns the first file there that changed, and how; empty if none did."""
    return broken_seal(folder / FILE_NAME, folder)


def again(folder: Path, fault: str) -> str:
    """Returns why something is made again, if it was there before."""
    return f" again: {fault}" if folder.is_dir() else ""


def sealed(content: bytes) -> bytes:
    return digest.of_bytes(content).encode() + b"\n" + content


def unsealed(kept: bytes) -> bytes | None:
    """Returns the content; None if it changed."""
    if kept.startswith(b"{"):
        return kept  # JSON of an older rig has no digest before it.
    known, _, content = kept.partition(b"\n")
    return content if known == digest.of_bytes(content).encode() else None


def stored(folder: Path | None, key: str, make: Callable[[], T], kind: type[T]) -> T:
    """Returns the value that the folder stores under that key, after making it if needed."""
    if folder is None:
        return make()
    file = folder / f"{key}.json"
    with contextlib.suppress(OSError, *NOT_JSON):
        return msgspec.json.decode(unsealed(file.read_bytes()) or b"", type=kind)
    made = make()
    # The folder may be read-only. Then the value is made again the next time.
    with contextlib.suppress(OSError):
        folder.mkdir(exist_ok=True)
        replace_file(file, sealed(msgspec.json.encode(made)))
    return made


def write_seal(
    seal: Path, folder: Path, names: Iterable[str], digest_of: DigestOf = digest.of_file
) -> None:
    """Writes the digests of those files below `folder`."""
    found = {name: digest_of(folder / name) for name in sorted(names)}
    replace_file(seal, msgspec.json.encode(found))


def read_seal(seal: Path) -> dict[str, str]:
    """Returns the digests by file; none if the seal is missing or damaged."""
    try:
        return msgspec.json.decode(seal.read_bytes(), type=dict[str, str])
    except (OSError, *NOT_JSON):
        return {}


def broken_seal(
    seal: Path, folder: Path, digest_of: DigestOf = digest.of_file, later: Sequence[str] = ()
) -> str:
    """Returns the first file that changed, and how; empty if none did.

    Files of `later` may be missing.
    """
    known = read_seal(seal)
    for name, expected in known.items():
        path = folder / name
        if path.is_file():
            if digest_of(path) != expected:
                return f"{name} is not as it was made"
        elif name not in later:
            return f"{name} is missing"
    return "" if known else f"{seal.name} is missing or damaged"


def files_below(folder: Path) -> list[str]:
    """Returns the files below the folder by their relative names, without links."""
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(str(path.relative_to(folder)) for path in found)


def seal_sparse(folder: Path) -> None:
    names = [path.name for path in folder.iterdir() if path.name != SPARSE_NAME]
    write_seal(folder / SPARSE_NAME, folder, names, _sparse_digest)


def add_to_sparse_seal(folder: Path, file: Path) -> None:
    """Records the digest of a file that will be put into the folder under the same name."""
    digests = read_seal(folder / SPARSE_NAME) | {file.name: _sparse_digest(file)}
    replace_file(folder / SPARSE_NAME, msgspec.json.encode(digests))


def sparse_fault(folder: Path, later: Sequence[str] = ()) -> str:
    """Returns the first file that changed, and how; empty if none did.

    Files of `later` may be missing.
    """
    if fault := broken_seal(folder / SPARSE_NAME, folder, _sparse_digest, later):
        return fault
    known = {*read_seal(folder / SPARSE_NAME), SPARSE_NAME}
    unknown = sorted({path.name for path in folder.iterdir()} - known)
    return f"{unknown[0]} has no digest" if unknown else ""


def _sparse_digest(path: Path) -> str:
    """Returns a digest of the length, and of position and content of all non-zero stretches."""
    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        found = hashlib.blake2b(size.to_bytes(8), digest_size=32)
        for start, content in _stretches(file.fileno(), size):
            if content != ZEROS[: len(content)]:
                found.update(start.to_bytes(8) + zlib.crc32(content).to_bytes(4))
    return found.hexdigest()


def _stretches(file: int, size: int) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < size:
        try:
            data = os.lseek(file, at, os.SEEK_DATA)
        except OSError:
            return  # The rest up to the end is a hole.
        begin = data // STRETCH_BYTES * STRETCH_BYTES
        at = begin + STRETCH_BYTES
        yield begin, os.pread(file, STRETCH_BYTES, begin)
