"""The scopes of layers, by the names that the author of a model gave."""

from __future__ import annotations

import collections
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from ..graph.frames import hands_in
from ..graph.graph import Node
from ..support.grouping import grouped

CALL: Final = re.compile(r"(?:Stateful)?PartitionedCall(?:_\d+)?")
"""The name of a call: the scope in which freezing and inlining leave the nodes of its function."""
_FROZEN_READ: Final = re.compile(r"/ReadVariableOp(_\d+)?/resource$")
_KERAS_3_READ: Final = re.compile(r"/(?:Cast|convolution|Reshape)(?:_\d+)?/ReadVariableOp(_\d+)?/resource$")
"""The reads of weights in layers of Keras 3: those of Keras 2 lie below the ops, as `MatMul`."""
_UNIQUE_NUMBER: Final = re.compile(r"_\d+$")
_UNIQUE_NUMBERS: Final = re.compile(r"(_\d+)+$")


class ScopedNode(NamedTuple):
    """A node by its path: what `AuthorScopes` has to know of a node."""

    path: str
    """The name of the node, behind the calls that lead to its function."""
    weights: tuple[str, ...] = ()
    """The names of the variables and constant weights that the node reads."""
    is_forward: bool = True
    """False for a node of the backward pass, or of an update."""
    is_repeated: bool = False
    """True for a node of a loop."""


_SEED: Final = re.compile(r"(?:^|/)seed_generator(?:_\d+)?/seed_generator_state(?:_\d+)?$")
_CELL: Final = re.compile(r"\w*cells?(_\d+)?")
"""The names of the layers that a recurrent layer of Keras or of TensorFlow 1 runs."""
_ATTENTION: Final = {"query", "key", "value", "attention_output"}
"""The dense layers of Keras' MultiHeadAttention and GroupedQueryAttention."""
_STEM: Final = re.compile(r"(?:.*_)?[a-zA-Z]+\d+[a-z]?(?=_)|.*?[a-zA-Z]_\d+(?=_)")
_END_OF_STEM: Final = re.compile(r"\d[a-z]?_")


def passes_weight_on(node: Node) -> bool:
    """Return True for a node that hands a weight on as it is, or in another dtype."""
    return node.is_variable_read or node.op == "Cast" or hands_in(node)


def is_seed(variable: str) -> bool:
    """Return True for the state of a seed generator of Keras 3: not a weight, though a layer reads and writes it."""
    return _SEED.search(variable) is not None


def name_stem(name: str) -> str | None:
    """Return a layer's name up to the last numbered word that is not the whole name: `block2a` of `block2a_expand_bn`."""
    match = _STEM.match(name)
    return match[0] if match else None


def has_name_stem(names: str) -> bool:
    """Return False if no name in a text has a `name_stem`."""
    return _END_OF_STEM.search(names) is not None


class Part(NamedTuple):
    """A node as a part of a layer."""

    layer: str
    """The name that the author gave to the layer."""
    scope: str
    """The scope or node that the graph has for the layer; a layer that is called twice has two scopes."""
    name: str
    """The name of the node in the scope; empty for the node of a layer by itself."""


