"""The ops of the catalog as methods; raw_ops.pyi has a signature of each for type checkers and editors."""

from __future__ import annotations

import keyword
from collections.abc import Callable
from typing import Any

from ..registry.catalog import CATALOG
from .op_functions import op_function


def op_names() -> list[str]:
    """Return the declared ops whose names Python takes for public methods."""
    return [name for name in CATALOG if name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")]


class RawOps:
    """Adds a node of an op by the method with the op's name."""

    def __getattr__(self, op: str) -> Callable[..., Any]:
        if op.startswith("__") or op not in CATALOG:
            raise AttributeError(f"'{op}' is neither a method of GraphBuilder nor a declared op")
        return op_function(self.apply, op)

    def __dir__(self) -> list[str]:
        """Return the methods and the declared ops, for tab completion."""
        return sorted({*super().__dir__(), *op_names()})

    def apply(self, op: str, *inputs: Any, name: str | None = None, **attrs: Any) -> Any:
        """Add a node of type `op`."""
        raise NotImplementedError
