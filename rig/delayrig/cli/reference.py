# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig reference`: writes what of rig/docs/reference is made from the code.

The launcher prints helps and lists before the rig is set up.
"""

from collections.abc import Iterator
from pathlib import Path

import click

from delayrig.base.paths import find_paths
from delayrig.cli.command import RigCommand
from delayrig.cli.lists import hazard_lines, subject_lines
from delayrig.present.event_reference import events_page

COLUMNS = 80
MARGIN_COLUMNS = 2


@click.command(cls=RigCommand, hidden=True)
@click.pass_context
def reference(ctx: click.Context) -> None:
    """Writes helps, lists and the page of events to rig/docs/reference/."""
    folder = find_paths().checkout / "rig" / "docs" / "reference"
    texts = reference_texts(ctx.find_root().command)
    for old in set((folder / "command-line").glob("*.txt")) - {folder / name for name in texts}:
        old.unlink()
    for name, text in texts.items():
        write_text(folder / name, text)


def reference_texts(root: click.Command) -> dict[str, str]:
    """Every text by its file below rig/docs/reference/."""
    helps = {f"command-line/{name}.txt": text for name, text in help_texts(root)}
    lists = {"hazards.txt": hazard_lines(), "subjects.txt": subject_lines()}
    texts = {name: "".join(f"{line}\n" for line in lines) for name, lines in lists.items()}
    return {**helps, **texts, "events.md": events_page()}


def help_texts(
    command: click.Command, parent: click.Context | None = None, name: str = ""
) -> Iterator[tuple[str, str]]:
    """What `--help` prints on a terminal of 80 columns, by the words of the subcommand."""
    context = click.Context(
        command,
        parent=parent,
        info_name=name or "rig/rig",
        terminal_width=COLUMNS - MARGIN_COLUMNS,
        help_option_names=["-h", "--help"],
    )
    words = context.command_path.split(" ")[1:]
    yield "-".join(words) or "rig", f"{context.get_help()}\n"
    for child in command.commands.values() if isinstance(command, click.Group) else ():
        yield from help_texts(child, context, child.name or "")


def write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
