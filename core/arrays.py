"""What tensors are while a graph runs."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
"""A value of a tensor: any shape, any dtype; `object` for strings, whose elements are `bytes`."""

Result: TypeAlias = Array | np.generic
"""What a kernel returns for one output: NumPy gives scalars, not arrays, for most arithmetic on shape ()."""
