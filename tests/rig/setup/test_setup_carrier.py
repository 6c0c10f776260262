# SPDX-License-Identifier: GPL-2.0-or-later
"""Images that are exported to a file, and imported into another folder of state."""

import hashlib
import io
import json
import os
import signal
import tarfile
from pathlib import Path

import pytest
from delayrig.setup import launcher
from delayrig.setup.arguments import read_request
from delayrig.setup.errors import EXIT_BAD_USAGE, BadArchiveError, SetupError, UsageError
from delayrig.setup.image_archive import (
    KIND,
    MANIFEST,
    SCHEMA,
    export_images,
    import_images,
)
from delayrig.setup.layout import STATE_VARIABLE, Layout


def layout_of(folder: Path) -> Layout:
    """Returns a layout with its state below `folder`."""
    return Layout(checkout=folder, state=folder / "state")


def prepared(folder: Path) -> Layout:
    """Makes a state with images, a wheel and a snapshot."""
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


def test_hard_links_are_carried_as_files(tmp_path: Path) -> None:
    theirs, ours = prepared(tmp_path / "theirs"), layout_of(tmp_path / "ours")
    ours.state.mkdir(parents=True)
    wheel = theirs.state / "wheels" / "a.whl"
    (wheel.parent / "b.whl").hardlink_to(wheel)
    file = tmp_path / "images.tar"
    assert export_images(theirs, file) == import_images(ours, file) == 5
    assert (ours.state / "wheels" / "b.whl").read_bytes() == wheel.read_bytes()


def test_importing_again_changes_nothing_and_nothing_prepared_is_nothing_to_export(
    tmp_path: Path,
) -> None:
    layout, file = prepared(tmp_path), tmp_path / "images.tar"
    export_images(layout, file)
    wheel = layout.state / "wheels" / "a.whl"
    before = wheel.stat().st_mtime_ns
    import_images(layout, file)
    assert wheel.stat().st_mtime_ns == before
    with pytest.raises(SetupError, match="nothing to export"):
        export_images(layout_of(tmp_path / "bare"), file)


@pytest.mark.parametrize("part", [0.02, 0.3, 0.6, 0.9])
def test_damaged_file_is_refused_by_name_and_nothing_is_taken(tmp_path: Path, part: float) -> None:
    file = tmp_path / "images.tar"
    export_images(prepared(tmp_path / "theirs"), file)
    content = bytearray(file.read_bytes())
    content[int(len(content) * part)] ^= 0xFF
    file.write_bytes(content)
    refuse(file, tmp_path)


@pytest.mark.parametrize("part", [0, 0.5, 0.99])
def test_file_that_is_cut_off_is_refused(tmp_path: Path, part: float) -> None:
    file = tmp_path / "images.tar"
    export_images(prepared(tmp_path / "theirs"), file)
    os.truncate(file, int(file.stat().st_size * part))
    refuse(file, tmp_path)


def file_entry(**changed: object) -> dict[str, object]:
    return {"path": "images/a", "sha256": "0" * 64, "runnable": False, **changed}


def manifest_of(*entries: object, **changed: object) -> bytes:
    whole = {"kind": KIND, "schema": SCHEMA, "files": entries, **changed}
    return json.dumps(whole).encode()


MANIFESTS = {
    "no JSON": b"{",
    "no text": b"\xff\xfe\x00",
    "deep": b"[" * 200_000,
    "number": b"7",
    "files are a number": manifest_of(files=7),
    "files are a text": manifest_of(files="images"),
    "entry is a text": manifest_of("images/a"),
    "no path": manifest_of({"sha256": "0" * 64, "runnable": False}),
    "path is a number": manifest_of(file_entry(path=7)),
    "path is empty": manifest_of(file_entry(path="")),
    "path is the folder": manifest_of(file_entry(path="images")),
    "path with NUL": manifest_of(file_entry(path="images/a\0b")),
    "path is no Unicode": manifest_of(file_entry(path="images/\ud800")),
    "path is too long": manifest_of(file_entry(path="images/" + "a" * 300)),
    "path in other words": manifest_of(file_entry(path="images//a")),
    "path twice": manifest_of(file_entry(), file_entry()),
    "path behind a file": manifest_of(file_entry(), file_entry(path="images/a/b")),
    "digest is a number": manifest_of(file_entry(sha256=7)),
    "digest is short": manifest_of(file_entry(sha256="00")),
    "runnable is a text": manifest_of(file_entry(runnable="yes")),
    "further key": manifest_of(file_entry(mode=7)),
    "link is a list": manifest_of({"path": "images/a", "link": ["b"]}),
    "link is empty": manifest_of({"path": "images/a", "link": ""}),
    "link to the folder": manifest_of({"path": "images/a/b", "link": "../../images"}),
    "link through another": manifest_of({"path": "images/a", "link": "b/../c"}),
    "huge number": manifest_of(schema=10**400),
    "absolute path": manifest_of(file_entry(path="/etc/passwd")),
    "path out of the state": manifest_of(file_entry(path="images/../../escaped")),
    "file of the state itself": manifest_of(file_entry(path="setup.stamp")),
    "link out of the state": manifest_of({"path": "images/link", "link": "../../outside"}),
    "link to a folder of the system": manifest_of({"path": "images/link", "link": "/etc"}),
    "file behind a link": manifest_of(
        {"path": "images/a", "link": "b"}, file_entry(path="images/a/c")
    ),
    "no keys": b"{}",
    "a list": b"[]",
    "another schema": manifest_of(schema=99),
    "another kind": manifest_of(kind="x"),
}


