"""OpenVINO's package, imported without telemetry, which the package would send over the network during the import."""

from __future__ import annotations

import importlib
import sys
from typing import Any, Final

_TELEMETRY: Final = "openvino_telemetry"


def _imported() -> Any:
    """Return the package, imported as if the telemetry package were not installed."""
    if "openvino" in sys.modules or _TELEMETRY in sys.modules:
        return importlib.import_module("openvino")
    sys.modules[_TELEMETRY] = None  # type: ignore[assignment]
    try:
        return importlib.import_module("openvino")
    finally:
        del sys.modules[_TELEMETRY]


ov: Final = _imported()
frontends: Final = importlib.import_module("openvino.frontend")
