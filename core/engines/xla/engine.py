"""XLA as an engine, through JAX: a group of nodes becomes a compiled function on a device or a mesh of devices."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np

from ...graph.graph import Graph, Node
from ...numerics.weak_cache import cached_for_constant
from ...planning.plan import Step
from ...registry.registry import lowering
from ...support.cache_folder import PROGRAMS, own_folder
from ...support.errors import DataLossError, InvalidArgumentError, UnavailableError
from ...support.user_signals import pass_on
from ...types.arrays import EngineArray
from ..distributed import Meeting
from ..engine_registry import refuse_precision
from ..lowerable import UnsupportedOps, refusals
from ..protocol import Cluster, Compiled, Declined, EngineValue
from ..reasons import Reason
from .traced_values import jax, jnp
from .tracing import Tracing

# The placement of arrays and programs in XLA: a single device, or a mesh that divides the rows of a group's inputs.
# The semantics are the same as on a single device: XLA adds the reductions over devices for that.

AXIS = "batch"
_PREEMPTION = "jax_enable_preemption_service"


class ArrayPlacement(Protocol):
    """Where arrays are."""

    def compiled(self, function: Callable[..., Any], **options: Any) -> Any:
        """Return `jax.jit` for the place."""
        ...

    def put(self, value: Any) -> Any:
        """Return an array there, whole on every device."""
        ...

    def divide(self, value: Any) -> Any:
        """Return an array on the devices, perhaps divided by rows."""
        ...

    def running(self) -> contextlib.AbstractContextManager[None]:
        """Return the context of a run."""
        ...


class OneDevice:
    """JAX's default device, to which JAX moves the arguments of a function."""

    compiled = staticmethod(jax.jit)
    running = contextlib.nullcontext

    @staticmethod
    def put(value: Any) -> Any:
        """Return the array itself."""
        return value

    divide = put


