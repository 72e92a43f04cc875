"""Parts of checkpoints, new names, averages, and a checkpoint beside a graph."""

from __future__ import annotations

import tracemalloc

import ml_dtypes
import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tfg.core.support.errors import DataLossError, InvalidArgumentError, NotFoundError
from tfg.core.types.dtypes import float32 as float_
from tfg.core.types.tensors import Tensor
from tfg.formats.checkpoint.store import open_checkpoint

WEIGHTS = {
    "encoder/w": np.ones((2, 3), np.float32), "encoder/w/Adam": np.zeros((2, 3), np.float32),
    "encoder/b": np.zeros(3, np.float32), "encoder_2/b": np.ones(3, np.float32), "step": np.int64(7),
}  # fmt: skip


@pytest.fixture
def checkpoint(tmp_path):
    tfg.write_checkpoint(tmp_path / "a.ckpt", WEIGHTS)
    return tfg.read_checkpoint(tmp_path / "a.ckpt")


RENAMED = {
    "a scope and all below": ({"encoder": "e"}, {"e/w", "e/w/Adam", "e/b", "encoder_2/b", "step"}),
    "a tensor and its slots": ({"encoder/w": "k"}, {"k", "k/Adam", "encoder/b", "encoder_2/b", "step"}),
    "the longest name holds": ({"encoder/": "e/", "encoder/w": "k"}, {"k", "k/Adam", "e/b", "encoder_2/b", "step"}),
    "a scope that goes": ({"encoder/": ""}, {"w", "w/Adam", "b", "encoder_2/b", "step"}),
    "an expression": ({r"^encoder(_2)?/": r"e\1/"}, {"e/w", "e/w/Adam", "e/b", "e_2/b", "step"}),
    "expressions in their order": ({"/w$": "/kernel", "kern": "KERN"},
                                   {"encoder/KERNel", "encoder/w/Adam", "encoder/b", "encoder_2/b", "step"}),
    "two that exchange": ({"encoder/b": "encoder_2/b", "encoder_2/b": "encoder/b"}, set(WEIGHTS)),
}  # fmt: skip


@pytest.mark.parametrize("case", RENAMED)
def test_names_scopes_and_expressions_are_renamed(case, checkpoint):
    pairs, names = RENAMED[case]
    renamed = checkpoint.renamed(pairs)
    assert set(renamed) == names
    assert (
        renamed["encoder/b"].tolist() == [1, 1, 1]
        if "exchange" in case
        else sum(value.size for value in renamed.values()) == 19
    )


def test_names_that_cannot_be_are_refused(checkpoint, tmp_path):
    for pairs, words in (
        ({"encodr": "x"}, "no tensor or scope 'encodr'"), ({"(": "x"}, "not a regular expression"),
        ({"st.p$": r"\1"}, "does not fit"), ({"st.*": ""}, "no name"),
        ({"encoder": "encoder_2"}, "'encoder/b' and 'encoder_2/b' would both be named 'encoder_2/b'"),
    ):  # fmt: skip
        with pytest.raises((InvalidArgumentError, NotFoundError), match=words.replace("(", r"\(")):
            checkpoint.renamed(pairs)
    with pytest.raises(NotFoundError) as error:
        checkpoint.renamed({"encodr": "x"})
    assert "encoder" in error.value.hint
    file = tmp_path / "names.txt"
    for content, problem in (
        (b"a=b\n\nnothing\n", "line 3"),
        (b"a=b\na=c", "two new names"),
        (b"\xff\xfe", "not a text file"),
    ):
        file.write_bytes(content)
        with pytest.raises((InvalidArgumentError, DataLossError), match=problem):
            checkpoint.renamed(file)


