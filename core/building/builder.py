"""Building graphs: nodes, and variables as tf.compat.v1.Variable makes them, with the same nodes, names and attributes.

A construction script is a Python file that builds a graph with GraphBuilder and marks stages.
"""

from __future__ import annotations

import os
import pathlib
import runpy
import sys
import traceback
from typing import Any

from ..graph.graph import Graph, Node, Output
from ..support.arguments import checked, expect
from ..support.errors import InvalidArgumentError, NotFoundError, TfgError
from ..support.hints import Hint
from ..support.untrusted import refuse_program
from ..support.user_signals import pass_on
from ..types import dtypes
from ..types.dtypes import DType
from ..types.shapes import UNKNOWN, Shape
from ..types.tensors import Tensor
from .built_variables import BuiltVariable
from .node_builder import NodeBuilder


class GraphBuilder(NodeBuilder):
    """Adds nodes and variables to a graph: `b.MatMul(x, w, name="y")` adds a MatMul and returns the Output."""

    def __init__(self, graph: Graph | None = None) -> None:
        super().__init__(graph)
        self.variables: list[BuiltVariable] = []
        self.stages: list[tuple[str, Graph]] = []

    def variable(
        self, value: Any, name: str = "Variable", dtype: DType | str | None = None, *, resource: bool = False,
        validate_shape: bool = True, trainable: bool = True,
    ) -> BuiltVariable:  # fmt: skip
        """Add a variable with the nodes, names and attributes of tf.compat.v1.Variable: by reference, or as a resource.

        `value` is the initial value: an Output, or a value that becomes a Const.
        """
        expect(bool, resource, validate_shape, trainable)
        element = None if dtype is None else dtypes.as_dtype(dtype)
        if resource:
            made = _resource_variable(self, value, name, element, trainable)
        else:
            made = _ref_variable(self, value, name, element, validate_shape, trainable)
        self.variables.append(made)
        return made

    def global_variables_initializer(self, name: str = "init") -> Node:
        """Add a NoOp that waits for the initializers of all variables made by this builder."""
        return self.group([variable.initializer for variable in self.variables], name)

    def stage(self, name: str) -> None:
        """Mark the end of a construction stage: `tfg dump --script` shows the graph at this point."""
        if any(name == stage for stage, _ in self.stages):
            raise InvalidArgumentError(f"stage '{name}' already exists")
        self.stages.append((name, self.graph.copy()))


def _ref_variable(
    g: NodeBuilder, value: Any, name: str, dtype: DType | None, validate_shape: bool, trainable: bool
) -> BuiltVariable:
    """Add `initial_value` (for a value that is no Output), the VariableV2, `Assign` and `read`."""
    # TensorFlow lifts a variable out of control dependencies: its initializer must not wait for a step.
    with g.name_scope(name) as scope, g.no_controls():
        initial = g.as_output(value, dtype, "initial_value")
        element, shape = _element(g, initial, dtype), _shape(g, initial) if validate_shape else UNKNOWN
        handle = g.VariableV2(shape=shape, dtype=element, name=scope)
        with g.colocate_with(handle):
            initializer = g.Assign(handle, initial, validate_shape=validate_shape, use_locking=True, name="Assign").node
            read = g.Identity(handle, name="read")
    return BuiltVariable(handle, initial, initializer, read, element, shape, False, trainable)


def _resource_variable(g: NodeBuilder, value: Any, name: str, dtype: DType | None, trainable: bool) -> BuiltVariable:
    """Add `Initializer/initial_value` (for a value that is no Output), the VarHandleOp, and the nodes that test, assign and
    read.
    """
    with g.name_scope(name) as scope, g.no_controls():
        own = scope.rstrip("/")
        location = [b"loc:@" + own.encode()]
        initial = value
        if not isinstance(value, (Output, Node)):
            # As in TensorFlow, the initial value has no device and shares that of the variable.
            with g.name_scope("Initializer"), g.device(None):
                initial = g.constant(value, dtype, "initial_value", _class=location)
        initial = g.as_output(initial, dtype)
        element, shape = _element(g, initial, dtype), _shape(g, initial)
        handle = g.VarHandleOp(shape=shape, dtype=element, shared_name=own, debug_name=f"{own}/", name=scope)
        handle.node.set_attr("_class", location)
        g.VarIsInitializedOp(handle, name="IsInitialized/VarIsInitializedOp")
        initializer = g.AssignVariableOp(handle, initial, name="Assign")
        read = g.ReadVariableOp(handle, dtype=element, name="Read/ReadVariableOp")
    return BuiltVariable(handle, initial, initializer, read, element, shape, True, trainable)


def _element(g: NodeBuilder, initial: Output, dtype: DType | None) -> DType:
    return dtype or (initial.dtype.base if initial.dtype else dtypes.float32)


def _shape(g: NodeBuilder, initial: Output) -> Shape:
    """Return the static shape of an initial value."""
    from ..inference.inference import infer  # lazy: the import takes longer than most graphs are built in

    constant = initial.node.attr_of(Tensor, "value")
    return infer(g.graph).shape(initial) if constant is None else Shape(constant.shape)


# Construction scripts.

LAST_STAGE = "end"


@checked
def run_script(path: str) -> list[tuple[str, Graph]]:
    """Return the stages that a script marks, and `end` where nodes were added after the last stage.

    The script makes a GraphBuilder at the top level, or defines `build(g)`, which gets a builder. InvalidArgumentError
    names the file and line of a failure.
    """
    refuse_program("script", path)
    if not os.path.isfile(path):
        raise NotFoundError(f"script '{path}' does not exist")
    builder = _run(path)
    stages = list(builder.stages)
    if not stages or len(stages[-1][1]) != len(builder.graph):
        stages.append((LAST_STAGE, builder.graph))
    return stages


def _run(path: str) -> GraphBuilder:
    folder = str(pathlib.Path(path).resolve().parent)
    # As Python does for a script, which imports files beside it.
    sys.path.insert(0, folder)
    try:
        namespace = runpy.run_path(path, run_name="__main__")
        # In the order of the script: the first is the graph, helpers may make others.
        builders = [value for value in namespace.values() if isinstance(value, GraphBuilder)]
        if not builders and callable(namespace.get("build")):
            builders = [GraphBuilder()]
            namespace["build"](builders[0])
    except TfgError as error:
        hint = Hint(error.hint, "; ", _place(error, path)) if error.hint else _place(error, path)
        raise type(error)(error.message, node=error.node, op=error.op, hint=hint) from None
    except Exception as error:
        pass_on(error)
        raise InvalidArgumentError(f"the script failed: {type(error).__name__}: {error}", hint=_place(error, path)) from error
    finally:
        sys.path.remove(folder)
    if not builders:
        raise InvalidArgumentError(
            f"script '{path}' made no graph", hint="define `g = tfg.GraphBuilder()` or `def build(g):` in the script"
        )
    return builders[0]


def _place(error: BaseException, path: str) -> str:
    """Return the innermost line of the script that was running: `build.py, line 3: g.MatMul(a)`."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}, line {error.lineno}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return f"{path}, line {frames[-1].lineno}: {frames[-1].line}" if frames else path
