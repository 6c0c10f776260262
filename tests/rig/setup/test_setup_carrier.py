# SPDX-License-Identifier: GPL-2.0-or-later
"""Images that are carried to another folder of state."""

import io
import json
import tarfile
from pathlib import Path

import pytest
from delayrig.setup.errors import SetupError
from delayrig.setup.export_archive import KIND, MANIFEST, SCHEMA, export_images, import_images
from delayrig.setup.layout import Layout


def layout_of(folder: Path) -> Layout:
    """Returns a layout with its state below `folder`."""
    return Layout(checkout=folder, state=folder / "state")


def prepared(folder: Path) -> Layout:
    """Makes a state with a few images in it."""
    layout = layout_of(folder)
    tools = layout.state / "images" / "toolchains" / "x" / "tools"
    tools.mkdir(parents=True)
    (tools.parent / "gcc").write_bytes(b"compiler")
    (tools.parent / "gcc").chmod(0o755)
    (tools / "relative").symlink_to("../gcc")
    (tools / "absolute").symlink_to(tools.parent / "gcc")
    (tools / "device").symlink_to("/proc/self/fd/0")
    (layout.state / "wheels").mkdir()
    (layout.state / "wheels" / "a.whl").write_bytes(bytes(range(256)) * 5000)
    (layout.state / "snapshots").mkdir()
    (layout.state / "snapshots" / "large").write_bytes(b"stays")
    return layout


def test_carried_images_are_the_same_in_another_place(tmp_path: Path) -> None:
    theirs, ours = prepared(tmp_path / "theirs"), layout_of(tmp_path / "ours")
    ours.state.mkdir(parents=True)
    file = tmp_path / "images.tar"
    assert export_images(theirs, file) == import_images(ours, file) == 4
    tools = ours.state / "images" / "toolchains" / "x" / "tools"
    assert (tools / "absolute").resolve() == (tools / "relative").resolve() == tools.parent / "gcc"
    assert (tools.parent / "gcc").read_bytes() == b"compiler"
    assert (tools.parent / "gcc").stat().st_mode & 0o777 == 0o755
    wheel = Path("wheels") / "a.whl"
    assert (ours.state / wheel).read_bytes() == (theirs.state / wheel).read_bytes()
    assert not (tools / "device").is_symlink()
    assert not (ours.state / "snapshots").exists()


def test_importing_again_changes_nothing(tmp_path: Path) -> None:
    layout = prepared(tmp_path)
    file = tmp_path / "images.tar"
    export_images(layout, file)
    before = sorted(path.stat().st_mtime_ns for path in layout.state.rglob("*.whl"))
    import_images(layout, file)
    assert sorted(path.stat().st_mtime_ns for path in layout.state.rglob("*.whl")) == before


def test_nothing_prepared_is_nothing_to_export(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="nothing to export"):
        export_images(layout_of(tmp_path), tmp_path / "images.tar")


@pytest.mark.parametrize("at", [0.02, 0.3, 0.6, 0.9])
def test_damaged_file_is_refused_by_name_and_nothing_is_taken(tmp_path: Path, at: float) -> None:
    file = tmp_path / "images.tar"
    export_images(prepared(tmp_path / "theirs"), file)
    content = bytearray(file.read_bytes())
    content[int(len(content) * at)] ^= 0xFF
    file.write_bytes(content)
    refuse(file, tmp_path)


@pytest.mark.parametrize("part", [0, 0.5, 0.99])
def test_file_that_is_cut_off_is_refused(tmp_path: Path, part: float) -> None:
    file = tmp_path / "images.tar"
    export_images(prepared(tmp_path / "theirs"), file)
    file.write_bytes(file.read_bytes()[: int(file.stat().st_size * part)])
    refuse(file, tmp_path)


@pytest.mark.parametrize(
    "entry",
    [
        {"path": "/etc/passwd", "sha256": "", "runnable": False},
        {"path": "images/../../escaped", "sha256": "", "runnable": False},
        {"path": "setup.stamp", "sha256": "", "runnable": False},
        {"path": "images/link", "link": "../../outside"},
        {"path": "images/link", "link": "/etc"},
    ],
)
def test_what_leads_out_of_the_state_is_refused(tmp_path: Path, entry: dict[str, object]) -> None:
    file = tmp_path / "images.tar"
    write_foreign(file, {"kind": KIND, "schema": SCHEMA, "files": [entry]})
    refuse(file, tmp_path)


def test_file_behind_a_link_is_refused(tmp_path: Path) -> None:
    link = {"path": "images/a", "link": "b"}
    behind = {"path": "images/a/c", "sha256": "", "runnable": False}
    file = tmp_path / "images.tar"
    write_foreign(file, {"kind": KIND, "schema": SCHEMA, "files": [link, behind]})
    refuse(file, tmp_path)


@pytest.mark.parametrize(
    "manifest", [{}, [], {"kind": KIND, "schema": 99, "files": []}, {"kind": "x", "schema": SCHEMA}]
)
def test_foreign_manifest_is_refused(tmp_path: Path, manifest: object) -> None:
    file = tmp_path / "images.tar"
    write_foreign(file, manifest)
    refuse(file, tmp_path)


def write_foreign(file: Path, manifest: object) -> None:
    """Writes an archive with a manifest only."""
    content = json.dumps(manifest).encode()
    with tarfile.open(file, "w:gz") as archive:
        head = tarfile.TarInfo(MANIFEST)
        head.size = len(content)
        archive.addfile(head, io.BytesIO(content))


def refuse(file: Path, folder: Path) -> None:
    """Checks that the file is refused by its name and leaves no files behind."""
    ours = layout_of(folder / "ours")
    with pytest.raises(SetupError) as raised:
        import_images(ours, file)
    assert str(file) in raised.value.message or "link" in raised.value.message
    left = [path for path in ours.state.rglob("*") if path.name != "CACHEDIR.TAG"]
    assert not [path for path in left if not path.is_dir()]
