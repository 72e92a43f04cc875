"""The values in event files: those of both versions of summaries."""

from __future__ import annotations

import csv
import io
import pathlib
import random
import shutil

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tests.fuzz.mutation import changed_bytes
from tfg.core.codecs.tfrecord import encode_record
from tfg.core.support.errors import DataLossError, InvalidArgumentError, NotFoundError, TfgError
from tfg.formats.codecs.tensor_proto import encode_tensor
from tfg.formats.protos.event_pb2 import Event, HistogramProto, Summary

RECORDED = pathlib.Path(__file__).parent / "recorded" / "recordings"
PNG = b"\x89PNG\r\n\x1a\n"


def tensor_value(tag, array, plugin=None):
    value = Summary.Value(tag=tag, tensor=encode_tensor(tfg.Tensor.from_numpy(array)))
    if plugin is not None:
        value.metadata.plugin_data.plugin_name = plugin
    return value


def events_of(*steps):
    """An event file with the values of each step."""
    events = [Event(wall_time=100.0 + n, step=n, summary=Summary(value=values)) for n, values in enumerate(steps)]
    first = Event(wall_time=99.0, file_version="brain.Event:2")
    return b"".join(encode_record(event.SerializeToString()) for event in (first, *events))


@pytest.fixture
def logs(tmp_path):
    """Two runs: of TensorFlow 1 in the folder itself, of TensorFlow 2 in a folder below, in two files."""
    rate = Summary.Value(tag="rate", simple_value=0.5)
    simple = [[Summary.Value(tag="loss", simple_value=1 / (n + 1)), rate] for n in range(3)]
    (tmp_path / "logs" / "eval" / "v2").mkdir(parents=True)
    (tmp_path / "logs" / "events.out.tfevents.1").write_bytes(events_of(*simple))
    (tmp_path / "logs" / "notes.txt").write_text("no events")
    below = tmp_path / "logs" / "eval" / "v2"
    named = [[tensor_value("loss", np.float32(0.5 * n), "scalars" if n == 0 else None)] for n in range(2)]
    (below / "events.out.tfevents.1").write_bytes(events_of(*named))
    (below / "events.out.tfevents.2").write_bytes(events_of([tensor_value("loss", np.float64(np.nan), "scalars")]))
    return tmp_path / "logs"


def test_scalars_of_both_versions_are_the_same_rows(logs):
    log = tfg.read_events(logs)
    assert [(row.run, row.tag, row.step, row.wall_time) for row in log.scalars] == [
        *((".", tag, step, 100.0 + step) for step in range(3) for tag in ("loss", "rate")),
        ("eval/v2", "loss", 0, 100.0), ("eval/v2", "loss", 1, 101.0), ("eval/v2", "loss", 0, 100.0),
    ]  # fmt: skip
    values = [row.value for row in log.scalars if row.tag == "loss"]
    np.testing.assert_array_equal(np.float32(values), np.float32([1, 1 / 2, 1 / 3, 0, 0.5, np.nan]))
    assert log.to_records()[0] == {"run": ".", "tag": "loss", "step": 0, "wall_time": 100.0, "value": 1.0}
    assert {row.tag for row in tfg.read_events(logs, tag="^ra").scalars} == {"rate"}


def test_a_row_and_a_curve_for_each_tag(logs):
    done = run("scalars", logs)
    lines = done.out.splitlines()
    assert lines[0].split() == ["run", "tag", "count", "steps", "first", "last", "smallest", "largest", "curve"]
    assert lines[2].split() == [".", "loss", "3", "0", "to", "2", "1", "0.333333", "0.333333", "1", "█▃▁"]
    assert lines[4].endswith("▁█") and lines[-1] == "3 tags, 9 values"
    rows = list(csv.DictReader(run("scalars", logs, "--format", "csv").out.splitlines()))
    assert rows[2] == {"step": "1", "wall_time": "101", "run": ".", "tag": "loss", "value": "0.5"}
    out = logs / "out.csv"
    assert run("scalars", logs, "--tag", "loss", "-o", out).err == f"wrote 2 runs, 6 scalars to {out}\n"
    assert [row["value"] for row in csv.DictReader(out.open())][-1] == "nan"