def test_a_file_has_the_pairs_of_renaming_and_of_a_state(tmp_path):
    """The same file names the tensors of `tfg checkpoint --rename @FILE` and of `--state --map`."""
    graph, state, pairs = SAMPLES / "square.pbtxt", tmp_path / "s.ckpt", tmp_path / "names.txt"
    tfg.write_checkpoint(state, {"w": np.float32(3), "w/Momentum": np.float32(0.5)})
    pairs.write_text("# of another program\n\n w=var \n")
    words = ("run", graph, "--state", state, "--fetch", "loss", "--format", "json")
    refused = run(*words)
    assert refused.code == 1
    assert "the state has w float (), w/Momentum float (); the graph has var float ()" in refused.err
    assert "w/Momentum=var/Momentum" in refused.err
    by_map = run(*words, "--map", pairs, "--save-state", tmp_path / "saved.ckpt")
    assert set(tfg.read_checkpoint(tmp_path / "saved.ckpt")) == {"var", "var/Momentum"}
    assert run("checkpoint", state, "--rename", f"@{pairs}", "-o", tmp_path / "renamed.ckpt").code == 0
    assert by_map.json["steps"] == run(*words[:3], tmp_path / "renamed.ckpt", *words[4:]).json["steps"]
    assert run(*words[:2], *words[4:], "--map", pairs).code == 2


def test_an_unknown_key_is_beside_the_nearest_keys_and_their_shapes(checkpoint):
    with pytest.raises(NotFoundError, match="Key encoder/ww not found") as error:
        open_checkpoint(checkpoint.path).read("encoder/ww")
    assert error.value.hint.startswith("nearest names: encoder/w float (2,3), encoder/b float (3)")


def test_a_second_file_is_to_be_compared(checkpoint):
    done = run("checkpoint", checkpoint.path, "other.ckpt")
    assert done.code == 2 and f"try `tfg checkpoint {checkpoint.path} --compare other.ckpt`" in done.err


@pytest.mark.slow
def test_every_command_with_a_state_takes_names_for_it(tmp_path):
    graph, state, pairs = SAMPLES / "square.pbtxt", tmp_path / "s.ckpt", tmp_path / "names.txt"
    tfg.write_checkpoint(state, {"w": np.float32(3), "w/Momentum": np.float32(0.5)})
    pairs.write_text("w=var\n")
    given = ("--state", state, "--map", pairs)
    assert run("view", graph, *given, "-o", tmp_path / "page.html").code == 0
    assert run("convert", graph, tmp_path / "f.pb", "--freeze", "--to", "loss", *given).code == 0
    assert tfg.load(tmp_path / "f.pb").constants["var"] == 3
    done = run("train", graph, "--loss", "loss", "--steps", "1", *given, "--save-state", tmp_path / "t.npz")
    assert done.code == 0, done.err
    assert "var" in tfg.read_checkpoint(tmp_path / "t.npz")
    page = tfg.view(graph, state=tfg.read_checkpoint(state).renamed(pairs))
    assert page.html


def test_a_state_that_lacks_variables_tells_shapes_and_likely_names(tmp_path):
    state = tmp_path / "s.ckpt"
    tfg.write_checkpoint(state, {"fc/weights": np.ones((2, 8), np.float32), "hidden/bias": np.zeros(8, np.float32)})
    done = run("run", SAMPLES / "xor.pbtxt", "--init", "--state", state)
    assert "hidden/kernel float (2,8) ~ fc/weights" in done.err
    assert "--map" in done.err


def test_a_checkpoint_beside_a_graph(tmp_path):
    tensors = {
        "fc/weights": np.ones((8, 1), np.float32), "hidden/kernel": np.ones((2, 8), np.float64),
        "hidden/bias": np.ones(9, np.float32),
        "output/bias": np.ones(1, np.float32), "fc/weights/Adam": np.ones((8, 1), np.float32),
    }  # fmt: skip
    tfg.write_checkpoint(tmp_path / "a.npz", tensors)
    done = run("checkpoint", tmp_path / "a.npz", "--for", SAMPLES / "xor.pbtxt", "--format", "json")
    assert done.code == 3
    rows = {row["name"]: row for row in done.json["variables"]}
    assert rows["output/kernel"] == {
        "name": "output/kernel", "status": "missing", "graph": "float (8,1)", "checkpoint": None, "nearest": "fc/weights",
    }  # fmt: skip
    assert rows["output/kernel/Adam"]["nearest"] == "fc/weights/Adam"
    statuses = {name: row["status"] for name, row in rows.items() if "Adam" not in name}
    assert statuses == {
        "hidden/kernel": "dtype differs", "hidden/bias": "shape differs", "output/kernel": "missing", "output/bias": "fits",
        "global_step": "missing", "beta1_power": "missing", "beta2_power": "missing", "fc/weights": "extra",
    }  # fmt: skip
    match = tfg.match_checkpoint(tfg.read_checkpoint(tmp_path / "a.npz"), SAMPLES / "xor.pbtxt")
    assert match.pairs() == {"fc/weights": "output/kernel", "fc/weights/Adam": "output/kernel/Adam"}
    assert tfg.read_checkpoint(tmp_path / "a.npz").renamed(match.pairs())["output/kernel"].shape == (8, 1)


