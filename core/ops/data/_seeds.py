"""Seeds of datasets: an op's own, or those that a generator's handle holds."""

from __future__ import annotations

from typing import Any, Final

from ...datasets.seeds import Seeds, seeds_of
from ...runtime.state.kernel_context import KernelContext
from ..shared.resource_access import resource

DUMMY: Final = Seeds(0, 0, False)
"""What stands in the place of a generator where a dataset makes its own."""


def chosen_seeds(ctx: KernelContext, seed: int, seed2: int, generator: Any, renewed: bool) -> Seeds:
    """The seeds of a generator's handle, or an op's own where the handle is a dummy."""
    found = resource(generator, Seeds)
    return seeds_of(ctx, seed, seed2, renewed) if found is DUMMY else found
