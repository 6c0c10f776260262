# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures of tests with real guests: the launcher, and one run of the smoke plan."""

import fcntl
import json
import os
import subprocess
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from delayrig.base.errors import ExitCode, NotProvidedError
from delayrig.base.paths import Paths, find_paths
from delayrig.model.delays import Delays, read_delays
from delayrig.model.result import CellResult, Results, read_results

from tests.guest.provided import require_provided, skip_if_refused
from tests.rig.builders import compare_folders

RUN_LIMIT_S = 1800


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """A finished run of the launcher: its output and its folder."""

    out: Path
    exit_code: int
    output: str

    @property
    def results(self) -> Results:
        return read_results(self.out)

    @property
    def delays(self) -> Delays:
        """Returns the delay calls of the run's only cell."""
        (cell,) = self.results.cells
        delays = read_delays(self.out / cell.id)
        assert delays is not None, self.output
        return delays

    def cell(self, name: str, subject: str) -> CellResult:
        """Returns the only cell with that name and subject.

        Skips the test if the archive did not provide something that the cell needs.
        """
        found = [
            cell
            for cell in self.results.cells
            if cell.id.startswith(f"{name}.") and cell.subject.name == subject
        ]
        assert len(found) == 1, self.output
        self.need(found)
        return found[0]

    def need(self, cells: Iterable[CellResult]) -> None:
        """Skips the test if the archive did not provide something that the cells need."""
        require_provided(cells, self.results.cells)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """Skips a test whose subject the archive does not provide."""
    try:
        return (yield)
    except NotProvidedError as error:
        pytest.skip(f"not provided: {error}")


@pytest.fixture(scope="session")
def paths() -> Paths:
    return find_paths()


def rig_command(paths: Paths, *arguments: str) -> list[str]:
    """Returns the command line `rig/rig ARGUMENTS`."""
    return [str(paths.checkout / "rig" / "rig"), *arguments]


def repeated(option: str, values: Iterable[str]) -> list[str]:
    """Returns the option once for each value."""
    return [word for value in values for word in (option, value)]


def launch(
    paths: Paths,
    *arguments: str,
    environment: dict[str, str] | None = None,
    limit_s: float = RUN_LIMIT_S,
) -> subprocess.CompletedProcess[str]:
    """Runs `rig/rig ARGUMENTS` until it ends."""
    done = subprocess.run(
        rig_command(paths, *arguments),
        capture_output=True,
        text=True,
        check=False,
        timeout=limit_s,
        env=environment,
    )
    skip_if_refused(done.returncode, done.stderr)
    return done


def run_plan(
    paths: Paths, out: Path, *arguments: str, environment: dict[str, str] | None = None
) -> FinishedRun:
    """Runs `rig/rig run` with `out` as its folder of results."""
    done = launch(
        paths, "run", "--no-color", "--out", str(out), *arguments, environment=environment
    )
    return FinishedRun(out=out, exit_code=done.returncode, output=done.stdout + done.stderr)


def assert_same_runs(paths: Paths, one: Path, other: Path) -> None:
    """Checks that two runs have the same cells, and that these are equal to the nanosecond."""
    compared = launch(paths, "compare", "--exact", str(one), str(other))
    assert compared.returncode == ExitCode.PASS, compared.stdout


def assert_same_cells(part: Path, whole: Path) -> None:
    """Checks that `whole` has every cell of `part`, and that they are equal to the nanosecond."""
    compared = compare_folders(part, whole)
    assert 0 < compared.compared == len(read_results(part).cells)
    assert compared.differences == []


@pytest.fixture(scope="session")
def smoke(paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """Returns the one run of the smoke plan that all workers share; the first one starts it."""
    folder = shared_folder(tmp_path_factory) / "smoke"
    folder.mkdir(exist_ok=True)
    record = folder / "run.json"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not record.exists():
            ran = run_plan(paths, folder / "out", "--plan", "smoke")
            record.write_text(json.dumps({"exit_code": ran.exit_code, "output": ran.output}))
    return FinishedRun(out=folder / "out", **json.loads(record.read_text()))


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """Returns a folder that all workers of this test run share."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@contextmanager
def busy_loops(count: int, limit_s: int = 0) -> Iterator[None]:
    """Runs busy loops on this machine until the block or the time limit ends; 0 is no limit."""
    command = ["timeout", str(limit_s), "sh", "-c", "while :; do :; done"]
    with ExitStack() as stack:
        for _ in range(count):
            loop = stack.enter_context(subprocess.Popen(command))
            stack.callback(loop.terminate)
        yield
