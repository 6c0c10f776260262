# SPDX-License-Identifier: GPL-2.0-or-later
"""What the launcher takes from the command line, and what it hands on."""

from collections.abc import Sequence
from dataclasses import dataclass

from delayrig.setup.errors import UsageError

HELP = """\
Usage: rig/rig [--yes] [--no-install] COMMAND [ARGUMENTS]

Commands of the launcher, which need no set-up:
  setup    bring the machine to where the rig can run; checks every step again
           (--if-needed: only steps whose inputs changed; --lane host: only what cells
           without guests need, so no QEMU and nothing of the archive's; --tests: also
           what `tests/run` needs)
  doctor   say what is wrong with this machine, and what to do about it
           (--lane host: as far as cells without guests go)
  clean    remove everything that set-up made, distribution packages apart

Commands of the rig (set-up runs first, where it is needed):
  run  gate  repro  repeat  report  history  compare  threshold  latency  survey  export
  plans  chips  machines  hazards  subjects  images
  After set-up, `rig/rig --help` and `rig/rig COMMAND --help` describe each.

Options of the launcher, anywhere on the command line:
  --yes         never ask
  --no-install  never install distribution packages; say which are missing and exit 99
  --no-color    no colours (so does the variable NO_COLOR)

$FLASHROM_RIG_STATE is the folder that holds everything set-up makes (default: .rig)
"""

LAUNCHER_OPTIONS = ("--yes", "--no-install")
LANE_OPTION, HOST_LANE = "--lane", "host"
HOST_OPTION = "--host"
"""The same where a command has no other lanes to choose from."""
TESTS_OPTION = "--tests"
HELP_OPTIONS = ("--help", "-h")
OWN_COMMANDS = {
    "setup": (
        *("--no-color", "--if-needed", TESTS_OPTION),
        *(LANE_OPTION, HOST_LANE, f"{LANE_OPTION}={HOST_LANE}"),
    ),
    "doctor": ("--no-color", LANE_OPTION, HOST_LANE, f"{LANE_OPTION}={HOST_LANE}"),
    "clean": ("--no-color",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A command line, read."""

    command: str | None
    passed: tuple[str, ...]
    """Everything but the launcher's options, for the rig."""
    yes: bool = False
    no_install: bool = False
    no_color: bool = False
    help: bool = False
    if_needed: bool = False
    needs_guests: bool = True
    """False where the command line asks for the lane that has none."""
    for_tests: bool = False
    """Where the rig's own tests are to be run."""

    @property
    def own(self) -> bool:
        """True where the launcher itself does the command."""
        return self.command in OWN_COMMANDS


def read_request(arguments: Sequence[str]) -> Request:
    """Takes the launcher's options out; what follows a `--` is left alone."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    ours, rest = arguments[:end], arguments[end:]
    kept = [argument for argument in ours if argument not in LAUNCHER_OPTIONS]
    request = Request(
        command=next((argument for argument in kept if not argument.startswith("-")), None),
        passed=(*kept, *rest),
        yes="--yes" in ours,
        no_install="--no-install" in ours,
        no_color="--no-color" in ours,
        help=any(option in ours for option in HELP_OPTIONS),
        if_needed="--if-needed" in ours,
        needs_guests=lane_of(ours) != HOST_LANE and HOST_OPTION not in ours,
        for_tests=TESTS_OPTION in ours and "setup" in ours,
    )
    _check_own(request)
    return request


def lane_of(arguments: Sequence[str]) -> str:
    """What `--lane` says, as the rig will read it: the last one counts."""
    lane = ""
    for number, argument in enumerate(arguments):
        if argument == LANE_OPTION:
            lane = "".join(arguments[number + 1 : number + 2])
        elif argument.startswith(f"{LANE_OPTION}="):
            lane = argument.partition("=")[2]
    return lane


def _check_own(request: Request) -> None:
    if request.command not in OWN_COMMANDS:
        return
    known = {request.command, *OWN_COMMANDS[request.command], *HELP_OPTIONS}
    for argument in request.passed:
        if argument not in known:
            raise UsageError(f"rig/rig {request.command} does not know {argument!r}")
