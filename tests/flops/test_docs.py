"""docs/flops.md says what is true."""

from __future__ import annotations

import pathlib
import re
import runpy

import pytest

import tfg
from tfg.core import registry

from .test_networks import report

ROOT = pathlib.Path(tfg.__file__).parent
PAGE = (ROOT / "docs" / "flops.md").read_text()
NAMES = {name: name.lower().replace("-", "").replace(" ", "") for name in (
    "ResNet-50", "MobileNetV2", "Inception v3", "EfficientNet-B0", "LSTM")}  # fmt: skip


def test_the_table_of_formulas_is_up_to_date():
    script = runpy.run_path(str(ROOT / "scripts" / "flops_table.py"), run_name="flops_table")
    assert script["rewritten"](PAGE) == PAGE, "run scripts/flops_table.py"


def test_every_op_is_in_the_table():
    registry.load_all_families()
    listed = set(re.findall(r"\w+", PAGE))
    assert {op for op in registry.registered_ops() if registry.family(op)} <= listed


@pytest.mark.parametrize("network", NAMES)
def test_published_counts(network):
    counted = re.search(rf"\| {network} \| ([\d,]+)", PAGE)[1]
    assert report(NAMES[network]).substituted({"N": 1}).total().macs == int(counted.replace(",", ""))
