"""The samples for `tfg optimize --cluster` in the docs, one_kernel and all_constant; a part of regenerate.py."""

from __future__ import annotations

import pathlib

import tfg
from tfg.formats import to_text

SAMPLES = pathlib.Path(__file__).parents[1] / "sample_graphs"


def affine(fed: bool) -> tfg.GraphBuilder:
    """y = x w + b; w and b are the same constant under two names, x is fed or a constant too."""
    b = tfg.GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[], name="x") if fed else b.constant(1.0, name="x")
    w, bias = b.constant(0.8, name="w"), b.constant(0.8, name="b")
    b.AddV2(b.Mul(x, w, name="xw"), bias, name="y")
    return b


def derived() -> dict[pathlib.Path, str]:
    graphs = {"one_kernel": affine(fed=True), "all_constant": affine(fed=False)}
    return {SAMPLES / f"{name}.pbtxt": to_text(builder.graph) for name, builder in graphs.items()}
