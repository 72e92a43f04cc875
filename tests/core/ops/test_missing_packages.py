"""Ops whose packages are not installed everywhere name the package and themselves."""

from __future__ import annotations

import sys

import pytest

import tfg


@pytest.mark.parametrize("op", ["RegexReplace", "RegexFullMatch", "StaticRegexReplace", "StaticRegexFullMatch"])
def test_regular_expressions_need_google_re2(op, monkeypatch):
    monkeypatch.setitem(sys.modules, "re2", None)
    g = tfg.GraphBuilder()
    text, pattern = g.constant("a"), g.constant("a")
    if op.startswith("Static"):
        g.apply(op, text, pattern="a", name="y", **({"rewrite": "b"} if "Replace" in op else {}))
    else:
        g.apply(op, text, pattern, *([pattern] if "Replace" in op else []), name="y")
    with pytest.raises(tfg.errors.UnimplementedError, match=f"node 'y'.*: {op} needs the package google-re2") as refused:
        tfg.Session(g.graph).run("y")
    assert "pip install google-re2" in refused.value.hint