@pytest.mark.parametrize("values", [[], [np.nan], [np.inf, 1.0], [1e308, -1e308, 1e308], [2.0] * 100])
def test_every_value_has_a_curve(values, tmp_path):
    (tmp_path / "e").write_bytes(events_of(*[[tensor_value("v", np.float64(value), "scalars")] for value in values]))
    assert run("scalars", tmp_path / "e").code == 0


def test_buckets_are_those_of_tensorboard(tmp_path):
    """Empty buckets at the ends go; the outer limits are the extremes, as TensorBoard's data_compat computes."""
    old = HistogramProto(min=-1, max=3, num=4, bucket_limit=[-2, 0, 1, 4, 9], bucket=[0, 1, 0, 3, 0])
    empty = HistogramProto(bucket_limit=[1.0], bucket=[0.0])
    new = np.array([[0, 1, 2], [1, 2, 0]], np.float64)
    values = [Summary.Value(tag=tag, histo=histogram) for tag, histogram in (("old", old), ("empty", empty))]
    values.append(tensor_value("new", new, "histograms"))
    (tmp_path / "e").write_bytes(events_of(values))
    buckets = {row.tag: row.buckets.tolist() for row in tfg.read_events(tmp_path / "e").histograms}
    assert buckets == {"old": [[-1, 0, 1], [0, 1, 0], [1, 3, 3]], "empty": [], "new": new.tolist()}


def test_a_folder_gets_histograms_and_pictures_under_names_that_stay_below_it(tmp_path):
    picture = Summary.Image(height=1, width=1, encoded_image_string=PNG)
    texts = np.array([b"2", b"3", PNG, b"\xff\xd8\xff"], object)
    new = np.array([[0, 1, 2]], np.float64)
    tags = ["../../up", "/root", "a b", "a_b", "..", "x" * 300]
    values = [Summary.Value(tag=tag, image=picture) for tag in tags]
    values += [tensor_value("two", texts, "images"), tensor_value("h/w", new, "histograms")]
    (tmp_path / "e").write_bytes(events_of(values))
    out = tmp_path / "out"
    assert run("scalars", tmp_path / "e", "-o", f"{out}/").code == 0
    files = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert set(files) == {
        "scalars.csv", "histograms/h/w.csv", "images/up/step_0_0.png", "images/root/step_0_0.png", "images/a_b/step_0_0.png",
        "images/a_b_2/step_0_0.png", "images/_/step_0_0.png", f"images/{'x' * 60}/step_0_0.png", "images/two/step_0_0.png",
        "images/two/step_0_1.jpeg",
    }  # fmt: skip
    assert files["images/two/step_0_0.png"] == PNG
    assert files["histograms/h/w.csv"] == b"step,wall_time,left,right,count\n0,100.0,0.0,1.0,2.0\n"


def test_sounds_and_texts_of_both_versions(tmp_path):
    """TensorFlow 1 has a message for each sound, TensorFlow 2 a tensor with a row for each: the file and a label."""
    wav = b"RIFF\0\0\0\0WAVEfmt "
    sounds = np.array([[wav, b"first"], [b"other", b""]], object)
    texts = np.array([["a,b", "ä"], ["line\nline", ""]], object)
    encoded = np.array([text.encode() for text in texts.ravel()], object).reshape(2, 2)
    encoded[1, 1] = b"\xff"
    values = [
        Summary.Value(tag="old", audio=Summary.Audio(sample_rate=8000, encoded_audio_string=wav)),
        tensor_value("new", sounds, "audio"), tensor_value("notes/n", encoded, "text"),
    ]  # fmt: skip
    (tmp_path / "e").write_bytes(events_of(values))
    log = tfg.read_events(tmp_path / "e")
    assert [(row.tag, row.index, row.data) for row in log.audio] == [("old", 0, wav), ("new", 0, wav), ("new", 1, b"other")]
    assert [(row.tag, row.index, row.text) for row in log.text] == [
        ("notes/n", index, text) for index, text in enumerate(["a,b", "ä", "line\nline", "\\xff"])
    ]
    assert tfg.read_events(tmp_path / "e", kinds=["text"]).audio == ()
    out = tmp_path / "out"
    done = run("scalars", tmp_path / "e", "-o", f"{out}/")
    assert "wrote 1 run, 3 sounds, 4 texts to" in done.err
    files = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert set(files) == {
        "scalars.csv", "text.csv", "audio/old/step_0_0.wav", "audio/new/step_0_0.wav", "audio/new/step_0_1.bin"
    }  # fmt: skip
    assert files["audio/new/step_0_0.wav"] == wav
    rows = list(csv.DictReader(io.StringIO(files["text.csv"].decode(), newline="")))
    assert [row["text"] for row in rows] == [row.text for row in log.text]


