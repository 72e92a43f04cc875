"""Bounds on a run: its time, and the memory of its tensors. The bounds are a hook, so that runs without bounds pay nothing."""

from __future__ import annotations

import ctypes
import functools
import math
import os
import pickle
import sys
import threading
import time
import types
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...graph.graph import Graph, Node
from ...inference import binding
from ...inference.error_context import faults_of
from ...inference.node_calls import call_shape_function, formula_cost, spec_of
from ...numerics.blas_threads import OWN_THREADS, one_thread
from ...numerics.float_mode import flushed
from ...registry.op_facts import has_fact
from ...registry.registry import Cost, flops_function, kernels, shape_function
from ...support.errors import DeadlineExceededError, InvalidArgumentError, ResourceExhaustedError, TfgError
from ...support.user_signals import is_importing
from ...support.words import counted
from ...types.dtypes import resource, string, variant
from ...types.shapes import TensorSpec
from ..state.file_access import FileAccess
from ..state.run_context import Hook, Run
from .process_limits import LONGEST_SECONDS

# Kernels in a process of their own, where a kernel that cannot be interrupted, such as a LAPACK decomposition, can be ended.
# The process gets a node's attributes and input values through a pipe, and returns the kernel's result or error; this module
# is both ends. A kernel that needs this takes seconds, so a start of some tenths costs little.
#
# Inverting a matrix of 6,000 rows overran a limit of two seconds by seventeen: LAPACK holds the interpreter all the time.
_OF_OTHER_KINDS: Final = (resource, string, variant)


def can_be_apart(node: Node, inputs: Sequence[Any]) -> bool:
    """True for tfg's own kernels that make arrays of numbers of nothing but arrays of numbers."""
    if not sys.executable:
        return False
    # Handles and variants lead to objects of this process.
    if not all(isinstance(value, np.ndarray) and value.dtype != object for value in inputs):
        return False
    if any(dtype.is_ref or dtype in _OF_OTHER_KINDS for dtype in node.output_dtypes):
        return False
    kernel = binding.select_kernel(node)
    # The other process may be unable to import a kernel of an op library, and a kernel with a context needs this session.
    return kernel.is_own and not kernel.is_stateful


def run_apart(node: Node, inputs: Sequence[np.ndarray[Any, Any]], seconds: float, allowed: float) -> Any:
    """Return the result of the node's kernel, or raise its error; DeadlineExceededError after `seconds`.

    The error names `allowed`, the seconds of the whole run. The process is killed at the deadline, and where this process
    is interrupted.
    """
    order = pickle.dumps((node.name, node.op, dict(node.attrs), [_packed(value) for value in inputs]), protocol=5)
    # The other process finds the modules where this one did, even on a path that was added at run time.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-P", "-c", f"from {__name__} import answer; answer()"]  # -P: no module of the current folder
    import subprocess  # lazy: only runs with a time limit need the module

    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment) as process:
        try:
            reply, _ = process.communicate(order, timeout=max(seconds, 0))
        except subprocess.TimeoutExpired:
            raise DeadlineExceededError(f"the run exceeded its time limit of {allowed:g} seconds") from None
        finally:
            process.kill()
    if process.returncode or not reply:
        raise ResourceExhaustedError(f"its process was killed ({process.returncode})")
    result = pickle.loads(reply)
    if isinstance(result, Exception):
        raise result
    return tuple(map(_unpacked, result)) if isinstance(result, list) else _unpacked(result)


def answer() -> None:
    """Run the kernel that standard input names, and write the result or the error to standard output."""
    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(2, 1)  # keeps prints of libraries out of the answer
        name, op, attrs, inputs = pickle.load(sys.stdin.buffer)
        pickle.dump(_answered(name, op, attrs, list(map(_unpacked, inputs))), output, protocol=5)


def _answered(name: str, op: str, attrs: Mapping[str, Any], inputs: Sequence[np.ndarray[Any, Any]]) -> Any:
    node = Graph().add_node(name, op, (), (), attrs)
    try:
        call = binding.bind_kernel(node, binding.select_kernel(node), None)
        with one_thread, np.errstate(all="ignore"):
            result = flushed(call, *inputs)
    except Exception as error:
        return error
    return list(map(_packed, result)) if isinstance(result, tuple) else _packed(result)


