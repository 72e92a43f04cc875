"""A folder of results belongs to a single job: another job is refused, and a changed input runs again."""

from __future__ import annotations

import json
import os
import shutil

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tests.cli.test_each import PROCESSES
from tests.functions import define

WAYS = ((), pytest.param(PROCESSES, marks=pytest.mark.slow))


@pytest.fixture
def folder(tmp_path):
    """A graph with a variable and random draws, another graph, two states, and three inputs."""
    for name, scale in (("g", 2), ("other", 3)):
        b = tfg.GraphBuilder()
        x = b.Placeholder(dtype="float32", shape=[2], name="x")
        p = b.PlaceholderWithDefault(np.float32(0), shape=[], name="p")
        offset = b.VariableV2(dtype="float32", shape=[], name="offset")
        b.Assign(offset, np.float32(1), name="offset/Assign")
        b.AddV2(b.AddV2(b.Mul(x, np.float32(scale)), offset), p, name="y")
        b.Neg(x, name="z")
        b.RandomUniform(np.int32([3]), dtype="float32", name="drawn")
        tfg.save(b.graph, tmp_path / f"{name}.pb")
    for name, value in (("one", 1), ("two", 2)):
        np.savez(tmp_path / f"{name}.npz", offset=np.float32(value))
        np.save(tmp_path / f"p{name}.npy", np.float32(value))
    (tmp_path / "in").mkdir()
    for i in range(3):
        np.save(tmp_path / "in" / f"i{i}.npy", np.float32([i, 1]))
    return tmp_path


def job(folder, *more, graph="g", fetch="y", state="one"):
    words = ("--fetch", fetch, "--state", folder / f"{state}.npz", "--feed", "x=@each", "--each", folder / "in" / "*.npy")
    return run("run", folder / f"{graph}.pb", *words, "--out-dir", folder / "out", *more)


def values(folder, name="y"):
    return {path.stem: np.load(path)[name].tolist() for path in (folder / "out").glob("*.npz")}


OTHERS = {
    "graph": {"graph": "other"},
    "fetches": {"fetch": "z"},
    "state": {"state": "two"},
    "feeds": {"more": ("--feed", "p=1")},
    "seed": {"more": ("--seed", "7")},
    "assign": {"more": ("--assign", "offset=5")},
    "steps": {"more": ("--steps", "2")},
    "optimize": {"more": ("--optimize", "none")},
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("what", "way"), [*((what, ()) for what in OTHERS), pytest.param("graph", PROCESSES, marks=pytest.mark.slow)]
)
def test_another_job_is_refused(what, way, folder):
    assert job(folder, "--seed", "6", *way).code == 0
    before = values(folder)
    other = dict(OTHERS[what])
    more = () if what == "seed" else ("--seed", "6")
    done = job(folder, *more, *other.pop("more", ()), *way, **other)
    assert done.code == 1 and f"has the results of another job: {what} differs" in done.err, done.err
    assert "--overwrite" in done.err and values(folder) == before


def test_the_function_counts(folder):
    """The option is read with the graph, not with the options of a run."""
    b = tfg.GraphBuilder()
    for name, op in (("f", "Neg"), ("g", "Exp")):
        define(b, name, ["float32"], lambda inner, x, op=op: [inner.apply(op, x)])
    b.NoOp(name="nothing")
    tfg.save(b.graph, folder / "functions.pb")

    def by(function):
        words = ("--function", function, "--feed", "a0=@each", "--each", folder / "in" / "*.npy")
        return run("run", folder / "functions.pb", *words, "--out-dir", folder / "out")

    done = by("f")
    assert done.code == 0, done.err
    assert "function differs" in by("g").err
    assert by("f").code == 0


