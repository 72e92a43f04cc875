"""The messages that DecodeProtoV2 knows as `local://` are TensorFlow's, field by field."""

from __future__ import annotations

import importlib

import pytest
from google.protobuf import descriptor_pool

from tfg.formats.codecs import message_descriptors

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.live
for imported in ("core.protobuf.tensor_bundle_pb2", "core.util.saved_tensor_slice_pb2"):
    importlib.import_module(f"tensorflow.{imported}")
TENSORFLOW = descriptor_pool.Default()


def described(messages):
    """The fields of each message and of the messages in it."""
    for message in messages:
        yield message.full_name, {field.name: (field.number, field.type, field.is_repeated) for field in message.fields}
        yield from described(message.nested_types)


@pytest.mark.parametrize("module", message_descriptors.OWN, ids=lambda module: module.__name__.rsplit(".")[-1])
def test_own_messages_equal_tensorflows(module):
    messages = list(described(module.DESCRIPTOR.message_types_by_name.values()))
    assert messages
    for name, fields in messages:
        other = name.replace("tfg.", "tensorflow.", 1)
        assert dict(described([TENSORFLOW.FindMessageTypeByName(other)]))[other] == fields
        assert message_descriptors.described_type(None, other).descriptor.full_name == other
