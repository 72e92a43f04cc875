"""The NIST StRD problems solved by tfg's Levenberg-Marquardt through a graph and by scipy's on plain functions.

usage: python -m benchmarks.least_squares
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from scipy.optimize import least_squares

from tests.core.training.test_levenberg_marquardt import PROBLEMS, residual_graph
from tfg.core.runtime.session.runner import Runner
from tfg.core.runtime.session.session import Session
from tfg.core.training.trainer import LeastSquares, Tolerances


def digits(result, certified) -> float:
    """Correct decimal digits of the worst parameter."""
    error = np.max(np.abs(np.asarray(result) - certified) / np.abs(certified))
    return float(-np.log10(max(error, 1e-16)))


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{'problem':10} start  tfg digits  seconds  scipy digits  seconds")
    for problem in PROBLEMS:
        certified = np.array(problem["certified"])
        for start in (0, 1):
            graph, feeds = residual_graph(problem, start)
            runner = Runner(Session(graph))
            runner.initialize()
            fit = LeastSquares(graph, "residuals:0", feeds, "", runner)
            began = time.perf_counter()
            ours = fit.fit(Tolerances(max_iterations=2000))
            middle = time.perf_counter()
            tolerances = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15, "max_nfev": 5000}
            begin = np.array(problem["starts"][start])
            theirs = least_squares(fit.residuals_at, begin, fit.jacobian_at, method="lm", **tolerances)
            ended = time.perf_counter()
            print(
                f"{problem['name']:10} {start + 1:5}  {digits(ours.parameters, certified):10.1f}  {middle - began:7.2f}"
                f"  {digits(theirs.x, certified):12.1f}  {ended - middle:7.2f}"
            )


if __name__ == "__main__":
    main()
