"""Construction scripts: Python files that build a graph with GraphBuilder and mark stages."""

from __future__ import annotations

import os
import pathlib
import runpy
import sys
import traceback

from ..graph.graph import Graph
from ..support.arguments import checked
from ..support.errors import InvalidArgumentError, NotFoundError, TfgError
from ..support.hints import Hint
from ..support.untrusted import refuse_program
from ..support.user_signals import pass_on
from .builder import GraphBuilder

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
    sys.path.insert(0, folder)
    try:
        namespace = runpy.run_path(path, run_name="__main__")
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