def _packed(value: Any) -> Any:
    """Return an array without the repetitions of zero strides, and the full shape."""
    array = np.asarray(value)
    # Pickle would write the repetitions of a broadcast array out: a few bytes may stand for gigabytes.
    if 0 not in array.strides or not array.size:
        return array, array.shape
    return np.ascontiguousarray(array[tuple(slice(None if step else 1) for step in array.strides)]), array.shape


def _unpacked(packed: tuple[np.ndarray[Any, Any], tuple[int, ...]]) -> np.ndarray[Any, Any]:
    array, shape = packed
    # The product is made in Python's integers, because that of a large shape may overflow int64.
    return array.reshape(shape) if array.size == np.prod(shape, dtype=object) else np.broadcast_to(array, shape)


# The bounds on a run, which the user or the graph's origin sets.

_SMALL: Final = 1024
"""The largest tensor, in bytes, that is not counted."""
_FEW: Final = 10_000
"""The number of elements from which a kernel's time is estimated; also the size from which an output counts as large."""
_SIZES: Final = 8
"""Integers that may be sizes: more are data."""
_SLOW_FLOPS_A_SECOND: Final = 2e9
"""The FLOPs that a single core of a slow computer does in a second."""
_SLOW_FUNCTION: Final = 400
"""The FLOPs that a special function, such as zeta, counts for on a slow computer."""
_SLOW_ELEMENT: Final = 200
"""FLOPs that count for an element among others to be sorted."""
_ELEMENTS_A_SECOND: Final = 2e10
"""Elements that a processor of many cores handles in a second at best."""
_FLOPS_A_SECOND: Final = 1e13
"""FLOPs that a processor of many cores does in a second at best."""


