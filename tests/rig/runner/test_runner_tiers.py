# SPDX-License-Identifier: GPL-2.0-or-later
"""The list of long tests agrees with the marks, and each test is in a tier."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rig.builders import CHECKOUT
from tests.runner.tiers import marked_tests, page_text

MODULE = """\
import pytest
four = pytest.mark.long("four more")
KILLS = (2, 9)

@pytest.mark.long("an hour")
def test_long():
    pass

@four
def test_shared():
    pass

@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.long("the second"))])
def test_cases(n):
    pass

@pytest.mark.bounds(kills=KILLS, rounds=(1, 3))
def test_bounded(bound):
    assert (bound("kills"), bound("rounds")) == {wanted}

def test_plain():
    pass
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text(MODULE, encoding="utf-8")
    return tmp_path


def test_reasons_and_bounds_of_the_marks_are_told(checkout: Path) -> None:
    text = page_text(checkout)
    assert "| `tests/test_it.py::test_long` | an hour |" in text
    assert "| `tests/test_it.py::test_bounded` | kills | 2 | 9 |" in text


def test_every_mark_is_found_whichever_way_it_is_written(checkout: Path) -> None:
    found = {each.test.partition("::")[2]: each for each in marked_tests(checkout)}
    assert {name: each.reasons for name, each in found.items()} == {
        "test_long": ("an hour",),
        "test_shared": ("four more",),
        "test_cases": ("the second",),
        "test_bounded": (),
    }
    assert found["test_bounded"].bounds == {"kills": (2, 9), "rounds": (1, 3)}


def test_mark_of_a_whole_file_is_found(checkout: Path) -> None:
    text = 'import pytest\npytestmark = pytest.mark.long("all")\ndef test_a():\n    pass\n'
    (checkout / "tests" / "test_it.py").write_text(text, encoding="utf-8")
    (found,) = marked_tests(checkout)
    assert (found.test, found.reasons) == ("tests/test_it.py", ("all",))


@pytest.mark.parametrize(
    ("words", "wanted", "closing"),
    [
        (["--quick"], "(2, 1)", "3 passed, 3 deselected"),
        ([], "(9, 3)", "6 passed"),
    ],
)
def test_quick_leaves_out_what_is_long_and_counts_it(
    checkout: Path, words: list[str], wanted: str, closing: str
) -> None:
    folder = checkout / "tests"
    module = folder / "test_it.py"
    module.write_text(MODULE.replace("{wanted}", wanted), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", str(module), *words],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": f"{CHECKOUT / 'rig'}:{CHECKOUT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert closing in done.stdout, done.stdout + done.stderr