@pytest.mark.parametrize("option", ["--feed=p", "--assign=offset", "--assign-add=offset", "--assign-sub=offset"])
def test_the_contents_of_files_count_not_their_names(option, folder):
    feed = (f"{option}=@{folder}/pone.npy",)
    assert job(folder, *feed).code == 0
    shutil.copy(folder / "ptwo.npy", folder / "pone.npy")
    assert "files differs" in job(folder, *feed).err
    shutil.copy(folder / "two.npz", folder / "one.npz")
    assert "files, state differ" in job(folder, *feed).err


@pytest.mark.parametrize("way", WAYS)
def test_overwriting_makes_every_result_anew(way, folder):
    assert job(folder, *way).code == 0
    done = job(folder, "--overwrite", *way, state="two")
    assert done.code == 0 and "3 results written" in done.err
    assert values(folder) == {f"i{i}": [2 * i + 2, 4] for i in range(3)}
    assert "3 already there" in job(folder, *way, state="two").err


def test_a_job_killed_while_it_overwrites_goes_on(folder):
    """Results of the previous job are older than the stamp, and so do not count as results of the new job."""
    assert job(folder).code == 0
    (folder / "in" / "i1.npy").write_bytes(b"damaged")
    assert job(folder, "--overwrite", state="two").code == 1
    np.save(folder / "in" / "i1.npy", np.float32([1, 1]))
    done = job(folder, state="two")
    assert done.code == 0 and "2 results written" in done.err and "1 already there" in done.err
    assert values(folder) == {f"i{i}": [2 * i + 2, 4] for i in range(3)}


@pytest.mark.parametrize("way", WAYS)
def test_an_input_that_is_newer_than_its_result_runs_again(way, folder):
    assert job(folder, *way).code == 0
    np.save(folder / "in" / "i1.npy", np.float32([10, 1]))
    done = job(folder, *way)
    assert "1 result written" in done.err and "2 already there" in done.err
    assert values(folder)["i1"] == [21, 3]


def test_more_inputs_are_the_same_job(folder):
    assert job(folder).code == 0
    np.save(folder / "in" / "i9.npy", np.float32([9, 1]))
    assert "1 result written" in job(folder).err


def test_a_job_draws_the_same_when_it_is_resumed(folder):
    assert job(folder, fetch="drawn").code == 0
    before = values(folder, "drawn")
    (folder / "out" / "i1.npz").unlink()
    assert job(folder, fetch="drawn").code == 0
    assert values(folder, "drawn") == before


def test_results_without_a_stamp_are_nobodys(folder):
    assert job(folder).code == 0
    stamp = folder / "out" / ".tfg-job"
    stamp.unlink()
    done = job(folder)
    assert done.code == 1 and "has results but no record of their job" in done.err
    stamp.write_text("{")
    assert "is damaged" in job(folder).err
    assert job(folder, "--overwrite").code == 0


def test_a_model_is_known_by_its_variables_too(folder):
    model = folder / "model"
    shutil.copytree(SAMPLES / "scaler_saved_model", model)
    np.save(folder / "row.npy", np.float32([[1, 2]]))
    words = ("run", model, "--fetch", "scaled", "--feed", "x=@each", "--each", folder / "row.npy", "--out-dir", folder / "out")
    assert run(*words).code == 0
    assert run("run", model, "--assign", "scale=[7, 8]", "--save-model", folder / "new").code == 0
    shutil.rmtree(model)
    os.rename(folder / "new", model)
    assert "graph differs" in run(*words).err


def test_the_stamp_says_what_the_job_is(folder):
    assert job(folder).code == 0
    assert json.loads((folder / "out" / ".tfg-job").read_text())["fetches"] == ["y"]


def test_a_job_without_a_result_leaves_the_folder_to_another(folder):
    assert job(folder, "--steps", "2").code == 0
    shutil.rmtree(folder / "out")
    (folder / "in" / "i0.npy").write_bytes(b"damaged")
    assert job(folder, "--steps", "2").code == 1
    np.save(folder / "in" / "i0.npy", np.float32([0, 1]))
    assert job(folder).code == 0
