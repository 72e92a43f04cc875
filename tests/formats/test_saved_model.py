"""MetaGraphDefs and SavedModels: their information about graphs, and the selected graph of several."""

import numpy as np
import pytest
from google.protobuf import text_format

from tests.cli.running import SAMPLES, tfg
from tfg.core.building.builder import GraphBuilder
from tfg.core.graph.metagraph import Asset, SaverInfo, VariableInfo
from tfg.core.support.errors import DataLossError, InvalidArgumentError, NotFoundError
from tfg.core.types import dtypes
from tfg.formats import load, save, to_bytes, to_text
from tfg.formats.protos.graph_pb2 import GraphDef
from tfg.formats.protos.meta_graph_pb2 import MetaGraphDef, SavedModel, VariableDef

META = """\
meta_info_def {
  tags: "serve"
  tensorflow_version: "2.21.0"
}
graph_def {
  node {
    name: "x"
    op: "Placeholder"
    attr {
      key: "dtype"
      value {
        type: DT_FLOAT
      }
    }
  }
  versions {
    producer: 27
  }
}
saver_def {
  filename_tensor_name: "save/Const:0"
  save_tensor_name: "save/control_dependency:0"
  restore_op_name: "save/restore_all"
  max_to_keep: 5
  version: V2
}
collection_def {
  key: "losses"
  value {
    node_list {
      value: "x:0"
    }
  }
}
collection_def {
  key: "numbers"
  value {
    float_list {
      value: 0.5
    }
  }
}
signature_def {
  key: "serving_default"
  value {
    inputs {
      key: "arg"
      value {
        name: "x:0"
        dtype: DT_FLOAT
        tensor_shape {
          dim {
            size: -1
          }
        }
      }
    }
    inputs {
      key: "sparse"
      value {
        dtype: DT_INT64
        coo_sparse {
          values_tensor_name: "v:0"
          indices_tensor_name: "i:0"
          dense_shape_tensor_name: "s:0"
        }
      }
    }
    outputs {
      key: "out"
      value {
        name: "y:0"
      }
    }
    method_name: "predict"
  }
}
"""


def message():
    proto = text_format.Parse(META, MetaGraphDef())
    variable = VariableDef(
        variable_name="w:0", initializer_name="w/Assign", initial_value_name="w/init:0", snapshot_name="w/read:0",
        is_resource=True, trainable=True,
    )  # fmt: skip
    proto.collection_def["variables"].bytes_list.value.append(variable.SerializeToString())
    return proto


def test_meta_graph_round_trip():
    graph = load(META.encode())
    assert to_text(graph) == META
    assert text_format.Parse(META, MetaGraphDef()) == MetaGraphDef.FromString(to_bytes(graph))
    assert to_text(load(to_bytes(graph))) == META


def test_meta_graph_as_graph(tmp_path):
    graph = load(META.encode())
    save(graph, tmp_path / "g", kind="graph")
    assert GraphDef.FromString((tmp_path / "g").read_bytes()).node[0].name == "x"
    assert load(tmp_path / "g").meta is None
    made = load(to_bytes(load(tmp_path / "g"), "meta_graph"))
    assert made.meta is not None and len(made) == 1


def test_what_a_meta_graph_says():
    meta = load(message().SerializeToString()).meta
    assert meta.tags == ("serve",)
    assert meta.tensorflow_version == "2.21.0"
    assert meta.saver == SaverInfo("save/Const:0", "save/control_dependency:0", "save/restore_all", False, "V2")
    assert meta.collections == {"losses": ("x:0",), "numbers": (0.5,)}
    assert meta.variables == {"variables": (VariableInfo("w:0", "w/init:0", "w/Assign", "w/read:0", True, True),)}
    assert (meta.init_op, meta.assets, meta.variables_prefix, meta.folder) == (None, (), None, None)
    signature = meta.signatures["serving_default"]
    assert signature.method_name == "predict"
    assert list(signature.inputs) == ["arg", "sparse"]
    assert signature.inputs["arg"].tensor == "x:0"
    assert signature.inputs["arg"].dtype is dtypes.float32
    assert str(signature.inputs["arg"].shape) == "(?)"
    assert signature.inputs["sparse"].components == ("i:0", "v:0", "s:0")
    assert signature.outputs["out"].dtype is None


