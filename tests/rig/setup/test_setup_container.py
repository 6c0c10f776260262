# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig --container`, with stubs of podman and docker, and the folders that it mounts."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from delayrig.setup.container import (
    RECIPE,
    STAGE,
    Engine,
    copy_sources,
    history_folder,
    image_name,
    inside_user,
    volume_name,
)
from delayrig.setup.errors import SetupError, UsageError
from delayrig.setup.layout import Layout, find_layout
from delayrig.setup.mounts import Mount, plan_mounts

from tests.rig.launching import LAUNCHER
from tests.rig.running import install_script, run

LAYOUT = find_layout({})
ENGINE = """\
#!{python} -SE
import json, os, sys
with open({log!r}, "a") as log:
    print(json.dumps(sys.argv[1:]), file=log)
verb = sys.argv[1]
if verb == "info":
    print({info!r})
    sys.exit({alive})
if verb == "image":
    sys.exit(not os.path.exists({image!r}))
if verb == "build":
    open({image!r}, "w").close()
    sys.exit({built})
if verb == "images":
    print("two", "one", "two")
if verb == "run":
    {run}
"""


@dataclass(kw_only=True)
class Bench:
    """A machine with stubs of container engines."""

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)

    def install(self, name: str, *, run: str = "sys.exit(0)", **more: str) -> None:
        """Puts a stub of an engine on the PATH."""
        values = {"info": "false", "alive": "0", "built": "0"} | more
        text = ENGINE.format(
            python=sys.executable,
            log=str(self.folder / "log"),
            image=str(self.folder / "image"),
            run=run,
            **values,
        )
        install_script(self.folder / "bin" / name, text)

    def argv(self, *arguments: str) -> tuple[list[str], dict[str, str], Path]:
        """Returns the launcher's arguments, variables and working folder."""
        variables = {
            "PATH": f"{self.folder / 'bin'}:{self.folder / 'tools'}",
            "HOME": str(self.folder / "home"),
            **self.variables,
        }
        return [str(LAUNCHER), *arguments], variables, self.folder / "work"

    def launch(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Starts the launcher in the working folder, without a terminal."""
        words, variables, folder = self.argv(*arguments)
        return run(*words, cwd=folder, env=variables, stdin=subprocess.DEVNULL)

    def calls(self, verb: str) -> list[list[str]]:
        """Returns the engine's calls of that verb."""
        log = self.folder / "log"
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        return [words for words in map(json.loads, lines) if words[0] == verb]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    for name in ("bin", "home", "tools", "work"):
        (tmp_path / name).mkdir()
    for tool in ("dirname", "readlink", "sh"):
        found = shutil.which(tool)
        assert found is not None
        (tmp_path / "tools" / tool).symlink_to(found)
    return Bench(folder=tmp_path)


def values_of(words: list[str], option: str) -> list[str]:
    return [word.partition("=")[2] for word in words if word.startswith(f"{option}=")]


def test_command_runs_in_the_container_and_its_exit_code_is_returned(bench: Bench) -> None:
    bench.install("podman", run="sys.exit(4)")
    done = bench.launch("--container", "run", "--plan", "smoke")
    assert done.returncode == 4
    (words,) = bench.calls("run")
    start = words.index("--")
    assert words[start + 1 :] == [str(LAUNCHER), "--yes", "run", "--plan", "smoke"]
    assert "--rm" in words
    assert "--tty" not in words
    assert f"--workdir={bench.folder / 'work'}" in words


@pytest.fixture
def words(bench: Bench) -> list[str]:
    """Returns the arguments of podman when the launcher runs a command in a container."""
    bench.install("podman")
    bench.launch("run", "--container")
    (found,) = bench.calls("run")
    return found


def test_limits_of_the_container_do_not_exceed_those_of_the_user(words: list[str]) -> None:
    limits = dict(word.split("=") for word in values_of(words, "--ulimit"))
    for name, number in (("nofile", resource.RLIMIT_NOFILE), ("nproc", resource.RLIMIT_NPROC)):
        hard = resource.getrlimit(number)[1]
        soft_limit, hard_limit = limits[name].split(":")
        assert soft_limit == hard_limit
        assert hard == resource.RLIM_INFINITY or int(hard_limit) <= hard


def test_state_is_in_a_volume_and_the_checkout_is_read_only(words: list[str]) -> None:
    mounts = values_of(words, "--mount")
    volume = volume_name(LAYOUT, Engine(name="podman"))
    state = "/var/lib/flashrom-rig"
    assert f"type=volume,source={volume},target={state}" in mounts
    assert f"FLASHROM_RIG_STATE={state}" in values_of(words, "--env")
    checkout = LAYOUT.checkout
    assert f"type=bind,source={checkout},target={checkout},readonly" in mounts


def test_image_is_built_once_from_the_recipes_first_stage(bench: Bench) -> None:
    bench.install("podman")
    bench.variables["FLASHROM_RIG_BASE"] = "base.example/debian:13"
    assert bench.launch("--container", "run").returncode == 0
    assert bench.launch("--container", "run").returncode == 0
    (words,) = bench.calls("build")
    assert words[words.index("--target") + 1] == STAGE
    assert words[words.index("--file") + 1] == str(LAYOUT.checkout.joinpath(*RECIPE))
    assert "--build-arg=BASE=base.example/debian:13" in words
    assert len(bench.calls("run")) == 2


@pytest.mark.parametrize(
    ("engines", "words"),
    [
        pytest.param({}, "install podman", id="no engine"),
        pytest.param(
            {"docker": {"info": " null", "alive": "0"}},
            "docker is installed",
            id="engine does not work",
        ),
        pytest.param({"podman": {"built": "1"}}, "FLASHROM_RIG_BASE", id="image cannot be built"),
    ],
)
def test_failure_before_the_container_starts_is_a_rig_fault_with_a_remedy(
    bench: Bench, engines: dict[str, dict[str, str]], words: str
) -> None:
    for name, values in engines.items():
        bench.install(name, **values)
    done = bench.launch("--container", "run")
    assert done.returncode == 99
    assert words in done.stderr
    assert not bench.calls("run")


def test_image_name_depends_on_recipe_packages_base_and_user(tmp_path: Path) -> None:
    layout = Layout(checkout=tmp_path, state=tmp_path / "state")
    packages = layout.setup / "packages.toml"
    recipe = tmp_path.joinpath(*RECIPE)
    names = set()
    for folder in (packages.parent, recipe.parent):
        folder.mkdir(parents=True)
    for texts in (("a", "b"), ("a", "c"), ("d", "b")):
        recipe.write_text(texts[0], encoding="utf-8")
        packages.write_text(texts[1], encoding="utf-8")
        for base in ("debian:12", "debian:13"):
            for user in ((0, 0), (1000, 1000)):
                names.add(image_name(layout, Engine(name="docker", user=user), base))
    assert len(names) == 12


def test_copied_sources_are_enough_to_start_the_launcher(tmp_path: Path) -> None:
    copy_sources(LAYOUT, tmp_path)
    done = run(tmp_path / "rig" / "rig", "setup", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "--packages" in done.stdout


@pytest.mark.parametrize(
    ("engine", "info", "inside"),
    [
        ("podman", "true", (0, 0)),
        ("podman", "false", (0, 0)),
        ("docker", '27.5.1 ["name=seccomp,profile=builtin"]', (1000, 100)),
        ("docker", '27.5.1 ["name=seccomp","name=rootless"]', (0, 0)),
    ],
)
def test_user_inside_is_root_only_if_root_inside_is_the_user_outside(
    engine: str, info: str, inside: tuple[int, int]
) -> None:
    assert inside_user(engine, info, (1000, 100)) == inside


def test_docker_runs_the_rig_as_the_user(bench: Bench) -> None:
    bench.install("docker", info='27.5.1 ["name=seccomp"]')
    assert bench.launch("--container", "run").returncode == 0
    user, group = os.getuid(), os.getgid()
    assert f"--user={user}:{group}" in bench.calls("run")[0]
    assert f"--build-arg=UID={user}" in bench.calls("build")[0]


def test_docker_is_used_if_podman_does_not_answer(bench: Bench) -> None:
    bench.install("podman", info="", alive="1")
    bench.install("docker", run="sys.exit(3)")
    assert bench.launch("--container", "run").returncode == 3


@pytest.mark.parametrize("code", [125, 126, 127])
def test_container_that_does_not_start_is_a_rig_fault(bench: Bench, code: int) -> None:
    bench.install("podman", run=f"sys.exit({code})")
    assert bench.launch("--container", "run").returncode == 99
    assert bench.launch("--container", "gate", "--bisect").returncode == 125


def test_variables_of_the_rig_are_passed_without_their_values(bench: Bench) -> None:
    bench.install("podman")
    bench.variables |= {"NO_COLOR": "1", "OTHER": "x"}
    bench.launch("--container", "run", "--archive", "http://me:secret@archive.example/debian")
    (words,) = bench.calls("run")
    passed = values_of(words, "--env")
    assert {"NO_COLOR", "FLASHROM_RIG_ARCHIVE"} <= set(passed)
    assert "OTHER" not in passed
    assert "secret" not in " ".join(words)


def test_history_is_in_a_folder_of_the_user(bench: Bench, words: list[str]) -> None:
    data = bench.folder / "home" / ".local" / "share"
    folder = data / "flashrom-delay-rig"
    assert f"XDG_DATA_HOME={data}" in values_of(words, "--env")
    assert f"type=bind,source={folder},target={folder}" in values_of(words, "--mount")
    assert folder.is_dir()


def test_user_without_a_home_must_name_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    with pytest.raises(SetupError) as raised:
        history_folder({})
    assert "XDG_DATA_HOME" in raised.value.remedy


def test_help_starts_no_container(bench: Bench) -> None:
    bench.install("podman")
    done = bench.launch("--container", "run", "--help")
    assert (done.returncode, bench.calls("info")) == (0, [])


def test_clean_removes_volume_and_images(bench: Bench) -> None:
    bench.install("podman")
    done = bench.launch("--container", "clean", "--yes")
    volume = volume_name(LAYOUT, Engine(name="podman"))
    assert done.returncode == 0
    assert bench.calls("volume") == [["volume", "rm", volume]]
    assert bench.calls("rmi") == [["rmi", "one"], ["rmi", "two"]]
    assert not bench.calls("run")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_is_passed_to_the_engine_and_its_exit_code_returned(
    bench: Bench, number: int
) -> None:
    script = (
        "import signal\n"
        "    for n in (1, 2, 15): signal.signal(n, lambda n, _: sys.exit(100 + n))\n"
        "    print('ready', flush=True)\n"
        "    while True: signal.pause()"
    )
    bench.install("podman", run=script)
    words, variables, folder = bench.argv("--container", "run")
    with subprocess.Popen(words, cwd=folder, env=variables, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        assert process.wait(20) == 100 + number


def test_engine_killed_by_a_signal_gives_128_plus_its_number(bench: Bench) -> None:
    bench.install("podman", run="os.kill(os.getpid(), 9)")
    assert bench.launch("--container", "run").returncode == 128 + 9


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("rig/rig", "rig/emulators", "rig/images", "work/build", "data/old", "tree/bin"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path


def planned(home: Path, working: str, *arguments: str) -> dict[str, bool]:
    mounts = plan_mounts(arguments, working=home / working, checkout=home / "rig")
    return {str(mount.place.relative_to(home)): mount.writable for mount in mounts}


SOURCES = {f"rig/{name}": False for name in ("emulators", "images", "rig")}


@pytest.mark.parametrize(
    ("working", "mounted"),
    [
        ("work", {"rig": False, "work": True}),
        ("rig", {"rig": True, **SOURCES}),
        (".", {".": True, "rig": False}),
        ("rig/images", {"rig": False, "rig/images": True}),
    ],
    ids=["beside the checkout", "the checkout", "around the checkout", "inside the checkout"],
)
def test_working_folder_is_writable_and_the_sources_are_not(
    home: Path, working: str, mounted: dict[str, bool]
) -> None:
    assert planned(home, working, "run") == mounted


@pytest.mark.parametrize(
    "arguments",
    [
        ["--out", "{home}/data/new/deeper"],
        ["--out={home}/data/new"],
        ["--out", "../data/new"],
        ["--format", "junit:{home}/data/junit.xml"],
        ["compare", "../data/old/../a", "{home}/data/b"],
    ],
)
def test_folder_of_an_argument_outside_is_writable(home: Path, arguments: list[str]) -> None:
    words = [word.format(home=home) for word in arguments]
    assert planned(home, "work", *words) == {"rig": False, "work": True, "data": True}


def test_program_under_test_is_mounted_with_its_folder_unless_in_the_working_folder(
    home: Path,
) -> None:
    (home / "tree/bin/flashrom").touch()
    mounted = planned(home, "work", "--subject", "path:../tree/bin/flashrom")
    assert mounted == {"rig": False, "work": True, "tree/bin": False}
    (home / "work/build/flashrom").touch()
    words = ("--build", "make", "--subject", "path:./build/flashrom")
    assert planned(home, "work", *words) == {"rig": False, "work": True}


def test_folder_behind_a_symbolic_link_is_mounted_at_both_paths(home: Path) -> None:
    (home / "link").symlink_to(home / "data")
    mounted = planned(home, "work", "--out", f"{home}/link/new")
    assert mounted == {"rig": False, "work": True, "data": True, "link": True}


@pytest.mark.parametrize(
    "word", ["debian:trixie", "qemu+ssh://host/system", "sqlite:////srv/db", "W25*", "signals:20"]
)
def test_argument_that_is_not_a_path_is_not_mounted(home: Path, word: str) -> None:
    assert planned(home, "work", "run", word) == {"rig": False, "work": True}


@pytest.mark.parametrize("path", ["/new", "/etc/x", "/usr/lib/y/z", "/var/w", "path:/usr/bin/ls"])
def test_path_in_a_system_folder_of_the_container_is_refused(home: Path, path: str) -> None:
    with pytest.raises(UsageError, match="cannot be passed on to a container"):
        planned(home, "work", "--out", path)


def test_given_folders_are_mounted_unless_inside_the_working_folder(home: Path) -> None:
    mounts = plan_mounts(
        [],
        working=home / "work",
        checkout=home / "rig",
        written=[home / "data"],
        read=[home / "tree", home / "work" / "build"],
    )
    found = [(mount.place.name, mount.writable) for mount in mounts]
    assert found == [("data", True), ("rig", False), ("tree", False), ("work", True)]


def test_mount_has_the_same_path_inside() -> None:
    option = "type=bind,source=/a/b,target=/a/b"
    assert Mount(place=Path("/a/b"), writable=True).option() == option
    assert Mount(place=Path("/a/b"), writable=False).option() == f"{option},readonly"
