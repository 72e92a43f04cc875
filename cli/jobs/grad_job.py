"""Implementation of `tfg grad`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import click
import numpy as np

from ...core.gradients import gradients
from ...core.gradients.backward import override_gradients
from ...core.gradients.jacobian import check_gradient, hessian_vector, jacobian, jvp, vjp
from ...core.graph.graph import Graph, Output
from ...core.runtime.session.session_like import SessionLike
from ...core.runtime.session.variable_values import variables_in_use
from ...core.support.words import counted
from ...formats.api.names import Names
from ...formats.value_literals import value_of
from .. import render
from ..commands.grad import GradOptions
from ..main import COMPARISON_FAILED, DONE
from ..options import missing_tensor

if TYPE_CHECKING:
    from ..documents import Gradient

_PRODUCTS: Final = {"vjp": vjp, "jvp": jvp, "hessian_vector": hessian_vector}


def run(options: GradOptions) -> int:
    """Add gradients to a graph, or evaluate derivatives; return 3 if a check fails."""
    return GradJob(options.reader.load(options.graph), options).run()


class GradJob:
    """A run of `tfg grad`: the graph, the options, and the named tensors."""

    def __init__(self, graph: Graph, options: GradOptions) -> None:
        self.session = options.session
        self.options = options
        # First, as the names below are resolved in the graph that is differentiated.
        graph = override_gradients(graph, dict(options.overrides)) if options.overrides else graph
        words = (*options.ys, *options.xs, *options.grad_ys, *options.stops)
        names = Names(graph, options.session.signature).exposing(words, render.noting(options.quiet))
        self.graph = names.graph
        if not options.ys:
            raise missing_tensor("--y", names.to_differentiate())
        if not options.xs:
            raise missing_tensor("--x", names.to_differentiate_by())
        self.ys = [names.output(name) for name in options.ys]
        # As an input: a word that is both an input and an output of a signature means the tensor that is fed.
        self.xs = [names.input(name) for name in options.xs]
        self.grad_ys = [names.output(name).name for name in options.grad_ys]
        self.stops = [names.output(name).name for name in options.stops]
        self.feeds = names.feeds(options.feeds)

    def run(self) -> int:
        """Check, evaluate or build, as the options ask; the exit code."""
        if self.options.check:
            return self._check()
        if self.options.runs:
            return self._evaluate()
        return self._build()

    def _build(self) -> int:
        options = self.options
        ys, xs = [y.name for y in self.ys], [x.name for x in self.xs]
        with render.Working("differentiating", options.quiet):
            result, names = gradients(self.graph, ys, xs, self.grad_ys or None, self.stops, colocate=options.colocate)
        items: list[Gradient] = [{"x": x, "gradient": name} for x, name in zip(xs, names)]
        if options.output:
            from ...formats.saving import save

            save(result, options.output, text=options.text or None)
            added = len(result) - len(self.graph)
            what = f"{counted(len(result), 'node')}({added} new)"
            render.note(f"wrote {what} to {render.place(options.output)}", options.quiet)
        if self.feeds or self.session.changes_state:
            self._evaluate_built(result, items)
        # JSON has null there; people are told why.
        rows = [(x["x"], x["gradient"] or self._none(x["x"])) for x in items]
        # The table must not go into the graph that is written to standard output.
        with render.beside(options.output):
            render.emit(
                "tfg.grad/1",
                {"gradients": items},
                options.format_,
                lambda: [render.Table(("x", "gradient"), rows, name="gradients"), *_values(items, options.format_)],
            )
        return DONE

    def _none(self, x: str) -> str:
        """Return why there is no gradient, and for a variable that the model does not use, which it uses."""
        used = variables_in_use(self.graph).get(self.graph.output(x).node.name)
        return "none: no y depends on it" + (f"; the model reads {used}" if used else "")

    def _evaluate_built(self, graph: Graph, gradients: Sequence[Gradient]) -> None:
        """Add the value of each gradient to its entry."""
        # A tensor that no y depends on has no gradient to evaluate.
        there = [(name, item) for item in gradients if (name := item["gradient"]) is not None]
        fetches = [name for name, _ in there]
        session = self.session.open(graph, self.options.quiet).session
        # By the names of the written graph, which has the gradients to fetch.
        feeds = Names(graph, self.session.signature).complete(self.feeds, fetches)
        for (_, item), value in zip(there, session.run(fetches, feeds)):
            item["value"] = value

    def _check(self) -> int:
        session = self._opened()
        checks = [
            check_gradient(self.graph, y.name, x.name, self.feeds, tolerance=self.options.tolerance, session=session)
            for y in self.ys
            for x in self.xs
        ]
        rows = [(c.x, c.elements, c.worst_index, c.analytic, c.numeric, c.tolerance_needed, c.passed) for c in checks]
        columns = ("x", "elements", "worst element", "gradient", "difference quotient", "passing tolerance", "passed")
        render.emit(
            "tfg.grad.check/1", {"checks": checks}, self.options.format_, lambda: [render.Table(columns, rows, name="checks")]
        )
        return DONE if all(c.passed for c in checks) else COMPARISON_FAILED

    def _evaluate(self) -> int:
        """Show the derivatives of a single y with respect to each x."""
        if len(self.ys) != 1:
            raise click.UsageError("derivatives need a single --y")
        session = self._opened()
        results = [self._derivatives(x, session) for x in self.xs]
        if self.options.format_ == "csv":
            arrays = [((r["x"], kind), value) for r in results for kind, value in r.items() if kind not in ("y", "x")]
            sections: list[render.Section] = [_element_table(("x", "kind"), arrays)]
        else:
            sections = [section for result in results for section in _shown(result)]
        render.emit("tfg.grad.values/1", {"derivatives": results}, self.options.format_, lambda: sections)
        return DONE

    def _derivatives(self, x: Output, session: SessionLike) -> dict[str, Any]:
        y = self.ys[0]
        derivatives: dict[str, Any] = {"y": y.name, "x": x.name}
        if self.options.jacobian:
            derivatives["jacobian"] = jacobian(self.graph, y.name, x.name, self.feeds, session=session, mode=self.options.mode)
        for name, text in self.options.products.items():
            # v^T J has a v like y, J v and H v one like x.
            value = value_of(text, (y if name == "vjp" else x).dtype, f"--{name.replace('_', '-')}")
            derivatives[name] = _PRODUCTS[name](self.graph, y.name, x.name, value, self.feeds, session=session)
        return derivatives

    def _opened(self) -> SessionLike:
        return self.session.open(self.graph, self.options.quiet).session


def _element_table(columns: tuple[str, ...], arrays: Sequence[tuple[tuple[str, ...], Any]]) -> render.Table:
    """Return a row for each element of arrays, behind the words that tell the array."""
    elements = ((words, place, value) for words, array in arrays for place, value in np.ndenumerate(np.asarray(array)))
    rows = [(*words, " ".join(map(str, place)), value) for words, place, value in elements]
    return render.Table((*columns, "index", "value"), rows, name="values")


def _values(gradients: Sequence[Gradient], format_: str) -> Iterator[render.Section]:
    if format_ == "csv":
        arrays = [((item["x"],), item["value"]) for item in gradients if "value" in item]
        yield from [_element_table(("x",), arrays)] if arrays else []
        return
    for item in gradients:
        if "value" in item:
            value = np.asarray(item["value"])
            title = f"gradient with respect to {item['x']}, shape {value.shape}"
            yield render.Text(np.array2string(value, threshold=200), title, "code")


def _shown(result: dict[str, Any]) -> list[render.Section]:
    title = f"{result['y']} with respect to {result['x']}"
    return [
        render.Text(np.array2string(value, threshold=200), f"{kind} of {title}, shape {value.shape}", "code")
        for kind, value in result.items()
        if kind not in ("y", "x")
    ]
