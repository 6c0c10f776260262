# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig reference` and `measure`: the parts of rig/docs that are generated or measured.

The launcher prints the generated helps and lists if the rig is not set up yet.
"""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import click
import msgspec

from delayrig.base.die_with_parent import PR_SET_PDEATHSIG, prctl
from delayrig.base.errors import ExitCode, RigFaultError
from delayrig.base.paths import Paths, find_paths
from delayrig.cli.command import RigCommand
from delayrig.decision.decision import FILE_NAME as GATE_FILE
from delayrig.decision.decision import read_decision
from delayrig.features.documents import measured
from delayrig.features.documents.event_reference import events_page
from delayrig.features.lists import hazard_lines, subject_lines
from delayrig.features.selfcheck.known_bad import FILE_NAME as KNOWN_BAD_FILE
from delayrig.features.selfcheck.known_bad import SCHEMA, KnownBad
from delayrig.model.result import FILE_NAME as RESULTS_FILE
from delayrig.model.result import Results, read_results, read_versioned
from delayrig.run.out_folder import default_out

COLUMNS = 80
MARGIN_COLUMNS = 2
RUNS = {
    "default": ("run", "--plan", "default"),
    "gate": ("gate", "--baseline", "debian:bookworm", "--candidate", "debian:trixie"),
    "known-bad": ("selfcheck", "known-bad"),
    "strangers": ("selfcheck", "known-bad", "--stripped", "--renamed"),
    "never-accused": ("run", "--plan", "never-accused"),
    "newest": ("run", "--plan", "newest"),
    "programmers": ("run", "--plan", "programmers"),
    "firmwares": ("run", "--plan", "firmwares"),
}
WITH_DELAYS = ("default", "gate/baseline", "gate/candidate")
PAGES = "rig/docs/measured"
QUOTING = ("README.md", "rig/docs/tutorial/first-run.md")
"""The documents whose marked lines are replaced."""
FILES = {"run": RESULTS_FILE, "gate": GATE_FILE, "selfcheck": KNOWN_BAD_FILE}
"""The file that each command writes at its end."""
ANSWERS = (ExitCode.PASS, ExitCode.UNSAFE, ExitCode.INCONCLUSIVE)


@click.command(cls=RigCommand, hidden=True)
@click.pass_context
def reference(ctx: click.Context) -> None:
    """Writes helps, lists and the page of events to rig/docs/reference/."""
    folder = find_paths().checkout / "rig" / "docs" / "reference"
    for name, text in reference_texts(ctx.find_root().command).items():
        write_text(folder / name, text)


def reference_texts(root: click.Command) -> dict[str, str]:
    """Returns every text by its file below rig/docs/reference/."""
    helps = "\n".join(sorted(help_texts(root)))
    lists = {"hazards.txt": hazard_lines(), "subjects.txt": subject_lines()}
    texts = {name: "".join(f"{line}\n" for line in lines) for name, lines in lists.items()}
    return {"command-line.txt": helps, **texts, "events.md": events_page()}


def help_texts(
    command: click.Command, parent: click.Context | None = None, name: str = ""
) -> Iterator[str]:
    """Yields the output of `--help` of each subcommand on a terminal of 80 columns."""
    context = click.Context(
        command,
        parent=parent,
        info_name=name or "rig/rig",
        terminal_width=COLUMNS - MARGIN_COLUMNS,
        help_option_names=["-h", "--help"],
    )
    yield f"{context.get_help()}\n"
    for child in command.commands.values() if isinstance(command, click.Group) else ():
        yield from help_texts(child, context, child.name or "")


def write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@click.command(cls=RigCommand, hidden=True)
@click.option("--only", multiple=True, type=click.Choice(list(RUNS)), help="One part; repeatable.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for the runs. What is finished there is not run again.",
)
def measure(only: Sequence[str], out: Path | None) -> None:
    """Measures the figures of documents, and writes them there and into rig/docs/measured/.

    All parts take about an hour on two cores.
    """
    checkout = find_paths().checkout
    folder = out or default_out("measured")
    for part in only or RUNS:
        _provide(part, folder / part)
        for name, (parts, page) in MADE_FROM.items():
            if part in parts and all(_is_finished(each, folder / each) for each in parts):
                write_text(checkout / PAGES / name, page(folder))
        if part in QUOTED:
            for document in (checkout / name for name in QUOTING):
                text = document.read_text(encoding="utf-8")
                write_text(document, QUOTED[part](text, folder / part))


def made_with(results: Results, paths: Paths) -> str:
    """Returns a sentence that names QEMU, kernel and compiler, on which the figures depend."""
    compilers = msgspec.json.decode((paths.build / "meson-info/intro-compilers.json").read_bytes())
    kernel = results.run.image_digests["kernel"]
    return (
        f"Made with {results.run.qemu_version}, the guest kernel of digest {kernel[:12]}, and"
        f" {compilers['host']['c']['full_version']}."
    )


def _is_finished(part: str, folder: Path) -> bool:
    return (folder / FILES[RUNS[part][0]]).is_file()


def _provide(part: str, folder: Path) -> None:
    if _is_finished(part, folder):
        return
    words = [sys.executable, "-P", "-m", "delayrig", *RUNS[part], "--out", str(folder)]
    end_with_parent = partial(prctl, PR_SET_PDEATHSIG, signal.SIGTERM)
    status = subprocess.run(words, check=False, preexec_fn=end_with_parent).returncode
    if status not in ANSWERS:
        raise RigFaultError(f"rig/rig {' '.join(RUNS[part])}: exit code {status}", hint="see above")


def _default(folder: Path) -> str:
    results = read_results(folder / "default")
    return measured.run_page(results, made_with(results, find_paths()))


def _gate(folder: Path) -> str:
    runs = [read_results(folder / run) for run in WITH_DELAYS]
    return measured.gate_page(read_decision(folder / "gate"), runs)


def _known_bad(folder: Path) -> str:
    paths = (folder / part / KNOWN_BAD_FILE for part in ("known-bad", "strangers"))
    plain, strange = (read_versioned(path, KnownBad, schema=SCHEMA) for path in paths)
    return measured.known_bad_page(plain, strange, read_results(folder / "never-accused"))


def _newest(folder: Path) -> str:
    return measured.newest_page(
        *(read_results(folder / part) for part in ("newest", "programmers"))
    )


MADE_FROM: dict[str, tuple[tuple[str, ...], Callable[[Path], str]]] = {
    "default.md": (("default",), _default),
    "firmwares.md": (
        ("firmwares",),
        lambda folder: measured.firmwares_page(read_results(folder / "firmwares")),
    ),
    "gate.md": (("default", "gate"), _gate),
    "newest.md": (("newest", "programmers"), _newest),
    "known-bad.md": (("known-bad", "strangers", "never-accused"), _known_bad),
}
"""The pages, each with the parts that it needs."""
QUOTED: dict[str, Callable[[str, Path], str]] = {
    "default": lambda text, folder: measured.requoted(text, read_results(folder)),
    "gate": lambda text, folder: measured.requoted_answer(text, read_decision(folder)),
}
"""The parts that documents quote, and how a document gets their new figures."""
