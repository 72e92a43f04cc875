"""Functions of a library as entry points: a call of the function is added to the graph, with a signature."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from ...graph.graph import Function, Graph, GraphLike, Output, as_graph
from ...graph.metagraph import Bound, MetaGraph, SavedCallable, Signature, SignatureTensor, find_signature
from ...graph.node_making import add_identity, add_placeholder
from ...support import dataclasses
from ...support.arguments import checked, names_of
from ...support.errors import InvalidArgumentError, NotFoundError
from ...support.hints import Hint, option
from ...types.shapes import UNKNOWN, Shape
from ...types.tensors import FuncRef
from .restored_variables import restored_variables

CALL: Final = "__call__"
"""The function of a SavedModel's objects that Python calls as the model."""
_GENERATED: Final = re.compile(r"(?:__inference_)?(.*?)(?:_\d+)?")
"""The Python name of a function inside the name that TensorFlow generates."""


def entry_points(graph: Graph) -> list[str]:
    """Return what a model is called by: the usual signature, or else the function of its objects that Python calls as the
    model, with a name for each trace, or the only function; nothing if no signature or function stands out.
    """
    meta = graph.meta or MetaGraph()
    usual = [name for name, signature in meta.signatures.items() if signature is meta.usual_signature]
    if usual:
        return usual
    names = [one.name for one in meta.callables if all(item.key or item.tensor for item in one.bound)]
    calls = [name for name in names if name.partition("[")[0] == CALL]
    return calls or (names if len(names) == 1 else [])


def entry(graph: Graph, name: str) -> tuple[Graph, Signature]:
    """Return a graph and its signature by name; for a function of the model's objects, a copy in which a node calls it.

    InvalidArgumentError lists the signatures for a name that neither has.
    """
    functions = [one.name for one in graph.meta.callables] if graph.meta is not None else []
    if name in graph.signatures or not any(name in (each, each.partition("[")[0]) for each in functions):
        return graph, find_signature(graph.meta, name)
    called = graph.copy()
    called.file = graph.file
    call_function(called, name)
    return called, next(iter(called.signatures.values()))


def as_called(graph: Graph) -> Graph:
    """Return the graph of a model; of a model without signatures, a copy in which a node calls what `entry_points` finds."""
    names = entry_points(graph)
    return graph if graph.signatures or not names else entry(graph, names[0])[0]


def as_run(graph: GraphLike, outputs: Sequence[str]) -> Graph:
    """Return a graph whose `outputs` run; without them that of a model without signatures as Python calls it."""
    return as_graph(graph) if names_of(outputs) else as_called(as_graph(graph))


@checked
def call_function(graph: Graph, word: str) -> None:
    """Add a call of the function that `word` names, and make the call the graph's only signature.

    The function's arguments become placeholders; its bound inputs (variables, assets, tables) come from the graph.
    """
    saved = _saved_callable(graph, word)
    function = graph.function(saved.function)
    count = len(function.args) - len(saved.bound)
    arguments = list(_arguments(graph, function, count))
    owners = restored_variables(graph) if any(item.key for item in saved.bound) else {}
    bound = [_bound(graph, saved, item, owners) for item in saved.bound]
    attrs = {
        "f": FuncRef(saved.function),
        "Tin": [node.attrs["T"] for node in function.args],
        "Tout": [value.base_dtype for value in function.results],
    }
    # Stateful, since the function may have effects: a call whose results nobody reads would otherwise be left out.
    call = graph.add_node(graph.unique_name(saved.function), "StatefulPartitionedCall", [*arguments, *bound], (), attrs)
    results = {}
    for name, value in zip(_result_names(saved, function), call.outputs()):
        node = add_identity(graph, re.sub(r"[^\w./-]", "_", name), value, value.base_dtype)
        results[name] = _tensor(node.output())
    taken = {value.node.name: _tensor(value, value.node.attrs["shape"]) for value in arguments}
    signature = Signature(saved.name, taken, results)
    meta = graph.meta or MetaGraph()
    graph.meta = dataclasses.replace(meta, signatures={saved.name: signature}, chosen=saved.name)


def _result_names(saved: SavedCallable, function: Function) -> Sequence[str]:
    """Return the Python names of a function's results, where each result is a tensor."""
    names = [arg.name for arg in function.signature.outputs]
    # A result that is a structure of tensors has one Python name, but several tensors.
    return saved.results if len(saved.results) == len(names) else names


def function_named(graph: Graph, word: str) -> str:
    """Return the library function that `word` names: by the whole name, by the Python name, or by a path of attributes."""
    return _saved_callable(graph, word).function


def _saved_callable(graph: Graph, word: str) -> SavedCallable:
    saved = graph.meta.callables if graph.meta is not None else ()
    matches = [one for one in saved if word in (one.name, one.function)]
    traces = [one for one in saved if one.name.startswith(f"{word}[")]
    if not matches and not traces:
        exact = [word] if word in graph.functions else [name for name in graph.functions if _short(name) == word]
        matches = [next((one for one in saved if one.function == name), SavedCallable(name, name, (), ())) for name in exact]
    if matches and (len(matches) == 1 or word in (matches[0].name, matches[0].function)):
        return matches[0]
    options = matches or traces
    if options:
        listed = ", ".join(f"'{one.name}'" for one in options[:8])
        raise InvalidArgumentError(f"'{word}' names {len(options)} functions", hint=f"choose a function: {listed}")
    names = dict.fromkeys([*(one.name for one in saved), *map(_short, graph.functions), *graph.functions])
    near = get_close_matches(word, names, 4, 0.5) or list(names)[:8]
    hint = f"the functions are {', '.join(near)}" if near else "the graph has no functions"
    raise NotFoundError(f"the graph has no function '{word}'", hint=hint)


def _short(name: str) -> str:
    match = _GENERATED.fullmatch(name)
    return match[1] if match is not None else name


def _arguments(graph: Graph, function: Function, count: int) -> Iterator[Output]:
    """Yield placeholders for the arguments that a caller gives."""
    shapes = function.attrs.get("_input_shapes")
    for number, node in enumerate(function.args[:count]):
        dtype = node.attrs["T"]
        if dtype.name == "resource":
            hint = Hint("only a call in the graph passes handles: fetch the results of the call with ", option("fetch"))
            raise InvalidArgumentError(f"function '{function.name}' takes the handle '{node.name}'", hint=hint)
        shape = shapes[number] if isinstance(shapes, list) and number < len(shapes) else UNKNOWN
        name = node.attrs.get("_user_specified_name", node.name.encode()).decode("utf-8", "replace")
        known = shape if isinstance(shape, Shape) else UNKNOWN
        yield add_placeholder(graph, re.sub(r"[^\w./-]", "_", name), dtype, known).output()


def _bound(graph: Graph, saved: SavedCallable, item: Bound, owners: Mapping[str, str]) -> Output:
    """Return the output for a bound input of a function; InvalidArgumentError if the graph has no output for the input."""
    owner = owners.get(item.key) if item.key else None
    if owner is not None:
        return graph.output(owner)
    if item.tensor:
        return graph.output(item.tensor)
    raise InvalidArgumentError(f"function '{saved.name}' is bound to {item.words}, which the graph lacks")


def _tensor(value: Output, shape: Shape = UNKNOWN) -> SignatureTensor:
    return SignatureTensor(value.name, value.base_dtype, shape)
