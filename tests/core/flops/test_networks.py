"""Published multiply-add counts of known networks, from graphs recorded by scripts/record_networks.py."""

from __future__ import annotations

import functools
import lzma
import pathlib

import pytest

from tfg.core.flops import count_flops
from tfg.core.flops.views import by_op
from tfg.formats.graphdef import graph_from_bytes

GRAPHS = pathlib.Path(__file__).with_name("graphs")
# Multiply-adds of an example, and parameters.
#   ResNet-50     torchvision's documentation (docs.pytorch.org/vision, resnet50: GFLOPS 4.09) counts the variant whose blocks
#                 stride in their 3x3 convolution. Keras strides in the 1x1 before it, as He et al. 2015 do (3.8 G, Table 1):
#                 3 * 28^2 * 256 * 128 fewer in each of the three stages that stride.
#   MobileNetV2   Sandler et al. 2018, Table 4: 300 M, 3.4 M parameters without batch norm's moments.
#   Inception v3  torchvision's documentation: 5.713 G.
#   EfficientNet  Tan and Le 2019, Table 2: 0.39 G, in two digits.
#   LSTM          layers * steps * 8 products of 512 x 512, as the author of NVIDIA's LSTM.cu counts his example of 4 layers
#                 and 100 steps (github.com/NVIDIA-developer-blog/code-samples/issues/7); DeepBench counts recurrent products
#                 alike (github.com/baidu-research/DeepBench/issues/55). A layer has 4 * 512 * (512 + 512 + 1) weights.
PUBLISHED = {
    "resnet50": (4.09e9 - 3 * 3 * 28**2 * 256 * 128, 25_636_712),
    "mobilenetv2": (300e6, 3_538_984),
    "inceptionv3": (5.713e9, 23_851_784),
    "efficientnetb0": (0.39e9, 5_330_571),
    "lstm": (4 * 100 * 8 * 512**2, 4 * 4 * 512 * 1025),
}


@functools.cache
def report(name):
    return count_flops(graph_of(name), ["Identity:0"])


def graph_of(name):
    return graph_from_bytes(memoryview(lzma.decompress((GRAPHS / f"{name}.pb.xz").read_bytes())))


@pytest.mark.parametrize("name", PUBLISHED)
def test_multiply_adds(name):
    counted = report(name)
    assert counted.unknown() == []
    macs = counted.substituted({"N": 1}).total().macs
    digits = 0.005e9 if name == "efficientnetb0" else 0.0
    assert macs == pytest.approx(PUBLISHED[name][0], rel=0.01, abs=digits)
    by_type = {row.name: row.totals for row in by_op(counted.substituted({"N": 1}).nodes)}
    assert macs == sum(by_type[op].macs for op in ("Conv2D", "MatMul", "DepthwiseConv2dNative") if op in by_type)


@pytest.mark.parametrize("name", PUBLISHED)
def test_parameters(name):
    assert report(name).total().parameters == pytest.approx(PUBLISHED[name][1], rel=0.001)


def test_costs_are_linear_in_the_batch():
    counted = report("resnet50")
    one, eight = (counted.substituted({"N": n}).total() for n in (1, 8))
    assert one.macs * 8 == eight.macs
    # The frozen batch norm computes its factors anew in each run, whatever the batch.
    assert 0 < 8 * one.flops - eight.flops < 2e6


def test_frozen_resnet_50_has_the_nodes_that_it_is_known_for():
    assert len(report("resnet50").nodes) == 1831
