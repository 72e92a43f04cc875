"""`tfg --untrusted COMMAND` and TFG_UNTRUSTED=1: one switch for a command on a stranger's file."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final

import click

_REASONS: Final = {
    "allow_files": ("--allow-files", "the graph reads no files but its own"),
    "op_library": ("--op-library", "an op library is a program, which would run without limits"),
    "on": ("--on", "the network is closed"),
    "coordinator": ("--coordinator", "the network is closed"),
}
"""The options that contradict the switch, by parameter, and why."""


def with_untrusted(command: click.Command) -> click.Command:
    """Return the command with --untrusted, which limits all that the command does."""
    if command.callback is not None and not any(param.name == "untrusted" for param in command.params):
        command.params.append(
            click.Option(
                ["--untrusted"],
                is_flag=True,
                envvar="TFG_UNTRUSTED",
                help="Limit time (60 s) and memory (4G), and allow no other files, network or op libraries. Default: "
                "TFG_UNTRUSTED.",
            )
        )
        command.callback = _guarded(command.callback)
    return command


def _guarded(callback: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(callback)
    def guarded(*args: Any, untrusted: bool, **values: Any) -> Any:
        return _limited(callback, *args, **values) if untrusted else callback(*args, **values)

    return guarded


def _limited(callback: Callable[..., Any], *args: Any, **values: Any) -> Any:
    from ..core.runtime.guards.process_limits import limited_process
    from ..core.runtime.guards.stranger_limits import MEMORY, SECONDS
    from ..core.support.untrusted import untrusted_process

    _refuse_contradictions(values)
    limits: dict[str, Any] = {"timeout": SECONDS, "max_memory": MEMORY}
    own = {name: limits[name] for name in limits.keys() & values.keys() if values[name] is None}
    rest = {name: None if name in values else limit for name, limit in limits.items()}
    with limited_process(rest["timeout"], rest["max_memory"]), untrusted_process():
        return callback(*args, **values | own)  # the command sets its own limits


def _refuse_contradictions(values: Mapping[str, Any]) -> None:
    for name, (option, reason) in _REASONS.items():
        if values.get(name) and not str(values[name]).startswith("local:"):  # processes of this machine
            raise click.UsageError(f"--untrusted excludes {option}: {reason}")
