"""Words for the engine and the precision of a run, beside the names of engines."""

from __future__ import annotations

from typing import Final

NUMPY: Final = "numpy"
"""No engine: NumPy runs everything."""
AUTO: Final = "auto"
"""NumPy and the engines that are installed, whichever is the fastest."""
FAST: Final = "fast"
"""The precision option for the fastest precision with results near enough."""
VARIABLE: Final = "TFG_ENGINE"
"""The environment variable that names the engine if nothing else does."""
