"""The codes of problems, by which users look problems up and ignore them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..support import dataclasses
from ..support.errors import NotFoundError

MEANINGS: Final = {
    "attribute": "An attribute is missing, unknown, of another kind or out of bounds, or recorded shapes are wrong.",
    "colocation": (
        "A node must share its device with a node that is absent or elsewhere (`loc:@NAME` in `_class`). TensorFlow refuses"
        " the graph; runs without TensorFlow ignore devices. Pass `repair` drops names of absent nodes."
    ),
    "cycle": "Nodes wait for each other, so none of them can run. Only an edge from NextIteration to Merge may close a cycle.",
    "dangling-input": "An input names a node that is not in the graph.",
    "device": "A device name does not parse, so TensorFlow cannot place the node.",
    "dtype": "An input has another dtype than the op takes, as where freezing replaced a variable by a constant.",
    "file": "The file is damaged there, or a file that it needs is absent.",
    "function": "A function is missing or cannot be read.",
    "inputs": "The node has more or fewer inputs than its op takes, or reads an output that does not exist.",
    "loop": "The node breaks the frames of V1 loops: loops share a frame, or a value crosses a frame without Enter or Exit.",
    "name": "TensorFlow accepts no node or op of this name.",
    "no-kernel": "TensorFlow declares the op, but tfg has no kernel for it: these nodes do not run. Load your own kernels.",
    "shape": "Shapes contradict each other in every run, or an input has a rank that the op refuses.",
    "uninitialized": "No node gives the variable a first value, so the value must come from a state or checkpoint.",
    "unknown-op": "Neither TensorFlow nor a loaded op library declares the op. Load the library, or map the op to another.",
    "unreached-effect": "A write, check or print runs in no run, as no result and no control output needs it.",
    "unreadable": "The file holds no graph, or cannot be read.",
    "version": "The graph's versions rule out the TensorFlow that tfg stands for.",
}
"""What each code says about a graph."""


@dataclasses.dataclass(frozen=True, slots=True)
class ProblemCode:
    """A code of problems, and its meaning."""

    code: str
    """The code, such as `colocation`."""
    meaning: str
    """What problems of this code say about a graph, and what to do."""

    @classmethod
    def named(cls, code: str) -> ProblemCode:
        """Return a code with its meaning; NotFoundError lists the codes for another word.

        >>> tfg.ProblemCode.named("cycle").code
        'cycle'
        """
        if code_of(code) not in MEANINGS:
            raise NotFoundError(f"no problem has the code '{code}'", hint=f"the codes are {', '.join(MEANINGS)}")
        return cls(code_of(code), MEANINGS[code_of(code)])


def code_of(kind: str) -> str:
    """Return the code of a kind of problems: `unknown-op` for `unknown op`."""
    return kind.replace(" ", "-")


def known_codes(codes: Iterable[str]) -> frozenset[str]:
    """Return the codes among words separated by commas; NotFoundError for a word that is no code."""
    return frozenset(ProblemCode.named(code.strip()).code for text in codes for code in text.split(","))
