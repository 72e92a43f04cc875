"""Other gradients for all nodes of an op."""

from __future__ import annotations

from collections.abc import Mapping

from ..building.named_gradients import NAMED
from ..functions.instantiation import nodes_to_change
from ..graph.graph import Graph, GraphLike, as_graph
from ..registry import registry
from ..registry.catalog import CATALOG
from ..registry.op_facts import has_fact
from ..support.arguments import checked, expect
from ..support.errors import InvalidArgumentError, NotFoundError
from ..support.hints import Blank, Hint, command, option


@checked
def override_gradients(graph: GraphLike, overrides: Mapping[str, str]) -> Graph:
    """Return a copy of the graph, of which all nodes of some ops have another gradient, also in functions.

    `overrides` maps ops to gradients: "guided" (only positive gradients pass, by the op's own gradient), "deconv" (positive
    gradients pass, whatever the input was), "straight_through" (all gradients pass), the name of an op, whose gradient
    function takes the place, or a name that an op library registers with `@gradient`. The nodes name the gradient in the
    attribute `_gradient_op_type`, as TensorFlow's `Graph.gradient_override_map` lets them. NotFoundError for an op without a
    node, and for an unknown gradient; InvalidArgumentError where the gradient does not fit the op.

        graph = tfg.override_gradients(tfg.load("frozen.pb"), {"Relu": "guided"})
        graph, (saliency,) = tfg.gradients(graph, "logits", "image")
    """
    result = as_graph(graph).copy()
    expect(str, *overrides, *overrides.values())
    for op, name in overrides.items():
        _require(op, name)
        nodes = list(nodes_to_change(result, lambda node, op=op: node.op == op))  # type: ignore[misc]
        if not nodes:
            raise NotFoundError(f"no node has the op '{op}'", hint=Hint(command("explain"), " lists the ops"))
        for node in nodes:
            node.set_attr("_gradient_op_type", name.encode())
    return result


def _require(op: str, name: str) -> None:
    """Raise the error of a gradient that is unknown, or that does not fit an op."""
    if name not in NAMED:
        if registry.gradient_function(name) is None:
            names = ", ".join(NAMED)
            known = f"the gradients are {names}, the names of ops, and those that an op library registers"
            hint = Hint(known, " (", option("op-library", Blank("FILE")), ")")
            raise NotFoundError(f"no gradient is called '{name}'", hint=hint)
    elif name == "guided":
        if not callable(registry.gradient_function(op)):
            raise InvalidArgumentError(f"op '{op}' has no gradient that could be guided")
    elif op not in CATALOG or not has_fact(op, "elementwise") or len(CATALOG[op].inputs) != 1:
        raise InvalidArgumentError(f"gradient '{name}' is for ops of one input, element by element, and '{op}' is not one")
