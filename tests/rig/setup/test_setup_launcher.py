# SPDX-License-Identifier: GPL-2.0-or-later
"""The launcher, started as a user does, often on an empty state. No test installs anything."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from delayrig.setup.clean import check_ours, clean, mounts_below
from delayrig.setup.command import redact, run_logged
from delayrig.setup.console import Context, human_size, human_time, open_console
from delayrig.setup.errors import SetupError
from delayrig.setup.layout import Layout, find_layout
from delayrig.setup.lock import TAG_NAME, hold_state, prepare_state
from delayrig.setup.packages import read_packages

from tests.rig.launching import (
    LAUNCHER,
    SYSTEM_PYTHON,
    Terminal,
    context_of,
    copy_launcher,
    launch,
    launch_copy,
    pretend_ready,
)
from tests.rig.running import install_script, run

pytestmark = pytest.mark.skipif(not SYSTEM_PYTHON.exists(), reason="needs the system's Python")

SILENT = context_of(Path()).console
"""A console without a terminal."""


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """Returns a layout whose state folder the user chose; it does not exist yet."""
    return Layout(checkout=tmp_path, state=tmp_path / "state", moved=True)


def test_no_command_on_a_fresh_machine_is_bad_usage(tmp_path: Path) -> None:
    done = launch(tmp_path / "state")
    assert (done.returncode, done.stdout) == (2, "")


def test_unknown_option_of_clean_is_bad_usage_and_removes_nothing(tmp_path: Path) -> None:
    (tmp_path / TAG_NAME).touch()
    done = launch(tmp_path, "clean", "--all")
    assert done.returncode == 2
    assert "--all" in done.stderr
    assert (tmp_path / TAG_NAME).exists()


def test_clean_without_a_state_succeeds(tmp_path: Path) -> None:
    done = launch(tmp_path / "state", "clean", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert "nothing to clean" in done.stdout


def test_folder_with_other_files_is_refused_as_state(tmp_path: Path) -> None:
    (tmp_path / "letters").touch()
    done = launch(tmp_path, "run", "--no-install")
    assert done.returncode == 99
    assert "remedy:" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["letters"]


def test_missing_package_with_no_install_exits_99_and_keeps_stdout_clean(tmp_path: Path) -> None:
    query = install_script(tmp_path / "bin" / "dpkg-query", "#!/bin/sh\nexit 1\n")
    path = f"{query.parent}{os.pathsep}{os.environ['PATH']}"
    done = launch(tmp_path / "state", "run", "--no-install", PATH=path)
    assert (done.returncode, done.stdout) == (99, "")
    bisected = launch(tmp_path / "state", "gate", "--no-install", "--bisect", PATH=path)
    assert bisected.returncode == 125
    for package in read_packages(find_layout({}).setup / "packages.toml"):
        needed = not (package.optional or package.architectures or package.tests_only)
        assert not needed or package.name in done.stderr


def test_error_without_python_names_the_packages(tmp_path: Path) -> None:
    copy = tmp_path / "rig"
    text = LAUNCHER.read_text(encoding="utf-8")
    copy.write_text(text.replace("/usr/bin/python3", "/nowhere/python3"), encoding="utf-8")
    done = run("sh", copy, "run")
    assert (done.returncode, done.stdout) == (99, "")
    assert "apt-get install --no-install-recommends python3 python3-venv" in done.stderr


def test_colours_need_a_terminal_and_consent() -> None:
    def colours(output: io.StringIO, *, no_color: bool = False, **environment: str) -> bool:
        return open_console(output, io.StringIO(), environment, no_color=no_color).colours

    assert colours(Terminal())
    assert not colours(io.StringIO())
    assert not colours(Terminal(), no_color=True)
    assert not colours(Terminal(), NO_COLOR="1")
    assert not colours(Terminal(), TERM="dumb")


def test_clean_removes_only_a_state_that_set_up_made(layout: Layout) -> None:
    prepare_state(layout)
    assert clean(Context(layout=layout, console=SILENT)) == 0
    assert not layout.state.exists()
    layout.state.mkdir()
    (layout.state / "letters").touch()
    with pytest.raises(SetupError, match="not made by"):
        check_ours(layout)


def test_folder_is_removed_although_it_is_not_writable(tmp_path: Path) -> None:
    images = tmp_path / "state" / "images"
    images.mkdir(parents=True)
    (images / "a").touch()
    images.chmod(0o500)
    script = f"from delayrig.setup.clean import *; remove(Path({str(images.parent)!r}))"
    # Only this capability lets root write to it.
    without = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
    subprocess.run([*without, sys.executable, "-c", script], check=True)
    assert not images.parent.exists()


def test_mounts_inside_the_state_are_found_deepest_first() -> None:
    mounts = "".join(f"x {place} proc rw 0 0\n" for place in ("/", "/s/a", "/s/a/b", "/ss", "/s"))
    assert mounts_below(Path("/s"), mounts) == ["/s/a/b", "/s/a"]


def test_mount_is_found_below_a_state_with_a_space_and_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    mounts = f"x {tmp_path}/real/my\\040state/a proc rw 0 0\n"
    assert mounts_below(tmp_path / "link/my state", mounts) == [f"{tmp_path}/real/my state/a"]


def test_second_set_up_waits_for_the_first(layout: Layout) -> None:
    program = (
        "import sys; from delayrig.setup.lock import hold_state;"
        "from delayrig.setup.console import Console;"
        "from delayrig.setup.layout import Layout; from pathlib import Path;"
        "at = Layout(checkout=Path(sys.argv[1]), state=Path(sys.argv[2]));"
        "hold = hold_state(at, Console(output=sys.stdout, input=sys.stdin));"
        "hold.__enter__(); print('held', flush=True)"
    )
    argv = [sys.executable, "-c", program, str(layout.checkout), str(layout.state)]
    with hold_state(layout, SILENT):
        other = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        assert other.stdout is not None
        assert "another one is at work" in other.stdout.readline()
    assert other.communicate()[0] == "held\n"


def test_passwords_of_addresses_are_not_logged(tmp_path: Path) -> None:
    address = "http://me:secret@m.example.org/debian"
    done = run_logged(context_of(tmp_path), "apt", ["echo", f"Err: {address}"])
    assert done.tail == ("Err: http://***@m.example.org/debian",)
    assert "secret" not in done.log.read_text(encoding="utf-8")
    assert redact("http://m.example.org/a@b") == "http://m.example.org/a@b"


def test_failed_job_shows_the_end_of_its_log_and_reports_a_full_disk(tmp_path: Path) -> None:
    def failure(script: str) -> SetupError:
        done = run_logged(context_of(tmp_path), "build", ["sh", "-c", script])
        with pytest.raises(SetupError) as raised:
            done.require("building", "start again")
        return raised.value

    error = failure("seq 100; exit 3")
    assert "building failed (exit 3)" in error.message
    assert "100" in error.message
    assert "    88\n" not in error.message
    assert "build.log" in error.remedy
    full = failure("echo 'write error: No space left on device'; exit 1")
    assert "no space left" in str(full)


def test_sizes_and_times_are_rounded() -> None:
    sizes = [human_size(size_bytes) for size_bytes in (0, 999, 1200, 312_000_000)]
    assert sizes == ["0 bytes", "999 bytes", "1.2 kB", "312 MB"]
    sizes = [human_size(size_bytes) for size_bytes in (9_949, 9_950, 999_499, 999_500, 10**9 - 1)]
    assert sizes == ["9.9 kB", "10 kB", "999 kB", "1.0 MB", "1.0 GB"]
    assert human_size(999_500_000_000) == "1000 GB"
    times = [human_time(seconds) for seconds in (0.42, 9.94, 9.96, 43.2, 59.5, 60, 123)]
    assert times == ["0.4 s", "9.9 s", "10 s", "43 s", "1 min 0 s", "1 min 0 s", "2 min 3 s"]


def test_launcher_starts_the_rig_at_once_if_set_up_is_done(tmp_path: Path) -> None:
    copy, state = copy_launcher(tmp_path), tmp_path / "state"
    pretend_ready(copy, state)
    done = launch_copy(copy, state, "run", "--yes", "--seed", "7")
    assert done.stderr == ""
    words, *folders = done.stdout.splitlines()
    assert re.fullmatch(r"-X started_by=\d+ -P -m delayrig run --seed 7", words)
    assert folders == [str(state), str(copy)]


@pytest.mark.parametrize("arguments", [["run", "--help"], ["chips"], ["history", "steps", "-h"]])
def test_help_and_lists_need_no_more_than_the_python_environment(
    tmp_path: Path, arguments: list[str]
) -> None:
    copy, state = copy_launcher(tmp_path), tmp_path / "state"
    pretend_ready(copy, state)
    (state / "build" / "build.ninja").unlink()
    done = launch_copy(copy, state, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert f" -P -m delayrig {' '.join(arguments)}\n" in done.stdout
