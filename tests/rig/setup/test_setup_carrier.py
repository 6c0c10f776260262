# SPDX-License-Identifier: GPL-2.0-or-later
"""Images that are exported to a file and imported into another state folder."""

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
from delayrig.setup.errors import BadArchiveError, ExitCode, SetupError, UsageError
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


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """Exports the images of a prepared state; returns the file."""
    file = tmp_path / "images.tar"
    export_images(prepared(tmp_path / "source"), file)
    return file


def test_imported_images_are_the_same_in_another_state(tmp_path: Path) -> None:
    source, target = prepared(tmp_path / "source"), layout_of(tmp_path / "target")
    target.state.mkdir(parents=True)
    file = tmp_path / "images.tar"
    assert export_images(source, file) == import_images(target, file) == 4
    tools = target.state / "images" / "toolchains" / "x" / "tools"
    assert (tools / "absolute").resolve() == (tools / "relative").resolve() == tools.parent / "gcc"
    assert (tools.parent / "gcc").read_bytes() == b"compiler"
    assert (tools.parent / "gcc").stat().st_mode & 0o777 == 0o755
    wheel = Path("wheels") / "a.whl"
    assert (target.state / wheel).read_bytes() == (source.state / wheel).read_bytes()
    assert not (tools / "device").is_symlink()
    assert not (target.state / "snapshots").exists()


def test_hard_links_are_exported_as_files(tmp_path: Path) -> None:
    source, target = prepared(tmp_path / "source"), layout_of(tmp_path / "target")
    target.state.mkdir(parents=True)
    wheel = source.state / "wheels" / "a.whl"
    (wheel.parent / "b.whl").hardlink_to(wheel)
    file = tmp_path / "images.tar"
    assert export_images(source, file) == import_images(target, file) == 5
    assert (target.state / "wheels" / "b.whl").read_bytes() == wheel.read_bytes()


def test_second_import_changes_nothing(tmp_path: Path) -> None:
    layout, file = prepared(tmp_path), tmp_path / "images.tar"
    export_images(layout, file)
    wheel = layout.state / "wheels" / "a.whl"
    before = wheel.stat().st_mtime_ns
    import_images(layout, file)
    assert wheel.stat().st_mtime_ns == before


def test_state_without_images_cannot_be_exported(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="nothing to export"):
        export_images(layout_of(tmp_path), tmp_path / "images.tar")


@pytest.mark.parametrize("part", [0, 0.02, 0.3, 0.6, 0.9, 0.99])
@pytest.mark.parametrize("is_cut", [True, False])
def test_damaged_or_truncated_file_is_refused_by_name_and_nothing_is_imported(
    exported: Path, tmp_path: Path, part: float, is_cut: bool
) -> None:
    content = bytearray(exported.read_bytes())
    at = int(len(content) * part)
    content[at:] = b"" if is_cut else bytes([content[at] ^ 0xFF]) + content[at + 1 :]
    exported.write_bytes(content)
    assert_refused(exported, tmp_path)


def file_entry(**changed: object) -> dict[str, object]:
    return {"path": "images/a", "sha256": "0" * 64, "runnable": False, **changed}


def manifest_of(*entries: object, **changed: object) -> bytes:
    manifest = {"kind": KIND, "schema": SCHEMA, "files": entries, **changed}
    return json.dumps(manifest).encode()