def test_a_model_has_all_values_of_its_own_checkpoint():
    model = SAMPLES / "scaler_saved_model"
    done = run("checkpoint", model / "variables" / "variables", "--for", model)
    assert (done.code, done.out) == (0, "2 fitting\n")


@pytest.mark.parametrize("weights", [None, [1, 3]])
def test_floating_point_tensors_are_averaged_and_others_are_the_last(weights, tmp_path):
    first = {
        "w": np.array([1, np.inf], np.float32), "h": np.array([1], ml_dtypes.bfloat16), "c": np.array([1 + 1j], np.complex64),
        "n": np.int64(1), "s": np.array([b"a"], object), "e": np.zeros((0, 2), np.float64),
    }  # fmt: skip
    second = {**first, "w": np.array([4, 1], np.float32), "h": np.array([3], ml_dtypes.bfloat16), "n": np.int64(2)}
    paths = [str(tmp_path / name) for name in ("a.ckpt", "b.ckpt")]
    for path, values in zip(paths, (first, second)):
        tfg.write_checkpoint(path, values)
    average = tfg.average_checkpoints([tfg.read_checkpoint(path) for path in paths], weights)
    share = 0.5 if weights is None else 0.25
    assert average["w"].tolist() == [share * 1 + (1 - share) * 4, np.inf]
    assert average["h"].dtype == ml_dtypes.bfloat16 and average["h"].tolist() == [share * 1 + (1 - share) * 3]
    assert (average["n"], average["s"].tolist(), average["c"].tolist()) == (2, [b"a"], [1 + 1j])
    assert average["e"].shape == (0, 2)
    words = () if weights is None else ("--weights", "1,3")
    assert run("checkpoint", paths[0], "--average", paths[1], *words, "-o", tmp_path / "mean.ckpt").code == 0
    assert tfg.compare_checkpoints(tfg.read_checkpoint(tmp_path / "mean.ckpt"), average, tolerance=0.0).equal


def test_checkpoints_that_do_not_fit_have_no_average(tmp_path):
    tfg.write_checkpoint(tmp_path / "a.npz", {"w": np.ones(2), "b": np.ones(1)})
    tfg.write_checkpoint(tmp_path / "b.npz", {"w": np.ones(3), "b": np.ones(1)})
    tfg.write_checkpoint(tmp_path / "c.npz", {"w": np.ones(2)})
    a, b, c = (tfg.read_checkpoint(tmp_path / f"{name}.npz") for name in "abc")
    for checkpoints, weights, problem in (
        ([a, b], None, r"'w' is double \(3\) .* and double \(2\)"), ([a, c], None, "no tensor 'b'"),
        ([a, a], [1], "1 weight for 2"),
        ([a, a], [1, -1], "not a positive"), ([a, a], [1, float("nan")], "not a positive"), ([], None, "0 checkpoints"),
    ):  # fmt: skip
        with pytest.raises((InvalidArgumentError, NotFoundError), match=problem):
            tfg.average_checkpoints(checkpoints, weights)
    assert run("checkpoint", tmp_path / "a.npz", "--average", tmp_path / "a.npz", "--weights", "x").code == 2