class AuthorScopes:
    """The scopes of a model in which weights lie or are read, with their layers."""

    def __init__(self, places: Sequence[ScopedNode]) -> None:
        self._of_weights = _layers_of_weights(places)
        self._owners: dict[str, set[str]] = {}
        """The layers of the scopes where weights lie or are read."""
        self._around: dict[str, set[str]] = {}
        """The layers of those scopes and of all scopes around them."""
        self._authors: dict[str, tuple[str, bool]] = {}
        """By scopes around the readers of weights, the author's name, and whether all names below got another number."""
        reading = ((_forward_scope(place.path), place.weights) for place in places if place.weights)
        readers = [(scope, weight) for scope, weights in reading for weight in weights]
        # All nodes of a scope may read the same weight. The last reader decides on the author's name: it stays last.
        for scope, weight in reversed(dict.fromkeys(reversed(readers))):
            self._add(scope, weight)
        self._at: dict[str, tuple[str | None, str]] = {}
        """The results of `_layer_around`, for a scope has many nodes."""
        firsts = {place.path.partition("/")[0] for place in places if "/" in place.path} if not self._of_weights else set()
        self._root = firsts.pop() if len(firsts) == 1 else ""
        """The scope around a model that has no weights, whose scopes would tell."""
        self._compound = dict(self._compound_scopes(places))
        """The scopes of layers that are made of others, by their names."""
        for scope, name in self._compound.items():
            self._add_author(scope, name)

    def _add(self, reader: str, weight: str) -> None:
        layer = self._of_weights[weight]
        for scope in (reader, _scope(weight)):
            self._owners.setdefault(scope, set()).add(layer)
            for outer in scopes_around(scope):
                self._around.setdefault(outer, set()).add(layer)
        if base_name(reader) == base_name(layer):
            self._add_author(reader, layer)

    def _add_author(self, scope: str, name: str) -> None:
        """Note the name that the author gave to a scope."""
        is_renamed = _is_renamed(scope, name)
        _, were_renamed = self._authors.get(_scope(scope), ("", True))
        self._authors[_scope(scope)] = _scope(name), is_renamed and were_renamed

    def _compound_scopes(self, places: Sequence[ScopedNode]) -> Iterator[tuple[str, str]]:
        """Yield the scopes of layers made of others: an LSTM has its weights in a cell, which a loop runs or which is
        unrolled, and an attention of several heads in dense layers of Keras' names.
        """
        repeated = (place for place in places if place.is_repeated)
        in_loops = {scope for place in repeated for scope in scopes_around(_forward_scope(place.path))}
        for scope, layers in self._around.items():
            own = base_name(scope)
            # Layers beside the scope may be read inside, such as the states of another layer, and have no such name.
            named = ([name for name in scopes_around(layer) if base_name(name) == own] for layer in layers)
            names = {around[0] for around in named if around}
            if len(names) != 1:
                continue
            (name,) = names
            parts = {layer[len(name) + 1 :].partition("/")[0] for layer in layers if layer.startswith(f"{name}/")}
            # A loop around several layers is a model in a loop, and no recurrent layer, unless they are the parts of a cell.
            is_recurrent = len(parts) < 2 and (scope in in_loops or any(map(_CELL.fullmatch, parts)))
            if is_recurrent or parts >= _ATTENTION:
                yield scope, name

    def layer_of_weight(self, weight: str) -> str | None:
        """Return the layer of a weight by its name; None for a weight that no node reads."""
        return self._of_weights.get(weight)

    def layer_at(self, place: ScopedNode) -> tuple[str | None, str]:
        """Return the layer of a node that reads weights or lies in the scope of a layer, None for other nodes; and the
        innermost scope around the node that has layers: the root, without a name, if no scope has.
        """
        return self._layer_at(place, _forward_path(place.path))

    def _layer_at(self, place: ScopedNode, path: str) -> tuple[str | None, str]:
        own = self._of_weights[place.weights[0]] if place.weights else None
        inner = _scope(path)
        if inner not in self._at:
            self._at[inner] = self._layer_around(inner)
        layer, scope = self._at[inner]
        return own or layer, scope

    def _layer_around(self, inner: str) -> tuple[str | None, str]:
        """Return the layer of the nodes in a scope that read no weights, None if they lie in no layer; and the innermost
        scope around them that has layers.
        """
        for scope in scopes_around(inner):
            layers = self._owners.get(scope, set())
            if len(layers) == 1:
                return next(iter(layers)), scope
            if scope in self._around:
                layer = next(iter(self._around[scope]))
                is_alone = len(self._around[scope]) == 1 and base_name(scope) == base_name(layer)
                return layer if is_alone else None, scope
        return None, ""

    def named(self, places: Iterable[ScopedNode]) -> Iterator[Part]:
        """Yield each node as a part of a layer. What lies beside layers, a node or a scope, is a layer by itself."""
        taken: dict[str, str] = {layer: layer for layer in self._of_weights.values()}
        own_scopes: dict[tuple[str, str], str] = {}
        # What lies in the same scope and reads the same weights is of one layer, unless the scope has several.
        alike: dict[tuple[str, tuple[str, ...]], tuple[str, str, int]] = {}
        for place in places:
            path = _forward_path(place.path)
            likeness = _scope(path), place.weights
            known = alike.get(likeness)
            if known is not None:
                own, scope, start = known
                yield Part(own, scope, path[start:])
                continue
            layer, scope = self._layer_at(place, path)
            if self._compound and (compound := [outer for outer in scopes_around(_scope(path)) if outer in self._compound]):
                scope = compound[-1]
                layer = self._compound[scope]
            if layer is not None:
                if (layer, scope) not in own_scopes:
                    named = (outer for outer in scopes_around(scope) if base_name(outer) == base_name(layer))
                    own_scopes[layer, scope] = next(named, scope)
                scope = own_scopes[layer, scope]
                rest = path[len(scope) :].lstrip("/")
                alike[likeness] = layer, scope, len(path) - len(rest)
                yield Part(layer, scope, rest)
                continue
            scope = scope or (self._root if path.startswith(f"{self._root}/") else "")
            own, _, rest = path[len(scope) :].lstrip("/").partition("/")
            key = f"{scope}/{own}" if scope else own
            outer, are_renamed = self._authors.get(scope, (scope, False))
            last = (_UNIQUE_NUMBER.sub("", own), own) if are_renamed else (own,)
            names = (f"{outer}/{each}" if outer else each for each in last)
            # The first node keeps the name without its number, and others of that name theirs.
            part = Part(next((name for name in names if taken.setdefault(name, key) == key), key), key, rest)
            if rest:
                alike[likeness] = part.layer, key, len(path) - len(rest)
            yield part