def test_standard_input_is_read_once(monkeypatch):
    """Its contents tell the kind of the file, too."""
    data = events_of(*[[Summary.Value(tag="loss", simple_value=n)] for n in range(5)])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert [row.value for row in tfg.read_events("-").scalars] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("change", ["cut", "checksum", "message"])
def test_a_damaged_tail_is_left_out_with_a_note(change, tmp_path):
    steps = [[Summary.Value(tag="loss", simple_value=n)] for n in range(5)]
    whole = events_of(*steps)
    tails = {
        "cut": whole[:-3], "checksum": whole[:-1] + bytes([whole[-1] ^ 1]),
        "message": events_of(*steps[:-1]) + encode_record(b"\xff\xff"),
    }  # fmt: skip
    path = tmp_path / "events.out.tfevents.1"
    path.write_bytes(tails[change])
    log = tfg.read_events(path)
    assert [row.value for row in log.scalars] == [0, 1, 2, 3]
    assert [(tail.path, tail.events) for tail in log.unread] == [(str(path), 5)]
    done = run("scalars", tmp_path, "--format", "csv")
    assert f"'{path}' is damaged or still being written after 5 events" in done.err
    assert len(done.out.splitlines()) == 5


def test_values_that_are_not_of_their_plugins_form_are_errors(tmp_path):
    for value in (
        tensor_value("t", np.ones(3), "scalars"), tensor_value("t", np.array(b"x", object), "scalars"),
        tensor_value("t", np.ones((2, 2)), "histograms"), tensor_value("t", np.ones(3), "images"),
        tensor_value("t", np.ones(3), "text"), tensor_value("t", np.array([b"x"], object), "audio"),
        Summary.Value(tag="t", histo=HistogramProto(bucket=[1.0])),
    ):  # fmt: skip
        (tmp_path / "e").write_bytes(events_of([value]))
        with pytest.raises(DataLossError):
            tfg.read_events(tmp_path / "e")


def test_other_files_and_folders_are_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFoundError, match="has no event files"):
        tfg.read_events(tmp_path / "empty")
    with pytest.raises(InvalidArgumentError, match="is not an event file"):
        tfg.read_events(SAMPLES / "xor.pbtxt")
    with pytest.raises(InvalidArgumentError, match="unknown kind 'sounds'"):
        tfg.read_events(RECORDED / "events_v2", kinds=["sounds"])
    assert run("scalars", tmp_path / "nothing").code == 1
    assert run("explain", tmp_path / "empty").code == 1


@pytest.mark.parametrize("name", ["events_v1", "events_v2", "events_trace"])
def test_damaged_events_are_errors_or_tails(name, tmp_path):
    data, generator = (RECORDED / name).read_bytes(), random.Random(1)
    for _ in range(30):
        try:
            tfg.read_events(changed_bytes(generator, data))
        except TfgError:
            continue


def test_explain_takes_a_folder_of_runs(logs):
    shutil.copy(RECORDED / "events_v2", logs / "eval" / "events.out.tfevents.copy")
    recording = tfg.describe_recording(logs)
    assert (recording.kind, recording.events) == ("folder of event files", 4 + 3 + 2 + 7)
    tags = {(tag.run, tag.tag, tag.kind, tag.count, tag.last_step) for tag in recording.tags}
    assert {(".", "loss", "scalars", 3, 2), ("eval/v2", "loss", "scalars", 3, 1), ("eval", "h", "histograms", 1, 1)} <= tags
    done = run("explain", logs)
    assert done.code == 0 and "folder of event files" in done.out and f"tfg scalars {logs}" in done.out