class Limits:
    """The bounds of a session: `timeout` seconds for each run, `max_memory` bytes for the tensors of all of them together."""

    def __init__(self, timeout: float | None, max_memory: int | None) -> None:
        if any(bound != bound for bound in (timeout, max_memory)):  # NaN
            raise InvalidArgumentError("a limit must be a number")
        self.timeout = None if timeout is None else float(min(timeout, LONGEST_SECONDS))
        self.max_memory = max_memory
        self._held = 0
        self._references: dict[int, weakref.ref[Any]] = {}
        # Re-entrant: `_count` allocates while it holds the lock, so a collection may free an array there, and the `forget` of
        # the array runs in the same thread.
        self._lock = threading.RLock()

    def begin(self, run: Run) -> None:
        """Start the clock of a run, and check every kernel that the run calls, around the run's own hook."""
        if self.timeout is not None:
            run.start_clock(self.timeout)
        # Kernels call `reserve` before they allocate what no shape function foretells.
        if self.max_memory is not None:
            run.reserve = self._reserve
        run.hook = functools.partial(self._checked, run, run.hook)

    def _checked(self, run: Run, inner: Hook | None, node: Node, call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
        with faults_of(node, "limit"):
            run.check_time()
            is_long = run.deadline < math.inf and takes_long(node, inputs, run.deadline - time.monotonic())
            if self.max_memory is not None:
                self._reserve(sum(_output_bytes(node, inputs)))
        # A user's hook sees the kernel run here, in this thread, so such a kernel goes to no other process.
        if inner is not None:
            result = inner(node, call, inputs)
        elif is_long and can_be_apart(node, inputs):
            result = run_apart(node, inputs, run.deadline - time.monotonic(), run.timeout)
        elif run.deadline < math.inf and can_be_interrupted(node):
            result = interrupted_in_time(run, node, call, inputs)
        else:
            result = call(*inputs)
        if self.max_memory is not None:
            # Results are counted after the kernel as well: not every shape function knows its sizes, and none knows the
            # lengths of strings.
            for value in result if isinstance(result, tuple) else (result,):
                self._count(value)
            with faults_of(node, "limit"):
                self._reserve(0)
        return result

    def check_constant(self, node: Node) -> None:
        """Refuse a constant that is too large, before its value is decoded."""
        if self.max_memory is not None and node.is_constant:
            tensor = node.attrs["value"]
            with faults_of(node, "limit"):
                self._reserve(tensor.size * tensor.dtype.numpy.itemsize)

    def _reserve(self, size: int) -> None:
        """Raise ResourceExhaustedError if the live tensors and `size` bytes more exceed the limit."""
        assert self.max_memory is not None
        if self._held + size > self.max_memory:
            raise ResourceExhaustedError(f"the run would hold {self._held + size:,} bytes, over {self.max_memory:,}")

    def _count(self, value: Any) -> None:
        """Count the array that owns a value's memory, with the strings in the array, until the array is freed."""
        # Views share the memory of the array at the end of their bases: that array counts, once for all its views.
        while isinstance(value, np.ndarray) and isinstance(value.base, np.ndarray):
            value = value.base
        if type(value) is not np.ndarray or value.base is not None:
            return
        size = value.nbytes + (_content_bytes(value) if value.dtype == object else 0)
        if size <= _SMALL:
            return
        key = id(value)

        def forget(_: Any) -> None:
            with self._lock:
                del self._references[key]
                self._held -= size

        with self._lock:
            if key not in self._references:
                self._references[key] = weakref.ref(value, forget)
                self._held += size


def can_be_interrupted(node: Node) -> bool:
    """True for tfg's own kernels that leave nothing half done: they change no state and call no functions that do."""
    definition = node.op_def
    if definition is None or definition.is_stateful or any(arg.is_ref for arg in definition.inputs):
        return False
    return all(kernel.is_own for kernel in kernels(node.op))


def interrupted_in_time(run: Run, node: Node, call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    try:
        return call_until(run.deadline, call, inputs)
    except DeadlineInterruption as interruption:
        with faults_of(node, "limit"):
            raise run.overdue() from interruption


def _content_bytes(strings: np.ndarray[Any, Any]) -> int:
    """Return the bytes of the strings in an array; an object that occurs twice counts once."""
    items = strings.ravel().tolist()
    distinct = dict(zip(map(id, items), items))
    return sum(len(item) for item in distinct.values() if isinstance(item, bytes))


def takes_long(node: Node, inputs: Sequence[Any], seconds: float) -> bool:
    """True for a kernel that may miss the deadline on a slow computer, judged by its inputs and FLOPs.

    Raises DeadlineExceededError for a kernel that misses the deadline on any computer.
    """
    elements = sum(value.size for value in inputs if isinstance(value, np.ndarray))
    if elements < _FEW and not any(map(_is_large_number, inputs)):
        return False
    cost = _cost_of(node, [spec_of(value) for value in inputs])
    if not isinstance(cost.flops, int) or not isinstance(cost.transcendentals, int):
        return False
    flops = cost.flops + cost.transcendentals
    if max(elements / _ELEMENTS_A_SECOND, flops / _FLOPS_A_SECOND) > seconds:
        raise DeadlineExceededError(f"it takes {max(elements, flops):,} operations, too many for {seconds:.3g} seconds")
    slow = cost.flops + cost.transcendentals * _SLOW_FUNCTION
    if flops and not has_fact(node.op, "elementwise"):
        slow += elements * _SLOW_ELEMENT
    return slow > seconds * _SLOW_FLOPS_A_SECOND


def _is_large_number(value: Any) -> bool:
    """True for a few integers that may say how large an output is."""
    return isinstance(value, np.ndarray) and value.dtype.kind in "iu" and 0 < value.size <= _SIZES and value.max() > _FEW


def flops_of(node: Node, inputs: Sequence[TensorSpec]) -> int:
    """Return the FLOPs of a node, transcendental functions included; 0 where the count is unknown."""
    cost = _cost_of(node, inputs)
    total = cost.flops + cost.transcendentals
    return total if isinstance(total, int) else 0


def _cost_of(node: Node, inputs: Sequence[TensorSpec]) -> Cost:
    function, shapes = flops_function(node.op), shape_function(node.op)
    if function is None or shapes is None:
        return Cost()
    try:
        outputs = call_shape_function(node, shapes, inputs)
        specs = [item if isinstance(item, TensorSpec) else TensorSpec(d, item) for item, d in zip(outputs, node.output_dtypes)]
        return formula_cost(node, function, inputs, specs)
    except TfgError:
        return Cost()  # The kernel reports wrong inputs.


def _output_bytes(node: Node, inputs: Sequence[Any]) -> Sequence[int]:
    """Return the bytes of each output by the op's shape function; nothing if the function does not tell."""
    function = shape_function(node.op)
    if function is None or not node.inputs:
        return ()
    try:
        outputs = call_shape_function(node, function, [spec_of(value) for value in inputs])
    except TfgError:
        return ()  # The kernel reports wrong inputs.
    sizes = []
    for item, dtype in zip(outputs, node.output_dtypes):
        shape = item.shape if isinstance(item, TensorSpec) else item
        if shape.is_known:
            sizes.append(math.prod(shape.known()) * dtype.numpy.itemsize)
    return sizes


# Interruption of kernels that hold the interpreter: at the deadline Python raises an error in the thread of the kernel.

_AGAIN: Final = 0.1
"""The seconds after which an interruption is repeated. Code in between, such as a finalizer, may have swallowed the first."""
IDLE_SECONDS: Final = 1.0
"""The seconds between checks for calls; the thread ends where no call is left."""


class DeadlineInterruption(BaseException):
    """The end of a call's deadline. A BaseException, so that no handler in a kernel takes this for an error of its own."""


class _KernelCall:
    """A kernel at work in a thread, as long as the kernel's frame is on the thread's stack."""

    def __init__(self, deadline: float, frame: types.FrameType) -> None:
        self.thread = threading.get_ident()
        self.deadline = deadline
        self.frame: types.FrameType | None = frame

    def interrupt(self) -> bool:
        """Raise DeadlineInterruption in the thread if the call is still at work; return True if the call is.

        The caller holds the interpreter, so the thread raises the error before its next instruction.
        """
        innermost = sys._current_frames().get(self.thread)
        if self.frame is None or self.frame not in _frames(innermost):
            return False
        if not is_importing(innermost):  # else the module would stay half imported; the next attempt is `_AGAIN` later
            error = ctypes.py_object(DeadlineInterruption)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread), error)
        return True


