"""Places at addresses: graphs, models, checkpoints and results, read by ranges, and no credential in any text."""

from __future__ import annotations

import http.server
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import uuid

import numpy as np
import pytest

from tests.cli.running import SAMPLES, command_line, process
from tests.cli.running import tfg as run
from tests.cli.test_each import wait_for
from tests.opcases import string_array
from tfg import FileAccess, GraphBuilder, Model, Session, run_each
from tfg.core.support import places, remote_files
from tfg.core.support.atomic import atomic_file
from tfg.core.support.errors import (
    InvalidArgumentError,
    NotFoundError,
    PermissionDeniedError,
    TfgError,
    UnavailableError,
)
from tfg.core.support.escaping import masked
from tfg.core.support.remote_files import RemotePlace
from tfg.formats import load, save
from tfg.formats.checkpoint.store import FileCheckpointStore, open_checkpoint, write_checkpoint
from tfg.formats.codecs.numpy_files import read_npz
from tfg.formats.codecs.source import read_source

MODEL = SAMPLES / "scaler_saved_model"


def copied(folder, address):
    """Write the files of a folder below an address."""
    for file in places.files_below(folder):
        RemotePlace(f"{address}/{os.path.relpath(file, folder)}").upload(file)


@pytest.fixture
def memory():
    """An empty folder in memory."""
    pytest.importorskip("fsspec", reason="the extra tfg[remote] is not installed")
    return f"memory://{uuid.uuid4().hex}"


@pytest.fixture
def fetched(monkeypatch):
    """The numbers of bytes of all ranges that were fetched."""
    sizes = []
    fetch = RemotePlace.fetch

    def counting(place, start, end):
        data = fetch(place, start, end)
        sizes.append(len(data))
        return data

    monkeypatch.setattr(RemotePlace, "fetch", counting)
    return sizes


@pytest.fixture(scope="module")
def bucket():
    """A bucket of a store of objects on this machine."""
    pytest.importorskip("s3fs", reason="the extra tfg[remote] is not installed")
    servers = pytest.importorskip("moto.server", reason="the extra tfg[clients] is not installed")
    server = servers.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    with pytest.MonkeyPatch.context() as patch:
        host, port = server.get_host_and_port()
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "any")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        import s3fs

        s3fs.S3FileSystem().mkdir("bucket")
        yield "s3://bucket"
    server.stop()


@pytest.fixture(scope="module")
def google():
    """A bucket of Google's kind on this machine."""
    pytest.importorskip("gcsfs", reason="the extra tfg[remote] is not installed")
    servers = pytest.importorskip("gcp_storage_emulator.server", reason="the extra tfg[clients] is not installed")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = servers.create_server("127.0.0.1", port, in_memory=True, default_bucket="bucket")
    server.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{port}")
        patch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")  # the server does not know layouts of buckets
        yield "gs://bucket"
    server.stop()


class _Pages(http.server.SimpleHTTPRequestHandler):
    """Files of a folder, by ranges where the server says so, for those who know the password if there is one."""

    ranges, password = True, ""

    def do_GET(self):
        if self.password and self.headers["Authorization"] is None and self.password not in self.path:
            self.send_error(401)
            return
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"] or "")
        if asked is None or not self.ranges:
            super().do_GET()
            return
        with open(self.translate_path(self.path), "rb") as file:
            data = file.read()
        start, end = int(asked[1]), min(int(asked[2]) + 1, len(data))
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")
        self.send_header("Content-Length", str(end - start))
        self.end_headers()
        self.wfile.write(data[start:end])

    def do_HEAD(self):
        if self.password and self.headers["Authorization"] is None and self.password not in self.path:
            self.send_error(401)
        else:
            super().do_HEAD()

    def log_message(self, *_):
        pass


