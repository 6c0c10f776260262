# SPDX-License-Identifier: GPL-2.0-or-later
"""The options that the launcher takes from the command line, and those that it passes on."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from delayrig.setup.errors import UsageError

EXTRAS = ("cluster", "jobqueue", "parquet", "postgresql")
"""The locks in rig/extras."""
HELP = f"""\
Usage: rig/rig setup [--if-needed] [--lane host] [--tests] [--packages] [--extra NAME]
       rig/rig doctor [--lane host] [--security] [--json]
       rig/rig clean

Commands of the launcher:
  setup    brings the machine to where the rig can run; checks every step again
             --if-needed  only steps whose inputs changed
             --lane host  only what cells without guests need: no QEMU, no archive
             --tests      also what `tests/run` needs
             --packages   only the distribution packages
             --extra NAME also what few users need (repeatable):
                          {", ".join(EXTRAS)}
  doctor   says what is wrong with this machine, and what to do about it
             --lane host  only what cells without guests need
             --security   what is confined on this machine, and what is not
             --json       as JSON
  clean    removes everything that set-up made, except distribution packages

Options of the launcher, anywhere on the command line:
  --yes          never ask
  --no-install   never install distribution packages; say which are missing and exit 99
  --no-color     no colours (so does the variable NO_COLOR)
  -q, --quiet    says the answer and errors, and nothing else
  -v, --verbose  also says where an error is from
  --container    run the command in a container, by podman or docker
  --archive URI  take subjects and guests from this Debian archive (http, https, file or
                 copy; so does the variable FLASHROM_RIG_ARCHIVE)

$FLASHROM_RIG_STATE is the folder that holds everything set-up makes (default: .rig)

`rig/rig --help` lists all commands.
"""

LAUNCHER_OPTIONS = ("--yes", "--no-install", "--container")
ARCHIVE_OPTION, EXTRA_OPTION = "--archive", "--extra"
ARCHIVE_VARIABLE = "FLASHROM_RIG_ARCHIVE"
ON_HOST_ADDRESS = re.compile(r"https?://(?:[!-.0-~]*@)?[\w.:\[\]-]+(?:/[!-~]*)?", re.ASCII)
IN_FOLDER = re.compile(r"(?:file|copy):(?://)?(?P<folder>/(?:[!-.0-~][!-~]*)?)")
HELP_OPTIONS = ("--help", "-h")
QUIET_OPTIONS = ("-q", "--quiet")
VERBOSE_OPTIONS = ("-v", "--verbose")
SHARED = ("--no-color", *QUIET_OPTIONS, *VERBOSE_OPTIONS)
"""Options that every command accepts."""
LISTS = ("plans", "chips", "hazards", "machines", "subjects")
ON_HOST = ("--lane", "host", "--lane=host")
OWN_COMMANDS = {
    "setup": (*SHARED, "--if-needed", "--tests", "--packages", *ON_HOST),
    "doctor": (*SHARED, "--json", "--security", *ON_HOST),
    "clean": SHARED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    passed: tuple[str, ...]
    """All arguments except the launcher's options, for the rig."""
    given: tuple[str, ...]
    """All arguments before `--`, except `--archive URI`."""
    command: str | None
    needs_guests: bool
    """False if the command line chooses the host lane."""
    imported: str
    """The file of `images --import FILE`; empty for all other command lines."""
    sha256: str
    """The digest that this file must have; empty: any."""
    extras: tuple[str, ...]
    archive: str
    words: tuple[str, ...]
    """The words before the first option: the subcommand, and possibly its own subcommand."""

    def has(self, *options: str) -> bool:
        """Returns True if one of the options was given before `--`."""
        return not set(options).isdisjoint(self.given)

    @property
    def own(self) -> bool:
        """Returns True if the launcher itself executes the command."""
        return self.command in OWN_COMMANDS

    @property
    def asks_version(self) -> bool:
        return self.passed[:1] == ("--version",)

    @property
    def asks(self) -> bool:
        """Returns True if the answer needs no set-up: help, the version, or a list."""
        is_list = self.passed in {(name,) for name in LISTS}
        return self.has(*HELP_OPTIONS) or self.asks_version or self.command is None or is_list


