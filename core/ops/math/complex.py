"""Complex numbers: making them, their parts, conjugates, angles and magnitudes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.registry import arrays_as, everywhere, facts, flops, gradient, kernel, shaped, zero_flops
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ..shared.argument_checks import require_broadcast
from ..shared.decompositions import by_ops
from ..shared.elementwise_tables import binary_shape, unary_flops


def _require_parts(complex_dtype: np.dtype[Any], real_dtype: np.dtype[Any]) -> None:
    """Raise InvalidArgumentError unless the parts of `complex_dtype` have `real_dtype`."""
    # The attributes may state any pair, but TensorFlow has kernels of matching ones alone.
    if np.result_type(real_dtype, np.complex64) != complex_dtype:
        raise InvalidArgumentError(f"the parts of {complex_dtype.name} are not {real_dtype.name}")


@kernel("Conj", T=("variant",))
def conj_variant(input: Array) -> Result:
    """Refused: of lists and maps there is no conjugate, though the dtype has a kernel."""
    raise InvalidArgumentError("No unary variant unary_op function found for op CONJ")


@kernel("Conj", flops=unary_flops(1), gradient=by_ops("Conj dy"), facts=("involution",))
def conj(input: Array) -> Result:
    return np.conj(input)


shaped("... -> ...", "Real", "Imag", "Conj", "Angle", "ComplexAbs")
facts("elementwise", of=("Complex", "Real", "Imag", "Conj", "Angle", "ComplexAbs"))


def _complex_dtype(x: Any) -> Any:
    return "complex64" if x.dtype.base.name == "float" else "complex128"


def _real_dtype(x: Any) -> Any:
    return "float" if x.dtype.base.name == "complex64" else "double"


@gradient("Complex")
def complex_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    x, y = node.inputs
    real_part = g.Real(grad, Tout=_real_dtype(grad))
    imag_part = g.Imag(grad, Tout=_real_dtype(grad))
    return [g.reduce_to(real_part, x, y), g.reduce_to(imag_part, y, x)]


@gradient("Real")
def real_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.Complex(grad, g.scalar_like(grad, 0), Tout=_complex_dtype(grad))]


@gradient("Imag")
def imag_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.Complex(g.scalar_like(grad, 0), grad, Tout=_complex_dtype(grad))]


@gradient("Angle")
def angle_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """-grad / (Im x + i Re x)."""
    x, real_dtype = node.inputs[0], _real_dtype(node.inputs[0])
    # TensorFlow's formula, whose result is complex although the angle is real.
    swapped = g.Complex(g.Imag(x, Tout=real_dtype), g.Real(x, Tout=real_dtype), Tout=x.base_dtype)
    grown = g.Complex(grad, g.scalar_like(grad, 0), Tout=x.base_dtype)
    return [g.Neg(g.Mul(grown, g.Reciprocal(swapped)))]


@gradient("ComplexAbs")
def complex_abs_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    x = node.inputs[0]
    zero = g.scalar_like(grad, 0)
    grown, magnitude = (g.Complex(value, zero, Tout=x.base_dtype) for value in (grad, node.output()))
    # x / |x| has no limit at 0: the gradient there is 0.
    return [g.DivNoNan(g.Mul(grown, x), magnitude)]


zero_flops("Complex", "Real", "Imag")
# Two squares, their sum and a root.
flops("ComplexAbs")(unary_flops(4))


flops("Angle")(unary_flops(0, 1))


def _part_of_arrays(name: str) -> Any:
    """Return the program of a function of complex numbers with real results."""

    def program(xp: Any, x: Any, *, Tout: DType) -> Any:
        _require_parts(x.dtype, Tout.numpy)
        return getattr(xp, name)(x)

    return program


for _op, _name in (("Real", "real"), ("Imag", "imag"), ("Angle", "angle"), ("ComplexAbs", "abs")):
    everywhere(_op)(_part_of_arrays(_name))
arrays_as(Conj="conj")


@everywhere("Complex", shape=binary_shape)
def complex_(xp: Any, real: Any, imag: Any, *, Tout: DType) -> Any:
    """real + imag i, with broadcasting."""
    _require_parts(Tout.numpy, real.dtype)
    require_broadcast(real, imag)
    return xp.complex(*xp.broadcast_arrays(real, imag))
