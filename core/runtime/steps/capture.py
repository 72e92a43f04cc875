"""A hook that captures outputs of nodes inside functions while the calling graph runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...graph.graph import Node, Output
from ...support.errors import FailedPreconditionError
from ..state.run_context import Hook


class CaptureHook:
    """A hook that captures the values of some outputs, each under a name.

    A function that runs several times leaves the values of the last run. `inner` is another hook to call as well.
    """

    def __init__(self, outputs: Mapping[str, Output], inner: Hook | None = None) -> None:
        self._outputs = outputs
        self._inner = inner
        self._nodes = {output.node for output in outputs.values()}
        self._captured: dict[Node, Any] = {}

    def __call__(self, node: Node, call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
        result = call(*inputs) if self._inner is None else self._inner(node, call, inputs)
        if node in self._nodes:
            self._captured[node] = result
        return result

    def take(self) -> dict[str, Any]:
        """Return the values captured since the last call; FailedPreconditionError names a node that did not run."""
        values = {name: self._value(name, output) for name, output in self._outputs.items()}
        self._captured.clear()
        return values

    def _value(self, name: str, output: Output) -> Any:
        if output.node not in self._captured:
            raise FailedPreconditionError(
                f"'{name}' did not run: it is an argument, or not needed for the results of its function, or in a "
                f"branch not taken",
                node=output.node.name,
                op=output.node.op,
            )
        outputs = self._captured[output.node]
        value = outputs[output.index] if isinstance(outputs, tuple) else outputs
        return np.array(value) if isinstance(value, np.ndarray) else value
