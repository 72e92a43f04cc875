"""Op libraries: Python files or modules that declare ops and register kernels when they are loaded."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import pathlib
import sys
from collections.abc import Callable, Iterable
from typing import Any, Final

from ..inference.binding import attr_bundles, bundled, input_bundles
from ..registry import registry
from ..registry.catalog import CATALOG, OpDef
from ..support.arguments import checked
from ..support.errors import InvalidArgumentError, NotFoundError, TfgError
from ..support.log import tell
from ..support.untrusted import refuse_program

_loaded: set[str] = set()
_COMPILED: Final = (".so", ".dylib", ".dll")


@checked
def load_op_library(name: str) -> None:
    """Load a library once: a path that ends in .py, or the name of an importable module.

    A library declares ops with `CATALOG.register(spec)` and kernels with the decorators of `registry`. Each of the two may
    stand alone, and an op may have several kernels. Raises NotFoundError if the library does not exist. Any error of the
    library names the library, and leaves nothing registered. Raises InvalidArgumentError for a library compiled for
    TensorFlow.
    """
    if name.endswith(_COMPILED):
        raise InvalidArgumentError(
            f"'{name}' is compiled for TensorFlow, so its kernels run only in TensorFlow",
            hint="write the same ops in Python: CATALOG.register(spec) declares an op, @kernel defines its kernel; "
            "see sample_graphs/skipgram_ops.py",
        )
    refuse_program("op library", name)
    # A file that is named by two paths registers its ops once.
    key = os.path.realpath(name) if name.endswith(".py") else name
    if key in _loaded:
        return
    declared = set(CATALOG.custom())
    try:
        with registry.op_library() as kernels:
            _import(key)
            # Now rather than in the first run, which may be hours into a job.
            _check_signatures(kernels)
    except Exception as error:
        # Otherwise a second attempt, with the mistake corrected, would find its ops declared.
        for op in set(CATALOG.custom()) - declared:
            CATALOG.unregister(op)
        # Python would give the half-loaded module to the next import.
        sys.modules.pop(_module_name(key), None)
        raise _named(error, name) from error
    _loaded.add(key)
    tell("loaded op library %s", name)


def _named(error: Exception, name: str) -> TfgError:
    """Return the error with the library's name in front."""
    if isinstance(error, TfgError):
        return type(error)(f"op library '{name}': {error.message}", node=error.node, op=error.op, hint=error.hint)
    if isinstance(error, ModuleNotFoundError) and error.name == name.partition(".")[0]:
        return NotFoundError(f"module '{name}' does not exist", hint="give a path that ends in .py, or the name of a module")
    if isinstance(error, ModuleNotFoundError):
        return InvalidArgumentError(f"op library '{name}' needs module '{error.name}', which is not installed")
    return InvalidArgumentError(f"op library '{name}' failed: {type(error).__name__}: {error}")


def _module_name(key: str) -> str:
    return f"tfg_op_library_{pathlib.Path(key).stem}" if key.endswith(".py") else key


def _import(key: str) -> None:
    if not key.endswith(".py"):
        importlib.import_module(key)
        return
    if not os.path.isfile(key):
        raise NotFoundError(f"file '{key}' does not exist")
    # Under a name of its own, as a file of a library may be called as a module of Python is.
    spec = importlib.util.spec_from_file_location(_module_name(key), key)
    if spec is None or spec.loader is None:
        raise InvalidArgumentError(f"'{key}' is not a Python file")
    module = importlib.util.module_from_spec(spec)
    # Before it is executed, as dataclasses and pickle look their module up there.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)


def _check_signatures(kernels: Iterable[registry.Kernel]) -> None:
    """Raise InvalidArgumentError for a kernel whose signature does not fit the op's interface."""
    for kernel in kernels:
        try:
            _check_signature(kernel.function, CATALOG[kernel.op], kernel.is_stateful)
        except TypeError as error:
            raise InvalidArgumentError(
                f"kernel '{kernel.function.__name__}' does not fit its op: {error}", op=kernel.op, hint=CATALOG.spec(kernel.op)
            ) from None


def _check_signature(function: Callable[..., Any], definition: OpDef, has_context: bool) -> None:
    """Raise TypeError for a function that the inputs and attributes of an op do not fit."""
    # A NamedTuple of attributes has its own fields to check: `bind` below sees one parameter.
    bundles = attr_bundles(function)
    for bundle in bundles.values():
        missing = [name for name in bundle._fields if name not in definition.attrs and name not in bundle._field_defaults]
        if missing:
            raise TypeError(f"'{missing[0]}' of {bundle.__name__} is not an attribute")
    signature = inspect.signature(function)
    keywords = {p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY} & set(definition.attrs)
    inputs = bundled([None] * len(definition.inputs), input_bundles(function, has_context))
    signature.bind(*[None] * has_context, *inputs, **dict.fromkeys(keywords.union(bundles)))
