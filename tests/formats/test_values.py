"""Values as users write them, for tensors of every dtype: losses beyond precision are refused."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

from tests.cli.running import tfg as run
from tfg import GraphBuilder, save
from tfg.core.support.errors import InvalidArgumentError, NotFoundError, ResourceExhaustedError
from tfg.core.types import dtypes
from tfg.core.types.shapes import Shape, as_shape
from tfg.formats.value_literals import parse_value

DTYPES = [dtypes.from_number(number) for number in range(1, 34)]
WHOLE = [dtype for dtype in DTYPES if dtype.is_integer or dtype.is_quantized]
FLOATING = [dtype for dtype in DTYPES if dtype.is_floating]


def refused(text, dtype):
    with pytest.raises(InvalidArgumentError) as error:
        parse_value(text, dtype)
    return error.value


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", [*WHOLE, dtypes.bool_], ids=str)
@pytest.mark.parametrize("text", ["uniform(4)", "normal(3)", "uniform(2,2,low=0,high=100,seed=1)", "normal(3,stddev=100)"])
def test_generators_of_fractions_draw_no_integers(text, dtype):
    error = refused(text, dtype)
    assert "holds fractions" in error.message and "randint(" in error.hint


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", [*WHOLE, dtypes.bool_], ids=str)
@pytest.mark.parametrize("text", ["[0.7, 1]", "full(3,value=0.5)", "1e-3"])
def test_fractions_are_refused(text, dtype):
    assert "holds fractions" in refused(text, dtype).message


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", [*WHOLE, dtypes.bool_], ids=str)
@pytest.mark.parametrize("text", ["NaN", "[0, Infinity]", "-Infinity", "full(2,value=nan)", "full(2,value=inf)"])
def test_integers_are_finite(text, dtype):
    assert "holds NaN or infinities" in refused(text, dtype).message


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("text", ["18446744073709551616", "[1, -99999999999999999999]"])
def test_integers_beyond_64_bits_are_floats(text, dtype):
    if dtype not in (dtypes.float32, dtypes.float64, dtypes.bfloat16):
        assert "exceeds its largest number" in refused(text, dtype).message
    else:
        np.testing.assert_allclose(parse_value(text, dtype).astype(float), np.array(json.loads(text), float), rtol=1e-2)


@pytest.mark.parametrize("dtype", [*WHOLE, dtypes.bool_], ids=str)
def test_integers_beyond_64_bits_fit_into_no_dtype_of_integers(dtype):
    assert f"does not fit into {dtype}" in refused("[1, 18446744073709551616]", dtype).message


def test_integers_beyond_all_floats_are_refused():
    assert "exceeds the largest number of every dtype" in refused("1" + 400 * "0", dtypes.float64).message


def test_generators_that_need_too_much_memory_say_so(monkeypatch):
    def exhaust(shape):
        raise MemoryError(f"no room for {shape}")

    monkeypatch.setattr(np, "zeros", exhaust)
    with pytest.raises(ResourceExhaustedError, match=r"out of memory: no room for \(3, 2\)"):
        parse_value("zeros(3,2)", dtypes.float32)


RANGES = {
    "int2": (-2, 1), "uint2": (0, 3), "int4": (-8, 7), "uint4": (0, 15), "int8": (-128, 127), "uint8": (0, 255),
    "qint8": (-128, 127), "quint8": (0, 255), "int16": (-32768, 32767), "uint16": (0, 65535), "qint16": (-32768, 32767),
    "quint16": (0, 65535), "int32": (-(2**31), 2**31 - 1), "qint32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1), "uint64": (0, 2**64 - 1),
}  # fmt: skip


def test_every_dtype_of_integers_has_its_range_here():
    assert {dtype.name for dtype in WHOLE} == set(RANGES)


@pytest.mark.parametrize("name", RANGES)
def test_integers_stay_in_range(name):
    dtype, (low, high) = dtypes.from_name(name), RANGES[name]
    assert [int(x) for x in parse_value(f"[{low}, {high}]", dtype).ravel()] == [low, high]
    for beyond in (low - 1, high + 1, 1e30, -1e30):
        refused(f"[0, {beyond}]", dtype)


@pytest.mark.parametrize("text", ["[0, 1]", "[false, true]", "[0.0, 1.0]"])
def test_a_boolean_is_zero_or_one(text):
    assert parse_value(text, dtypes.bool_).tolist() == [False, True]
    for other in ("2", "-1", "full(3,value=2)"):
        assert "does not fit into bool" in refused(other, dtypes.bool_).message


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_a_finite_number_stays_finite(dtype):
    assert np.isfinite(parse_value("[0, 1, -2]", dtype).astype(np.float64)).all()
    if dtype is not dtypes.float64:
        assert "exceeds its largest number" in refused("[1, 1e300]", dtype).message
    if dtype.name in ("float", "double", "half", "bfloat16"):
        assert not np.isfinite(parse_value("[Infinity, -Infinity, NaN]", dtype).astype(np.float64)).any()


def test_complex_numbers_stay_finite_too():
    assert parse_value("[1, 2.5]", dtypes.complex64).tolist() == [1, 2.5]
    refused("1e300", dtypes.complex64)


@pytest.mark.parametrize("dtype", [dtypes.int32, dtypes.bool_, dtypes.qint8], ids=str)
def test_what_a_file_holds_is_looked_at_as_well(dtype, tmp_path):
    np.save(tmp_path / "x.npy", np.array([0, 0.5]))
    assert "holds fractions" in refused(f"@{tmp_path}/x.npy", dtype).message
    np.save(tmp_path / "x.npy", np.array([0.0, 1.0]))
    assert parse_value(f"@{tmp_path}/x.npy", dtype).tolist() == [0, 1]


def test_lines_of_many_inputs_are_looked_at_as_well(tmp_path):
    b = GraphBuilder()
    b.Identity(b.Placeholder(dtype="int32", shape=[2], name="x"), name="y")
    save(b.graph, tmp_path / "g.pb")
    (tmp_path / "in.jsonl").write_text("\n".join(json.dumps(value) for value in ([1, 2], [1, 2.5])))
    words = ("--fetch", "y", "--feed", "x=@each", "--each", tmp_path / "in.jsonl", "--out-dir", tmp_path / "out")
    done = run("run", tmp_path / "g.pb", *words)
    assert done.code == 1 and "holds fractions" in done.err


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_a_file_is_one_string_of_a_tensor(rank, tmp_path):
    """The zeros at the end of a string stay."""
    path = tmp_path / "x.jpg"
    path.write_bytes(b"\xff\xd8\0\0")
    value = parse_value(f"@{path}", dtypes.string, as_shape([None] * rank))
    assert value.shape == (1,) * rank and value.item() == b"\xff\xd8\0\0"


@pytest.mark.parametrize("text", ["True", "False"])
def test_pythons_truth_values_have_a_hint(text):
    assert refused(text, dtypes.bool_).hint == f"write {text.lower()}"


def test_generated_strings_are_what_readers_take():
    value = parse_value("strings(2,1)", dtypes.string, readable=lambda: b"PNG\0")
    assert value.tolist() == [[b"PNG\0"], [b"PNG\0"]]
    with pytest.raises(InvalidArgumentError, match="cannot be fed to a tensor of dtype float"):
        parse_value("strings(2)", dtypes.float32)


@pytest.mark.parametrize(
    ("text", "dtype", "hint"),
    [
        ("True", "bool", "write true"), ("False", "float32", "write false"), ("[True, False]", "bool", "write [true, false]"),
        ("None", "bool", "a tensor has no None: write true or false"),
        ("null", "bool", "a tensor has no None: write true or false"),
        ("[1, None]", "float32", "a tensor has no None: write a number, such as 0"), ("[True", "bool", "write true or false"),
        ("Truely", "bool", "write true or false"), ("{}", "bool", "write true or false"),
    ],
)  # fmt: skip
def test_words_of_python_are_told_in_json(text, dtype, hint):
    assert hint in str(refused(text, dtypes.as_dtype(dtype)).hint)


@pytest.mark.parametrize("text", ["True", "[True, False]"])
def test_the_value_in_json_is_taken(text):
    written = str(refused(text, dtypes.bool_).hint).removeprefix("write ")
    assert parse_value(written, dtypes.bool_).dtype == bool


SLIPS = {
    "['ab']": "character 2: strings take double quotes",
    "[ab]": "character 2: strings take double quotes",
    "[\"ab\", 'c']": "character 8: strings take double quotes",
    "{ab}": "character 2: strings take double quotes",
    '["ab"': "character 6: the text ends too early",
    '[["ab", "c"]': "character 13: the text ends too early",
    '"ab': "character 1: the string has no closing quote",
    '"ab" cd': "character 6: the value ends before",
    '["ab"] cd': "character 8: the value ends before",
    "[True]": "character 2: JSON writes true, false and null",
    "[None]": "character 2: JSON writes true, false and null",
    "[1, 2.e]": "character 6: expecting ',' delimiter",
    " [ab]": "character 2: strings take double quotes",
    "[" * 100_000: "nested too deeply",
}


@pytest.mark.parametrize("dtype", [dtypes.string, dtypes.float32, None], ids=str)
@pytest.mark.parametrize("text", SLIPS, ids=lambda text: text[:9])
def test_a_slip_in_json_is_an_error_with_the_place(text, dtype):
    """For strings too: the characters of a list with a slip are not meant. A text that looks like JSON is a JSON string."""
    error = refused(text, dtype)
    assert SLIPS[text] in error.message and "is not JSON" in error.message
    assert parse_value(json.dumps(text), dtypes.string).item() == text.encode()


@pytest.mark.parametrize("text", ["12", "true", "null", "{}", '{"a": "b"}'])
def test_other_json_is_no_string_and_the_hint_makes_it_one(text):
    error = refused(text, dtypes.string)
    assert "is not a string" in error.message and error.hint.endswith(f"the JSON string {json.dumps(text)}")


@pytest.mark.parametrize("text", ["ab", "'ab'", "it's [so]", "True", "ab]", "a,b"])
def test_other_texts_are_strings_as_they_are(text):
    assert parse_value(text, dtypes.string).item() == text.encode()


def test_a_list_of_files_is_a_batch(tmp_path):
    first, second, wide, note = (str(tmp_path / name) for name in ("a.npy", "b,c.npy", "wide.npy", "note.txt"))
    np.save(first, np.arange(3, dtype=np.float32))
    np.save(second, np.ones(3, np.int64))
    np.save(wide, np.ones(4))
    pathlib.Path(note).write_bytes(b"some\0text")
    batch = parse_value(f"[@{first}, @{second}]", dtypes.float32, Shape([None, 3]))
    np.testing.assert_array_equal(batch, np.array([[0, 1, 2], [1, 1, 1]], np.float32))
    assert parse_value(f"[@{note},@{note}]", dtypes.string, Shape([None])).tolist() == [b"some\0text"] * 2
    assert parse_value(f"[@{note}]", dtypes.string, Shape([None, 1])).tolist() == [[b"some\0text"]]
    with pytest.raises(InvalidArgumentError, match=r"different shapes: @.*a.npy \(3\), @.*wide.npy \(4\)"):
        parse_value(f"[@{first},@{wide}]", dtypes.float32)
    with pytest.raises(NotFoundError, match=r"missing\.npy"):
        parse_value(f"[@{first},@{tmp_path}/missing.npy]", dtypes.float32)
    assert parse_value('["@a.txt"]', dtypes.string).tolist() == [b"@a.txt"]
