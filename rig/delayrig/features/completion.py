# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig completion`: makes a shell complete words of `rig/rig`, whatever its path."""

import click

from delayrig.base.errors import RigFaultError
from delayrig.cli.command import RigCommand

VARIABLE = "_RIG_COMPLETE"
NAME = "rig"
# Bash breaks words at colons, and a completion replaces only the last part.
BASH = """\
_rig_completion() {
    local line="${COMP_LINE:0:COMP_POINT}" type value
    local -a words
    read -r -a words <<<"$line"
    [[ $line == *' ' ]] && words+=("")
    local word="${words[-1]}"
    local before="${word%"${word##*[:=]}"}"
    COMPREPLY=()
    while IFS=, read -r type value; do
        case $type in
        plain) COMPREPLY+=("${value#"$before"}") ;;
        file) compopt -o default ;;
        dir) compopt -o dirnames ;;
        esac
    done < <(COMP_WORDS="${words[*]}" COMP_CWORD=$((${#words[@]} - 1)) \\
        _RIG_COMPLETE=bash_complete "$1" 2>/dev/null)
}
complete -o nosort -F _rig_completion rig
"""
# Click's own scripts look for the program in the PATH, which does not contain this one.
OTHERS = {
    "zsh": (
        ("    (( ! $+commands[rig] )) && return 1\n", ""),
        ("_RIG_COMPLETE=zsh_complete rig)", '_RIG_COMPLETE=zsh_complete "${words[1]}")'),
    ),
    "fish": (
        ("COMP_CWORD=(commandline -t) rig)", "COMP_CWORD=(commandline -t) (commandline -opc)[1])"),
        ('string split "," $completion', 'string split -m 1 "," $completion'),
    ),
}


@click.command(cls=RigCommand)
@click.argument("shell", type=click.Choice(["bash", *OTHERS]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Prints the code that makes SHELL complete commands, options and names.

    \b
      eval "$(rig/rig completion bash)"      in ~/.bashrc
      eval "$(rig/rig completion zsh)"       in ~/.zshrc, after compinit
      rig/rig completion fish | source       in ~/.config/fish/config.fish
    """
    click.echo(BASH if shell == "bash" else _script(ctx.find_root().command, shell), nl=False)


def _script(root: click.Command, shell: str) -> str:
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    text = kind(root, {}, NAME, VARIABLE).source()
    for theirs, ours in OTHERS[shell]:
        if theirs not in text:
            raise RigFaultError(
                f"click's script for {shell} has changed: it does not contain {theirs.strip()!r}",
                hint="see OTHERS in features/completion.py",
            )
        text = text.replace(theirs, ours)
    return text
