"""JAX. Where tfg is the first to import JAX, programs on a CPU run in the calling thread, which waits for them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any, Final


def _imported() -> Any:
    """Return the package, with JAX's settings unchanged where the program has imported JAX before."""
    if "jax" in sys.modules:
        return importlib.import_module("jax")
    package = importlib.import_module("jax")
    package.config.update("jax_cpu_enable_async_dispatch", False)
    return package


jax: Final = _imported()
jnp: Final = importlib.import_module("jax.numpy")
special: Final = importlib.import_module("jax.scipy.special")
program_function: Final[Callable[[Any], Callable[..., Any]]] = importlib.import_module("jax.extend.core").jaxpr_as_fun
"""Make a function of a traced program."""
