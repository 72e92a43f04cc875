"""DecodeProtoV2 with descriptors in a file, with bounded memory and with deep messages."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases.parsing_protos import SOURCE, ints
from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session.session import Session
from tfg.core.runtime.state.file_access import FileAccess
from tfg.core.support.errors import DataLossError, InvalidArgumentError, PermissionDeniedError, ResourceExhaustedError


def decoded(messages, source=SOURCE, message_format="binary", **options):
    """Return the values of the repeated int64 field, with a session of `options`."""
    b = GraphBuilder()
    attributes = {"message_type": "t.M", "field_names": ["int64_list"], "output_types": ["int64"]}
    formats = {"descriptor_source": source, "message_format": message_format}
    b.add("DecodeProtoV2", [b.constant(np.array(messages, object))], attributes | formats, "op")
    return Session(b.graph, **options).run("op:1").tolist()


def test_descriptors_in_a_file(tmp_path):
    path = tmp_path / "messages.desc"
    path.write_bytes(SOURCE.removeprefix(b"bytes://"))
    files = FileAccess.only(readable=[tmp_path])
    assert decoded([ints(23, 1, 2)], str(path), files=files) == [[1, 2]]
    path.write_bytes(b"other text")
    with pytest.raises(InvalidArgumentError):
        decoded([ints(23, 1, 2)], str(path), files=files)


def test_a_file_outside_the_folders_of_the_session_stays_closed(tmp_path):
    path = tmp_path / "messages.desc"
    path.write_bytes(SOURCE.removeprefix(b"bytes://"))
    with pytest.raises(PermissionDeniedError):
        decoded([b""], str(path), files=FileAccess.only(readable=[tmp_path / "other"]))


def test_the_padding_of_many_messages_needs_memory():
    """One message has many values, so each other message has as many defaults."""
    with pytest.raises(ResourceExhaustedError):
        decoded([ints(23, *range(1000))] + [b""] * 9999, max_memory=1 << 24)


def test_a_text_of_deep_messages_is_refused():
    with pytest.raises(DataLossError):
        decoded([b"message {" * 50_000], message_format="text")
