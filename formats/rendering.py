"""Graphviz source as SVG, PNG or PDF, laid out by the program `dot` or by the package graphviz-pure."""

from __future__ import annotations

import shutil
import subprocess
from typing import Final

from ..core.support import dataclasses
from ..core.support.errors import DeadlineExceededError, NotFoundError, UnknownError
from ..core.support.hints import Hint, option, step
from ..core.support.log import Stopwatch

_PURE: Final = "graphviz-pure"
"""The package, and the program, with the layout of `dot` in a wheel."""
_PURE_KINDS: Final = ("svg", "png")
_LONGEST: Final = 2e6
"""The largest time limit in seconds: a wait for a process takes at most 2^31 milliseconds."""
_GET_DOT: Final = "install Graphviz (`apt install graphviz`, `brew install graphviz`, `winget install graphviz`)"


@dataclasses.dataclass(frozen=True, slots=True)
class LayoutProgram:
    """A program that lays out Graphviz source: name and path."""

    name: str
    path: str

    def render(self, source: str, kind: str, timeout: float) -> bytes:
        """Lay out Graphviz source and return the picture; `timeout` in seconds.

        DeadlineExceededError where the layout takes longer, UnknownError where the program fails.
        """
        watch = Stopwatch()
        command = [self.path, f"-T{kind}"]
        try:
            done = subprocess.run(command, input=source.encode(), capture_output=True, timeout=min(timeout, _LONGEST))
        except subprocess.TimeoutExpired:
            hint = Hint("draw less (", step("draw_less"), "), or raise the time limit (", option("timeout"), ")")
            message = f"'{self.name}' needed more than {timeout:g} s to lay out the graph"
            raise DeadlineExceededError(message, hint=hint) from None
        if done.returncode:
            raise UnknownError(f"'{self.name}' failed: {done.stderr.decode(errors='replace').strip()}")
        watch.tell("%s laid out %d bytes of Graphviz source", self.name, len(source))
        return done.stdout


def layout_program(kind: str) -> LayoutProgram:
    """Find the program that makes pictures of a kind: `dot` where installed, else the program of graphviz-pure.

    NotFoundError where neither can make the picture; graphviz-pure writes no PDF.
    """
    dot = shutil.which("dot")
    if dot is not None:
        return LayoutProgram("dot", dot)
    if kind not in _PURE_KINDS:
        message = f"{kind.upper()} needs the program 'dot' of Graphviz, which is not installed"
        raise NotFoundError(message, hint=f"{_GET_DOT}, or write SVG or PNG")
    pure = pure_path()
    if pure is None:
        message = f"{kind.upper()} needs the package {_PURE} or the program 'dot' of Graphviz, and neither is installed"
        hint = Hint(f"`pip install {_PURE}`, or {_GET_DOT}; ", option("format"), " dot and text need neither")
        raise NotFoundError(message, hint=hint)
    return LayoutProgram(_PURE, pure)


def pure_path() -> str | None:
    """Return the path of graphviz-pure's program, wherever pip put the file; None where the package is not installed."""
    from importlib.metadata import PackageNotFoundError, files

    try:
        installed = files(_PURE) or ()
    except PackageNotFoundError:
        return None
    return next((str(file.locate()) for file in installed if file.stem == _PURE), None)
