"""Numbers of enums that 32 bits cannot hold: an error in every kind of text that is read."""

from __future__ import annotations

import pytest

import tfg
from tfg.core.support.errors import DataLossError, InvalidArgumentError
from tfg.formats.run_metadata import read_run_metadata

NODE = 'node { name: "a" op: "Placeholder" attr { key: "dtype" value { type: %s } } }'
TEXTS = {
    "graph": NODE,
    "meta graph": 'meta_info_def { tags: "serve" } graph_def { ' + NODE + " }",
    "saved model": "saved_model_schema_version: 1 meta_graphs { graph_def { " + NODE + " } }",
    "a tensor's": 'node { name: "a" op: "Const" attr { key: "value" value { tensor { dtype: %s } } } }',
    "a list's": 'node { name: "a" op: "PartitionedCall" attr { key: "Tin" value { list { type: %s } } } }',
    "a function's": 'library { function { signature { name: "f" input_arg { name: "x" type: %s } } } }',
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("number", [1 << 31, 1 << 40, -(1 << 31) - 1, -(1 << 63), 1 << 63, 1 << 70])
@pytest.mark.parametrize("text", TEXTS)
def test_a_number_beyond_32_bits_is_an_error(text, number, tmp_path):
    path = tmp_path / "graph.pbtxt"
    path.write_text(TEXTS[text] % number)
    with pytest.raises((InvalidArgumentError, DataLossError)):
        tfg.load(path)


def test_in_recorded_times_too(tmp_path):
    path = tmp_path / "run.pbtxt"
    path.write_text(f"step_stats {{ dev_stats {{ node_stats {{ memory {{ total_bytes: {1 << 70} }} }} }} }}")
    with pytest.raises(DataLossError):
        read_run_metadata(str(path))
