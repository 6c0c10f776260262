# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig --container COMMAND`: runs the rig in a container, with podman or docker.

The image has the distribution packages. It is built if it is missing or stale. The checkout is
mounted. The results of set-up are in a volume, which `rig/rig --container clean` removes.
"""

import hashlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from delayrig.setup.arguments import ARCHIVE_VARIABLE, Request, folder_of, named_archive
from delayrig.setup.command import answer, succeeds
from delayrig.setup.console import Console, Context
from delayrig.setup.distribution import this_release
from delayrig.setup.errors import ExitCode, SetupError
from delayrig.setup.layout import STATE_VARIABLE, Layout, data_home
from delayrig.setup.mounts import plan_mounts
from delayrig.setup.start_rig import run_forwarding

ROOTLESS = {
    "podman": ("podman", "info", "--format", "{{.Host.Security.Rootless}}"),
    "docker": ("docker", "info", "--format", "{{.ServerVersion}} {{json .SecurityOptions}}"),
}
"""The command that asks an engine which user it runs as.

If the engine does not work, the answer is empty or begins with a space.
"""
BASE_VARIABLE = "FLASHROM_RIG_BASE"
BASE = "debian:bookworm-slim"
STATE = "/var/lib/flashrom-rig"
NAME = "flashrom-rig"
RECIPE = ("ci", "Containerfile")
STAGE = "system"
PASSED = (
    *("NO_COLOR", "TERM", "FLASHROM_RIG_HISTORY", ARCHIVE_VARIABLE),
    *("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),
    *("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST"),
)
"""Variables that are passed on by name, so that their values are not in the command line."""
LIMIT = 4096
"""The limit of open files and of processes: enough for a guest on each of 500 CPUs."""
DID_NOT_START = (125, 126, 127)
"""The exit codes of an engine whose container did not start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A program that runs containers, and the user inside them."""

    name: str
    user: tuple[int, int] = (0, 0)
    """The user and group of the rig inside, so that the files it writes belong to the user."""


def present_engines() -> list[str]:
    return [name for name in ("podman", "docker") if shutil.which(name)]


def find_engine() -> Engine:
    """Returns the first engine that works."""
    present = present_engines()
    for name in present:
        facts = answer(ROOTLESS[name])
        if facts[:1].strip():
            return Engine(name=name, user=inside_user(name, facts, (os.getuid(), os.getgid())))
    if present:
        raise SetupError(
            f"{' and '.join(present)} is installed, but does not work for you",
            f"see what `{present[0]} info` says: its service may be stopped, or not open to you",
        )
    install = this_release().install("podman")
    how = f", as root: {install}" if install else ""
    raise SetupError("neither podman nor docker is installed", f"install podman{how}")


def inside_user(name: str, facts: str, user: tuple[int, int]) -> tuple[int, int]:
    """Returns the user and group that the rig has inside the container.

    In a rootless engine, root inside is `user` outside. podman runs as `user` itself, so its root
    is always `user`. docker's service may run as root; then the rig has the ids of `user` inside.
    """
    rootless = name == "podman" or "name=rootless" in facts
    return (0, 0) if rootless else user


def image_name(layout: Layout, engine: Engine, base: str) -> str:
    """Returns the name of the image, which contains the digest of its inputs.

    A stale image has another name.
    """
    digest = hashlib.sha256()
    for path in (layout.checkout.joinpath(*RECIPE), layout.setup / "packages.toml"):
        digest.update(path.read_bytes() + b"\0")
    digest.update(f"{base} {engine.user}".encode())
    return f"localhost/{NAME}:{digest.hexdigest()[:16]}"


def volume_name(layout: Layout, engine: Engine) -> str:
    return f"{NAME}-{hashlib.sha256(f'{layout.checkout} {engine.user}'.encode()).hexdigest()[:16]}"


def limit_options() -> list[str]:
    """Returns options that cap the engine's limits to those of this user.

    An engine's own limits may be higher, and then no container starts.
    """
    options = []
    for name in ("nofile", "nproc"):
        hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))[1]
        bound = LIMIT if hard == resource.RLIM_INFINITY else min(hard, LIMIT)
        options.append(f"--ulimit={name}={bound}:{bound}")
    return options


def run_in_container(context: Context, request: Request) -> int:
    """Runs the command in the container and returns its exit code."""
    engine = find_engine()
    layout, environment = context.layout, os.environ
    if request.command == "clean":
        return clean_up(context, engine)
    working = Path.cwd()
    history = history_folder(environment)
    archive = folder_of(named_archive(environment))
    mounts = plan_mounts(
        request.passed,
        working=working,
        checkout=layout.checkout,
        written=[history],
        read=[Path(archive)] if archive else [],
    )
    history.mkdir(parents=True, exist_ok=True)
    image = provide_image(context.console, layout, engine, environment.get(BASE_VARIABLE, BASE))
    terminal = all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))
    user, group = engine.user
    argv = [
        *(engine.name, "run", "--rm", "--interactive", *(["--tty"] if terminal else [])),
        *(f"--user={user}:{group}", f"--workdir={working}"),
        *("--cap-add=SYS_NICE", "--cap-add=IPC_LOCK", "--security-opt=label=disable"),
        *limit_options(),
        f"--mount=type=volume,source={volume_name(layout, engine)},target={STATE}",
        *(f"--mount={mount.option()}" for mount in mounts),
        f"--env={STATE_VARIABLE}={STATE}",
        f"--env=XDG_DATA_HOME={history.parent}",
        *(f"--env={name}" for name in PASSED if name in environment),
        # Without tini the rig would be PID 1, which has other rules for signals.
        *("--entrypoint=tini", image, "--"),
        *(str(layout.package_path / "rig"), "--yes", *request.passed),
    ]
    status, _ = run_forwarding(argv, environment)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        return 128 - code
    return ExitCode.RIG_FAULT if code in DID_NOT_START else code


def history_folder(environment: Mapping[str, str]) -> Path:
    """Returns the folder of the history, which is outside the container; raises `SetupError`."""
    try:
        return data_home(environment) / "flashrom-delay-rig"
    except RuntimeError as error:
        raise SetupError(
            "you have no home folder, so the history of runs has no place outside the container",
            "set XDG_DATA_HOME to a folder that you may write to",
        ) from error


def provide_image(console: Console, layout: Layout, engine: Engine, base: str) -> str:
    """Returns the image's name, after building it if it is missing."""
    image = image_name(layout, engine, base)
    if succeeds([engine.name, "image", "inspect", image]):
        return image
    console.begin(f"image of the container, from {base}")
    with tempfile.TemporaryDirectory(prefix="rig-image-") as folder:
        copy_sources(layout, Path(folder))
        user, group = engine.user
        argv = [
            *(engine.name, "build", "--target", STAGE, "--tag", image),
            *("--file", str(layout.checkout.joinpath(*RECIPE)), f"--build-arg=BASE={base}"),
            *(f"--build-arg=UID={user}", f"--build-arg=GID={group}", folder),
        ]
        built = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False)
    if built.returncode != 0:
        raise SetupError(
            f"{engine.name} could not build the image (exit {built.returncode})",
            f"see the lines above; where {base} is out of reach, ${BASE_VARIABLE} names another"
            " image of Debian 12 or newer",
        )
    return image


def copy_sources(layout: Layout, folder: Path) -> None:
    """Copies the launcher alone, because the recipe's first stage needs no more."""
    package = folder / "rig" / "delayrig"
    unwanted = shutil.ignore_patterns("__pycache__")
    shutil.copytree(layout.setup, package / "setup", ignore=unwanted)
    for name in ("__init__.py", "VERSION"):
        shutil.copy(layout.setup.parent / name, package)
    shutil.copy(layout.package_path / "rig", folder / "rig")


def clean_up(context: Context, engine: Engine) -> int:
    """Removes the volume of this checkout, and all images that the launcher built."""
    console, volume = context.console, volume_name(context.layout, engine)
    if console.interactive and not context.yes and not console.ask(f"Remove volume {volume}?"):
        console.write("nothing was removed")
        return ExitCode.PASS
    wanted = f"reference=localhost/{NAME}"
    images = answer([engine.name, "images", "--quiet", "--filter", wanted]).split()
    removed = succeeds([engine.name, "volume", "rm", volume])
    console.write(f"{'removed' if removed else 'there is no'} volume {volume}")
    for image in sorted(set(images)):
        if succeeds([engine.name, "rmi", image]):
            console.write(f"removed image {image}")
    return ExitCode.PASS
