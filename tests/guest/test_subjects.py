# SPDX-License-Identifier: GPL-2.0-or-later
"""Subjects by path, subjects that fail or cannot be judged, and reproducible images."""

import os
import subprocess
from pathlib import Path

import msgspec
import pytest
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.model.result import Verdict
from delayrig.subjects.elf import LIBRARY_PATH
from delayrig.subjects.guest_image import provide_guest_image
from delayrig.subjects.recipes import read_recipes
from delayrig.subjects.subject import provide_subject

from .conftest import FinishedRun, run_plan
from .plans import cell, plan, write_plan

AT = 'mips = 250, cores = 1, job = "write", chip = "W25Q128JV"'
DUMMY_PLAN = plan(cell("dummy", f'{AT}, programmer = "dummy"'), subjects='"debian:trixie"')


def unpack_subject(name: str, paths: Paths, folder: Path) -> Path:
    """Unpacks a packaged subject into a folder, as if a maintainer had built it there."""
    subject = provide_subject(name, read_recipes(paths.checkout), paths, lambda _: None)
    folder.mkdir()
    with Path(subject.archive).open("rb") as archive:
        subprocess.run(["cpio", "-i", "-d", "--quiet"], stdin=archive, cwd=folder, check=True)
    return folder


def test_program_of_a_package_is_convicted_by_path_and_under_another_name(
    smoke: FinishedRun, paths: Paths, tmp_path: Path
) -> None:
    root = unpack_subject("debian:bookworm", paths, tmp_path / "root")
    program = tmp_path / "some-tool"
    (root / "usr/sbin/flashrom").rename(program)
    name = f"path:{program}"
    run = run_plan(
        paths,
        tmp_path / "out",
        *("--plan", "smoke", "--subject", name, "--cell", "demonstration.*"),
        environment={**os.environ, LIBRARY_PATH: str(root / "lib")},
    )
    assert run.exit_code == ExitCode.UNSAFE, run.output
    ours = run.cell("demonstration", name)
    theirs = smoke.cell("demonstration", "debian:bookworm")
    assert ours.verdict is Verdict.TOO_SHORT
    assert ours.subject.sha256 == theirs.subject.sha256
    assert ours.evidence == theirs.evidence


def test_path_subject_without_its_library_is_bad_input(paths: Paths, tmp_path: Path) -> None:
    build = ["gcc", "-x", "c", "-", "-o"]
    library, program = tmp_path / "libneeded.so", tmp_path / "flashrom"
    subprocess.run(
        [*build, str(library), "-shared"], input=b"int f(void) { return 0; }", check=True
    )
    subprocess.run(
        [*build, str(program), "-x", "none", library.name],
        input=b"int f(void); int main(void) { return f(); }",
        cwd=tmp_path,
        check=True,
    )
    library.unlink()
    run = run_plan(paths, tmp_path / "out", "--plan", "smoke", "--subject", f"path:{program}")
    assert run.exit_code == ExitCode.BAD_INPUT, run.output
    assert "libneeded.so" in run.output
    assert not (tmp_path / "out").exists()


def test_dummy_programmer_of_a_subject_is_skipped(paths: Paths, tmp_path: Path) -> None:
    run = run_plan(paths, tmp_path / "out", "--plan", write_plan(tmp_path, DUMMY_PLAN))
    assert run.exit_code == ExitCode.SKIPPED, run.output
    skipped = run.cell("dummy", "debian:trixie")
    assert skipped.verdict is Verdict.SKIPPED
    assert "dummy programmer" in skipped.reason


@pytest.mark.long("fetches and makes all images again; quick: digests of packed files")
def test_images_made_twice_have_the_same_digests(paths: Paths, tmp_path: Path) -> None:
    recipes = read_recipes(paths.checkout)
    elsewhere = Paths(checkout=paths.checkout, state=tmp_path / "state")
    elsewhere.state.mkdir()
    # The agent and our flashrom are not compiled again, but their archives are made again.
    elsewhere.build.symlink_to(paths.build)
    ours = provide_guest_image(recipes.guest, paths, lambda _: None)
    theirs = provide_guest_image(recipes.guest, elsewhere, lambda _: None)
    assert ours.initrd != theirs.initrd
    assert (ours.kernel_sha256, ours.initrd_sha256) == (theirs.kernel_sha256, theirs.initrd_sha256)
    for name in ("debian:trixie", "bundled"):
        one = provide_subject(name, recipes, paths, lambda _: None)
        other = provide_subject(name, recipes, elsewhere, lambda _: None)
        assert one.archive != other.archive
        assert one.archive_sha256 == other.archive_sha256


def test_results_have_the_digest_of_each_image(smoke: FinishedRun) -> None:
    header = msgspec.to_builtins(smoke.results.run)
    digests = header["image_digests"]
    assert {"kernel", "initrd", "emulator", "qemu", "subject debian:bookworm"} <= digests.keys()
    assert all(len(value) == 64 for value in digests.values())
    assert header["lock"] in ("same", "differs", "incomplete")


PRETENDER = """\
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static const char *const chips[] = {"", "W25Q128.V", ""};
int main(int argc, char **argv)
{
	printf("flashrom 99.0 %s\\n", chips[argc > 99]);
	fflush(stdout);
	BEHAVIOUR;
	return 0;
}
"""


def run_pretender(paths: Paths, folder: Path, behaviour: str) -> FinishedRun:
    """Runs a program that only pretends to be flashrom in one cell that writes."""
    program = folder / "pretender"
    subprocess.run(
        ["gcc", "-O0", "-static", "-x", "c", "-", "-o", str(program)],
        input=PRETENDER.replace("BEHAVIOUR", behaviour).encode(),
        check=True,
    )
    file = write_plan(folder, plan(cell("pretender", AT), subjects=f'"path:{program}"'))
    return run_plan(paths, folder / "out", "--plan", file)


def test_subject_that_never_ends_is_hung_in_virtual_time(paths: Paths, tmp_path: Path) -> None:
    run = run_pretender(paths, tmp_path, "pause()")
    (found,) = run.results.cells
    assert found.verdict is Verdict.HUNG, run.output
    assert run.exit_code == ExitCode.INCONCLUSIVE
    assert found.time_ns.total >= 600_000_000_000


def test_failed_subject_is_op_failed_and_quoted(paths: Paths, tmp_path: Path) -> None:
    run = run_pretender(paths, tmp_path, 'puts("no programmer, no luck"); return 3')
    (found,) = run.results.cells
    assert found.verdict is Verdict.OP_FAILED, run.output
    assert run.exit_code == ExitCode.INCONCLUSIVE
    assert "no programmer, no luck" in found.reason


def test_subject_that_passes_without_a_write_is_corrupt(paths: Paths, tmp_path: Path) -> None:
    run = run_pretender(paths, tmp_path, "(void)0")
    (found,) = run.results.cells
    assert found.verdict is Verdict.CORRUPT, run.output
    assert run.exit_code == ExitCode.UNSAFE
