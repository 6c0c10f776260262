# SPDX-License-Identifier: GPL-2.0-or-later
"""Words that shells complete for `rig/rig`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from delayrig.base.errors import ExitCode
from delayrig.base.paths import find_paths
from delayrig.main import main
from delayrig.model.result import Results, write_results

from tests.rig.builders import make_cell, make_result, make_run_header

CHECKOUT = find_paths().checkout
DEMONSTRATION = (
    "demonstration.debian-bookworm.62mips.4c.low-res-timers+busy-siblings.W25Q128JV-typ.write"
)


def offered(line: str, shell: str = "bash") -> list[str]:
    """Returns the completions of the line's last word."""
    words = line.split(" ")
    number = words[-1] if shell == "fish" else str(len(words) - 1)
    done = subprocess.run(
        [sys.executable, "-m", "delayrig"],
        env={
            **os.environ,
            "_RIG_COMPLETE": f"{shell}_complete",
            "COMP_WORDS": line,
            "COMP_CWORD": number,
        },
        capture_output=True,
        text=True,
        check=True,
    )
    if shell == "zsh":  # an item has three lines: type, word, help
        return done.stdout.splitlines()[1::3]
    items = [item.partition("\t")[0] for item in done.stdout.splitlines() if item]
    return [item.partition(",")[2] for item in items]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("rig/rig tr", {"trace", "try"}),
        ("rig/rig run --plan sm", {"smoke"}),
        ("rig/rig run --subject debian:t", {"debian:trixie"}),
        ("rig/rig gate --candidate bun", {"bundled"}),
        ("rig/rig try bundled --chip W25Q128", {"W25Q128FV", "W25Q128JV", "W25Q128JW"}),
        ("rig/rig try bundled --chip M25P80,W25Q128JV", {"M25P80,W25Q128JV"}),
        ("rig/rig try bundled --hazard low", {"low-res-timers"}),
        ("rig/rig try bundled --hazard low-res-timers+busy", {"low-res-timers+busy-siblings"}),
        ("rig/rig repro --plan smoke demonstration.debian-b", {DEMONSTRATION}),
        ("rig/rig run --plan smoke --cell tty.debian-t", {"tty.debian-trixie.250mips.1c.calm."}),
    ],
)
def test_word_is_completed_from_what_there_is(shell: str, line: str, words: set[str]) -> None:
    found = offered(line, shell)
    assert len(found) == len(words)
    assert all(one.startswith(tuple(words)) for one in found)


def test_part_of_an_id_is_completed_to_the_whole() -> None:
    assert DEMONSTRATION in offered("rig/rig repro --plan smoke bookworm.62mips")


def test_cells_of_a_run_are_those_of_its_results(tmp_path: Path) -> None:
    cells = [make_cell(name="one"), make_cell(name="two")]
    results = [make_result(cell) for cell in cells]
    write_results(Results(run=make_run_header(), cells=results), tmp_path)
    assert offered(f"rig/rig repro --from {tmp_path} tw") == [cells[1].id]
    assert offered(f"rig/rig repro --from {tmp_path}/nowhere tw") == []


def test_cells_of_a_gate_are_those_of_both_sides(tmp_path: Path) -> None:
    for side in ("baseline", "candidate"):
        (tmp_path / side).mkdir()
        cell = msgspec.structs.replace(make_cell(), side=side)
        results = Results(run=make_run_header(), cells=[make_result(cell)])
        write_results(results, tmp_path / side)
    (tmp_path / "gate.json").write_text("{}")
    found = offered(f"rig/rig repro --from {tmp_path} group")
    assert [one.split(".")[1] for one in found] == ["candidate", "baseline"]


def test_file_may_stand_where_no_name_fits() -> None:
    assert offered("rig/rig run --subject ./build/fla") == ["./build/fla"]


def script(shell: str) -> str:
    done = CliRunner().invoke(main, ["completion", shell])
    assert done.exit_code == ExitCode.PASS, done.output
    return done.stdout


@pytest.mark.parametrize(
    ("line", "replies"),
    [
        ("rig/rig try bundled --chip W25Q128JV", ["W25Q128JV"]),
        # Readline takes the part after the colon for the word.
        ("rig/rig run --subject debian:t", ["trixie"]),
        ("rig/rig run --subject debian:", ["bookworm", "trixie", "bullseye", "sid"]),
        ("rig/rig completion ", ["bash", "zsh", "fish"]),
    ],
)
def test_script_for_bash_completes_the_launcher_by_its_path(
    tmp_path: Path, line: str, replies: list[str]
) -> None:
    launcher = tmp_path / "rig" / "rig"
    launcher.parent.mkdir()
    launcher.write_text(f'#!/bin/sh\nexec {sys.executable} -m delayrig "$@"\n')
    launcher.chmod(0o755)
    call = (
        'COMP_LINE=$1 COMP_POINT=${#1}; _rig_completion rig/rig; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", f"{script('bash')}\n{call}", "bash", line],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == replies, done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_runs_the_launcher_as_it_was_typed_and_its_shell_takes_it(shell: str) -> None:
    text = script(shell)
    assert f"_RIG_COMPLETE={shell}_complete" in text
    assert f"_RIG_COMPLETE={shell}_complete rig" not in text
    assert "$+commands" not in text
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"no {shell} on this machine")
    done = subprocess.run([program, "-n", "-c", text], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