@pytest.fixture
def web(tmp_path):
    """A function that starts a server of `tmp_path` with the settings of a handler, and returns its address."""
    pytest.importorskip("aiohttp", reason="the extra tfg[remote] is not installed")
    servers = []

    def started(**settings):
        handler = type("Pages", (_Pages,), settings)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *of: handler(*of, directory=str(tmp_path)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"127.0.0.1:{server.server_port}"

    yield started
    for server in servers:
        server.shutdown()
        server.server_close()


def test_without_the_extra_an_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    done = run("dump", "s3://bucket/model")
    assert done.code == 1
    assert "s3:// need a package" in done.err and "tfg[remote]" in done.err


def test_an_address_of_an_unknown_kind_is_named(memory):
    with pytest.raises(InvalidArgumentError, match="nowhere://x"):
        load("nowhere://x")


def test_what_is_not_there_is_said_and_no_folder_is_asked_for(memory):
    assert run("dump", f"{memory}/graph.pb").err == f"error: '{memory}/graph.pb' does not exist\n"
    with pytest.raises(NotFoundError, match="does not exist"):
        open_checkpoint(f"{memory}/ck")


def _model_runs(folder):
    copied(MODEL, f"{folder}/model")
    graph = load(f"{folder}/model")
    assert graph.file == "model"
    done = run("run", f"{folder}/model", "--feed", "x=[[1, 2]]", "-o", f"{folder}/results/y.npz")
    assert done.code == 0, done
    assert read_npz(f"{folder}/results/y.npz")["scaled"].numpy().tolist() == [[2, 6]]
    done = run("convert", f"{folder}/model", f"{folder}/copy/")
    assert done.code == 0, done
    assert places.names_in(f"{folder}/copy") == ["saved_model.pb", "variables"]
    assert run("diff", f"{folder}/model", f"{folder}/copy").code == 0
    assert run("convert", f"{folder}/model", f"{folder}/copy/").code == 1  # it is not empty


def _checkpoint_is_written_and_read(folder):
    values = {"v": np.arange(6, dtype=np.float32), "names": string_array(["a", "b"])}
    for version in (1, 2, 2):  # the last over the one before
        write_checkpoint(f"{folder}/ck{version}", values, version)
        reader = open_checkpoint(f"{folder}/ck{version}")
        assert reader.read("v").tolist() == [0, 1, 2, 3, 4, 5] and reader.read("names").tolist() == [b"a", b"b"]
    assert places.names_in(folder)[:2] == ["ck1", "ck2.data-00000-of-00001"]
    assert run("checkpoint", f"{folder}/ck2").code == 0
    assert run("checkpoint", folder, "-o", f"{folder}/all.npz").code == 0
    assert run("checkpoint", f"{folder}/all.npz", "--compare", f"{folder}/ck1").code == 0


def test_a_model_in_memory_is_read_and_written(memory):
    _model_runs(memory)


def test_a_checkpoint_in_memory_is_read_and_written(memory):
    _checkpoint_is_written_and_read(memory)


@pytest.fixture
def store(request):
    """The bucket of a kind of store."""
    return request.getfixturevalue(request.param)


STORES = pytest.mark.parametrize("store", ["bucket", "google"], indirect=True)


@pytest.mark.slow
@STORES
def test_a_model_in_a_store_is_read_and_written(store):
    _model_runs(f"{store}/models")


@pytest.mark.slow
@STORES
def test_a_checkpoint_in_a_store_is_read_and_written(store):
    _checkpoint_is_written_and_read(f"{store}/checkpoints")


def test_a_tfjs_model_and_a_table_in_memory_are_read(memory):
    copied(SAMPLES / "iris_tfjs", f"{memory}/iris")
    assert len(load(f"{memory}/iris/model.json")) == len(load(SAMPLES / "iris_tfjs"))
    assert len(load(f"{memory}/iris")) == len(load(SAMPLES / "iris_tfjs"))


@pytest.mark.parametrize("place", ["memory", pytest.param("bucket", marks=pytest.mark.slow)])
def test_only_ranges_of_a_large_checkpoint_are_fetched(place, request, fetched, tmp_path):
    folder = f"{request.getfixturevalue(place)}/large"
    large = np.zeros(3 << 20, np.float64)
    write_checkpoint(tmp_path / "ck", {"large": large, "small": np.float32(3)})
    copied(tmp_path, folder)
    fetched.clear()
    assert run("checkpoint", f"{folder}/ck").code == 0
    assert sum(fetched) < 4_096
    assert open_checkpoint(f"{folder}/ck").read("small") == 3
    assert sum(fetched) < 1 << 18
    assert open_checkpoint(f"{folder}/ck").read("large").nbytes == large.nbytes


def test_a_model_is_explained_without_its_values(memory, fetched):
    copied(MODEL, f"{memory}/model")
    fetched.clear()
    assert run("explain", f"{memory}/model").code == 0
    assert sum(fetched) < 1.1 * sum(os.path.getsize(MODEL / name) for name in ("saved_model.pb", "variables/variables.index"))


def test_ranges_that_follow_each_other_grow(memory, fetched, tmp_path):
    data = np.random.default_rng(0).bytes(5 << 20)
    (tmp_path / "x").write_bytes(data)
    copied(tmp_path, memory)
    from tfg.core.support.regular_files import open_regular

    with open_regular(f"{memory}/x") as file:
        assert b"".join(iter(lambda: file.read(10_000), b"")) == data
    assert len(fetched) < 12
    with open_regular(f"{memory}/x") as file:
        assert (file.seek(-5, os.SEEK_END), file.read(), file.read()) == (len(data) - 5, data[-5:], b"")


@pytest.mark.slow
def test_a_graph_of_the_web_is_read(web, tmp_path, fetched):
    save(load(SAMPLES / "xor.pbtxt"), tmp_path / "xor.pb")
    shutil.copytree(MODEL, tmp_path / "model")
    for ranges in (True, False):
        address = f"http://{web(ranges=ranges)}"
        assert run("diff", f"{address}/xor.pb", SAMPLES / "xor.pbtxt").code == 0
        assert run("run", f"{address}/model/", "--feed", "x=[[1, 2]]").code == 0
        assert run("checkpoint", f"{address}/model/").code == 0
        assert "does not exist" in run("dump", f"{address}/absent.pb").err
        assert "does not write" in run("convert", SAMPLES / "xor.pbtxt", f"{address}/y.pb").err


@pytest.mark.slow
def test_no_text_shows_a_credential(web, tmp_path):
    save(load(SAMPLES / "xor.pbtxt"), tmp_path / "xor.pb")
    host = web(password="hunter2")
    signed = f"http://{host}/xor.pb?X-Signature=hunter2&expires=9"
    named = f"http://user:hunter2@{host}/xor.pb"
    page = tmp_path / "page.html"
    for address in (signed, named):
        for arguments in (
            ["dump", address], ["explain", address, "--format", "json"], ["explain", address], ["check", address],
            ["flops", address], ["-v", "dump", address], ["diff", address, address], ["view", address, "-o", page],
            ["dump", address.replace("xor", "absent")], ["checkpoint", address], ["run", address, "--fetch", "nothing"],
        ):  # fmt: skip
            done = run(*arguments)
            assert "hunter2" not in done.out + done.err, (arguments, done)
        assert run("dump", address).code == 0
        assert b"hunter2" not in page.read_bytes()
    assert "hunter2" not in load(signed).file
    denied = run("dump", f"http://{host}/xor.pb")
    assert "no permission" in denied.err and "environment" in denied.err


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cannot read 's3://key:secret@bucket/a'", "cannot read 's3://***@bucket/a'"),
        ("https://token@host/a?b", "https://***@host/a?***"),
        ("https://host/a@b?x=1&y=2 and ?x=3", "https://host/a@b?x=***&y=*** and ?x=3"),
        ("gs://bucket/a@b", "gs://bucket/a@b"),
    ],
)
def test_credentials_are_masked(text, shown):
    assert masked(text) == masked(shown) == shown
    assert str(TfgError(text, hint=text)).count("***") == shown.count("***")


