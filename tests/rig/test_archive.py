# SPDX-License-Identifier: GPL-2.0-or-later
"""Archives: the same files give the same bytes, whatever their times, masks and folders are."""

import os
import random
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from delayrig.base.archive import unpack_archive, write_archive
from delayrig.base.errors import RigFaultError

FILES = {
    "spec": b"schema 1\n",
    "bin/program": b"\x7fELF" + bytes(5000),
    "bin/a": b"",
    "lib/libz.so": b"z" * 4097,
    "deep/er/still/x": b"x",
    "name with space": b"1",
    "caf\u00e9": b"2",
}
RUNNABLE = {"bin/program"}


def fill(folder: Path, names: Iterable[str], *, mtime_s: int, mask: int = 0o022) -> Path:
    """Makes the files in the order of the names, with that time and umask."""
    before = os.umask(mask)
    try:
        folder.mkdir(parents=True)
        for name in names:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(FILES[name])
            path.chmod(path.stat().st_mode | (0o100 if name in RUNNABLE else 0))
        (folder / "lib64").symlink_to("lib")
        (folder / "empty").mkdir()
        for path in folder.rglob("*"):
            os.utime(path, (mtime_s, mtime_s), follow_symlinks=False)
    finally:
        os.umask(before)
    return folder


def archived(folder: Path) -> bytes:
    archive = folder.parent / f"{folder.name}.cpio"
    write_archive(folder, archive)
    return archive.read_bytes()


def test_same_content_gives_the_same_bytes(tmp_path: Path) -> None:
    names = list(FILES)
    random.Random(3).shuffle(names)
    folder = fill(tmp_path / "one", FILES, mtime_s=1_000_000_000)
    one = archived(folder)
    other = fill(tmp_path / "far" / "away" / "other", names, mtime_s=1_600_000_000, mask=0o077)
    assert one == archived(other) == archived(folder)
    assert str(tmp_path).encode() not in one


def test_everything_is_in_the_archive_in_the_order_of_names(tmp_path: Path) -> None:
    folder = fill(tmp_path / "one", FILES, mtime_s=1)
    content = archived(folder)
    listing = ["cpio", "-t", "--quiet"]
    done = subprocess.run(listing, input=content, capture_output=True, check=True)
    listed = done.stdout.splitlines()
    wanted = [os.fsencode(path.relative_to(folder)) for path in folder.rglob("*")]
    assert len(listed) == len(wanted) == 14
    escaped = [name.decode("unicode_escape").encode("latin-1") for name in listed]
    assert escaped == sorted(wanted)


def test_archive_that_cannot_be_written_is_a_rig_fault(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("needs /dev/full")
    with pytest.raises(RigFaultError, match="could not write"):
        write_archive(fill(tmp_path / "one", FILES, mtime_s=1), full)


def test_cpio_unpacks_every_file_as_it_was(tmp_path: Path) -> None:
    content = archived(fill(tmp_path / "one", FILES, mtime_s=1))
    back = tmp_path / "back"
    back.mkdir()
    subprocess.run(["cpio", "-i", "-d", "-m", "--quiet"], input=content, cwd=back, check=True)
    assert {name: (back / name).read_bytes() for name in FILES} == FILES
    assert (back / "lib64").readlink() == Path("lib")
    assert (back / "empty").is_dir()
    runnable = {name for name in FILES if (back / name).stat().st_mode & 0o100}
    assert runnable == RUNNABLE


def test_link_count_of_a_folder_does_not_depend_on_the_file_system(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / "one" / "folder" / name).mkdir(parents=True)
    header = archived(tmp_path / "one")[:110]
    links = slice(6 + 4 * 8, 6 + 5 * 8)
    assert header[links] == b"00000002"


def test_unpacked_archive_is_the_folder_that_was_packed(tmp_path: Path) -> None:
    folder, unpacked = fill(tmp_path / "folder", FILES, mtime_s=1), tmp_path / "unpacked"
    content = archived(folder)
    unpacked.mkdir()
    unpack_archive(tmp_path / "folder.cpio", unpacked)
    assert archived(unpacked) == content
    assert (unpacked / "bin/program").read_bytes() == FILES["bin/program"]


@pytest.mark.parametrize(
    "content", [b"", b"070701", b"\x7fELF" + bytes(200), b"070701" + b"no number".ljust(104)]
)
def test_damaged_archive_is_a_rig_fault(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.cpio").write_bytes(content)
    with pytest.raises(RigFaultError, match="damaged"):
        unpack_archive(tmp_path / "x.cpio", tmp_path)


@pytest.mark.parametrize("more", [0, 1, 4])
def test_archive_that_ends_within_a_file_is_a_rig_fault(tmp_path: Path, more: int) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "file").write_bytes(b"content!")
    content = archived(tmp_path / "one")
    (tmp_path / "x.cpio").write_bytes(content[: content.index(b"content!") + more])
    with pytest.raises(RigFaultError, match="damaged"):
        unpack_archive(tmp_path / "x.cpio", tmp_path)
    assert not (tmp_path / "file").exists()