MANIFESTS = {
    "not JSON": b"{",
    "not text": b"\xff\xfe\x00",
    "deeply nested": b"[" * 200_000,
    "number": b"7",
    "files are a number": manifest_of(files=7),
    "files are a text": manifest_of(files="images"),
    "entry is a text": manifest_of("images/a"),
    "no path": manifest_of({"sha256": "0" * 64, "runnable": False}),
    "path is a number": manifest_of(file_entry(path=7)),
    "path is empty": manifest_of(file_entry(path="")),
    "path is the folder": manifest_of(file_entry(path="images")),
    "path with NUL": manifest_of(file_entry(path="images/a\0b")),
    "path is not Unicode": manifest_of(file_entry(path="images/\ud800")),
    "path is too long": manifest_of(file_entry(path="images/" + "a" * 300)),
    "path is not normalised": manifest_of(file_entry(path="images//a")),
    "path twice": manifest_of(file_entry(), file_entry()),
    "path below a file": manifest_of(file_entry(), file_entry(path="images/a/b")),
    "digest is a number": manifest_of(file_entry(sha256=7)),
    "digest is short": manifest_of(file_entry(sha256="00")),
    "runnable is a text": manifest_of(file_entry(runnable="yes")),
    "unknown key": manifest_of(file_entry(mode=7)),
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
    "file below a link": manifest_of(
        {"path": "images/a", "link": "b"}, file_entry(path="images/a/c")
    ),
    "no keys": b"{}",
    "a list": b"[]",
    "another schema": manifest_of(schema=99),
    "another kind": manifest_of(kind="x"),
}


@pytest.mark.parametrize("manifest", MANIFESTS.values(), ids=MANIFESTS)
def test_invalid_manifest_is_bad_usage_and_nothing_is_imported(
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
    assert_refused(file, tmp_path)
    assert (
        run_launcher(tmp_path, monkeypatch, "images", "--import", str(file)) == ExitCode.BAD_INPUT
    )
    errors = capfd.readouterr().err
    assert "Traceback" not in errors
    assert str(file) in errors.splitlines()[0]
    assert not list((tmp_path / "state").rglob("a*"))


def run_launcher(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Runs the launcher in this process, and restores the signal handlers that it replaces."""
    monkeypatch.setenv(STATE_VARIABLE, str(folder / "state"))
    actions = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGPIPE)}
    try:
        return launcher.main(list(words))
    finally:
        for number, action in actions.items():
            signal.signal(number, action)


@pytest.mark.parametrize("kind", ["folder", "pipe", "nothing"])
def test_path_that_is_not_a_regular_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "images.tar"
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    with pytest.raises(BadArchiveError, match="refused"):
        import_images(layout_of(tmp_path), file)


def test_file_without_the_given_digest_is_refused(exported: Path, tmp_path: Path) -> None:
    target = layout_of(tmp_path / "target")
    with pytest.raises(BadArchiveError, match="its SHA-256 is not"):
        import_images(target, exported, sha256="0" * 64)
    assert not target.state.exists()
    digest = hashlib.sha256(exported.read_bytes()).hexdigest()
    assert import_images(target, exported, sha256=digest.upper()) == 4


def test_digest_is_64_hexadecimal_digits() -> None:
    with pytest.raises(UsageError, match="64 hexadecimal digits"):
        read_request(["images", "--import", "FILE", "--sha256", "7"])
    request = read_request(["-v", "images", "--import", "FILE", "--sha256", "a" * 64])
    assert (request.imported, request.sha256) == ("FILE", "a" * 64)


def test_import_does_not_write_through_a_link_of_the_state(tmp_path: Path) -> None:
    """A link below `images` is not followed, even if the user made it."""
    file, target = tmp_path / "images.tar", layout_of(tmp_path / "target")
    source = layout_of(tmp_path / "source")
    program = source.state / "images" / "link" / "program"
    program.parent.mkdir(parents=True)
    program.write_bytes(b"foreign")
    export_images(source, file)
    outside = tmp_path / "outside"
    outside.mkdir()
    (target.state / "images").mkdir(parents=True)
    (target.state / "images" / "link").symlink_to(outside)
    with pytest.raises(BadArchiveError, match="behind a link"):
        import_images(target, file)
    assert not list(outside.iterdir())


def assert_refused(file: Path, folder: Path) -> None:
    """Imports the file; checks that the error names it and that no file is left."""
    target = layout_of(folder / "target")
    with pytest.raises(SetupError) as raised:
        import_images(target, file)
    assert str(file) in raised.value.message
    left = [path for path in target.state.rglob("*") if path.name != "CACHEDIR.TAG"]
    assert not [path for path in left if not path.is_dir()]