def _layers_of_weights(places: Sequence[ScopedNode]) -> dict[str, str]:
    """Return the layer of each weight by the weight's name, from the first node of the forward pass that reads the weight.

    A constant that TensorFlow froze lies below the op or the cast that reads it (`dense/Cast/ReadVariableOp/resource`): its
    layer is the scope around both. A weight without a scope is in the scope of its reader, or else a layer by itself. Below a
    reader without a scope it is a part of the reader.
    """
    layers: dict[str, str] = {}
    readers: dict[str, str] = {}
    # The backward pass and the updates read weights too, from scopes of their own.
    reading = [place for place in places if place.weights]
    for place in (*(one for one in reading if one.is_forward), *(one for one in reading if not one.is_forward)):
        for weight in place.weights:
            if weight not in layers:
                readers[weight] = _forward_scope(place.path)
                layers[weight] = layer_of(weight, place.path, readers[weight])
    layers |= _told_apart(layers, readers)
    layers |= _beside_variables(layers, readers)
    layers |= _called_constants(layers, readers)
    return layers | _without_numbers(layers)


def _beside_variables(layers: Mapping[str, str], readers: Mapping[str, str]) -> dict[str, str]:
    """Return the layers of constants that a layer with variables reads: constants lie in the scope of the call, `model/norm`,
    and variables have the name of the layer, `norm`.
    """
    called = grouped(_calls(layers, readers))
    of_constants: dict[str, str] = {}
    for weight, layer in layers.items():
        names = set(next((called[scope] for scope in scopes_around(layer) if scope in called), ())) - {layer}
        if len(names) == 1 and layer in scopes_around(readers[weight]):
            of_constants[weight] = next(iter(names))
    return of_constants


def _called_constants(layers: Mapping[str, str], readers: Mapping[str, str]) -> dict[str, str]:
    """Return the layers of constants that lie in the scopes of calls, `model_1/rescaling_2`, by the author's names: variables
    of other layers tell how the author calls the scope around.
    """
    authors = grouped((_scope(scope), (_scope(layer), _is_renamed(scope, layer))) for scope, layer in _calls(layers, readers))
    named: dict[str, str] = {}
    for layer in {layer for weight, layer in layers.items() if layer in scopes_around(readers[weight])}:
        outer = next((scope for scope in scopes_around(layer) if scope != layer and scope in authors), "")
        names = {name for name, _ in authors.get(outer, ())}
        if outer and len(names) == 1:
            own = layer[len(outer) + 1 :]
            if all(is_renamed for _, is_renamed in authors[outer]):
                own = _plain(own)
            named[layer] = "/".join(filter(None, (*names, own)))
    taken = collections.Counter([*named.values(), *set(layers.values())])
    return {weight: named[layer] for weight, layer in layers.items() if layer in named and taken[named[layer]] == 1}


