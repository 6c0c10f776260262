# SPDX-License-Identifier: GPL-2.0-or-later
"""The tiers of tests: their marks, the page that lists them, and the tests of --quick."""

from pathlib import Path

import pytest

from tests.rig.builders import CHECKOUT
from tests.rig.running import run_python

MODULE = """\
import pytest
four = pytest.mark.long("four more")
HALF = 2
KILLS = (HALF, 9)
CASES = (1, pytest.param(2, marks=four))

@pytest.mark.long("an hour")
def test_long():
    pass

@four
def test_shared():
    pass

@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.long("the second"))])
def test_cases(n):
    pass

@pytest.mark.parametrize("n", CASES)
def test_constant(n):
    pass

@pytest.mark.bounds(kills=KILLS, rounds=(1, 3))
def test_bounded(bound):
    assert (bound("kills"), bound("rounds")) == {wanted}

def test_plain():
    pass
"""


TIERS = """\
import sys
from pathlib import Path
from tests.runner.tiers import page_text
print(page_text(Path(sys.argv[1])))
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Returns a checkout with one file of tests."""
    (tmp_path / "rig").symlink_to(CHECKOUT / "rig")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "conftest.py").symlink_to(CHECKOUT / "tests" / "conftest.py")
    (tmp_path / "tests" / "test_it.py").write_text(MODULE, encoding="utf-8")
    return tmp_path


def listed_in(checkout: Path) -> list[str]:
    """Returns the lines of the page that list the tests of the file."""
    done = run_python("-c", TIERS, checkout, cwd=CHECKOUT)
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if "test_it.py" in line]


def test_marks_of_functions_cases_and_files_are_listed(checkout: Path) -> None:
    assert listed_in(checkout) == [
        "| `tests/test_it.py::test_long` | an hour |",
        "| `tests/test_it.py::test_shared` | four more |",
        "| `tests/test_it.py::test_cases` | the second |",
        "| `tests/test_it.py::test_constant` | four more |",
        "| `tests/test_it.py::test_bounded` | kills | 2 | 9 |",
        "| `tests/test_it.py::test_bounded` | rounds | 1 | 3 |",
    ]
    text = 'import pytest\npytestmark = pytest.mark.long("all")\ndef test_a():\n    pass\n'
    (checkout / "tests" / "test_it.py").write_text(text, encoding="utf-8")
    assert listed_in(checkout) == ["| `tests/test_it.py` | all |"]


@pytest.mark.parametrize(
    ("words", "wanted", "closing"),
    [(["--quick"], "(2, 1)", "4 passed, 4 deselected"), ([], "(9, 3)", "8 passed")],
)
def test_quick_deselects_long_tests_and_takes_the_small_bounds(
    checkout: Path, words: list[str], wanted: str, closing: str
) -> None:
    module = checkout / "tests" / "test_it.py"
    module.write_text(MODULE.replace("{wanted}", wanted), encoding="utf-8")
    done = run_python("-m", "pytest", "-q", module, *words, cwd=checkout)
    assert closing in done.stdout, done.stdout + done.stderr
