# SPDX-License-Identifier: GPL-2.0-or-later
from pathlib import Path

import pytest

from tests.fuzz import kept_corpus
from tests.fuzz.kept_corpus import chosen, kept_inputs, pack, read_reach, unpack


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


def test_input_that_reaches_most_for_its_length_comes_first(tmp_path: Path) -> None:
    a, b, c = (an_input(tmp_path, name, size) for name, size in (("a", 10), ("b", 9), ("c", 30)))
    reach = {a: {1, 2, 3, 4}, b: {1, 2, 3}, c: {5, 6, 7, 8}}
    assert list(chosen(reach)) == [a, c]


def test_input_that_has_no_room_makes_way_for_a_shorter_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_corpus, "TEXT_BYTES_MAX", 21)
    exact, over = an_input(tmp_path, "exact", 10), an_input(tmp_path, "over", 11)
    assert list(chosen({over: set(range(100)), exact: {1}})) == [exact]


def test_packed_corpus_is_unpacked_as_it_was(corpora: Path) -> None:
    first, second = an_input(corpora, "xx", 2), an_input(corpora, "y", 1)
    pack("some", {first: {1}, second: {2}})
    assert kept_inputs("some") == [b"y", b"xx"]
    unpack("some", corpora / "again")
    assert {path.read_bytes() for path in (corpora / "again").iterdir()} == {b"y", b"xx"}


@pytest.mark.usefixtures("corpora")
def test_target_without_a_corpus_begins_with_nothing() -> None:
    assert kept_inputs("nobody") == []


def test_reach_is_read_from_a_merge(tmp_path: Path) -> None:
    control = tmp_path / "control"
    control.write_text("2\n0\n/a b\n/c\nSTARTED 0 5\nFT 0 7 9\nCOV 0 3\nSTARTED 1 2\nFT 1\nCOV 1\n")
    assert read_reach(control) == {Path("/a b"): {7, 9}, Path("/c"): set()}