def _calls(layers: Mapping[str, str], readers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the scopes around readers of weights that are calls of the layers of the weights, each with the layer's name."""
    for weight, layer in layers.items():
        for scope in scopes_around(readers[weight]):
            if scope != layer and base_name(scope) == base_name(layer):
                yield scope, layer


def _told_apart(layers: Mapping[str, str], readers: Mapping[str, str]) -> dict[str, str]:
    """Return the layers of weights whose names do not tell layers apart: Keras 3 names the weights of the same layer in
    several blocks `att/kernel`, `att/kernel_1` ... The scopes of their readers do: `model_1/block_2_1/att_1`.
    """
    scopes: dict[str, dict[str, list[str]]] = {}
    for weight, layer in layers.items():
        own = next((outer for outer in scopes_around(readers[weight]) if base_name(outer) == base_name(layer)), "")
        scopes.setdefault(layer, {}).setdefault(own, []).append(weight)
    named: dict[str, str] = {}
    for layer, of_scope in scopes.items():
        if "" in of_scope:
            continue
        merged = _outermost(of_scope)
        weights = [weight for several in of_scope.values() for weight in several]
        if len(of_scope) > 1 and len(set(map(base_name, weights))) == len(weights):
            continue  # no two have one name: each step of an unrolled layer reads them in a scope of its own
        if len(merged) > 1:
            named |= {weight: _in_scope(layer, scope) for scope, own in merged.items() for weight in own}
        elif len(of_scope) == 1:
            named |= _built_by_call(layer, *next(iter(of_scope.items())), readers)
    return named


def _outermost(of_scope: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the weights by those scopes that lie in no other: a separable convolution reads its weights in its own scope
    and in `separable_conv2d_1/separable_conv2d`.
    """
    merged: dict[str, list[str]] = {}
    for scope, weights in of_scope.items():
        outermost = [outer for outer in scopes_around(scope) if outer in of_scope][-1]
        merged.setdefault(outermost, []).extend(weights)
    return merged


def _built_by_call(layer: str, own: str, weights: Sequence[str], readers: Mapping[str, str]) -> dict[str, str]:
    """Return the layers of weights that have the name of a whole model.

    The first call of a subclassed model of Keras 3 builds its layers, whose weights are then `model/kernel`, `model/kernel_1`
    ... The scopes of their readers are the layers: `model_1/dense_1`.
    """
    places = {weight: _around_function(readers[weight]) for weight in weights}
    inner = {weight: scope for weight, scope in places.items() if scope != own}
    kinds = {base_name(weight) for weight in inner}
    if len(kinds) == len({(base_name(weight), scope) for weight, scope in inner.items()}):
        return {}  # no two scopes read weights of one name, so these may be the parts of a single layer
    model, is_renamed = _in_scope(layer, own), _is_renamed(own, layer)
    parts = {weight: scope[len(own) + 1 :] for weight, scope in inner.items()}
    return {weight: f"{model}/{_plain(names) if is_renamed else names}" for weight, names in parts.items()}


def _without_numbers(layers: Mapping[str, str]) -> dict[str, str]:
    """Return the layers of the weights that TensorFlow froze in a model of Keras 3, by the names before TensorFlow made them
    unique.

    Variables have the names of layers as scopes there, so that the scopes of all nodes get a number: `net_1/stem_1`.
    """
    frozen = {weight: layer for weight, layer in layers.items() if _FROZEN_READ.search(weight)}
    scopes = set(frozen.values())
    parts = [scope.split("/") for scope in scopes]
    plain = {scope: _plain(scope) for scope in scopes}
    # All or none: if a single scope has no number, TensorFlow made none of them unique.
    are_numbered = all(_UNIQUE_NUMBER.search(part) for names in parts for part in names)
    are_of_keras = any(_KERAS_3_READ.search(weight) for weight in frozen)
    return (
        {weight: plain[layer] for weight, layer in frozen.items()}
        if (are_numbered and are_of_keras and len(set(plain.values())) == len(scopes))
        else {}
    )


def _in_scope(layer: str, reader: str) -> str:
    """Return the name of a layer inside the scopes around its reader: `model/block_2/att` for `model_1/block_2_1/att_1`."""
    parts, own = reader.split("/"), layer.split("/")
    around = parts[: -len(own)]
    # The reader's own scope got a number, so those around it got one too.
    is_renamed = parts[-1] != own[-1]
    return "/".join([*(_UNIQUE_NUMBER.sub("", part) if is_renamed else part for part in around), *own])


def layer_of(weight: str, reader: str, scope: str | None = None) -> str:
    """Return the layer of a weight by its name and its reader's; `scope` is the reader's scope in the forward pass."""
    of_reader = _scope(reader) if scope is None else scope
    is_below = weight.startswith(f"{reader}/")
    own = "" if is_below else _scope(weight)
    if read := _FROZEN_READ.search(weight):
        # The weight lies below the op or cast that reads it: the layer is the scope that both have around them.
        around = set(scopes_around(of_reader))
        own = next((outer for outer in scopes_around(weight[: read.start()]) if outer in around), own)
    return own or of_reader or (reader if is_below else weight)


def weight_name(node: str, python_names: Mapping[str, str]) -> str:
    """Return the name by which the layer of a weight is found: where the weight lies in no scope, its name in Python."""
    return node if "/" in node else python_names.get(node, node)


def base_name(scope: str) -> str:
    """Return the last part of a scope without the numbers that make names unique: `dense` of `model/dense_1_2`."""
    return _UNIQUE_NUMBERS.sub("", scope.rpartition("/")[2])


def without_calls(name: str) -> str:
    """Return the name that a node had in its function, before the function was inlined."""
    *scopes, own = name.split("/")
    return "/".join([*(scope for scope in scopes if not CALL.fullmatch(scope)), own])


def is_gradient_scope(name: str) -> bool:
    """Return True for the name of a scope that tf.gradients, a gradient tape or tfg makes."""
    return name.startswith(("gradients", "gradient_tape"))


def is_in_gradients(path: str) -> bool:
    """Return True for a scope that tf.gradients, a gradient tape or tfg makes, and for what lies there."""
    # Asked first for the letters, as most paths have none of these scopes.
    return "gradient" in path and any(map(is_gradient_scope, path.split("/")))


def _forward_path(path: str) -> str:
    """Return the path without the scopes that hold gradients: `gradients/dense/MatMul_grad/mul` lies in `dense`."""
    if "gradient" not in path:  # asked first, as most nodes have no such scope
        return path
    *scopes, name = path.split("/")
    return "/".join([*(scope for scope in scopes if not is_gradient_scope(scope)), name])


def _forward_scope(path: str) -> str:
    """Return the scope of a node's path without the scopes that hold gradients."""
    return _scope(_forward_path(path))


def _plain(path: str) -> str:
    """Return a path without the last number of each part that makes the part unique: `net/stem` of `net_1/stem_1`."""
    return "/".join([_UNIQUE_NUMBER.sub("", part) for part in path.split("/")])


def _is_renamed(scope: str, layer: str) -> bool:
    """Return True if the scope of a call does not end as the name of the layer does."""
    return scope.rpartition("/")[2] != layer.rpartition("/")[2]


def _around_function(scope: str) -> str:
    """Return the scope around that of a function of TensorFlow in which a layer reads weights."""
    outer, _, own = scope.rpartition("/")
    # tf.nn.batch_normalization, tf.tensordot, and separable convolutions, whose layer has the same name.
    return outer if outer and own in ("batchnorm", "Tensordot", base_name(outer)) else scope


def common_scope(paths: Iterable[str]) -> str:
    """Return the innermost path that all paths are or lie in; empty if none is."""
    scope, *others = paths
    inside = f"{scope}/"
    for path in others:
        while scope and path != scope and not path.startswith(inside):
            scope = _scope(scope)
            inside = f"{scope}/"
    return scope


def _scope(path: str) -> str:
    return path.rpartition("/")[0]


def scopes_around(scope: str) -> Iterator[str]:
    """Yield a scope and the scopes around it, the innermost first, without the root."""
    while scope:
        yield scope
        scope = _scope(scope)
