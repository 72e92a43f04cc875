"""Shell completion: names of the graph on the command line, of passes, and of signatures.

`eval "$(tfg completion bash)"` enables completion in bash; zsh and fish work the same way.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from ..core.graph.graph import Graph
from ..core.support.errors import TfgError

_MAX_OFFERED: Final = 500


def _nodes(graph: Graph) -> Iterable[str]:
    return (node.name for node in graph)


def _ops(graph: Graph) -> Iterable[str]:
    return dict.fromkeys(node.op for node in graph)


def _scopes(graph: Graph) -> Iterable[str]:
    return dict.fromkeys(node.name.rpartition("/")[0] for node in graph if "/" in node.name)


def _signatures(graph: Graph) -> Iterable[str]:
    return graph.meta.signatures if graph.meta is not None else ()


def _passes(_: Graph) -> Iterable[str]:
    from ..core.passes.order import all_passes

    return ["default", *(kind.name for kind in all_passes())]


_BY_OPTION: Final[Mapping[str, Callable[[Graph], Iterable[str]]]] = {
    "--signature": _signatures,
    "--init-op": _nodes,
    "--fetch": _nodes,
    "--to": _nodes,
    "--op": _ops,
    "--function": lambda graph: graph.functions,
    "--disable": _passes,
    "--after": _passes,
}
_BY_METAVAR: Final[Mapping[str, Callable[[Graph], Iterable[str]]]] = {
    "TENSOR": _nodes,
    "NODE": _nodes,
    "OP": _nodes,
    "[NODE]...": _nodes,
    "TENSOR=VALUE": _nodes,
    "TENSOR=SIZES": _nodes,
    "SCOPE": _scopes,
    "LIST": _passes,
}
_GRAPHS: Final = ("graph", "graphs", "before", "model")
_FILES: Final = (*_GRAPHS, "after", "prefix")


def offer_names(command: click.Command) -> click.Command:
    """Return the command with parameter types that complete names."""
    for param in command.params:
        names = _names_for(param)
        if isinstance(param, click.Argument) and param.name in _FILES:
            param.type = _File()
        elif names is not None and not isinstance(param.type, click.Choice):
            param.type = _Names(names)
    return command


def _names_for(param: click.Parameter) -> Callable[[Graph], Iterable[str]] | None:
    by_option = (_BY_OPTION[flag] for flag in param.opts if flag in _BY_OPTION)
    return next(by_option, None) or _BY_METAVAR.get(param.make_metavar(click.Context(click.Command("tfg"))))


class _File(click.ParamType[str]):
    """The shell's own completion of file names."""

    name = "file"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="file")]


class _Names(click.ParamType[Any]):
    """Names that a graph has."""

    name = "name"

    def __init__(self, names: Callable[[Graph], Iterable[str]]) -> None:
        self._names = names

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        fitting = (name for name in self._names(_graph(ctx)) if name.startswith(incomplete))
        return [CompletionItem(name) for name, _ in zip(fitting, range(_MAX_OFFERED), strict=False)]


def _graph(ctx: click.Context) -> Graph:
    """Return the first readable graph on the command line; an empty graph if none is readable."""
    from ..formats.loading import load_leniently

    for path in _paths(ctx):
        try:
            return load_leniently(path)[0]
        except TfgError:
            continue  # a shell's prompt is no place for errors: nothing is offered
    return Graph()


def _paths(ctx: click.Context) -> Iterator[str]:
    """Yield possible paths of the graph; words before an incomplete option are still in the remaining arguments."""
    yield from (word for word in ctx.args if os.path.exists(word))
    for name in _GRAPHS:
        value = ctx.params.get(name)
        yield from value if isinstance(value, tuple) else filter(None, [value])
