"""Words that say what runs a graph, beside the names of engines."""

from __future__ import annotations

from typing import Final

NUMPY: Final = "numpy"
"""No engine: NumPy runs everything."""
AUTO: Final = "auto"
"""NumPy and the engines that are installed, whichever is the fastest."""
FAST: Final = "fast"
"""The precision that is the fastest one whose results are near enough."""
VARIABLE: Final = "TFG_ENGINE"
"""The environment variable that names the engine where nothing else does."""
