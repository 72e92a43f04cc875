"""Python expressions as nodes of a graph."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping

import numpy as np

from tfg.core.building.builder import GraphBuilder
from tfg.core.graph.graph import Output

_BINARY = {ast.Add: "AddV2", ast.Sub: "Sub", ast.Mult: "Mul", ast.Div: "RealDiv", ast.Pow: "Pow"}
_FUNCTIONS = {"exp": "Exp", "log": "Log", "sin": "Sin", "cos": "Cos", "arctan": "Atan"}


def build(g: GraphBuilder, text: str, names: Mapping[str, Output]) -> Output:
    """Return nodes that compute the expression in double precision; `names` are the variables."""
    return _node(g, ast.parse(text, mode="eval").body, names)


def _node(g: GraphBuilder, tree: ast.expr, names: Mapping[str, Output]) -> Output:
    match tree:
        case ast.BinOp(left, op, right):
            return g.apply(_BINARY[type(op)], _node(g, left, names), _node(g, right, names))
        case ast.UnaryOp(ast.USub(), operand):
            return g.Neg(_node(g, operand, names))
        case ast.Call(ast.Name(function), (argument,)):
            return g.apply(_FUNCTIONS[function], _node(g, argument, names))
        case ast.Name("pi"):
            return g.constant(np.float64(math.pi))
        case ast.Name(name):
            return names[name]
        case ast.Constant(value):
            return g.constant(np.float64(value))
    raise ValueError(ast.dump(tree))
