"""Stopping a run at the first value that is no finite number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...graph.graph import Node
from ...support.errors import InvalidArgumentError
from ...support.words import counted


def check_numerics(node: Node, call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """Run a node, and raise InvalidArgumentError where the node makes a NaN or an infinity. This is a hook.

    The hint names its inputs. Nodes inside loops and functions end before the calling node does, so the error names the
    innermost node.
    """
    result = call(*inputs)
    for index, value in enumerate(result if isinstance(result, tuple) else (result,)):
        faults = _faults(value)
        if faults:
            operands = "; ".join(_described(str(source), item) for source, item in zip(node.inputs, inputs))
            message = f"output {index} has {faults}"
            raise InvalidArgumentError(
                message, node=node.name, op=node.op, hint=f"its inputs were {operands}" if operands else None
            )
    return result


def _faults(value: Any) -> str:
    """Describe the elements that are no finite numbers: `2 NaN and 1 Inf of 6 elements`; empty where all are finite."""
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in "fcV" or np.isfinite(value).all():
        return ""
    nans = int(np.isnan(value).sum())
    infinities = int(value.size - np.isfinite(value).sum()) - nans
    counts = [f"{count} {kind}" for count, kind in ((nans, "NaN"), (infinities, "Inf")) if count]
    return f"{' and '.join(counts)} of {counted(value.size, 'element')}"


def _described(name: str, value: Any) -> str:
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in "biufcV":
        return name
    shape = f"({','.join(map(str, value.shape))})"
    if value.dtype.kind == "c" or not value.size:
        return f"{name} {shape}: {_faults(value) or 'finite'}"
    return f"{name} {shape}: {_faults(value) or f'from {value.min():g} to {value.max():g}'}"
