"""Mutexes and the iteration counter."""

from __future__ import annotations

from typing import Any

from ...registry.registry import kernel
from ...runtime.state.edge_values import WouldBlock, scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import Shared
from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ..shared.argument_checks import scalar
from ..shared.resource_access import creates_handle, resource


@dataclasses.dataclass
class Mutex(Shared):
    """A mutex, held by a single lock at a time; a run's end releases its locks."""

    name: str
    holder: Lock | None = None


@dataclasses.dataclass(eq=False)
class Lock:
    """The output of MutexLock and the input of ConsumeMutexLock."""

    mutex: Mutex
    step: Any


class IterationCounter:
    """A placeholder for the counter of a dataset service's iterations, absent from this process."""


creates_handle("MutexV2", kind=Mutex)


@kernel("MutexLock", shape="-> ()", facts=("side_effect", "blocks", "asynchronous"), arithmetic=False)
def mutex_lock(ctx: KernelContext, mutex: Array) -> Result:
    """Wait until the mutex is free, then lock the mutex."""
    target = resource(mutex, Mutex)
    # A run that ended without releasing its lock, by an error for example, holds nothing any more.
    if target.holder is not None and not target.holder.step.is_over:
        raise WouldBlock(f"mutex '{target.name}' is held")
    # The step and not the node: a lock is worth nothing once the run that took it is over.
    target.holder = Lock(target, ctx.step)
    return scalar_object(target.holder)


@kernel("ConsumeMutexLock", facts=("side_effect", "inexpensive"), arithmetic=False)
def consume_mutex_lock(mutex_lock: Array) -> None:
    """Release a mutex."""
    lock = scalar(mutex_lock, "mutex_lock")
    if not isinstance(lock, Lock):
        raise InvalidArgumentError(f"the variant holds a {type(lock).__name__}, not the lock of a mutex")
    with lock.mutex:
        # The lock may be of an earlier run: another may hold the mutex by now.
        if lock.mutex.holder is lock:
            lock.mutex.holder = None


@kernel("DummyIterationCounter", shape="-> ()", arithmetic=False)
def dummy_iteration_counter(ctx: KernelContext) -> Result:
    """A counter that counts nothing."""
    return scalar_object(ctx.state(IterationCounter))