def test_credentials_of_long_addresses_are_masked():
    # A signature is at the end, which a cut message keeps, and long addresses are cut.
    address = f"https://host/graph.pb?X-Credential={'c' * 900}&X-Signature=hunter2"
    assert "hunter2" not in str(TfgError(f"cannot read '{address}'"))


def _reader(op, path):
    g = GraphBuilder()
    if op == "RestoreV2":
        name, slices = g.constant(string_array(["v"])), g.constant(string_array([""]))
        g.RestoreV2(g.constant(path), name, slices, dtypes=["float"], name="op")
    elif op == "SaveV2":
        name, slices = g.constant(string_array(["v"])), g.constant(string_array([""]))
        g.SaveV2(g.constant(path), name, slices, [g.constant(1.0)], name="op")
    elif op == "WriteFile":
        g.WriteFile(g.constant(path), g.constant("text"), name="op")
    else:
        getattr(g, op)(g.constant(path), name="op")
    return g.graph


@pytest.mark.parametrize("op", ["ReadFile", "WriteFile", "MatchingFiles", "RestoreV2", "SaveV2"])
@pytest.mark.parametrize("files", [None, FileAccess.everything()], ids=["no files", "all files"])
def test_no_node_reaches_a_network_by_itself(op, files, monkeypatch):
    def opened(*_):
        raise AssertionError("a node reached for a network")

    monkeypatch.setattr(RemotePlace, "__init__", opened)
    graph = _reader(op, "s3://bucket/secret")
    session = Session(graph) if files is None else Session(graph, files=files)
    with pytest.raises(PermissionDeniedError, match="may not"):
        session.run(["op" if op in ("WriteFile", "SaveV2") else "op:0"])


