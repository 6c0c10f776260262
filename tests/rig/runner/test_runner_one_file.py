# SPDX-License-Identifier: GPL-2.0-or-later
"""The tests of one file, and the files that `tests/run` accepts."""

from pathlib import Path

import pytest

from tests.rig.builders import CHECKOUT
from tests.runner.one_file import files_of_tests, imports_any, module_name, python_file


def files_for(name: str) -> list[str]:
    return files_of_tests(CHECKOUT, [CHECKOUT / name])


def test_module_is_tested_by_the_file_of_its_name() -> None:
    assert files_for("rig/delayrig/setup/stamp.py") == ["tests/rig/setup/test_setup_stamp.py"]
    assert "tests/rig/runner/test_runner_report.py" in files_for("tests/runner/report.py")


def test_test_is_its_own_test() -> None:
    assert files_for("tests/rig/test_bus.py") == ["tests/rig/test_bus.py"]


@pytest.mark.parametrize("name", ["rig/delayrig/setup/console.py", "rig/delayrig/base/paths.py"])
def test_module_without_tests_of_its_name_has_those_that_import_it(name: str) -> None:
    found = files_for(name)
    assert found
    assert len(found) <= 12


def test_every_module_of_the_rig_has_some_test() -> None:
    modules = (CHECKOUT / "rig" / "delayrig").rglob("*.py")
    # A module that starts a program is tested by the tests of that program.
    bare = [path for path in modules if path.name not in ("__init__.py", "__main__.py")]
    sample = sorted(bare)[::20]
    assert [str(path) for path in sample if not files_of_tests(CHECKOUT, [path])] == []


def test_import_is_known_in_each_of_its_ways() -> None:
    name = ["delayrig.setup.stamp"]
    assert imports_any("from delayrig.setup.stamp import read_marks\n", name)
    assert imports_any("import delayrig.setup.stamp\n", name)
    assert imports_any("    from delayrig.setup import errors, stamp\n", name)
    assert not imports_any("from delayrig.setup.stamps import x\n", name)


def test_module_is_named_as_it_is_imported() -> None:
    assert module_name(CHECKOUT, CHECKOUT / "rig/delayrig/base/paths.py") == "delayrig.base.paths"
    assert module_name(CHECKOUT, CHECKOUT / "tests/runner/__init__.py") == "tests.runner"


@pytest.mark.parametrize("name", ["rig/none.py", "README.md", "/usr/lib/python3/dist-packages/x"])
def test_what_is_no_python_file_of_ours_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no"):
        python_file(CHECKOUT, name)


def test_file_is_found_from_here_and_from_the_top(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = CHECKOUT / "rig" / "delayrig" / "base" / "paths.py"
    monkeypatch.chdir(Path("/"))
    assert python_file(CHECKOUT, "rig/delayrig/base/paths.py") == wanted
    monkeypatch.chdir(wanted.parent)
    assert python_file(CHECKOUT, "paths.py") == wanted
