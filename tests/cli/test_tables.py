"""`--table NAME`: CSV has a single table."""

from __future__ import annotations

import csv
import io
import itertools

import pytest

from tests.cli.running import SAMPLES, STAGES
from tests.cli.running import tfg as run

XOR, LINE, KERAS = SAMPLES / "xor.pbtxt", SAMPLES / "linear_regression.pbtxt", SAMPLES / "keras_classifier"
POINTS = ("--feed", "x=[1, 2]", "--feed", "y=[3, 6]")
GRAD = ("grad", LINE, "--y", "loss", "--x", "w", "--x", "b", "--init", *POINTS)
SEVERAL = {
    "explain": (("explain", XOR), ["facts", "inputs", "outputs", "variables", "ops"]),
    "ops": (("ops", "MatMul", "Conv2D"), ["attributes", "kernels", "facts"]),
    "optimize": (("optimize", XOR, "--fetch", "loss"), ["passes", "ops"]),
    "grad": (GRAD, ["gradients", "values"]),
    "train": (("train", LINE, "--loss", "loss", *POINTS, "--steps", 3, "--dump-stages"), ["stages", "history"]),
}
"""Command lines with several tables, and some of the names."""
ALONE = {
    "check": ("check", XOR, LINE),
    "checkpoint": ("checkpoint", KERAS / "variables/variables"),
    "diff": ("diff", STAGES[0], STAGES[1]),
    "dump": ("dump", XOR),
    "stages": ("dump", XOR, "--stages"),
    "snapshots": ("dump", *STAGES),
    "nodes": ("explain", XOR, "loss", "train"),
    "races": ("explain", XOR, "--races"),
    "outcomes": ("explain", XOR, "loss", "--optimized", "--fetch", "loss"),
    "flops": ("flops", XOR, "--fetch", "loss"),
    "gradients": (*GRAD[:8],),
    "derivatives": (*GRAD, "--jacobian"),
    "gradient check": (*GRAD, "--check"),
    "coverage": ("ops", "--coverage"),
    "formulas": ("ops", "--flops"),
    "ops list": ("ops", "--family", "matmul"),
    "partition": ("explain", XOR, "--partition", "--fetch", "train"),
    "passes": ("optimize", "--list"),
    "missing ops": ("explain", XOR, "--missing"),
    "missing parts": ("ops", "--missing", XOR),
    "samples": ("samples",),
    "history": ("train", LINE, "--loss", "loss", *POINTS, "--steps", 3),
}


def table(out):
    """Return the rows of a CSV file; all rows have the columns of the header."""
    header, *rows = csv.reader(io.StringIO(out))
    assert len(set(header)) == len(header) and all(header)
    assert all(len(row) == len(header) for row in rows)
    return header, rows


@pytest.mark.sampled(5)
@pytest.mark.parametrize("case", ALONE)
def test_one_table_needs_no_name(case):
    done = run(*ALONE[case], "--format", "csv")
    assert done.code in (0, 3), done.err
    table(done.out)


@pytest.mark.slow
@pytest.mark.sampled(5)
@pytest.mark.parametrize("case", SEVERAL)
def test_several_tables_are_refused_and_each_can_be_chosen(case):
    words, names = SEVERAL[case]
    done = run(*words, "--format", "csv")
    assert (done.code, done.out) == (1, "")
    assert "CSV holds a single table" in done.err and "hint: choose a table, e.g. --table " in done.err
    known = next(line for line in done.err.splitlines() if "CSV holds" in line).rpartition(": ")[2].split(", ")
    assert len(set(known)) == len(known) > 1 and set(names) <= set(known)
    tables = [run(*words, "--format", "csv", "--table", name).out for name in known]
    assert all(table(out)[0] for out in tables)
    assert all(one != other for one, other in itertools.combinations(tables, 2))


def test_an_unknown_table_is_refused_with_the_names():
    done = run("explain", XOR, "--format", "csv", "--table", "layers")
    assert (done.code, done.out) == (1, "")
    assert "unknown table 'layers'" in done.err and "facts, inputs, outputs" in done.err
    assert run("dump", XOR, "--format", "csv", "--table", "other").code == 1
    assert run("dump", XOR, "--format", "csv", "--table", "nodes").code == 0


def test_a_table_is_of_csv():
    done = run("explain", XOR, "--table", "inputs")
    assert done.code == 2 and "--table needs --format=csv" in done.err
    assert run("explain", XOR, "--table", "inputs", "--format", "json").code == 2


def test_a_choice_holds_for_one_command():
    assert run("explain", XOR, "--format", "csv", "--table", "inputs").code == 0
    assert run("samples", "--format", "csv").code == 0


def test_a_table_in_csv_has_all_rows():
    ops = run("explain", XOR, "--format", "json").json["ops"]
    _, rows = table(run("explain", XOR, "--format", "csv", "--table", "ops").out)
    assert len(rows) == len(ops) > 30


def test_values_of_derivatives_are_rows():
    header, rows = table(run(*GRAD, "--jacobian", "--format", "csv").out)
    assert header == ["x", "kind", "index", "value"]
    assert [(row[0], row[1], float(row[3])) for row in rows] == [
        ("w:0", "jacobian", -15),
        ("b:0", "jacobian", -9),
    ]


def test_all_steps_of_a_training_are_rows():
    words = ("train", LINE, "--loss", "loss", *POINTS, "--steps", 5)
    losses = [step["loss"] for step in run(*words, "--format", "json").json["history"]]
    header, rows = table(run(*words, "--format", "csv").out)
    assert header == ["step", "loss"]
    assert [float(row[1]) for row in rows] == pytest.approx(losses, rel=1e-5)


def test_a_number_and_its_formula_have_two_columns():
    header, rows = table(run("flops", XOR, "--fetch", "logits", "--format", "csv").out)
    results = [(row[header.index("name")], row[header.index("flops")], row[header.index("flops_formula")]) for row in rows]
    assert ("MatMul", "", "48*N") in results
    header, rows = table(run("flops", XOR, "--fetch", "logits", "--batch", 2, "--format", "csv").out)
    assert all(row[header.index("flops")] == row[header.index("flops_formula")] for row in rows)
