# SPDX-License-Identifier: GPL-2.0-or-later
"""Words that bash completes for our flashrom."""

import subprocess

import pytest
from delayrig.base.paths import find_paths

PATHS = find_paths()
SCRIPT = PATHS.checkout / "flashrom" / "cli" / "completion.bash"


@pytest.mark.parametrize(
    ("before", "word", "offered"),
    [
        ("flashrom", "--flash-", {"--flash-name", "--flash-size", "--flash-contents"}),
        ("-p", "serp", {"serprog"}),
        ("--chip", "M25P80", {"M25P80"}),
        ("-r", "some", set()),  # bash itself completes files
    ],
)
def test_word_is_completed_from_what_the_program_lists(
    before: str, word: str, offered: set[str]
) -> None:
    call = '. "$0"; compopt() { :; }; _flashrom "$1" "$2" "$3"; printf "%s\\n" "${COMPREPLY[@]}"'
    program = PATHS.flashrom_build / "flashrom"
    done = subprocess.run(
        ["bash", "-c", call, SCRIPT, program, word, before],
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stdout.split()) == offered
