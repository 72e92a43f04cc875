"""Descriptions of TensorFlow's ops, a sentence each from the documentation.

scripts/make_op_sentences.py writes op_sentences.txt.
"""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Mapping


def op_sentence(op: str) -> str:
    """Return a sentence on what an op computes; empty for ops that TensorFlow does not document."""
    return _sentences().get(op, "")


@functools.cache
def _sentences() -> Mapping[str, str]:
    lines = pathlib.Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    return {op: sentence for op, _, sentence in (line.partition(" ") for line in lines)}
