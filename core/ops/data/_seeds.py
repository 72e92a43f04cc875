"""Seeds of datasets: an op's own seeds, or the seeds in a generator's handle."""

from __future__ import annotations

from typing import Any, Final

from ...datasets.seeds import Seeds, seeds_of
from ...runtime.state.kernel_context import KernelContext
from ..shared.resource_access import resource

DUMMY: Final = Seeds(0, 0, False)
"""The placeholder for a seed generator where a dataset makes its own."""


def chosen_seeds(ctx: KernelContext, seed: int, seed2: int, generator: Any, renewed: bool) -> Seeds:
    """Return the seeds of a generator's handle, or an op's own where the handle is a dummy."""
    seeds = resource(generator, Seeds)
    return seeds_of(ctx, seed, seed2, renewed) if seeds is DUMMY else seeds
