"""The purposes of a graph's variables: trainable, an optimizer's slot, other state, or a handle that nothing uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from ..graph.graph import Node
from ..graph.metagraph import MetaGraph
from ..graph.traversal import reachable
from ..graph.variable_nodes import VariableNodes
from ..runtime.session.restored_variables import read_instead, restored_variables
from .roles import Roles

Purpose = Literal["trainable", "slots", "other", "unused"]
TRAINABLE_COLLECTION: Final = "trainable_variables"


class Purposes:
    """The purpose of each variable of a graph.

    A SavedModel has more handles than variables: Keras 3 writes each weight two or three times, for signatures, for
    functions in Python and as an initial value. A handle counts as used if a signature reaches the handle, a function of
    the model captures the handle, an update writes to the variable or a collection of TF1 lists the variable. In a graph
    without signatures and functions of objects every variable is used.
    """

    def __init__(self, roles: Roles) -> None:
        self._roles = roles
        self._meta = roles.graph.meta or MetaGraph()
        self._owners = restored_variables(roles.graph) if self._meta.objects is not None else {}
        self._used = set(self._used_nodes())
        self._trainable = set(self._trainable_nodes())

    def of(self, variable: VariableNodes) -> Purpose:
        """Return the purpose of a variable of the graph."""
        node = variable.node
        if node in self._roles.slots:
            return "slots"
        if node not in self._used:
            return "unused"
        # tf.Variable marks integers as trainable too, unless it is told otherwise.
        can_be_trained = variable.dtype.is_floating or variable.dtype.is_complex
        return "trainable" if node in self._trainable and can_be_trained else "other"

    def _used_nodes(self) -> Iterator[Node]:
        variables = self._roles.by_node
        if not self._meta.signatures and not self._meta.captured_keys:
            yield from variables
            return
        graph = self._roles.graph
        tensors = [name for signature in self._meta.signatures.values() for name in signature.fetched.values()]
        # A signature may name tensors that a damaged graph lacks.
        fetched = [node for name in tensors if (node := graph.get(name.partition(":")[0])) is not None]
        updated = [update.variable.node for update in self._roles.updates.values()]
        yield from reachable([*fetched, *updated]) & variables.keys()
        yield from self._listed_in(*self._meta.variables)
        twins = read_instead(graph)
        for key in self._meta.captured_keys:
            if key in self._owners:
                yield graph.node(twins.get(self._owners[key], self._owners[key]))

    def _trainable_nodes(self) -> Iterator[Node]:
        """Yield the variables that updates by gradients write to, and those that the file lists or marks as trainable."""
        graph, meta = self._roles.graph, self._meta
        yield from (update.variable.node for update in self._roles.updates.values() if update.gradient is not None)
        yield from self._listed_in(TRAINABLE_COLLECTION)
        # The object graph of a checkpoint marks what cannot be trained; all other keys can.
        keys = {owner: key for key, owner in self._owners.items()} | dict(meta.read_keys)
        yield from (graph.node(name) for name, key in keys.items() if key not in meta.frozen_keys and name in graph)

    def _listed_in(self, *collections: str) -> Iterator[Node]:
        """Yield the variables that collections of the file list."""
        listed = {record.name.partition(":")[0] for name in collections for record in self._meta.variables.get(name, ())}
        yield from (node for node in self._roles.by_node if node.name in listed)
