"""Write core/building/raw_ops.pyi: the methods of a builder that add ops, with types; a part of regenerate.py."""

from __future__ import annotations

import inspect
import math
import pathlib

import tfg
from tfg.core.building.raw_ops import docstring, op_names, signature
from tfg.core.registry.catalog import CATALOG

TARGET = pathlib.Path(tfg.__file__).parent / "core" / "building" / "raw_ops.pyi"
HEAD = '''\
"""Signatures of the ops of TensorFlow; scripts/regenerate.py writes the file from the catalog."""

from collections.abc import Sequence
from typing import Any, Literal

from numpy.typing import ArrayLike

from ..graph.graph import Node, Output
from ..types.tensors import FuncRef, Tensor
from .built_variables import DTypeLike, OutputLike, OutputsOrNode, ShapeLike, TensorLike

def op_names() -> list[str]: ...

class RawOps:
    def apply(self, op: str, *inputs: Any, name: str | None = None, **attrs: Any) -> Any: ...
'''
_PLAIN = (bool, int, float, str, type(None))


def derived() -> dict[pathlib.Path, str]:
    """The text that the stub should hold."""
    return {TARGET: HEAD + "".join(map(method, op_names()))}


def method(op: str) -> str:
    """Return the method of an op, with the first sentence of the op's docstring."""
    described = signature(CATALOG[op])
    positional = [f"{name(p)}: {p.annotation}" for p in described.parameters.values() if p.kind is p.POSITIONAL_ONLY]
    keywords = [f"{p.name}: {p.annotation}{default(p)}" for p in described.parameters.values() if p.kind is p.KEYWORD_ONLY]
    parameters = ", ".join(["self", *positional, *(["/"] if positional else []), "*", *keywords])
    sentence = docstring(CATALOG[op]).partition("\n")[0]
    return f"    def {op}({parameters}) -> {described.return_annotation}:\n        {quoted(sentence)}\n"


def name(parameter: inspect.Parameter) -> str:
    """Return the name of a positional parameter: no keyword of Python."""
    return f"{parameter.name}_" if parameter.name == "in" else parameter.name


def default(parameter: inspect.Parameter) -> str:
    """Return the default of a keyword as Python text, or dots for a default that is no plain value."""
    if parameter.default is inspect.Parameter.empty:
        return ""
    is_plain = isinstance(parameter.default, _PLAIN) and parameter.default not in (math.inf, -math.inf)
    return f" = {parameter.default!r}" if is_plain else " = ..."


def quoted(sentence: str) -> str:
    """Return a docstring."""
    escaped = sentence.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""{escaped}"""' if not escaped.endswith('"') else f'"""{escaped[:-1]}\\""""'
