"""Implementation of `tfg unfreeze`."""

from __future__ import annotations

from ...core.graph.graph import Graph
from ...core.graph.metagraph import USUAL_SIGNATURE
from ...core.passes.base.accuracy import Accuracy
from ...core.support.words import counted, some
from ...formats.api.changes import Unfrozen, unfreeze
from ...formats.api.model_saving import save_model
from ...formats.api.names import Names
from ...formats.api.verification import verify
from .. import render
from ..commands.unfreeze import UnfreezeOptions
from ..main import COMPARISON_FAILED, DONE
from ..verdicts import verification_sections


def run(options: UnfreezeOptions) -> int:
    """Write the SavedModel; return 3 if --verify finds a difference."""
    graph = options.reader.load(options.frozen)
    names = Names(graph).exposing(options.outputs, render.noting(options.quiet))
    outputs = {word: names.output(word).name for word in options.outputs}
    with render.Working("unfreezing", options.quiet):
        unfrozen = unfreeze(names.graph, options.variables or None, tuple(outputs.values()))
        written = save_model(
            unfrozen.graph, options.output, state=unfrozen.values,
            # No inputs: those that the outputs need are found.
            signatures={USUAL_SIGNATURE: ({}, outputs)} if outputs else None,
        )  # fmt: skip
    _note(unfrozen, options.quiet)
    render.note(f"wrote a SavedModel with signature {', '.join(written)} to {options.output}", options.quiet)
    return _verified(names.graph, tuple(outputs.values()), options) if options.verify else DONE


def _note(unfrozen: Unfrozen, quiet: bool) -> None:
    """Tell how many variables there are, which of them are not trained, and what stays constant."""
    elements = sum(value.size for value in unfrozen.values.values())
    fixed = [name for name in unfrozen.values if name not in unfrozen.trainable]
    still = f", {len(fixed)} of them not trained: {some(fixed)}" if fixed else ""
    render.note(f"{counted(len(unfrozen.values), 'variable')} with {counted(elements, 'element')}{still}", quiet)
    for reason in dict.fromkeys(unfrozen.left.values()):
        names = [name for name, why in unfrozen.left.items() if why == reason]
        render.note(f"still a constant, as {reason}: {some(names)}", quiet)


def _verified(frozen: Graph, fetches: tuple[str, ...], options: UnfreezeOptions) -> int:
    tolerance = Accuracy.ROUNDING if options.tolerance is None else options.tolerance
    result = verify(frozen, options.output, fetches, tolerance=tolerance)
    render.print_sections(verification_sections(result))
    return DONE if result.passed else COMPARISON_FAILED
