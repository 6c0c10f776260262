# SPDX-License-Identifier: GPL-2.0-or-later
"""The stored corpora of fuzz targets: which inputs are kept, packing and unpacking."""

import sys
from pathlib import Path

import pytest

from tests.fuzz import kept_corpus, run_fuzz
from tests.fuzz.fuzz_chipgen import CHIPS, with_chips
from tests.fuzz.kept_corpus import chosen, kept_inputs, pack, read_reach, unpack
from tests.fuzz.run_fuzz import BROKEN, Workshop


@pytest.fixture
def corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kept_corpus, "CORPORA", tmp_path)
    return tmp_path


def an_input(folder: Path, name: str, size_bytes: int) -> Path:
    path = folder / name
    path.write_bytes(name.encode()[:1] * size_bytes)
    return path


def test_input_that_reaches_nothing_new_is_left_out(tmp_path: Path) -> None:
    long, short = an_input(tmp_path, "long", 100), an_input(tmp_path, "short", 3)
    assert list(chosen({long: {1, 2}, short: {1, 2}})) == [short]


def test_input_with_most_reach_for_its_length_comes_first(tmp_path: Path) -> None:
    a, b, c = (an_input(tmp_path, name, size) for name, size in (("a", 10), ("b", 9), ("c", 30)))
    reach = {a: {1, 2, 3, 4}, b: {1, 2, 3}, c: {5, 6, 7, 8}}
    assert list(chosen(reach)) == [a, c]


def test_input_that_does_not_fit_is_left_out_for_a_shorter_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_corpus, "TEXT_BYTES_MAX", 21)
    exact, over = an_input(tmp_path, "exact", 10), an_input(tmp_path, "over", 11)
    assert list(chosen({over: set(range(100)), exact: {1}})) == [exact]


def test_packed_corpus_is_unpacked_unchanged(corpora: Path) -> None:
    first, second = an_input(corpora, "xx", 2), an_input(corpora, "y", 1)
    pack("some", {first: {1}, second: {2}})
    assert kept_inputs("some") == [b"y", b"xx"]
    unpack("some", corpora / "again")
    assert {path.read_bytes() for path in (corpora / "again").iterdir()} == {b"y", b"xx"}


@pytest.mark.usefixtures("corpora")
def test_target_without_a_corpus_has_no_inputs() -> None:
    assert kept_inputs("nobody") == []


def test_reach_is_read_from_the_control_file_of_a_merge(tmp_path: Path) -> None:
    control = tmp_path / "control"
    control.write_text("2\n0\n/a b\n/c\nSTARTED 0 5\nFT 0 7 9\nCOV 0 3\nSTARTED 1 2\nFT 1\nCOV 1\n")
    assert read_reach(control) == {Path("/a b"): {7, 9}, Path("/c"): set()}


def test_chip_files_are_added_to_a_corpus_and_not_to_a_single_input(tmp_path: Path) -> None:
    found = ["fuzz_chipgen.py", "-seed=1", str(tmp_path)]
    assert with_chips(found) == [*found, str(CHIPS)]
    one = ["fuzz_chipgen.py", str(an_input(tmp_path, "crash", 1))]
    assert with_chips(one) == one


def test_packing_without_clang_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["run_fuzz", "--pack", "--gcc"])
    assert run_fuzz.main() == BROKEN
    assert "needs clang" in capsys.readouterr().err


MERGE = """\
import sys
from pathlib import Path
*_, control, merged, corpus = sys.argv
files = [str(file) for file in Path(corpus).iterdir()]
assert Path(merged).is_dir()
lines = [len(files), 0, *files, *(f"FT {number} {number}" for number in range(len(files)))]
Path(control.partition("=")[2]).write_text("\\n".join(map(str, lines)))
"""


def test_packing_alone_keeps_the_inputs(corpora: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHROM_RIG_STATE", str(corpora))
    monkeypatch.setattr(Workshop, "command", lambda *_: [sys.executable, "-c", MERGE])
    pack("some", {an_input(corpora, "xx", 2): {1}})
    Workshop(meson="", compiler="clang").pack("some")
    assert kept_inputs("some") == [b"xx"]
