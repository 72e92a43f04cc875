"""What `kernels` times: an op a row, of ten thousand to a million elements, and small ones where a call costs most."""

from __future__ import annotations

from collections.abc import Iterator

from .arithmetic import algebra_rows, elementwise_rows, reduction_rows
from .making import Row
from .media import image_rows, record_rows, string_rows
from .networks import network_rows, quantize_rows, random_rows, resource_rows
from .places import moving_rows, sparse_rows

FAMILIES = (
    image_rows, string_rows, record_rows, elementwise_rows, reduction_rows, moving_rows, sparse_rows, algebra_rows,
    network_rows, quantize_rows, random_rows, resource_rows,
)  # fmt: skip


def rows() -> Iterator[Row]:
    """All rows, family by family."""
    for family in FAMILIES:
        yield from family()
