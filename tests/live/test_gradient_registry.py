"""What tests/core/gradients/tensorflow_registry.txt says of TensorFlow's gradients is so."""

from __future__ import annotations

import pytest

from tests.core.gradients.test_marks import in_tensorflow
from tfg.core.registry.catalog import CATALOG

pytest.importorskip("tensorflow")
from tensorflow.python.framework import ops

pytestmark = pytest.mark.live


def test_the_registry_is_tensorflows() -> None:
    registered = ops.gradient_registry
    theirs = {op: "none" if registered.lookup(op) is None else "function" for op in registered.list() if op in CATALOG}
    assert {op: kind for op, kind in in_tensorflow().items() if op in CATALOG} == theirs
