"""Shell completion: names of the graph on the command line, of passes, signatures, tensors and engines.

`eval "$(tfg completion bash)"` enables completion in bash; zsh and fish work the same way.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

import click
from click.shell_completion import CompletionItem

from ..core.graph.graph import Graph
from ..core.support.engine_names import AUTO, NUMPY
from ..core.support.errors import TfgError
from .options import FILE_METAVARS

_MAX_OFFERED: Final = 500


def _nodes(graph: Graph) -> Iterable[str]:
    return (node.name for node in graph)


def _values(graph: Graph) -> Iterator[str]:
    """Yield names of tensors: the outputs, layers and nodes as the author of the model knows them, then nodes of the file."""
    from ..core.model.model_view import model_view

    view = model_view(graph)
    outputs = () if view.signature is None else view.signature.fetched
    author = (node.name for node in view.graph)
    yield from dict.fromkeys((*outputs, *view.layers.values(), *author, *_nodes(graph)))


def _inputs(graph: Graph) -> Iterator[str]:
    """Yield names of tensors to feed: the inputs of the usual signature, then nodes."""
    signature = graph.meta.usual_signature if graph.meta is not None else None
    yield from dict.fromkeys((*(() if signature is None else signature.fed), *_nodes(graph)))


def _ops(graph: Graph) -> Iterable[str]:
    return dict.fromkeys(node.op for node in graph)


def _scopes(graph: Graph) -> Iterable[str]:
    return dict.fromkeys(node.name.rpartition("/")[0] for node in graph if "/" in node.name)


def _signatures(graph: Graph) -> Iterable[str]:
    return graph.meta.signatures if graph.meta is not None else ()


def _of_graph(names: Callable[[Graph], Iterable[str]], ctx: click.Context) -> Iterable[str]:
    return names(_graph(ctx))


def _passes(_: click.Context) -> Iterable[str]:
    from ..core.passes.pass_listing import all_passes

    return ["default", *(kind.name for kind in all_passes())]


def _engines(_: click.Context) -> Iterable[str]:
    from ..core.engines.engine_registry import engine_names

    return [NUMPY, AUTO, *engine_names()]


def _stored_tensors(ctx: click.Context) -> Iterable[str]:
    """Return the names of the tensors of the checkpoint on the command line."""
    from ..formats.api.checkpoints import read_checkpoint

    return _first_readable(lambda path: list(read_checkpoint(path)), ctx) or ()


_OF_GRAPH: Final[Mapping[str, Callable[[Graph], Iterable[str]]]] = {
    "--signature": _signatures,
    "--init-op": _nodes,
    "--fetch": _values,
    "--to": _values,
    "--op": _ops,
    "--function": lambda graph: graph.functions,
    "TENSOR": _values,
    "NODE": _nodes,
    "OP": _nodes,
    "[NODE]...": _values,
    "TENSOR=VALUE": _inputs,
    "TENSOR[=VALUE]": _inputs,
    "TENSOR=SIZES": _inputs,
    "SCOPE": _scopes,
}
"""The names of a graph that an option or a metavar takes."""
_BY_NAME: Final[Mapping[str, Callable[[click.Context], Iterable[str]]]] = {
    **{name: functools.partial(_of_graph, names) for name, names in _OF_GRAPH.items()},
    "--values": _stored_tensors,
    "--engine": _engines,
    "--disable": _passes,
    "--after": _passes,
    "LIST": _passes,
}
"""The names that an option or a metavar takes."""
_GRAPHS: Final = ("graph", "graphs", "before", "model", "source")
_FILES: Final = (*_GRAPHS, "after", "prefix")
_Read = TypeVar("_Read")


def offer_names(command: click.Command) -> click.Command:
    """Return the command with parameter types that complete names and files."""
    for param in command.params:
        metavar = param.make_metavar(click.Context(click.Command("tfg")))
        names = next((_BY_NAME[name] for name in (*param.opts, metavar) if name in _BY_NAME), None)
        if (isinstance(param, click.Argument) and param.name in _FILES) or metavar in FILE_METAVARS:
            param.type = _File()
        elif names is not None and not isinstance(param.type, click.Choice):
            param.type = _Names(names)
    return command


class _File(click.ParamType[str]):
    """The shell's own completion of file names."""

    name = "file"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="file")]


class _Names(click.ParamType[Any]):
    """Names of a graph, of a checkpoint or of tfg."""

    name = "name"

    def __init__(self, names: Callable[[click.Context], Iterable[str]]) -> None:
        self._names = names

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        fitting = (name for name in self._names(ctx) if name.startswith(incomplete) and _is_value(name, param))
        return [CompletionItem(name) for name, _ in zip(fitting, range(_MAX_OFFERED), strict=False)]


def _is_value(name: str, param: click.Parameter) -> bool:
    """Return False for a name that the command would read as an option: `--output=FILE` in the place of a node."""
    return isinstance(param, click.Option) or not name.startswith("-")


def _graph(ctx: click.Context) -> Graph:
    """Return the first readable graph on the command line; an empty graph if none is readable."""
    from ..formats.loading import load_leniently

    return _first_readable(lambda path: load_leniently(path)[0], ctx) or Graph()


def _first_readable(read: Callable[[str], _Read], ctx: click.Context) -> _Read | None:
    """Read the first file on the command line that can be read; pipes and the terminal keep what they hold."""
    for path in _paths(ctx):
        try:
            return read(path)
        except TfgError:
            continue  # a shell's prompt is no place for errors: nothing is offered
    return None


def _paths(ctx: click.Context) -> Iterator[str]:
    """Yield possible paths of the graph; words before an incomplete option are still in the remaining arguments."""
    for words in (ctx.args, *(ctx.params.get(name) or () for name in (*_GRAPHS, "prefix"))):
        yield from (word for word in ([words] if isinstance(words, str) else words) if _is_file(word))


def _is_file(path: str) -> bool:
    return os.path.isfile(path) or os.path.isdir(path) or os.path.isfile(f"{path}.index")
