"""Programs that JAX exported, as StableHLO with guarantees of compatibility, called within programs of this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import jax
import jax.numpy as jnp
from jax import export
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import chlo, stablehlo

from ...support import dataclasses
from ...support.errors import InvalidArgumentError, UnimplementedError

_GPUS: Final = ("cuda", "rocm")
"""JAX's names of the platforms whose backend is called `gpu`."""


def call_module(module: bytes, version: int, platforms: Sequence[str], arguments: Sequence[Any], dtypes: Sequence[Any]) -> Any:
    """Return the results, of `dtypes`, of an exported program on `arguments`, whose shapes replace unknown shapes in the
    program.

    `version` is the version of the calling convention, `platforms` the platforms of the program. Raises
    InvalidArgumentError where the bytes are no program or a program of other parameters, and UnimplementedError for another
    platform.
    """
    names = [name.lower() for name in platforms]
    _require_platform(names)
    specs = [jax.ShapeDtypeStruct(value.shape, value.dtype) for value in arguments]
    index = [jax.ShapeDtypeStruct((), jnp.int32)] if len(names) > 1 else []
    code, shapes, is_polymorphic = _refined(module, [*index, *specs])
    if len(shapes) != len(dtypes):
        raise InvalidArgumentError(f"the program returns {len(shapes)} results, not {len(dtypes)}")

    def pattern(*values: Any) -> list[Any]:
        return [jnp.zeros(shape, dtype) for shape, dtype in zip(shapes, dtypes)]

    program = dataclasses.replace(
        export.export(jax.jit(pattern, keep_unused=True), platforms=names)(*specs), mlir_module_serialized=code,
        calling_convention_version=version, module_kept_var_idx=tuple(range(len(specs))), uses_global_constants=is_polymorphic,
    )  # fmt: skip
    return tuple(program.call(*arguments))


def _require_platform(names: Sequence[str]) -> None:
    backend = jax.default_backend()
    if not {backend, *(_GPUS if backend == "gpu" else ())} & set(names):
        problem = f"its program is for {' and '.join(names)}, not for JAX's platform {backend}"
        raise UnimplementedError(problem + " (JAX_PLATFORMS=cpu chooses the CPU)" * ("cpu" in names))


def _refined(module: bytes, arguments: Sequence[Any]) -> tuple[bytes, list[tuple[int, ...]], bool]:
    """Return a program for arguments of these shapes, the shapes of the results, and whether the program left some shapes
    open.

    Assertions on shapes stay in the program, for JAX to check.
    """
    with ir.Context() as context, ir.Location.unknown(context):
        for dialect in (stablehlo, chlo):
            dialect.register_dialect(context)
        try:
            program = stablehlo.deserialize_portable_artifact(context, module)
            signature = _signature(program)
        except (ValueError, RuntimeError, KeyError, ir.MLIRError) as error:
            raise InvalidArgumentError(f"the module is not a program: {error}") from error
        types = [ir.RankedTensorType(kind) for kind in signature.inputs]
        fitting = len(types) == len(arguments) and all(map(_fits, types, arguments))
        if not fitting:
            shown = ", ".join(f"{value.dtype}{list(value.shape)}" for value in arguments)
            raise InvalidArgumentError(f"the program takes {', '.join(map(str, types))}, not {shown}")
        is_polymorphic = not all(ir.RankedTensorType(t).has_static_shape for t in (*signature.inputs, *signature.results))
        if is_polymorphic:
            refined_types = [ir.RankedTensorType.get(value.shape, kind.element_type) for value, kind in zip(arguments, types)]
            _refine(program, refined_types)
        shapes = [tuple(ir.RankedTensorType(kind).shape) for kind in _signature(program).results]
        if is_polymorphic:
            module = stablehlo.serialize_portable_artifact(program, stablehlo.get_current_version())
        return module, shapes, is_polymorphic


def _signature(module: Any) -> Any:
    """Return the type of a program's main function."""
    main = ir.SymbolTable(module.operation)["main"]
    return ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)


def _fits(parameter: Any, value: Any) -> bool:
    """Return True if a value is of a parameter's rank and known dimensions."""
    dims = [None if parameter.is_dynamic_dim(i) else parameter.get_dim_size(i) for i in range(parameter.rank)]
    return len(dims) == len(value.shape) and all(a in (None, b) for a, b in zip(dims, value.shape))


def _refine(module: Any, types: Sequence[Any]) -> None:
    """Let shapes follow from the types of the arguments."""
    stablehlo.register_stablehlo_passes()
    texts = ",".join(map(str, types))
    passes = f"builtin.module(stablehlo-refine-arguments{{types={texts}}},stablehlo-refine-shapes)"
    passmanager.PassManager.parse(passes).run(module.operation)
