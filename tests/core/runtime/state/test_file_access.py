"""Refusals of a session that opens only some files, for every way of naming files."""

import os

import numpy as np
import pytest

from tests.cli.running import SAMPLES, tfg
from tests.functions import define
from tests.opcases import string_array as strings
from tfg import FileAccess, GraphBuilder, Session
from tfg.core.graph.metagraph import MetaGraph
from tfg.core.graph.purity import impurity
from tfg.core.support.errors import InvalidArgumentError, PermissionDeniedError
from tfg.formats import load
from tfg.formats.checkpoint.store import write_checkpoint


def _graph(op, path):
    g = GraphBuilder()
    if op == "PrintV2":
        g.PrintV2(g.constant("text"), output_stream=path, name="op")
    else:
        getattr(g, op)(g.constant(path), name="op")
    return g.graph


@pytest.mark.parametrize(("op", "fetch"), [("ReadFile", "op:0"), ("MatchingFiles", "op:0"), ("PrintV2", "op")])
def test_uris_are_paths(op, fetch, tmp_path):
    opened = tmp_path / "open"
    opened.mkdir()
    (opened / "a").write_text("")
    access = FileAccess.only(writable=[opened])
    Session(_graph(op, f"file://{opened}/a"), files=access).run([fetch])
    with pytest.raises(PermissionDeniedError, match="closed"):
        Session(_graph(op, f"file://{tmp_path}/closed/a"), files=access).run([fetch])


def test_a_pattern_opens_no_other_checkpoint(tmp_path):
    (tmp_path / "open").mkdir()
    write_checkpoint(tmp_path / "closed", {"v": np.float32(1)}, version=1)
    (tmp_path / "open" / "link").symlink_to(tmp_path / "closed")
    g = GraphBuilder()
    pattern = g.constant(f"{tmp_path}/open/l*k")
    g.RestoreV2(pattern, g.constant(strings(["v"])), g.constant(strings([""])), dtypes=["float"], name="op")
    assert Session(g.graph, files=FileAccess.everything()).run(["op:0"])[0] == 1
    with pytest.raises(PermissionDeniedError, match="link"):
        Session(g.graph, files=FileAccess.only([tmp_path / "open"])).run(["op:0"])


def test_no_folder_has_a_nul_in_its_name():
    for folders in ({"readable": ["a\0"]}, {"writable": ["a\0"]}):
        with pytest.raises(InvalidArgumentError, match="is not a file name"):
            FileAccess.only(**folders)
    with pytest.raises(InvalidArgumentError, match="is not a file name"):
        FileAccess().reading("a\0")


def test_a_session_opens_no_file_unless_told(tmp_path):
    (tmp_path / "a").write_text("text")
    graph = _graph("ReadFile", str(tmp_path / "a"))
    with pytest.raises(PermissionDeniedError) as raised:
        Session(graph).run("op:0")
    assert raised.value.node == "op"
    assert Session(graph, files=FileAccess.everything()).run("op:0") == b"text"


def test_what_reads_files_is_impure_and_so_is_its_caller():
    g = GraphBuilder()
    read = g.ReadFile(g.constant("a"), name="read")
    assert impurity(g.graph, read.node) == "it reads files"
    define(g, "body", ["string"], lambda b, path: [b.ReadFile(path, name="inner")])
    call = g.PartitionedCall([g.constant("a")], Tout=["string"], f="body", name="call")
    assert impurity(g.graph, call[0].node) == "inner in function 'body': it reads files"


@pytest.fixture
def cached_model(tmp_path):
    """Return the folder of a SavedModel in a Hugging Face cache: the files are links to blobs of the same model."""
    model, blobs = tmp_path / "models--me--scaler", tmp_path / "models--me--scaler" / "blobs"
    folder = model / "snapshots" / "4f5a" / "saved_model"
    blobs.mkdir(parents=True)
    for number, path in enumerate(sorted(p for p in (SAMPLES / "scaler_saved_model").rglob("*") if p.is_file())):
        link = folder / path.relative_to(SAMPLES / "scaler_saved_model")
        link.parent.mkdir(parents=True, exist_ok=True)
        (blobs / str(number)).write_bytes(path.read_bytes())
        link.symlink_to(os.path.relpath(blobs / str(number), link.parent))
    return folder


def reading(path):
    """Return a graph with a constant and a node that reads the file."""
    g = GraphBuilder()
    return g.graph, str(g.ReadFile(g.constant(str(path))))


def test_a_model_whose_files_are_links_into_its_cache_runs(cached_model):
    def run(folder):
        return tfg("run", folder, "--signature", "serving_default", "--feed", "x=[[1, 2]]").out

    assert run(cached_model) == run(SAMPLES / "scaler_saved_model") != ""
    Session(load(cached_model)).start()


@pytest.mark.parametrize("place", ["a link out of the folder", "beside the cache", "a cache that is a link", "no cache"])
def test_a_cached_model_opens_nothing_but_its_own(cached_model, place):
    model = cached_model.parents[2]
    secret = model.parent / "secret"
    secret.write_text("hidden")
    path = cached_model / "notes"
    if place == "a link out of the folder":
        path.symlink_to(secret)
    elif place == "beside the cache":
        path = model / "refs"
        path.write_text("hidden")
    elif place == "a cache that is a link":
        (model / "blobs").rename(model / "kept")
        (model.parent / "closed").mkdir()
        (model.parent / "closed" / "hidden").write_text("hidden")
        (model / "blobs").symlink_to(model.parent / "closed")
        path.symlink_to(model / "blobs" / "hidden")
    else:
        (model / "snapshots").rename(model / "other")
        cached_model, path = model / "other" / "4f5a" / "saved_model", model / "blobs" / "0"
    graph, fetch = reading(path)
    with pytest.raises(PermissionDeniedError):
        Session(graph, files=FileAccess().reading_model(cached_model)).run(fetch)


@pytest.mark.parametrize("part", ["assets", "assets.extra", "variables"])
def test_a_model_reads_its_parts_and_nothing_else_in_its_folder(part, tmp_path):
    """A download may lie among the files of the user."""
    for path in (tmp_path / part / "deep" / "own", tmp_path / ".env", tmp_path / "src" / "secret", tmp_path / "assets2"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")
    graph, fetch = reading(tmp_path / part / "deep" / "own")
    graph.meta = MetaGraph(folder=str(tmp_path))
    assert Session(graph).run(fetch) == b"text"
    for path in (".env", "src/secret", "assets2", f"{part}/../.env"):
        graph, fetch = reading(tmp_path / path)
        graph.meta = MetaGraph(folder=str(tmp_path))
        with pytest.raises(PermissionDeniedError):
            Session(graph).run(fetch)


def test_a_part_that_is_a_link_opens_nothing(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "key").write_text("hidden")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "assets").symlink_to(tmp_path / "home")
    graph, fetch = reading(tmp_path / "model" / "assets" / "key")
    with pytest.raises(PermissionDeniedError):
        Session(graph, files=FileAccess().reading_model(tmp_path / "model")).run(fetch)
