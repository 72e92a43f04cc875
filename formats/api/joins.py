"""Joined models: two graphs as one, in which outputs of one are inputs of the other."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from ...core.building.model_ends import Pixels, base64_decoder, best_classes, picture_decoder, pixels_of
from ...core.explaining.default_fetches import outputs_of
from ...core.graph.graph import Graph, GraphLike, Output, as_graph
from ...core.graph.metagraph import find_signature
from ...core.inference.inference import infer
from ...core.support.arguments import checked, expect, named
from ...core.support.errors import InvalidArgumentError
from ...core.support.hints import Hint, option
from ...core.support.log import tell
from ...core.support.words import counted, some
from ...core.transforms import joined_graphs
from ...core.transforms.joined_graphs import PartNames
from ...core.types.dtypes import string
from ...core.types.shapes import TensorSpec
from ...core.types.tensors import Tensor
from ..saved_model_writing import PartOfModel, add_joined_signatures
from ..state import State, as_tensors
from .model_saving import needed_placeholders
from .names import Names

_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_.\-]+")
# TensorFlow's names begin with a letter, a digit or a dot.
_NO_BEGINNING: Final = re.compile(r"^[^A-Za-z0-9.]+")


class Joined(NamedTuple):
    """A graph joined from two."""

    graph: Graph
    state: dict[str, Tensor] | None
    """The values that were given for variables, by their names in the joined graph; None for none."""
    prefixes: tuple[str, str]
    """The scopes of the nodes of each part; empty if the names stay."""
    clashes: tuple[str, ...]
    """The names of nodes, variables and loops that both graphs have, for which the second graph got a prefix."""
    connected: Mapping[str, str]
    """The tensors in place of inputs, by the tensors of the inputs, with the names of the joined graph."""


@checked
def join(
    first: GraphLike,
    second: GraphLike,
    connect: Mapping[str, str] | None = None,
    *,
    first_prefix: str = "",
    second_prefix: str | None = None,
    first_state: State | None = None,
    second_state: State | None = None,
    signature: str | None = None,
) -> Joined:
    """Return both graphs as one, in which tensors of the first take the place of inputs of the second.

    `connect` maps inputs of the second graph to tensors of the first, by the names of a signature's arguments, of tensors,
    nodes or layers. Names of the joined graph serve on both sides, so that a tensor of the second graph may become an input
    of the first. A prefix is the scope of a graph's nodes, variables, tables and loops. By default names stay, but if both
    graphs have a name, the second graph gets the name of its file as a prefix.

    A SavedModel still restores its variables and fills its tables. `first_state` and `second_state` are values by name for
    the variables of each graph. `signature`, by default the usual one, is the signature of each graph that has it; the joined
    graph's has the inputs and outputs of both that are not connected.

    NotFoundError for an unknown name; InvalidArgumentError for ends of different dtypes or shapes, for names that clash in
    spite of the prefixes, and for a connection that closes a cycle.

        model, state = tfg.join("features.pb", "head", {"x": "features"})[:2]
        tfg.save_model(model, "both", state=state)
    """
    pairs = named(connect)
    expect(str, *pairs.values())
    graphs = (as_graph(first), as_graph(second))
    # It is enough that one of the graphs has the signature. If neither has it, `find_signature` raises the error with the
    # list.
    if signature is not None and not any(signature in graph.signatures for graph in graphs):
        find_signature(graphs[1].meta, signature)
    # Layers and nodes in functions become tensors first, as only tensors of the graphs themselves can be connected.
    given, taken = (_names(graph, signature, words) for graph, words in zip(graphs, (pairs.values(), pairs)))
    labels = (scope_name(graphs[0].file) or "first", scope_name(graphs[1].file) or "second")
    ends = [
        (taken.known(word, taken.inputs) or word, given.known(other, given.outputs) or other) for word, other in pairs.items()
    ]
    joined = joined_graphs.join((given.graph, taken.graph), ends, (first_prefix, second_prefix), labels[1])
    add_joined_signatures(joined.graph, [_part(*each) for each in zip((given, taken), joined.names, labels)])
    states = (as_tensors(first_state or {}), as_tensors(second_state or {}))
    # Values are given by the names of each graph, which a prefix may have changed.
    values = {own.name(name): value for own, state in zip(joined.names, states) for name, value in state.items()}
    prefixes = (joined.names[0].prefix, joined.names[1].prefix)
    result = Joined(joined.graph, values or None, prefixes, joined.clashes, joined.names[1].connected)
    for words in clash_words(result):
        tell("%s", words)
    return result


@checked
def prepend(
    graph: GraphLike,
    kind: str,
    input: str | None = None,
    *,
    mean: float | Sequence[float] = (),
    scale: float | Sequence[float] = (),
    bgr: bool = False,
    signature: str | None = None,
) -> Graph:
    """Return a copy of a model whose signature takes strings.

    The kind "image" decodes JPEG, PNG, GIF and BMP, resizes to the size of the model's input, and gives the model
    (pixel - `mean`) * `scale`: numbers, or a number for each channel, in the order of the model's channels, which `bgr`
    reverses. The kind "base64" decodes base64 for an input that takes bytes. `input` is needed if several inputs fit.

    InvalidArgumentError if no input fits, if the size of the pictures is unknown, and for a scale above 1.

        served = tfg.prepend("model", "image", mean=127.5, scale=1 / 127.5)
        tfg.save_model(served, "served")
    """
    names = Names(as_graph(graph), signature)
    if kind not in _FITTING:
        raise InvalidArgumentError(f"'{kind}' cannot be prepended", hint=f"choose one of {', '.join(_FITTING)}")
    inputs = names.inputs
    if not inputs:
        needed = needed_placeholders(names.graph, {}, map(names.graph.output, outputs_of(names.graph)))
        inputs = {word: value.name for word, value in needed.items()}
    word, tensor, spec = _one(names, inputs, input, *_FITTING[kind])
    # The name may already end in _bytes, the ending by which TensorFlow Serving knows binary strings.
    stem = scope_name(word).removesuffix("_bytes")
    if kind == "base64":
        end = base64_decoder(f"{stem}_base64", spec.shape)
    else:
        pixels = pixels_of(spec.shape, word)
        scaling = (_by_channel(mean, pixels, "mean"), _by_channel(scale, pixels, "scale"))
        end = picture_decoder(f"{stem}_bytes", pixels, spec.dtype, *scaling, bgr=bgr)
    # The small graph gets the prefix, so that the model keeps all its names, which checkpoints have too.
    prefix = joined_graphs.free_scope(names.graph, "prepended")
    return join(end.graph, names.graph, {tensor.name: end.output}, first_prefix=prefix, signature=signature).graph


@checked
def append(
    graph: GraphLike,
    top_k: int,
    labels: Sequence[str] | None = None,
    output: str | None = None,
    *,
    signature: str | None = None,
) -> Graph:
    """Return a copy of a classifier whose signature gives the best classes: `scores`, the largest first, and `classes`.

    Classes are `labels`, or numbers from 0 without labels. `output` names the scores, (..., classes), if the model has
    several outputs; the others stay. InvalidArgumentError for an output that is no scores, and for another number of labels.

        tfg.append("model", 5, tfg.read_labels("labels.txt"))
    """
    expect(str, *(labels or ()))
    names = Names(as_graph(graph), signature)
    outputs = names.outputs or {name.removesuffix(":0"): name for name in outputs_of(names.graph)}
    _, tensor, spec = _one(
        names, outputs, output, "output", "of scores", lambda spec: spec.dtype.is_floating and spec.shape.rank != 0
    )
    end = best_classes(spec.shape, spec.dtype, top_k, labels)
    prefix = joined_graphs.free_scope(names.graph, "appended")
    return join(names.graph, end.graph, {end.input: tensor.name}, second_prefix=prefix, signature=signature).graph


_FITTING: Final[Mapping[str, tuple[str, str, Callable[[TensorSpec], bool]]]] = {
    "image": ("input", "of pictures", lambda spec: spec.dtype.is_numeric and spec.shape.rank in (3, 4)),
    "base64": ("input", "of strings", lambda spec: spec.dtype is string),
}
"""The kinds of graphs in front of a model, and the inputs that fit each."""


def _one(
    names: Names, tensors: Mapping[str, str], word: str | None, kind: str, which: str, fits: Callable[[TensorSpec], bool]
) -> tuple[str, Output, TensorSpec]:
    """Return the tensor of the word, or the only one that fits, with its spec; InvalidArgumentError if there is not one."""
    specs = infer(names.graph).specs
    if word is not None:
        tensor = names.graph.output(names.known(word, tensors) or word)
        return word, tensor, specs[tensor]
    fitting = {word: value for word, name in tensors.items() if fits(specs[value := names.graph.output(name)])}
    if len(fitting) != 1:
        raise InvalidArgumentError(
            f"the model has {f'several {kind}s' if fitting else f'no {kind}'} {which}",
            hint=f"name one of {', '.join(fitting or tensors) or 'its tensors'}",
        )
    [(word, tensor)] = fitting.items()
    return word, tensor, specs[tensor]


def _by_channel(numbers: float | Sequence[float], pixels: Pixels, name: str) -> tuple[float, ...]:
    """Return a number for all channels, or for each; InvalidArgumentError for another number of numbers."""
    given = (numbers,) if isinstance(numbers, int | float) else tuple(numbers)
    expect(int | float, *given)
    values = tuple(map(float, given))
    if len(values) not in (0, 1, pixels.channels):
        raise InvalidArgumentError(f"{name} has {len(values)} numbers, and the pictures {counted(pixels.channels, 'channel')}")
    # Other tools divide by their scale. A 127.5 is meant as a divisor; as a factor it would make pixels of 30,000.
    if name == "scale" and any(abs(value) > 1 for value in values):
        raise InvalidArgumentError(
            f"scale {max(values, key=abs):g} is above 1: pixels of 0 to 255 are multiplied by it",
            hint="write 1/127.5 for 127.5",
        )
    return values


def clash_words(joined: Joined) -> list[str]:
    """Return what the log says of names that both graphs had."""
    had = f"both graphs have {some(joined.clashes)}"
    return [f"{had}: nodes of the second are named '{joined.prefixes[1]}/...'"] if joined.clashes else []


def scope_name(file: str) -> str:
    """Return the name of a file or folder as the name of a scope: without extensions and letters that no scope has."""
    return _NO_BEGINNING.sub("", _NOT_IN_NAMES.sub("_", os.path.basename(file).split(".")[0]))


def _names(graph: Graph, signature: str | None, words: Iterable[str]) -> Names:
    """Return the names of a graph in which each of the words that it knows has a tensor."""
    names = Names(graph, signature if signature in graph.signatures else None)
    signatures = graph.signatures if names.signature is None else {}
    for word in words:
        if word not in graph and any(word in (*each.fed, *each.fetched) for each in signatures.values()):
            hint = Hint("choose one with ", option("signature"), f": {', '.join(signatures)}")
            raise InvalidArgumentError(f"'{word}' is an argument of one of several signatures", hint=hint)
    return names.exposing(words, lambda text: tell("%s", text))


def _part(names: Names, own: PartNames, label: str) -> PartOfModel:
    """Return a part of a joined model, with arguments for a signature if the graph has none."""
    graph = names.graph
    words = () if names.signature is not None else outputs_of(graph)
    outputs = {name.removesuffix(":0"): graph.output(name) for name in words}
    arguments = {word: tensor for signature in graph.signatures.values() for word, tensor in signature.fed.items()}
    inputs = needed_placeholders(graph, arguments, outputs.values())
    return PartOfModel(graph, own, label, names.signature.name if names.signature is not None else "", inputs, outputs)
