"""Reading and writing of the recorded answers of op cases: an .npz file per family."""

from __future__ import annotations

import base64
import functools
import json
import pathlib
from typing import Any

import numpy as np

from tests import opcases
from tfg.core.types import dtypes


def expected_error(recorded: str | None) -> str | None:
    """Return the name of tfg's error for an error of TensorFlow: tfg raises no InternalError for a fault of the graph."""
    return "InvalidArgumentError" if recorded == "InternalError" else recorded


class Answers:
    """For each case key, the steps: {"error": class name or None, "results": arrays or None for an operation}."""

    def __init__(self, meta: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.meta = meta
        self.arrays = arrays

    @classmethod
    def load(cls, path: pathlib.Path) -> Answers:
        with np.load(path) as archive:
            arrays = {name: archive[name] for name in archive.files}
        return cls(json.loads(arrays.pop("meta").tobytes()), arrays)

    def save(self, path: pathlib.Path) -> None:
        meta = np.frombuffer(json.dumps(self.meta, indent=0, sort_keys=True).encode(), np.uint8)
        np.savez_compressed(path, meta=meta, **self.arrays)  # type: ignore[arg-type]

    def steps(self, key: str) -> list[dict[str, Any]]:
        """The recorded steps of a case, arrays decoded."""
        return [
            {"error": step["error"], "results": [self._decode(item) for item in step["results"]]} for step in self.meta[key]
        ]

    def record(self, key: str, steps: list[dict[str, Any]]) -> None:
        self.meta[key] = [
            {"error": step["error"], "results": [self._encode(item) for item in step["results"]]} for step in steps
        ]

    def _encode(self, value: Any) -> Any:
        if value is None:
            return None
        array = np.array(value, object) if isinstance(value, bytes) else np.asarray(value)
        if array.dtype.kind in "OSU":
            flat = [v.encode() if isinstance(v, str) else bytes(v) for v in array.ravel().tolist()]
            return {"dtype": "string", "shape": array.shape, "base64": [base64.b64encode(v).decode() for v in flat]}
        name = f"a{len(self.arrays)}"
        self.arrays[name] = np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)
        return {"dtype": array.dtype.name, "shape": array.shape, "array": name}

    def _decode(self, item: Any) -> Any:
        if item is None:
            return None
        if item["dtype"] == "string":
            flat = np.empty(len(item["base64"]), object)
            flat[:] = [base64.b64decode(text) for text in item["base64"]]
            return flat.reshape(item["shape"])
        dtype = dtypes.from_name(item["dtype"]).numpy
        return np.frombuffer(self.arrays[item["array"]].tobytes(), dtype).reshape(item["shape"])


@functools.cache
def answers(family: str) -> Answers:
    """Return TensorFlow's answers to the cases of a family."""
    return Answers.load(opcases.RECORDED_DIR / f"{family}.npz")
