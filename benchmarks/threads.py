"""The gain from a second thread in a session that serves a network: runs per second of one thread and of two, in turns.

usage: threads.py GRAPH      (graph.pb of mobilenetv2, made by scripts/record_networks.py)

Other work on the machine disturbs the numbers, so the rounds of one thread and of two take turns, and the median of the
ratios counts.
"""

import argparse
import statistics
import threading
import time

import numpy as np

import tfg

ROUNDS = 5
SECONDS = 3.0


def rate(session, fetch, feeds, threads):
    """Runs a second of `threads` threads together."""
    counts, barrier = [0] * threads, threading.Barrier(threads + 1)

    def serve(number):
        barrier.wait()
        while time.perf_counter() < end:
            session.run(fetch, feeds)
            counts[number] += 1

    workers = [threading.Thread(target=serve, args=(n,)) for n in range(threads)]
    for worker in workers:
        worker.start()
    end = (start := time.perf_counter()) + SECONDS
    barrier.wait()
    for worker in workers:
        worker.join()
    return sum(counts) / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph")
    graph = tfg.load(parser.parse_args().graph)
    (source,) = (node for node in graph if node.op == "Placeholder")
    shape = [d if isinstance(d, int) else 1 for d in source.attrs["shape"]]
    feeds = {f"{source.name}:0": np.random.default_rng(0).random(shape, np.float32)}
    fetch = f"{list(graph)[-1].name}:0"
    session = tfg.Session(graph)
    rate(session, fetch, feeds, 2)
    ratios = []
    for _ in range(ROUNDS):
        one, two = rate(session, fetch, feeds, 1), rate(session, fetch, feeds, 2)
        ratios.append(two / one)
        print(f"one thread {one:6.2f} runs/s, two threads {two:6.2f} runs/s, ratio {two / one:.2f}")
    print(f"median ratio {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
