"""`tfg convert --prepend --append`: the words of the command line."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as run

PICTURE = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)


@pytest.fixture
def model(tmp_path):
    """A model that gives the means of the channels."""
    g = tfg.GraphBuilder()
    g.Mean(g.Placeholder(dtype="float", shape=[None, 2, 2, 3], name="image"), np.int32([1, 2]), name="means")
    tfg.save(g.graph, tmp_path / "model.pb")
    g.EncodePng(PICTURE, name="png")
    (tmp_path / "picture.png").write_bytes(tfg.Session(g.graph).run("png:0"))
    (tmp_path / "labels.txt").write_text("red\ngreen\nblue\n")
    return tmp_path / "model.pb"


def test_a_file_goes_in_and_labels_come_out(model, tmp_path):
    """The means are 4.5, 5.5 and 6.5; less (1, 0, 9), in the order blue, green, red, 5.5, 5.5 and -4.5."""
    labels = f"top_k=2,labels={tmp_path / 'labels.txt'}"
    words = ("--prepend", "image", "--mean", "1,0,9", "--scale", "1/2", "--bgr", "--append", labels)
    done = run("convert", model, f"{tmp_path}/served/", *words, "--verify")
    assert done.code == 0, done.err
    shown = run("run", tmp_path / "served", "--feed", f"image_bytes=@{tmp_path / 'picture.png'}", "--format", "json").json
    assert {one["name"]: one["value"] for one in shown["steps"][0]["values"]} == {
        "classes": [["red", "green"]], "scores": [[2.75, 2.75]],
    }  # fmt: skip


@pytest.mark.parametrize(("words", "message"), [
    (("--prepend", "image", "--scale", "127.5"), "scale 127.5 is above 1"),
    (("--prepend", "image", "--mean", "1,x,2"), "'x' is not a number or fraction"),
    (("--prepend", "base64", "--bgr"), "--mean, --scale and --bgr need --prepend image"),
    (("--bgr",), "--bgr needs --prepend"),
    (("--append", "labels=FILE"), "cannot append 'labels=FILE'"),
    (("--append", "top_k=1,top=2"), "cannot append 'top_k=1,top=2'"),
    (("--append", "top_k=1", "--to", "means"), "has no effect with --to"),
    (("--prepend", "image=nothing"), "'nothing'"),
])  # fmt: skip
def test_wrong_words_are_refused(model, words, message, tmp_path):
    done = run("convert", model, tmp_path / "out.pb", *words)
    assert done.code in (1, 2) and message in done.err and not (tmp_path / "out.pb").exists()
