"""`tfg completion`: print a script for shell completion."""

from __future__ import annotations

import click

from .. import render
from ..helps import GroupedCommand
from ..main import root

# Listed here, as `tab_completion` imports the graph's modules that only the Tab key needs.
_SHELLS = ("bash", "zsh", "fish")


@click.command(cls=GroupedCommand)
@click.argument("shell", type=click.Choice(_SHELLS))
def command(shell: str) -> None:
    """Print a script for SHELL that completes commands, options and the names of a graph.

    \b
    eval "$(tfg completion bash)"
    tfg completion fish > ~/.config/fish/completions/tfg.fish
    """
    from ..tab_completion import completion_script

    render.print_text(completion_script(shell, root))