def saved_model(folder, *protos, text=False):
    folder.mkdir(parents=True, exist_ok=True)
    model = SavedModel(saved_model_schema_version=1, meta_graphs=protos)
    if text:
        (folder / "saved_model.pbtxt").write_text(text_format.MessageToString(model))
    else:
        (folder / "saved_model.pb").write_bytes(model.SerializeToString())


@pytest.mark.parametrize("text", [False, True])
def test_saved_model(tmp_path, text):
    proto = message()
    asset = proto.asset_file_def.add(filename="vocab.txt")
    asset.tensor_info.name = "asset:0"
    proto.signature_def["__saved_model_init_op"].outputs["op"].name = "init"
    saved_model(tmp_path / "m", proto, text=text)
    meta = load(tmp_path / "m").meta
    assert meta.variables_prefix is None
    (tmp_path / "m" / "variables").mkdir()
    (tmp_path / "m" / "variables" / "variables.index").touch()
    graph = load(tmp_path / "m")
    meta = graph.meta
    assert meta.folder == str(tmp_path / "m")
    assert meta.variables_prefix == str(tmp_path / "m" / "variables" / "variables")
    assert meta.assets == (Asset("asset:0", "vocab.txt", str(tmp_path / "m" / "assets" / "vocab.txt")),)
    assert meta.init_op == "init"
    assert list(meta.signatures) == ["serving_default"]
    assert GraphDef.FromString(to_bytes(graph)).node[0].name == "x"


@pytest.mark.parametrize(
    ("content", "size", "lines", "said"),
    [
        (b"a\nb\n", 4, 2, "2 lines"),
        (b"a\r\n\nb", 5, 3, "3 lines"),
        (b"", 0, 0, "0 lines"),
        (b"\x80\n", 2, None, "2 bytes"),
        (b"a\0\n", 3, None, "3 bytes"),
        (None, None, None, "missing"),
    ],
)
def test_facts_name_the_writer_and_the_files(tmp_path, content, size, lines, said):
    proto = message()
    proto.ClearField("signature_def")
    for _ in range(2):  # a file is named for each tensor that takes its path
        proto.asset_file_def.add(filename="words").tensor_info.name = "x:0"
    saved_model(tmp_path / "m", proto)
    if content is not None:
        (tmp_path / "m" / "assets").mkdir()
        (tmp_path / "m" / "assets" / "words").write_bytes(content)
    done = tfg("explain", tmp_path / "m", "--format", "json").json
    assert done["tensorflow_version"] == "2.21.0"
    assert done["assets"] == [{"name": "words", "bytes": size, "lines": lines}]
    text = tfg("explain", tmp_path / "m").out
    assert "TensorFlow 2.21.0" in text and f"words ({said})" in text


@pytest.mark.parametrize("key", ["saved_model_main_op", "legacy_init_op"])
def test_init_op_of_version_1(key):
    proto = message()
    proto.collection_def[key].node_list.value.append("init_all_tables")
    assert load(proto.SerializeToString()).meta.init_op == "init_all_tables"


def test_tables_are_filled_where_the_main_op_is_gone(tmp_path):
    """A graph that lost the operation that starts it is written with another."""
    g = GraphBuilder()
    table = g.HashTableV2(key_dtype="string", value_dtype="int64", shared_name="table")
    g.LookupTableImportV2(table, g.constant(np.array([b"a", b"b"], object)), g.constant(np.array([1, 2])))
    g.LookupTableFindV2(table, g.Placeholder(dtype="string", name="x"), g.constant(np.int64(-1)), name="y")
    save(g.graph, tmp_path / "graph.pb")
    assert tfg("convert", tmp_path / "graph.pb", f"{tmp_path}/first/", "--input", "x=x:0", "--output", "y=y:0").code == 0
    graph = load(tmp_path / "first")
    graph.remove_node(graph.node(graph.meta.init_op))
    save(graph, tmp_path / "lost.meta")
    assert tfg("convert", tmp_path / "lost.meta", f"{tmp_path}/second/").code == 0
    shown = tfg("run", tmp_path / "second", "--feed", 'x=["b", "z"]', "--format", "json").json
    assert shown["steps"][0]["values"][0]["value"] == [2, -1]


