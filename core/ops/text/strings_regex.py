"""Regular expressions in RE2's syntax."""
# Ops here (scripts/regenerate.py writes this list):
#   RegexFullMatch RegexReplace
#   StaticRegexFullMatch StaticRegexReplace: elementwise

from __future__ import annotations

from typing import Any

import numpy as np

from ...registry.registry import facts, kernel, not_differentiable, onnx, shape, zero_flops
from ...runtime.state.run_context import is_bounded
from ...support.errors import InvalidArgumentError
from ...text import re2, re2_rewrites
from ...types.arrays import Array, Result
from ...types.shapes import SCALAR, Shape, TensorSpec, merge_shapes
from ..shared.argument_checks import scalar
from ..shared.plain_shapes import first_shape
from ..shared.string_functions import as_objects, map_bytes, map_to


def _compile(pattern: bytes) -> Any:
    try:
        return re2.compile_pattern(pattern)
    except re2.PatternError as error:
        raise InvalidArgumentError(f"Invalid pattern: {pattern.decode('utf-8', 'replace')}, error: {error}") from None


def _full_match(input: Array, pattern: bytes) -> Array:
    compiled = _compile(pattern)
    if not is_bounded():
        texts = [re2.decode(text) for text in input.ravel().tolist()]
        return np.array(compiled.fullmatches(texts), bool).reshape(input.shape)
    return map_to(bool, lambda text: compiled.fullmatch(re2.decode(text)), input)


def _replace(input: Array, pattern: bytes, rewrite: bytes, everywhere: bool) -> Array:
    compiled, text = _compile(pattern), re2.decode(rewrite)
    if everywhere and not is_bounded():
        replaced = re2_rewrites.replace_all(compiled, text, input.ravel().tolist())
        if replaced is not None:
            return as_objects(replaced, input.shape)
    return map_bytes(lambda item: re2.encode(re2_rewrites.replace(compiled, text, re2.decode(item), everywhere)), input)


@kernel("RegexFullMatch")
def regex_full_match(input: Array, pattern: Array) -> Result:
    """Return True for each string that matches as a whole."""
    return _full_match(input, scalar(pattern, "pattern"))


@kernel("StaticRegexFullMatch")
def static_regex_full_match(input: Array, *, pattern: str) -> Result:
    """Return True for each string that matches as a whole."""
    return _full_match(input, re2.encode(pattern))


@kernel("RegexReplace")
def regex_replace(input: Array, pattern: Array, rewrite: Array, *, replace_global: bool) -> Result:
    r"""Replace matches by `rewrite`, where \1 stands for the first group."""
    return _replace(input, scalar(pattern, "pattern"), scalar(rewrite, "rewrite"), replace_global)


@kernel("StaticRegexReplace")
def static_regex_replace(input: Array, *, pattern: str, rewrite: str, replace_global: bool) -> Result:
    r"""Replace matches by `rewrite`, where \1 stands for the first group."""
    return _replace(input, re2.encode(pattern), re2.encode(rewrite), replace_global)


@shape("RegexFullMatch", "RegexReplace")
def regex_shape(input: TensorSpec, *patterns: TensorSpec) -> Shape:
    for spec in patterns:
        merge_shapes(spec.shape, SCALAR)
    return input.shape


_ALL = ("RegexFullMatch", "StaticRegexFullMatch", "RegexReplace", "StaticRegexReplace")
shape("StaticRegexFullMatch", "StaticRegexReplace")(first_shape)
facts("elementwise", of=("StaticRegexFullMatch", "StaticRegexReplace"))
not_differentiable(*_ALL)
zero_flops(*_ALL)


onnx("StaticRegexFullMatch")(lambda g, x, *, pattern: g.RegexFullMatch(x, pattern=pattern))


@onnx("RegexFullMatch")
def _regex_full_match_onnx(g: Any, x: Any, pattern: Any) -> Any:
    return g.RegexFullMatch(x, pattern=g.known(pattern, "patterns").item().decode())
