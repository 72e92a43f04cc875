"""`tfg.optimize` on the graphs of a folder: nodes before and after beside Grappler's, seconds, and the same answers.

usage: optimize.py GRAPHS      (the folder with mobilenetv2, resnet50_train ...)
"""

import pathlib
import sys
import time

import numpy as np

import tfg
from tfg.core.comparing.verify_rewrite import verify
from tfg.core.explaining.default_fetches import guessed_fetches
from tfg.core.passes.pipeline import optimize
from tfg.core.runtime.session.drawn_feeds import generated_feeds

# graph -> (fetches, nodes that Grappler leaves, its seconds)
GRAPHS = {
    "mobilenetv2": ((), 185, 0.6),
    "resnet50_train": (("train", "loss:0"), 1801, 0.5),
    "transformer_mini": ((), 277, 0.1),
}
TRAINING_STEPS = 3


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "/work/shared/graphs")
    print(f"{'graph':18}{'nodes':>7}{'tfg':>7}{'Grappler':>10}{'seconds':>9}  tolerance that passes")
    for name, (fetches, grappler, _) in GRAPHS.items():
        path = folder / name / "graph.pb"
        if path.exists():
            report(name, tfg.load(str(path)), fetches, grappler)
        else:
            print(f"{name:18} skipped: no {path}")


def report(name, graph, fetches, grappler):
    fetches = fetches or guessed_fetches(graph)
    feeds = feeds_of(graph, fetches)
    start = time.perf_counter()
    after, _ = optimize(graph, fetches, tuple(feeds))
    seconds = time.perf_counter() - start
    print(f"{name:18}{len(graph):7}{len(after):7}{grappler:10}{seconds:9.2f}", end="  ", flush=True)
    compared = verify(graph, after, fetches, feeds, initialized(graph), 1e-4, TRAINING_STEPS if "train" in fetches else 1)
    print(", ".join(f"{c.fetch} {c.tolerance_needed:.1e}" for c in compared))


def feeds_of(graph, fetches):
    return generated_feeds(graph, {}, fetches)


def initialized(graph):
    """Return a function that opens sessions with the values of the graph's initializer, which runs once."""
    if not any(node.op in ("VarHandleOp", "VariableV2") for node in graph):
        return lambda other: tfg.Session(other, seed=0)
    from tfg.core.runtime.session.runner import Runner

    values = {}

    def opened(other):
        session = tfg.Session(other, seed=0)
        source = Runner(tfg.Session(graph, seed=0))
        source.initialize(None)
        for key, resource in source.session.resources.items():
            values.setdefault(key, np.array(resource.read()))
            resource.assign(values[key].copy())
        session.resources = source.session.resources
        return session

    return opened


if __name__ == "__main__":
    main()