class DeviceMesh:
    """Devices in a row, of all processes that take part, each with an equal number.

    An input is divided by rows where their number is a multiple of the number of devices; all else, variables and results,
    is whole on each device.
    """

    def __init__(self, size: int, meeting: Meeting | None = None) -> None:
        count = 1 if meeting is None else meeting.count
        if size % count:
            raise InvalidArgumentError(f"{size} devices cannot be divided among {count} processes")
        self.size = size
        self.is_shared = count > 1
        self.divided = 0
        """How many arrays were divided so far."""
        _offer_cpus(size // count)
        if meeting is not None and self.is_shared:
            _join(meeting)
        devices = _devices(size // count, count)
        mesh = jax.sharding.Mesh(np.array(devices), (AXIS,))
        spec, sharding = jax.sharding.PartitionSpec, jax.sharding.NamedSharding
        self._rows, self._everywhere = sharding(mesh, spec(AXIS)), sharding(mesh, spec())
        self.note = f"{size} devices" + (f" of {count} processes" if self.is_shared else "")

    def compiled(self, function: Callable[..., Any], **options: Any) -> Any:
        """Return a compiled function whose results are whole on every device."""
        return jax.jit(function, out_shardings=self._everywhere, **options)

    def put(self, value: Any) -> Any:
        """Return the array, whole on every device."""
        return self._placed(value, self._everywhere)

    def divide(self, value: Any) -> Any:
        """Return the array, divided by rows where their number is a multiple of the number of devices."""
        rows = value.shape[0] if value.ndim else 0
        if not rows or rows % self.size:
            return self.put(value)
        self.divided += 1
        return self._placed(value, self._rows)

    def _placed(self, value: Any, sharding: Any) -> Any:
        """Return the array copied to each device: JAX may alias the argument's memory, and a donated array is written to."""
        return jax.make_array_from_callback(value.shape, sharding, lambda index: np.array(value[index]))

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Return the context of a run; an error on a shared mesh becomes UnavailableError, as the other processes are
        elsewhere by then.
        """
        try:
            yield
        except (jax.errors.JaxRuntimeError, DataLossError) as error:
            if not self.is_shared:
                raise
            raise UnavailableError(f"a step failed on the mesh: {str(error).splitlines()[0]}") from error

    def leave(self) -> None:
        """Leave the other processes; all must do so together."""
        if self.is_shared:
            jax.distributed.shutdown()


def _offer_cpus(count: int) -> None:
    """Let the processor count as `count` devices, unless the user has set a number, or JAX has already counted them."""
    if "xla_force_host_platform_device_count" not in os.environ.get("XLA_FLAGS", ""):
        with contextlib.suppress(RuntimeError):  # JAX has run before: DeviceMesh compares the number of devices
            jax.config.update("jax_num_cpu_devices", count)


def _join(meeting: Meeting) -> None:
    """Join the other processes in JAX. All have already met, so waiting here means waiting for a slow start."""
    if _PREEMPTION in jax.config.values:  # older versions have no such choice
        jax.config.update(_PREEMPTION, False)  # it would take SIGTERM, which is to end a process
    try:
        jax.distributed.initialize(
            meeting.target,
            meeting.count,
            meeting.index,
            cluster_detection_method="deactivate",
            coordinator_bind_address=meeting.target,
        )
    except RuntimeError as error:
        raise UnavailableError(f"the processes cannot connect at {meeting.target}: {error}") from error


def _devices(each: int, processes: int) -> list[Any]:
    """Return the first devices of every process."""
    devices: list[Any] = []
    for index in range(processes):
        own = [device for device in jax.devices() if device.process_index == index]
        if len(own) < each:
            kind = own[0].device_kind if own else "none"
            problem = f"a mesh needs {each} devices in each process; process {index} has {len(own)} ({kind})"
            raise InvalidArgumentError(problem, hint="make the mesh before the first run of JAX in the process")
        devices += own[:each]
    return devices


# The engine.

_LIFTED: Final = 1024
"""The least number of elements of a constant that is an argument of the compiled function rather than part of its text."""
_CPU_OPTIONS: Final = {"xla_cpu_prefer_vector_width": "512"}
"""Where a processor has vectors of 512 bits, XLA would use half of each."""
_UNPROVEN_RUNS: Final = 2
"""The number of first runs that donate no memory: the engine's own, and the run whose dtypes and shapes tfg still has to
check.
"""


class Xla:
    """The engine, on JAX's default device, or on a mesh of several."""

    name = "xla"
    precision = None
    faster = ()
    smallest = 4
    largest = 10_000  # about a millisecond a step
    needs_elements = False
    runs_at_once = 1
    takes_variables = True
    takes_control_flow = True

    def __init__(self, precision: str | None = None, mesh: DeviceMesh | None = None) -> None:
        refuse_precision(self.name, precision)
        self.mesh = mesh
        device = jax.devices()[0]
        self.note = f"XLA by JAX {jax.__version__} on {device.device_kind}" + (f", {mesh.note}" if mesh is not None else "")
        self.is_cpu = device.platform == "cpu"
        self.unsupported = UnsupportedOps.of(self.name)
        _keep_compiled()

    def refuses(self, nodes: Sequence[Node], graph: Graph) -> Mapping[Node, Reason]:
        """Return nodes without a lowering that do not follow from constants and shapes, and nodes in the table of
        unsupported ops.
        """
        return refusals(nodes, self.unsupported, graph)

    def static_inputs(self, node: Node) -> Sequence[int]:
        """Return the static inputs of the lowering, all inputs where there is none."""
        rule = lowering(node.op)
        return range(len(node.inputs)) if rule is None else [place % len(node.inputs) for place in rule.static]

    def compile(self, cluster: Cluster, values: Sequence[EngineValue]) -> Compiled:
        """Compile the cluster with JAX; the function runs once to begin with."""
        lifted = {step.outputs[0]: step.node.constant_value() for step in cluster.body.steps if _is_lifted(step)}
        # The width is set only here and not for the process, so that the user's own functions of JAX keep their widths. The
        # precision is for GPUs, which would multiply float32 in fewer bits.
        with jax.enable_x64(True), jax.default_matmul_precision("float32"):
            place = self.mesh or OneDevice()
            constants = [jnp.asarray(place.put(value)) for value in lifted.values()]
            compiled = JaxProgram(Tracing(cluster, tuple(lifted), self.is_cpu), constants, values, place)
        with contextlib.suppress(Declined):
            compiled(values)
        return compiled


class JaxProgram:
    """A cluster compiled by JAX.

    New values of variables overwrite the old where the old values are lent. A run in which a condition fails returns the
    old values and so changes nothing.
    """

    def __init__(
        self, tracing: Tracing, constants: Sequence[Any], values: Sequence[EngineValue], place: ArrayPlacement
    ) -> None:
        self.place = place
        self.tracing = tracing
        self.traced = jax.jit(tracing)
        self.constants = constants
        inputs = tracing.cluster.inputs
        self.written = [inputs.index(slot) for slot in tracing.body.written]
        specs = self.traced.eval_shape([_array(value) for value in values], constants)[1]
        # A new value of another shape cannot take the memory of the old one.
        before = [values[place] for place in self.written]
        self.lasting = [old.shape == new.shape and old.dtype == new.dtype for old, new in zip(before, specs)]
        self.places = list(itertools.compress(self.written, self.lasting))
        placing = [place.put if slot in tracing.body.variables else place.divide for slot in inputs]
        self.others = [(number, put) for number, put in enumerate(placing) if number not in self.places]
        options = _CPU_OPTIONS if tracing.is_cpu else None
        self.function = place.compiled(self.stepped, donate_argnums=0, keep_unused=True, compiler_options=options)
        self.unproven = _UNPROVEN_RUNS

    def stepped(self, own: Sequence[Any], arrays: Sequence[Any], constants: Sequence[Any]) -> tuple[Any, ...]:
        """Return tensors, new values of the variables `own`, new values of other variables, and whether all conditions
        hold.
        """
        inputs = list(arrays)
        for place, value in zip(self.places, own):
            inputs[place] = value
        tensors, written, holds = self.traced(inputs, constants)
        new = list(itertools.compress(written, self.lasting))
        return tensors, new, [value for value, lasts in zip(written, self.lasting) if not lasts], holds

    def __call__(self, values: Sequence[EngineValue]) -> list[EngineValue]:
        held: list[Any] = [values[place] for place in self.places]
        with jax.enable_x64(True), jax.default_matmul_precision("float32"), self.place.running():
            arrays: list[Any] = [None] * len(values)
            for number, put in self.others:
                arrays[number] = _placed(values[number], put)
            # Only values that nobody else can see are lent: whoever holds another reference would find its memory overwritten.
            lent = [not self.unproven and type(value) is EngineArray and value.is_lent for value in held]
            own = [value.array if gives else self.copied(value) for value, gives in zip(held, lent)]
            try:
                tensors, new, others, holds = self.function(own, arrays, self.constants)
                _replace(held, lent, new)
                results: list[EngineValue] = [np.array(value) for value in tensors]
                # Copies of results wait for the run. Without any, an error would show up at the next use of a variable,
                # outside of the place that knows what was lost.
                if not results:
                    jax.block_until_ready((new, others))
            except Exception as error:
                pass_on(error)
                raise _of_failure(error, held) from error
        if holds is not None and not np.asarray(holds):
            raise Declined("an input does not fit its op, or is not finite")
        self.unproven -= self.unproven > 0
        return results + (self.merged(held, others) if others else held)

    def merged(self, lasting: Sequence[EngineValue], others: Sequence[Any]) -> list[EngineValue]:
        """Return the new values of all variables in order, merged from variables that keep their shapes and the others."""
        held, made = iter(lasting), map(EngineArray, others)
        return [next(held) if lasts else next(made) for lasts in self.lasting]

    def copied(self, value: EngineValue) -> Any:
        """Return a copy that may be overwritten."""
        return jnp.array(value.array if type(value) is EngineArray else self.place.put(value), copy=True)


def _replace(held: list[Any], lent: Sequence[bool], new: Sequence[Any]) -> None:
    """Put new arrays into `held`: into lent values in place, as their memory was donated, and as new values elsewhere."""
    for place, (value, is_lent, array) in enumerate(zip(held, lent, new)):
        if is_lent:
            value.array = array
        else:
            held[place] = EngineArray(array)


def _of_failure(error: Exception, held: Sequence[EngineValue]) -> Exception:
    """Return the error itself, or DataLossError where values are lost, too."""
    lost = any(type(value) is EngineArray and value.array.is_deleted() for value in held)
    return DataLossError(f"XLA failed while writing to variables; their values are lost: {error}") if lost else error


def _array(value: EngineValue) -> Any:
    return value.array if type(value) is EngineArray else value


def _placed(value: EngineValue, put: Callable[[Any], Any]) -> Any:
    """Return the array on its devices; the copy of a constant array, such as a weight that a loop passes on, is cached."""
    if isinstance(value, EngineArray):
        return value.array
    if value.size < _LIFTED:
        return put(value)
    return cached_for_constant(value, put, lambda array: jnp.array(put(array), copy=True))


def _is_lifted(step: Step) -> bool:
    return step.node.is_constant and step.node.attrs["value"].size > _LIFTED


def _keep_compiled() -> None:
    """Make JAX cache compiled code in the user's cache folder, unless the user has configured the cache."""
    if jax.config.jax_compilation_cache_dir is None and "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        # The folder is None if it is not the user's alone: the program of someone else would run as code.
        folder = own_folder(PROGRAMS)
        if folder is not None:
            jax.config.update("jax_compilation_cache_dir", folder)
            jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
