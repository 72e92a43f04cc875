"""JAX programs in a graph, saved by jax2tf: compiled code for an engine, not for NumPy."""

from __future__ import annotations

from typing import Any

from ...registry.registry import WITHOUT_GRADIENT, kernel, lower, uncounted_program
from ...support.errors import UnimplementedError
from ...support.hints import Hint, extra_hint, option
from ...types.arrays import Result
from ...types.dtypes import DType

_FIRST_VERSION = 9
"""The calling convention that JAX's own programs have since 2024, and the first that today's JAX calls."""


@kernel("XlaCallModule", shape="-> {Sout}...", gradient=WITHOUT_GRADIENT, flops=uncounted_program, facts=("program",))
def xla_call_module(args: list[Any]) -> list[Result]:
    raise UnimplementedError(
        "it holds a program compiled by JAX, which only XLA can run",
        hint=Hint(
            extra_hint("xla"),
            " and ",
            option("engine", "xla"),
            " run it; ",
            option("engine-report"),
            " shows the reason otherwise",
        ),
    )


@lower("XlaCallModule")
def _xla_call_module_lowering(
    xla: Any,
    args: list[Any],
    *,
    version: int,
    module: str,
    platforms: list[str],
    Tout: list[DType],
    dim_args_spec: list[str],
    function_list: list[Any],
    has_token_input_output: bool,
) -> Any:
    # `dim_args_spec` names arguments for the sizes of unknown dimensions: a caller would have to compute these, and later
    # modules compute them by themselves.
    if version < _FIRST_VERSION or dim_args_spec:
        raise UnimplementedError(f"its calling convention is {version}, from before {_FIRST_VERSION}")
    if function_list or has_token_input_output:
        raise UnimplementedError("its program calls functions of the graph")
    # The attribute is bytecode and no text: strings of attributes carry bytes that are no UTF-8 as surrogates.
    code = module.encode("utf-8", "surrogateescape")
    return xla.call_module(code, version, platforms or ["cpu"], args, [dtype.numpy for dtype in Tout])
