"""docs/flops.md says what is true, and every op says what it counts."""

from __future__ import annotations

import pathlib
import re

import pytest

import tfg
from tests.core.flops.test_networks import report
from tfg.core.flops.formulas import flops_formulas
from tfg.core.registry import registry

ROOT = pathlib.Path(tfg.__file__).parent
PAGE = (ROOT / "docs" / "flops.md").read_text()
NAMES = {name: name.lower().replace("-", "").replace(" ", "") for name in (
    "ResNet-50", "MobileNetV2", "Inception v3", "EfficientNet-B0", "LSTM")}  # fmt: skip


@pytest.mark.slow
def test_every_op_that_counts_says_how():
    registry.load_all_families()
    ops = {op for op in registry.registered_ops() if registry.family(op)}
    result = flops_formulas(ops)
    assert {op for formula in result for op in formula.ops} == ops
    assert [formula.ops for formula in result if formula.family and not formula.flops] == []


@pytest.mark.parametrize("network", NAMES)
def test_published_counts(network):
    counted = re.search(rf"\| {network} \| ([\d,]+)", PAGE)[1]
    assert report(NAMES[network]).substituted({"N": 1}).total().macs == int(counted.replace(",", ""))