def test_the_largest_tensors_come_first(checkpoint, tmp_path):
    rows = run("checkpoint", tmp_path / "a.ckpt", "--sort", "bytes", "--exclude", "Adam", "--format", "json").json["tensors"]
    assert [row["name"] for row in rows] == ["encoder/w", "encoder/b", "encoder_2/b", "step"]


@pytest.mark.parametrize("name", ["out.ckpt", "out.npz", "out.safetensors"])
def test_one_tensor_at_a_time_is_in_memory(name, tmp_path):
    """Averaged, selected and renamed, and written to each format that holds many."""
    size = 1 << 16

    def of_many():
        return tfg.Checkpoint(
            "many", {f"scope/{i:02}": Tensor(float_, (size,), lambda: np.ones(size, np.float32)) for i in range(64)}
        )

    average = tfg.average_checkpoints([of_many(), of_many()])
    tracemalloc.start()
    try:
        assert tfg.write_checkpoint(tmp_path / name, average.without("39").renamed({"scope/": ""})) == 63
        assert tracemalloc.get_traced_memory()[1] < 12 * 4 * size
    finally:
        tracemalloc.stop()


def test_labels_of_a_projector_lie_beside_the_vectors(tmp_path):
    tfg.write_checkpoint(tmp_path / "a.npz", {"emb": np.array([[1, 2], [3, 4]], np.float32), "w": np.ones(1, np.float32)})
    (tmp_path / "words.txt").write_text('the "cat"\nsat\ton\n')
    words = ("checkpoint", tmp_path / "a.npz", "--name", "emb", "--labels", tmp_path / "words.txt", "-o")
    assert run(*words, tmp_path / "vectors.tsv").code == 0
    assert (tmp_path / "vectors.tsv").read_text() == "1.0\t2.0\n3.0\t4.0\n"
    assert (tmp_path / "metadata.tsv").read_text() == 'the "cat"\nsat on\n'
    assert "only a .tsv file has labels" in run(*words, tmp_path / "vectors.csv").err
    (tmp_path / "words.txt").write_text("one\n")
    assert "1 label for the 2 rows of 'emb'" in run(*words, tmp_path / "vectors.tsv").err


@pytest.fixture
def frozen(tmp_path):
    """A checkpoint, and the graph frozen with its values."""
    assert run("run", SAMPLES / "xor.pbtxt", "--init", "--seed", "1", "--save-state", tmp_path / "x.ckpt").code == 0
    done = run(
        "convert", SAMPLES / "xor.pbtxt", tmp_path / "x.pb", "--freeze", "--state", tmp_path / "x.ckpt", "--to", "probability"
    )
    assert done.code == 0, done.err
    return tmp_path / "x.ckpt", tmp_path / "x.pb"


@pytest.mark.parametrize("order", [1, -1])
def test_a_frozen_graph_is_compared_with_its_checkpoint_from_both_sides(order, frozen, tmp_path):
    """Constants that were no variables do not count; the slots of the optimizer, which the graph lacks, do."""
    checkpoint, graph = frozen
    pair = frozen[::order]
    extra = "Adam|step|power"
    assert run("checkpoint", pair[0], "--compare", pair[1]).code == 3
    done = run("checkpoint", pair[0], "--compare", pair[1], "--exclude", extra)
    assert (done.code, done.out.splitlines()[-1]) == (0, "4 tensors: 4 equal")
    assert run("checkpoint", checkpoint, "--exclude", extra, "-o", tmp_path / "w.npz").code == 0
    same = [tmp_path / "w.npz" if path == checkpoint else path for path in pair]
    assert run("diff", *same).out == "4 variables, all equal\n"
    assert tfg.diff(*same).is_empty
    assert not tfg.diff(*(tfg.load(path) if path == graph else path for path in pair)).is_empty
    changed = {**tfg.read_checkpoint(tmp_path / "w.npz"), "hidden/bias": np.ones(8, np.float32)}
    tfg.write_checkpoint(tmp_path / "w.npz", changed)
    done = run("diff", *same, "--format", "json")
    assert done.code == 3
    assert [(row["name"], row["change"]) for row in done.json["variables"]] == [("hidden/bias", "changed")]