def test_a_node_reads_below_an_opened_address_and_nowhere_else(memory, tmp_path):
    (tmp_path / "words").write_text("text")
    copied(tmp_path, f"{memory}/open")
    copied(tmp_path, memory)
    access = FileAccess.only([f"{memory}/open"])
    assert Session(_reader("ReadFile", f"{memory}/open/words"), files=access).run(["op:0"])[0] == b"text"
    names = Session(_reader("MatchingFiles", f"{memory}/open/*"), files=access).run(["op:0"])[0]
    assert names.tolist() == [f"{memory}/open/words".encode()]
    for path in ("words", "open/../words", "open/%2e%2e/words", "opened/words", "open/x::file:///etc/passwd", "open/a?b"):
        with pytest.raises((PermissionDeniedError, NotFoundError)):
            Session(_reader("ReadFile", f"{memory}/{path}"), files=access).run(["op:0"])
    with pytest.raises(PermissionDeniedError):
        Session(_reader("WriteFile", f"{memory}/open/x"), files=access).run(["op"])
    save(_reader("ReadFile", f"{memory}/open/words"), tmp_path / "g.pb")
    words = ("run", tmp_path / "g.pb", "--fetch", "op")
    assert "may not read" in run(*words).err and f"--allow-files {memory}/open" in run(*words).err
    assert run(*words, "--allow-files", f"{memory}/open").code == 0


@pytest.mark.slow
def test_an_untrusted_process_reads_no_address():
    done = process("--untrusted", "dump", "s3://bucket/graph.pb")
    assert done.code == 1 and "the network is closed to 's3://bucket/graph.pb'" in done.err


def test_an_untrusted_model_reads_its_own_files(memory):
    copied(MODEL, f"{memory}/model")
    model = Model(load(f"{memory}/model", untrusted=True))
    assert model(x=[[1, 2]])["scaled"].tolist() == [[2, 6]]


def test_a_store_that_cannot_be_reached_is_an_error_of_tfg():
    pytest.importorskip("aiohttp", reason="the extra tfg[remote] is not installed")
    with pytest.raises(UnavailableError, match="cannot be reached"):
        load("http://127.0.0.1:9/graph.pb")


def _sum_graph(path):
    """Write a graph that sums the columns `a` and `b` of a row."""
    g = GraphBuilder()
    a, b = (g.Placeholder(dtype="float", shape=[None], name=name) for name in "ab")
    g.AddV2(a, b, name="sum")
    save(g.graph, path)
    return path


def _each_is_written_once(folder, on=()):
    rows = "".join(f"{row},{2 * row}\n" for row in range(25))
    for name, text in {"rows.csv": f"a,b\n{rows}", "more.csv": "a,b\n1,1\n"}.items():
        with atomic_file(f"{folder}/in/{name}") as file:
            file.write(text.encode())
    graph = _sum_graph(f"{folder}/sum.pb")
    each = ("run", graph, "--fetch", "sum", "--each", f"{folder}/in/*.csv", "--feed", "a=@each:a", "--feed", "b=@each:b")
    for place in (("-o", f"{folder}/out/y.npz", "--shard-size", "10"), ("--out-dir", f"{folder}/files")):
        done = run(*each, *on, *place)
        assert done.code == 0 and "26 results" in done.err, done
        assert "26 already there" in run(*each, *place).err
    assert places.names_in(f"{folder}/out") == [
        "y-00000-of-00003.npz", "y-00001-of-00003.npz", "y-00002-of-00003.npz", "y.manifest.jsonl",
    ]  # fmt: skip
    assert read_npz(f"{folder}/out/y-00002-of-00003.npz")["rows-000025/sum"].numpy() == 72
    assert read_npz(f"{folder}/files/rows-000025.npz")["sum"].numpy() == 72
    places.remove(f"{folder}/files/rows-000003.npz")
    places.remove(f"{folder}/out/y-00001-of-00003.npz")
    assert "1 result written" in run(*each, *place).err
    assert "10 results written" in run(*each, "-o", f"{folder}/out/y.npz", "--shard-size", "10").err
    assert "of another job" in run(*each, "-o", f"{folder}/out/y.npz", "--shard-size", "5").err


def test_inputs_and_results_in_memory(memory):
    _each_is_written_once(memory)


def test_a_manifest_in_a_store_is_written_few_times_and_whole(memory, monkeypatch):
    written = []
    upload = RemotePlace.upload
    monkeypatch.setattr(RemotePlace, "upload", lambda place, source: (written.append(place.address), upload(place, source)))
    with atomic_file(f"{memory}/rows.csv") as file:
        file.write(b"a,b\n" + b"1,2\n" * 60 + b"1,x\n")
    graph = _sum_graph(f"{memory}/sum.pb")
    each = ("run", graph, "--fetch", "sum", "--each", f"{memory}/rows.csv", "-o", f"{memory}/out/y.npz", "--shard-size", "1")
    done = run(*each, "--batch", "1")
    assert done.code == 1 and "'x'" in done.err, done
    assert f"{memory}/out/y.manifest.jsonl" in written and written.count(f"{memory}/out/y.manifest.jsonl") < 40
    assert bytes(read_source(f"{memory}/out/y.manifest.jsonl")).count(b"\n") == 62
    with atomic_file(f"{memory}/rows.csv") as file:
        file.write(b"a,b\n" + b"1,2\n" * 60 + b"1,3\n")
    assert "61 results written" in run(*each, "--batch", "1").err  # the inputs are newer