def read_request(arguments: Sequence[str]) -> Request:
    """Parses the command line as the launcher needs it. Words after `--` are only passed on."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    ours, archive = _take_archive(arguments[:end])
    kept = [argument for argument in ours if argument not in LAUNCHER_OPTIONS]
    command = next((argument for argument in kept if not argument.startswith("-")), None)
    request = Request(
        passed=(*kept, *arguments[end:]),
        given=tuple(ours),
        command=command,
        # The last --lane counts, as the rig will read it. Commands without --lane may have --host.
        needs_guests=values_of("--lane", ours)[-1:] != ["host"] and "--host" not in ours,
        imported=next(iter(values_of("--import", kept)), "") if command == "images" else "",
        sha256=_sha256(kept) if command == "images" else "",
        extras=tuple(values_of(EXTRA_OPTION, kept)) if command == "setup" else (),
        archive=archive,
        words=tuple(takewhile(lambda word: not word.startswith("-"), kept)),
    )
    if command in OWN_COMMANDS:
        known = {command, *OWN_COMMANDS[command], *HELP_OPTIONS}
        if request.extras:
            named = (f"{EXTRA_OPTION}={extra}" for extra in request.extras)
            known |= {EXTRA_OPTION, *request.extras, *named}
        for argument in request.passed:
            if argument not in known:
                raise UsageError(f"rig/rig {command} does not know {argument!r}")
    return request


def _sha256(arguments: Sequence[str]) -> str:
    """Returns the last value of `--sha256`, empty if it is not given; raises `UsageError`."""
    given = values_of("--sha256", arguments)
    is_named = any(argument.partition("=")[0] == "--sha256" for argument in arguments)
    if is_named and not (given and re.fullmatch("[0-9a-fA-F]{64}", given[-1])):
        raise UsageError("--sha256 needs a SHA-256 digest: 64 hexadecimal digits")
    return given[-1] if given else ""


def _take_archive(arguments: Sequence[str]) -> tuple[list[str], str]:
    """Returns the arguments without `--archive URI`, and the last address that was given."""
    kept, archive = [], ""
    left = iter(arguments)
    for argument in left:
        name, equals, value = argument.partition("=")
        if name != ARCHIVE_OPTION:
            kept.append(argument)
        elif not (archive := value if equals else next(left, "")):
            raise UsageError(f"{ARCHIVE_OPTION} needs the address of a Debian archive")
    return kept, archive


def values_of(option: str, arguments: Sequence[str]) -> list[str]:
    """Returns all values of the option, given as `--option VALUE` or `--option=VALUE`."""
    return [
        follower if argument == option else argument.partition("=")[2]
        for argument, follower in zip(arguments, [*arguments[1:], ""], strict=False)
        if (argument == option and follower) or argument.startswith(f"{option}=")
    ]


def named_archive(environment: Mapping[str, str]) -> str:
    """Returns the checked address of the Debian archive that the user names; empty: none.

    It may hold a password, so it is never printed and never written to a file that others can read.
    Debian's own keys verify what comes from it, so it needs no trust.
    """
    uri = environment.get(ARCHIVE_VARIABLE, "")
    # It must be an address that apt accepts, and one word of a .sources file.
    if uri and not (ON_HOST_ADDRESS.fullmatch(uri) or IN_FOLDER.fullmatch(uri)):
        raise UsageError(
            f"--archive (or ${ARCHIVE_VARIABLE}) is no address of an archive:"
            " write http://HOST/PATH, https://HOST/PATH, file:/PATH or copy:/PATH"
        )
    return uri


def folder_of(uri: str) -> str:
    """Returns the folder of an archive on this machine; empty for one on a host."""
    match = IN_FOLDER.fullmatch(uri)
    return match["folder"] if match else ""
