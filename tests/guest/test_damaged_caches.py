# SPDX-License-Identifier: GPL-2.0-or-later
"""Damages 105 cached files: the rig makes each of them again, and no verdict changes."""

import os
import random
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from delayrig.base.paths import Paths

from tests.damage import HARMS
from tests.guest.plans import cell, plan, write_plan
from tests.guest.provided import skip_if_refused
from tests.rig.builders import compare_folders
from tests.rig.running import run

SEED, DAMAGES = 25, 105
CACHES = (
    *("images/guest", "images/kernel", "images/libraries", "images/recipes", "images/subjects"),
    *("disguised", "snapshots"),
)
SEALS = ("seal.json", "digests.json")
UNREPORTED = ("delays", "disguised")
"""Folders of files that the rig makes again from checked files, without a message."""
AT = 'mips = 250, cores = 1, job = "probe", chip = "GD25Q16C"'
PLAN = plan(
    cell("program", AT),
    cell("library", f'{AT}, hazards = "library"'),
    cell("kernel", f'{AT}, hazards = "preempt-rt"'),
    cell("bridge", f'{AT}, programmer = "serprog:dev"'),
    'subject = "stripped:bundled"\n',
    subjects='"debian:trixie"',
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rig:
    """A rig with a state folder of its own, which has the programs of this build."""

    paths: Paths
    folder: Path

    @property
    def state(self) -> Path:
        return self.folder / "state"

    def run(self, name: str) -> str:
        """Runs the plan into the folder of that name; returns its messages about files it made.

        Messages about debug files do not count, because an archive may lack those files.
        """
        words = ["--no-color", "--no-history", "--plan", write_plan(self.folder, PLAN)]
        done = run(
            *(sys.executable, "-P", "-m", "delayrig", "run", *words, "--out", self.folder / name),
            env={
                **os.environ,
                "PYTHONPATH": str(self.paths.checkout / "rig"),
                "FLASHROM_RIG_STATE": str(self.state),
            },
        )
        skip_if_refused(done.returncode, done.stderr)
        assert done.returncode == 0, done.stderr + done.stdout
        lines = [line for line in done.stderr.splitlines() if line.startswith("making ")]
        return "\n".join(line for line in lines if not line.startswith("making debug files"))

    def files(self, cache: str) -> list[Path]:
        found = (path for path in (self.state / cache).rglob("*") if path.is_file())
        return sorted(path for path in found if path.stat().st_size)


@pytest.fixture
def rig(paths: Paths, tmp_path: Path) -> Rig:
    made = Rig(paths=paths, folder=tmp_path)
    made.state.mkdir()
    (made.state / "build").symlink_to(paths.build)
    assert "making snapshot" in made.run("sound")
    assert made.run("again") == ""
    return made


def is_reported(file: Path, harm: str, output: str, state: Path) -> bool:
    """Returns True if the run reports that it made the file again, or need not report that."""
    if harm == "remove" and file.name == "seal.json":
        return True  # The files are intact and get new digests.
    if harm == "remove" and file.parent.name == "recipes":
        return output != ""  # The rig fetches the package as if for the first time.
    if not {*file.relative_to(state).parts}.isdisjoint(UNREPORTED):
        return True
    # If a digest is wrong, the rig reports the file that the digest belongs to.
    names = [path.stem for path in file.parent.rglob("*")] if file.name in SEALS else [file.stem]
    return any(name in output for name in names)


@pytest.mark.long("fetches and boots anew 15 times: five minutes; quick: tests/rig/test_seal.py")
def test_damaged_file_of_any_cache_is_made_again_and_changes_no_verdict(rig: Rig) -> None:
    for number in range(DAMAGES // len(CACHES)):
        draws = random.Random(f"{SEED} damaged caches {number}")
        done = [(draws.choice(rig.files(cache)), draws.choice(HARMS)) for cache in CACHES]
        for file, harm in done:
            harm(file, draws)
        output = rig.run(str(number))
        for file, harm in done:
            damage = f"{number}: {harm.__name__} {file.relative_to(rig.state)}"
            assert is_reported(file, harm.__name__, output, rig.state), f"{damage}\n{output}"
        found = compare_folders(rig.folder / str(number), rig.folder / "sound")
        assert not found.differences, f"{number}: {done}"
    assert rig.run("end") == ""
