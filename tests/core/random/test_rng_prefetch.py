"""Small prefetched draws equal single draws."""

import concurrent.futures

import ml_dtypes
import numpy as np
import pytest

from tfg import GraphBuilder, Session
from tfg.core.ops.random._random import Stream, draw_for_classes, draw_of
from tfg.core.random import philox
from tfg.core.random.philox import Philox
from tfg.core.support.errors import InvalidArgumentError

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
KINDS = {
    "uniform": (philox.uniform, F32),
    "uniform double": (philox.uniform, F64),
    "uniform half": (philox.uniform, np.dtype(np.float16)),
    "uniform bfloat16": (philox.uniform, np.dtype(ml_dtypes.bfloat16)),
    "normal": (philox.normal, F32),
    "normal double": (philox.normal, F64),
    "normal half": (philox.normal, np.dtype(np.float16)),
    "int32": (philox.uniform_int, -7, 1000, np.dtype(np.int32)),
    "int64": (philox.uniform_int, 0, 1 << 40, np.dtype(np.int64)),
}
STARTS = [(0, 0), (87654321, 7 << 64), ((1 << 64) - 1, (1 << 128) - 700), (5, (1 << 64) - 300)]


def one_by_one(gen, draw):
    """Return a single draw, with the generator at the start of the next draw."""
    return draw.at(gen.take(draw.size * 256))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dims", [(), (1,), (3,), (2, 4), (0,), (7, 19), (1024,), (1025,)])
def test_what_comes_ahead_is_what_would_come(kind, dims):
    distribution, *parameters = KINDS[kind]
    draw = draw_of(distribution, dims, *parameters)
    for start in STARTS:
        stream, gen = Stream(Philox(*start)), Philox(*start)
        for _ in range(350 if len(dims) == 0 else 30):
            picture, expected = stream.draw(draw), one_by_one(gen, draw)
            assert picture.shape == dims
            assert picture.dtype == parameters[-1]
            np.testing.assert_array_equal(picture, expected)
            assert (stream.key, stream.counter) == (gen.key, gen.counter)


@pytest.mark.parametrize(("rows", "samples"), [(1, 1), (2, 3), (3, 30), (1, 1024), (1, 1025), (2, 0), (0, 2)])
def test_uniforms_for_classes(rows, samples):
    """TensorFlow reserves two samples per class, for as many classes as fill whole blocks of four."""
    draw = draw_for_classes(rows, samples)
    stream, gen = Stream(Philox(1, 2)), Philox(1, 2)
    for _ in range(30):
        start = gen.take(rows * -(-samples // 4) * 4 * 2 * 256)
        expected = philox.uniform(start, rows * samples, F64).reshape(rows, samples)
        np.testing.assert_array_equal(stream.draw(draw), expected)
        assert stream.counter == gen.counter


def test_other_draws_come_between():
    draws = [draw_of(*kind[:1], dims, *kind[1:]) for kind in KINDS.values() for dims in ((), (5,))]
    stream, gen = Stream(Philox(1, 2)), Philox(1, 2)
    for i in np.random.default_rng(0).integers(0, len(draws), 40):
        for _ in range(i % 7):
            np.testing.assert_array_equal(stream.draw(draws[i]), one_by_one(gen, draws[i]))
        if i % 3 == 0:
            assert stream.take(5).words(4).tolist() == gen.take(5).words(4).tolist()
        if i % 5 == 0:
            stream.counter = gen.counter = int(i)


def test_what_is_drawn_may_be_written_to():
    draw = draw_of(philox.uniform, (3,), F32)
    stream, gen = Stream(Philox(1, 2)), Philox(1, 2)
    for _ in range(30):
        picture = stream.draw(draw)
        np.testing.assert_array_equal(picture, one_by_one(gen, draw))
        picture[...] = -1


def test_threads_share_a_stream():
    draw = draw_of(philox.uniform, (), F32)
    stream, gen = Stream(Philox(1, 2)), Philox(1, 2)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        items = list(pool.map(lambda _: stream.draw(draw), range(2000)))
    assert sorted(items) == sorted(one_by_one(gen, draw) for _ in range(2000))


def test_a_session_goes_on_where_another_was():
    g = GraphBuilder()
    g.RandomStandardNormal(g.constant(np.array([], np.int32)), dtype="float32", seed=3, seed2=4, name="x")
    whole = Session(g.graph)
    drawn = [whole.run("x:0") for _ in range(40)]
    first = Session(g.graph)
    assert [first.run("x:0") for _ in range(17)] == drawn[:17]
    second = Session(g.graph)
    second.draw_on(first.streams())
    assert [second.run("x:0") for _ in range(23)] == drawn[17:]


@pytest.mark.parametrize(("low", "high"), [(3, 3), (4, 3)])
def test_a_kernel_for_constants_refuses_as_any_does(low, high):
    g = GraphBuilder()
    g.RandomUniformInt(g.constant([2]), g.constant(low), g.constant(high), seed=3, name="x")
    session = Session(g.graph)
    for _ in range(4):
        with pytest.raises(InvalidArgumentError, match="Need minval < maxval") as raised:
            session.run("x:0")
        assert raised.value.node == "x"
