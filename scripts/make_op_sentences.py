"""Write core/registry/op_sentences.txt, a sentence about each op, from the documentation of an installed TensorFlow.

usage: python -m scripts.make_op_sentences
"""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Iterator

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf

from tfg.core.registry.catalog import CATALOG

TARGET = pathlib.Path(__file__).parents[1] / "core" / "registry" / "op_sentences.txt"
LONGEST = 160
"""The largest number of letters of a sentence that fits into a panel."""


def sentence(op: str) -> str | None:
    """Return the first sentence of an op's documentation, None where there is none of a length to show."""
    text = getattr(getattr(tf.raw_ops, op, None), "__doc__", None) or ""
    paragraph = " ".join(text.strip().split("\n\n")[0].split())
    first = re.split(r"(?<=[^.]\.) (?=[A-Z])", paragraph, maxsplit=1)[0].rstrip(".:,")
    if not first or len(first) > LONGEST or first.startswith(("TODO", "DEPRECATED")):
        return None
    return f"{first[0].upper()}{first[1:]}."


def lines() -> Iterator[str]:
    for op in sorted(CATALOG):
        if text := sentence(op):
            yield f"{op} {text}\n"


if __name__ == "__main__":
    TARGET.write_text("".join(lines()), encoding="utf-8")
