"""Fetches of a session, as TensorFlow's takes them: names, outputs and nodes, in lists, tuples and mappings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...graph.graph import Graph, Node, Output
from ...support.errors import ArgumentTypeError


def is_list_of_names(fetches: Any) -> bool:
    """True for the form that most callers use and that needs no arranging."""
    return type(fetches) is list and all(type(fetch) is str for fetch in fetches)


def fetched_names(fetches: Any, graph: Graph) -> Iterator[str]:
    """Yield the names of all fetches, from left to right; ArgumentTypeError for an object that cannot be fetched."""
    if isinstance(fetches, str):
        yield fetches
    elif isinstance(fetches, (Output, Node)):
        yield name_of(fetches, graph)
    elif isinstance(fetches, (list, tuple)):
        for fetch in fetches:
            yield from fetched_names(fetch, graph)
    elif isinstance(fetches, Mapping):
        for fetch in fetches.values():
            yield from fetched_names(fetch, graph)
    else:
        raise ArgumentTypeError(f"{fetches!r} is neither a tensor or node nor a list, tuple or mapping of tensors and nodes")


def name_of(fetch: Any, graph: Graph) -> str:
    """Return the name of an output or node of the graph; ArgumentTypeError for anything else."""
    if isinstance(fetch, str):
        return fetch
    if not isinstance(fetch, (Output, Node)):
        raise ArgumentTypeError(f"{fetch!r} is not a tensor of the graph")
    node = fetch.node if isinstance(fetch, Output) else fetch
    if graph.get(node.name) is not node:
        raise ArgumentTypeError(f"node '{node.name}' belongs to another graph than the session")
    return fetch.name


def arranged(fetches: Any, values: Iterator[Any]) -> Any:
    """Return the values in the structure of the fetches."""
    if isinstance(fetches, Mapping):
        return {key: arranged(fetch, values) for key, fetch in fetches.items()}
    if isinstance(fetches, list):
        return [arranged(fetch, values) for fetch in fetches]
    if isinstance(fetches, tuple):
        members = [arranged(fetch, values) for fetch in fetches]
        return type(fetches)(*members) if hasattr(fetches, "_fields") else tuple(members)
    return next(values)