@pytest.mark.parametrize("manifest", MANIFESTS.values(), ids=MANIFESTS)
def test_manifest_that_is_malformed_foreign_or_leads_out_of_the_state_is_bad_usage(
    tmp_path: Path,
    manifest: bytes,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "images.tar"
    with tarfile.open(file, "w:gz") as archive:
        head = tarfile.TarInfo(MANIFEST)
        head.size = len(manifest)
        archive.addfile(head, io.BytesIO(manifest))
    refuse(file, tmp_path)
    assert run_launcher(tmp_path, monkeypatch, "images", "--import", str(file)) == EXIT_BAD_USAGE
    said = capfd.readouterr().err
    assert "Traceback" not in said
    assert str(file) in said.splitlines()[0]
    assert not list((tmp_path / "state").rglob("a*"))


def run_launcher(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Runs the launcher in this process; undoes what it does to the signals of its own."""
    monkeypatch.setenv(STATE_VARIABLE, str(folder / "state"))
    actions = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGPIPE)}
    try:
        return launcher.main(list(words))
    finally:
        for number, action in actions.items():
            signal.signal(number, action)


@pytest.mark.parametrize("kind", ["folder", "pipe", "nothing"])
def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "images.tar"
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    with pytest.raises(BadArchiveError, match="refused"):
        import_images(layout_of(tmp_path), file)


def test_file_with_another_digest_than_the_user_knows_is_refused(tmp_path: Path) -> None:
    file, ours = tmp_path / "images.tar", layout_of(tmp_path / "ours")
    export_images(prepared(tmp_path / "theirs"), file)
    with pytest.raises(BadArchiveError, match="its SHA-256 is not"):
        import_images(ours, file, sha256="0" * 64)
    assert not ours.state.exists()
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert import_images(ours, file, sha256=digest.upper()) == 4


def test_digest_is_64_hexadecimal_digits() -> None:
    with pytest.raises(UsageError, match="64 hexadecimal digits"):
        read_request(["images", "--import", "FILE", "--sha256", "7"])
    request = read_request(["-v", "images", "--import", "FILE", "--sha256", "a" * 64])
    assert (request.imported, request.sha256) == ("FILE", "a" * 64)


def test_path_behind_a_link_that_lies_on_disk_is_refused(tmp_path: Path) -> None:
    """A link below `images` is not followed, whether an import or the user made it."""
    file, ours = tmp_path / "images.tar", layout_of(tmp_path / "ours")
    theirs = layout_of(tmp_path / "theirs")
    behind = theirs.state / "images" / "link" / "program"
    behind.parent.mkdir(parents=True)
    behind.write_bytes(b"foreign")
    export_images(theirs, file)
    outside = tmp_path / "outside"
    outside.mkdir()
    (ours.state / "images").mkdir(parents=True)
    (ours.state / "images" / "link").symlink_to(outside)
    with pytest.raises(BadArchiveError, match="behind a link"):
        import_images(ours, file)
    assert not list(outside.iterdir())


def refuse(file: Path, folder: Path) -> None:
    """Checks that the error names the file, and that no file is left behind."""
    ours = layout_of(folder / "ours")
    with pytest.raises(SetupError) as raised:
        import_images(ours, file)
    assert str(file) in raised.value.message
    left = [path for path in ours.state.rglob("*") if path.name != "CACHEDIR.TAG"]
    assert not [path for path in left if not path.is_dir()]
