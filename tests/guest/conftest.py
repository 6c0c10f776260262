# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests with real guests share: the launcher, and one run of the smoke plan."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from delayrig.paths import Paths, find_paths
from delayrig.result import CellResult, Results, read_results

RUN_LIMIT_S = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """A run of the launcher: what it said and what it left."""

    out: Path
    exit_code: int
    said: str

    @property
    def results(self) -> Results:
        """Its results.json."""
        return read_results(self.out)

    def cell(self, name: str, subject: str) -> CellResult:
        """The one cell of that name and subject."""
        found = [
            cell
            for cell in self.results.cells
            if cell.id.startswith(f"{name}.") and cell.subject.name == subject
        ]
        assert len(found) == 1, self.said
        return found[0]


@pytest.fixture(scope="session")
def paths() -> Paths:
    """Where the rig's things are."""
    return find_paths()


def launch(
    paths: Paths, *arguments: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """`rig/rig ARGUMENTS`, to its end."""
    return subprocess.run(
        [str(paths.checkout / "rig" / "rig"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=RUN_LIMIT_S,
        env=environment,
    )


def run_plan(
    paths: Paths, out: Path, *arguments: str, environment: dict[str, str] | None = None
) -> FinishedRun:
    """`rig/rig run` into the folder `out`."""
    done = launch(
        paths,
        "run",
        "--no-color",
        "--out",
        str(out),
        *arguments,
        environment=environment,
    )
    return FinishedRun(out=out, exit_code=done.returncode, said=done.stdout + done.stderr)


@pytest.fixture(scope="session")
def smoke(paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """The smoke plan, run once for all tests."""
    return run_plan(paths, tmp_path_factory.mktemp("smoke") / "out", "--plan", "smoke")
