# SPDX-License-Identifier: GPL-2.0-or-later
"""The simplest cell that still convicts a program whose delay function is given by address."""

import shutil
import subprocess
from pathlib import Path

import msgspec
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.model.cell import Cell
from delayrig.model.result import CellResult, Verdict
from delayrig.subjects.symbols import read_symbols

from .conftest import launch, run_plan
from .test_gate import SMALL_PLAN

CELL = "write.*"
TRIED_S = "1"
"""In this time it tries the cell itself, and all that it can begin."""


def test_program_without_symbols_is_shrunk_by_the_offset_that_its_run_was_told(
    paths: Paths, tmp_path: Path
) -> None:
    binary, plan, out = (tmp_path / name for name in ("flashrom", "small.toml", "out"))
    plan.write_text(SMALL_PLAN)
    shutil.copyfile(paths.flashrom_build / "flashrom-short", binary)
    symbols = read_symbols(binary)
    address = symbols.function("default_delay")
    assert address is not None
    offset = f"{symbols.file_offset(address):#x}"
    subprocess.run(["strip", str(binary)], check=True)
    binary.chmod(0o755)
    subject = f"path:{binary}"
    words = ["--plan", str(plan), "--subject", subject, "--cell", CELL, "--delay-offset", offset]
    run = run_plan(paths, out, *words)
    assert run.results.cells[0].verdict is Verdict.TOO_SHORT, run.said

    for number, told in enumerate((["--from", str(out)], words[:2] + words[2:4] + words[6:])):
        tried = tmp_path / f"tried-{number}"
        named = [] if "--from" in told else [CELL]
        more = ["--limit-s", TRIED_S, "--out", str(tried)]
        done = launch(paths, "shrink", *named, *told, *more)
        assert done.returncode == ExitCode.UNSAFE, done.stdout + done.stderr
        (folder,) = (tried / "001").glob("*.*/")
        cell = msgspec.json.decode((folder / "cell.json").read_bytes(), type=Cell)
        assert cell.subject == subject
        result = msgspec.json.decode((folder / "result.json").read_bytes(), type=CellResult)
        assert result.verdict is Verdict.TOO_SHORT
        assert f"--delay-offset {offset}" in result.rerun