def test_tags_choose(tmp_path):
    train = message()
    del train.meta_info_def.tags[:]
    train.meta_info_def.tags.extend(["train", "gpu"])
    train.graph_def.node[0].name = "t"
    saved_model(tmp_path, message(), train)
    assert "x" in load(tmp_path)
    assert "t" in load(tmp_path, tags=["gpu", "train"])
    assert "t" in load(tmp_path / "saved_model.pb", tags=["gpu", "train"])
    with pytest.raises(InvalidArgumentError, match="no graph with tags gpu; its tag sets: serve; train,gpu"):
        load(tmp_path, tags=["gpu"])
    saved_model(tmp_path, train, train)
    with pytest.raises(InvalidArgumentError, match="several graphs"):
        load(tmp_path)


def test_folders_that_are_no_saved_model(tmp_path):
    saved_model(tmp_path / "models" / "1", message())
    with pytest.raises(NotFoundError, match="is not a SavedModel") as error:
        load(tmp_path / "models")
    assert str(tmp_path / "models" / "1") in str(error.value.hint)
    (tmp_path / "graph.pb").touch()
    with pytest.raises(NotFoundError) as error:
        load(tmp_path)
    assert "graph.pb" in str(error.value.hint)
    (tmp_path / "ck.index").touch()
    with pytest.raises(NotFoundError) as error:
        load(tmp_path)
    assert "checkpoint" in str(error.value.hint)
    with pytest.raises(InvalidArgumentError, match="has no graph"):
        load(b"saved_model_schema_version: 1")


@pytest.mark.parametrize("filename", ["../secret", "/etc/passwd", "a/../../b"])
def test_assets_stay_inside(tmp_path, filename):
    proto = message()
    proto.asset_file_def.add(filename=filename)
    saved_model(tmp_path, proto)
    with pytest.raises(DataLossError, match="outside"):
        load(tmp_path)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["saved_model.pb", "saved_model.pbtxt"])
@pytest.mark.parametrize("kind", ["graph", "meta_graph"])
@pytest.mark.parametrize("text", [False, True])
def test_a_folder_whose_file_is_no_saved_model_is_read_as_its_file_is(tmp_path, name, kind, text):
    """People call a frozen graph saved_model.pb."""
    graph = load(SAMPLES / "xor.pbtxt")
    save(graph, tmp_path / "graph", text=text, kind=kind)
    (tmp_path / "graph").rename(tmp_path / name)
    assert [node.name for node in load(tmp_path)] == [node.name for node in graph]
    with pytest.raises(InvalidArgumentError, match="tags choose among the graphs of a SavedModel"):
        load(tmp_path, tags=["serve"])


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("has_nodes", [True, False])
def test_a_saved_model_without_the_number_of_its_schema(tmp_path, parts, has_nodes):
    proto = message()
    if not has_nodes:
        del proto.graph_def.node[:]
    others = [MetaGraphDef(meta_info_def=MetaGraphDef.MetaInfoDef(tags=["train"]))] * (parts - 1)
    (tmp_path / "saved_model.pb").write_bytes(SavedModel(meta_graphs=[proto, *others]).SerializeToString())
    graph = load(tmp_path)
    assert [node.name for node in graph] == (["x"] if has_nodes else [])
    assert graph.meta.tags == ("serve",)


def test_functions_alone_are_no_saved_model():
    library = GraphDef()
    library.library.function.add().signature.name = "f"
    with pytest.raises(InvalidArgumentError):
        load(library.SerializeToString())