def _frames(frame: types.FrameType | None) -> Iterator[types.FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


class _Watchdog:
    """A thread that interrupts calls at their deadlines. The thread starts with a call, and ends a second after the last.

    Code in the threads of calls may be interrupted there as well. That code acquires the lock directly: no Python
    instruction lies between the lock and the block that releases it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._calls: list[_KernelCall] = []
        self._wakes_at: float | None = None

    def begin(self, call: _KernelCall) -> None:
        """Watch a call from here on."""
        with self._lock:
            self._calls.append(call)
            if self._wakes_at is None:
                self._wakes_at = call.deadline
                threading.Thread(target=self._serve, name=f"{OWN_THREADS}deadlines", daemon=True).start()
            elif call.deadline < self._wakes_at:
                self._wakes_at = call.deadline
                self._changed.notify()

    def end(self, call: _KernelCall) -> None:
        """Forget a call."""
        with self._lock:
            # The frame goes first: an interruption already on its way may end this block at any later instruction, and then
            # `_serve` sees by the frame that the call is over.
            call.frame = None
            if call in self._calls:
                self._calls.remove(call)

    def _serve(self) -> None:
        with self._lock:
            while True:
                now = time.monotonic()
                late = [call for call in self._calls if call.deadline <= now]
                for call in late:
                    if call.interrupt():
                        call.deadline = now + _AGAIN
                    else:  # an interruption that came as the call ended has kept it from saying so
                        self._calls.remove(call)
                self._wakes_at = min((call.deadline for call in self._calls), default=math.inf)
                if not self._changed.wait(min(max(self._wakes_at - now, 0), IDLE_SECONDS)) and not self._calls:
                    self._wakes_at = None
                    return


_watchdog = _Watchdog()


def _renew() -> None:
    global _watchdog
    _watchdog = _Watchdog()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)  # the child has only the thread that forked


def call_until(deadline: float, call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """Return the result of a call; raise DeadlineInterruption in the call once `time.monotonic()` is past the deadline."""
    # The frame of this function stands for the call: an interruption that comes late does not find it on the stack any more.
    watched = _KernelCall(deadline, sys._getframe())
    try:
        _watchdog.begin(watched)
        return call(*inputs)
    finally:
        _watchdog.end(watched)


# The limits of sessions on a graph of `tfg.load(untrusted=True)`, and of commands with --untrusted.

UNTRUSTED_SECONDS: Final = 60.0
"""The time limit of an untrusted graph, and of a command with --untrusted, if the user sets none."""
UNTRUSTED_MEMORY: Final = 4 << 30
"""The memory limit in bytes of an untrusted graph, and of a command with --untrusted, if the user sets none."""
_TRUST: Final = "load the graph without untrusted=True once you trust its author"


def session_limits(graph: Graph, timeout: float | None, max_memory: int | None) -> Limits | None:
    """Return the limits of a session; an untrusted graph has limits if the user sets none."""
    if graph.is_untrusted:
        timeout = UNTRUSTED_SECONDS if timeout is None else timeout
        max_memory = UNTRUSTED_MEMORY if max_memory is None else max_memory
    return None if timeout is None and max_memory is None else Limits(timeout, max_memory)


def refuse_files(graph: Graph, files: FileAccess) -> None:
    """Raise InvalidArgumentError if the user opens files to an untrusted graph."""
    if graph.is_untrusted and not files.is_closed:
        refuse_untrusted(graph, "files= cannot open files to it")


def refuse_cluster(graph: Graph) -> None:
    """Raise InvalidArgumentError for an untrusted graph on a cluster."""
    refuse_untrusted(graph, "no cluster runs it, since servers have no limits")


def refuse_untrusted(graph: Graph, consequence: str, hint: str = _TRUST) -> None:
    """Raise InvalidArgumentError for an untrusted graph, with what follows from that."""
    if graph.is_untrusted:
        raise InvalidArgumentError(f"the graph was loaded with untrusted=True, so {consequence}", hint=hint)


# Stopping a run at the first value that is no finite number.


def check_numerics(node: Node, call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """Run a node, and raise InvalidArgumentError if the node makes a NaN or an infinity. This is a hook.

    The hint names its inputs. Nodes inside loops and functions end before the calling node does, so the error names the
    innermost node.
    """
    result = call(*inputs)
    for index, value in enumerate(result if isinstance(result, tuple) else (result,)):
        faults = _faults(value)
        if faults:
            operands = "; ".join(_described(str(source), item) for source, item in zip(node.inputs, inputs))
            message = f"output {index} has {faults}"
            raise InvalidArgumentError(
                message, node=node.name, op=node.op, hint=f"its inputs were {operands}" if operands else None
            )
    return result


def _faults(value: Any) -> str:
    """Describe the elements that are no finite numbers: `2 NaN and 1 Inf of 6 elements`; empty if all are finite."""
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in "fcV" or np.isfinite(value).all():
        return ""
    nans = int(np.isnan(value).sum())
    infinities = int(value.size - np.isfinite(value).sum()) - nans
    counts = [f"{count} {kind}" for count, kind in ((nans, "NaN"), (infinities, "Inf")) if count]
    return f"{' and '.join(counts)} of {counted(value.size, 'element')}"


def _described(name: str, value: Any) -> str:
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in "biufcV":
        return name
    shape = f"({','.join(map(str, value.shape))})"
    if value.dtype.kind == "c" or not value.size:
        return f"{name} {shape}: {_faults(value) or 'finite'}"
    return f"{name} {shape}: {_faults(value) or f'from {value.min():g} to {value.max():g}'}"