@pytest.mark.slow
@STORES
def test_inputs_and_results_in_a_store_with_processes(store):
    _each_is_written_once(f"{store}/each", ("--on", "local:2"))


def manifest_lines(place):
    """Return the lines of a manifest, the first of which is about the job."""
    return bytes(read_source(place)).splitlines() if places.exists(place) else []


@pytest.mark.slow
def test_a_killed_job_in_a_store_continues(bucket):
    rows = "".join(f"{row},1\n" for row in range(200))
    with atomic_file(f"{bucket}/killed/rows.csv") as file:
        file.write(f"a,b\n{rows}".encode())
    graph = _sum_graph(f"{bucket}/killed/sum.pb")
    each = ("run", graph, "--fetch", "sum", "--each", f"{bucket}/killed/rows.csv", "-o", f"{bucket}/killed/out/y.csv")
    words = (*each, "--shard-size", "10", "--batch", "1")
    job = subprocess.Popen(command_line(*words))
    try:
        wait_for(lambda: len(manifest_lines(f"{bucket}/killed/out/y.manifest.jsonl")) > 2)
    finally:
        job.kill()
        job.wait()
    done = run(*words)
    assert done.code == 0 and " already there" in done.err, done
    shards = [place for place in places.files_below(f"{bucket}/killed/out") if place.endswith(".csv")]
    assert len(shards) == 20
    texts = b"".join(bytes(read_source(place)) for place in shards).decode()
    assert [float(line.split(",")[-1]) for line in texts.splitlines() if line.startswith("rows-")] == list(range(1, 201))


def test_files_at_addresses_are_fetched_while_others_run(memory, monkeypatch):
    fetch, at_once, reading = RemotePlace.fetch, threading.Barrier(2), []

    def waiting(place, start, end):
        reading.append(place.address)
        if place.address.endswith(("i04.npy", "i05.npy")):
            at_once.wait(60)  # nobody alone gets past
        return fetch(place, start, end)

    for number in range(30):
        with atomic_file(f"{memory}/i{number:02d}.npy") as file:
            np.save(file, np.float32([number]))
    g = GraphBuilder()
    g.Square(g.Placeholder(dtype="float", shape=[None], name="x"), name="y")
    monkeypatch.setattr(RemotePlace, "fetch", waiting)
    results = run_each(g.graph, f"{memory}/*.npy", "y:0")
    assert [next(results).values["y:0"].tolist() for _ in range(2)] == [[0], [1]]
    assert f"{memory}/i29.npy" not in reading  # a block or two ahead, not all
    assert [result.values["y:0"].tolist() for result in results] == [[number * number] for number in range(2, 30)]


def test_the_error_of_a_file_at_an_address_is_its_own(memory):
    for number in range(12):
        with atomic_file(f"{memory}/i{number:02d}.npy") as file:
            file.write(b"damaged") if number == 5 else np.save(file, np.float32([number]))
    g = GraphBuilder()
    g.Square(g.Placeholder(dtype="float", shape=[None], name="x"), name="y")
    results = list(run_each(g.graph, f"{memory}/*.npy", "y:0", keep_going=True))
    assert [result.name for result in results if result.error is not None] == ["i05"]
    assert results[11].values["y:0"].tolist() == [121]
    with pytest.raises(TfgError, match=r"i05\.npy"):
        list(run_each(g.graph, f"{memory}/*.npy", "y:0"))


def test_many_variables_need_few_requests(memory, fetched, monkeypatch):
    write_checkpoint(f"{memory}/ck", {f"v{number}": np.float32(number) for number in range(100)})
    files = type(RemotePlace(memory).system)
    monkeypatch.setattr(remote_files, "SECONDS", 1e9)
    asked, info = [], files.info
    monkeypatch.setattr(files, "info", lambda *place, **options: (asked.append(place), info(*place, **options))[1])
    store = FileCheckpointStore()
    assert [float(store.read(f"{memory}/ck", f"v{number}")) for number in range(100)] == list(range(100))
    assert len(asked) < 20 and len(fetched) < 6
