"""Datasets in random order: TensorFlow's order, in each pass."""

import numpy as np

from tests.pipelines import NUMBER, elements, int64, numbers, pipeline, text


def shuffled(size, source=12, op="ShuffleDataset", seeds=(5, 7), reshuffle=True, repeats=1, passes=1):
    def make(g):
        handles = [g.DummySeedGenerator()] if op.endswith("V3") else []
        given = [int64(size), *map(int64, seeds), *handles]
        result = getattr(g, op)(numbers(g, source), *given, reshuffle_each_iteration=reshuffle, **NUMBER)
        return g.RepeatDataset(result, int64(repeats), **NUMBER) if repeats > 1 else result

    key = f"{size} of {source} {seeds} {reshuffle} {repeats} {passes}"
    return pipeline(key, op, make, take=source * repeats + 1, passes=passes, plain=True)


def read_twice(op, plain):
    """Two passes over a shuffle that two datasets read: a pipeline that TensorFlow rewrites has a copy for each reader."""

    def make(g):
        handles = [g.DummySeedGenerator()] if op.endswith("V3") else []
        data = getattr(g, op)(numbers(g, 6), *map(int64, (3, 5, 7)), *handles, reshuffle_each_iteration=True, **NUMBER)
        return g.RepeatDataset(g.ConcatenateDataset(data, data, **NUMBER), int64(2), **NUMBER)

    return pipeline(f"read twice {plain}", op, make, take=25, passes=2, plain=plain)


def shuffled_and_repeated(size, count, source=7, op="ShuffleAndRepeatDataset", reshuffle=True):
    def make(g):
        handles = [g.DummySeedGenerator()] if op.endswith("V2") else []
        return getattr(g, op)(
            numbers(g, source),
            int64(size),
            int64(5),
            int64(7),
            int64(count),
            *handles,
            reshuffle_each_iteration=reshuffle,
            **NUMBER,
        )

    return pipeline(f"{size} {count} of {source} {reshuffle}", op, make, take=30, passes=2, plain=True)


def by_generator(op, reshuffle):
    def make(g):
        handle = g.AnonymousSeedGenerator(int64(3), int64(4), np.array(reshuffle))[0]
        if op.endswith("V2"):
            return g.ShuffleAndRepeatDatasetV2(
                numbers(g, 5), int64(3), int64(1), int64(2), int64(2), handle, reshuffle_each_iteration=reshuffle, **NUMBER
            )
        return g.ShuffleDatasetV3(
            numbers(g, 5), int64(3), int64(1), int64(2), handle, reshuffle_each_iteration=reshuffle, **NUMBER
        )

    return pipeline(f"generator {reshuffle}", op, make, passes=2)


def globally(seeds, reshuffle, source=12):
    def make(g):
        handle = g.DummySeedGenerator()
        given = numbers(g, source), *map(int64, seeds), handle
        shuffled = g.GlobalShuffleDataset(*given, reshuffle_each_iteration=reshuffle, **NUMBER)
        return g.RepeatDataset(shuffled, int64(2), **NUMBER)

    return pipeline(f"{seeds} {reshuffle} {source}", "GlobalShuffleDataset", make, take=2 * source + 1)


def globally_over(key, make_source, spec=NUMBER):
    """A global shuffle needs elements that are found by their places."""

    def make(g):
        given = make_source(g), int64(3), int64(4), g.DummySeedGenerator()
        return g.GlobalShuffleDataset(*given, reshuffle_each_iteration=False, **spec)

    return pipeline(key, "GlobalShuffleDataset", make, spec, take=4)


def batches(drops, **more):
    return lambda g: g.BatchDatasetV2(numbers(g, 7), int64(2), np.array(drops), **more, **VECTOR)


VECTOR = elements(("int64", (None,)))
CASES = [
    globally_over("full batches", batches(True), VECTOR),
    globally_over("batches", batches(False), VECTOR),
    globally_over("a shuffle", lambda g: g.ShuffleDataset(numbers(g, 3), *map(int64, (3, 1, 2)), **NUMBER)),
    globally_over("what is cached", lambda g: g.CacheDataset(numbers(g, 3), text(""), **NUMBER)),
    globally_over("elements without errors", lambda g: g.IgnoreErrorsDataset(numbers(g, 3), **NUMBER)),
    *(shuffled(size) for size in (1, 2, 5, 12, 100, -2)),
    shuffled(3, seeds=(0, 1)),
    shuffled(3, seeds=(2**40, -1)),
    shuffled(4, repeats=3, reshuffle=True),
    shuffled(4, repeats=3, reshuffle=False),
    shuffled(4, passes=2, reshuffle=True),
    shuffled(4, passes=2, reshuffle=False),
    shuffled(5, op="ShuffleDatasetV3", repeats=2),
    shuffled(5, op="ShuffleDatasetV3", repeats=2, reshuffle=False),
    shuffled(3, source=0),
    shuffled(0),
    shuffled(-1),
    *(read_twice(op, plain) for op in ("ShuffleDataset", "ShuffleDatasetV3") for plain in (False, True)),
    *(
        shuffled_and_repeated(size, count, reshuffle=again)
        for size in (1, 3, 20)
        for count in (1, 3, -1)
        for again in (True, False)
    ),
    shuffled_and_repeated(100, 5, source=2),
    shuffled_and_repeated(3, -1, source=0),
    shuffled_and_repeated(3, 0),
    shuffled_and_repeated(3, 3, op="ShuffleAndRepeatDatasetV2"),
    *(by_generator(op, again) for op in ("ShuffleDatasetV3", "ShuffleAndRepeatDatasetV2") for again in (True, False)),
    globally((3, 4), True),
    globally((3, 4), False),
    globally((3, 4), True, 1),
    globally((3, 4), True, 0),
]
