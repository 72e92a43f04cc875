"""The plans of functions that engines take whole."""

from __future__ import annotations

from collections.abc import Mapping

from ..functions.implementations import function_called
from ..graph.graph import Function
from ..planning.plan import Plan
from ..planning.planner import plan_of_function
from ..support.errors import UnimplementedError
from ..types.tensors import FuncRef


def called_plan(functions: Mapping[str, Function], reference: FuncRef) -> tuple[Function, Plan]:
    """Return the function that a call runs, and its plan; UnimplementedError for a missing function, or for any dtypes."""
    function = function_called(functions, reference.name)
    if function is None:
        raise UnimplementedError(f"function '{reference.name}' is not in the library")
    if function.signature.attrs:
        raise UnimplementedError(f"function '{function.name}' is instantiated for each call")
    return function, plan_of_function(function)
