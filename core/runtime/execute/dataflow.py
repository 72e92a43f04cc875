"""Dataflow execution of any graph, as in TensorFlow's executor: values and dead tokens travel along edges, by frame and
iteration.

Plans of steps are several times faster, and serve all graphs except for graphs with hand-made loops. The rules are those of
TensorFlow's executor. A node fires when all its inputs have arrived, and is dead where any of them is dead. A Merge fires
on its first live input, or when all inputs are dead. An Enter opens the frame of its name in the current iteration.
NextIteration hands a live value to the next iteration. A dead Exit counts only in the last iteration.
"""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ...graph.frames import ENTER, EXIT, MERGE, NEXT_ITERATION
from ...graph.graph import Node, Output
from ...inference.node_calls import raise_from_kernel
from ...planning.plan import Plan, Step
from ...planning.reachability import needed_sources
from ...planning.scheduling import RUNS_UNTIL_CHEAP, ReadyQueue, is_asynchronous, is_cheap, is_small, starting_order
from ...random.philox import Philox
from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ..optimize.shape_programs import Runnable
from ..optimize.tiers import Tier
from ..state.edge_values import DEAD, WouldBlock
from ..state.resources import Readable, Wait
from ..state.run_context import current
from ..steps.instructions import Call

_Call = Callable[..., Any]
_BEFORE_INPUTS: Final = 2
"""The number of fields before the inputs in a node's list of arrived values."""


@dataclasses.dataclass(eq=False, slots=True)
class Actor:
    """A node with its edges, or a stand-in for a fed value (`fed`) or for a fetch (`fetched`).

    The fields that follow from the edges are read at each arrival; `complete` computes them once all edges are there.
    """

    name: str
    op: str
    node: Node | None = None
    call: _Call | None = None
    inputs: int = 0
    controls: int = 0
    outputs: int = 1
    consumers: list[tuple[int, Actor, int]] = dataclasses.field(default_factory=list)
    control_consumers: list[Actor] = dataclasses.field(default_factory=list)
    frame_name: str = ""
    is_constant: bool = False
    parallel_iterations: int = 0
    is_cheap: bool = True
    is_asynchronous: bool = False
    runs: int = 0
    fed: int = -1
    fetched: int = -1
    is_merge: bool = False
    crosses_frames: bool = False
    takes_one: bool = False
    awaited: list[Any] = dataclasses.field(default_factory=list)

    def complete(self) -> None:
        """Compute the fields that follow from the edges.

        The lowest bit of a Merge's count says that no live input has come.
        """
        # `op in MERGE` compares strings, and this is asked for each value that arrives.
        self.is_merge = self.op in MERGE
        self.crosses_frames = self.op in ENTER or self.op in EXIT or self.op in NEXT_ITERATION
        self.takes_one = not self.is_merge and self.inputs == 1 and not self.controls
        pending = 1 + 2 * self.controls if self.is_merge else self.inputs + self.controls
        self.awaited = [pending, 0, *[DEAD] * self.inputs]


class LoopDraw(NamedTuple):
    """A draw of a random op in a loop."""

    iteration: int
    inputs: Sequence[Any]


LoopDraws = Mapping[Node, list[LoopDraw]]
"""The draws of random ops, each op's in the order of its stream."""


class DataflowProgram:
    """The nodes of a plan with their edges; `calls` are their bound kernels."""

    def __init__(self, plan: Plan, calls: Mapping[Node, _Call]) -> None:
        self.plan = plan
        self.fed_items = [Actor(f"feed of {value}", "_Arg", fed=i) for i, value in enumerate(plan.fed)]
        self.items = {step.node: _node_item(step, calls[step.node]) for step in plan.steps}
        self.fetch_items: list[Actor | None] = []
        sources: dict[Output, Actor] = dict(zip(plan.fed, self.fed_items))
        for node, item in self.items.items():
            for i, value in enumerate(node.inputs):
                self._connect(sources, value, item, i)
            for control in needed_sources(node, frozenset(plan.fed))[len(node.inputs) :]:
                assert control is not None
                self.items[control].control_consumers.append(item)
                item.controls += 1
        for i, target in enumerate(plan.targets):
            fetch = None
            if isinstance(target, Output):
                fetch = Actor(f"fetch of {target}", "_Retval", inputs=1, outputs=0, fetched=i)
                self._connect(sources, target, fetch, 0)
            self.fetch_items.append(fetch)
        for item in (*self.items.values(), *self.fed_items, *filter(None, self.fetch_items)):
            item.complete()
        self.enters = collections.Counter(item.frame_name for item in self.items.values() if item.op in ENTER)

    def _connect(self, fed: Mapping[Output, Actor], value: Output, item: Actor, position: int) -> None:
        # The plan has no step for nodes that only pass on their first input.
        while value not in fed and value.node in self.plan.bypassed:
            value = value.node.inputs[0]
        source = fed.get(value)
        consumers = source.consumers if source else self.items[value.node].consumers
        consumers.append((value.index if source is None else 0, item, position))

    def run(self, feeds: Sequence[Any], hook: Any = None, draws: LoopDraws | None = None) -> list[Any]:
        """Return the values of the plan's fetches; None for operations. Note the draws of the nodes in `draws`."""
        return _DataflowRun(self, feeds, hook, draws or {}).run()


def _node_item(step: Step, call: _Call) -> Actor:
    node = step.node
    item = Actor(node.name, node.op, node, call, len(node.inputs), outputs=len(step.outputs))
    item.is_cheap, item.is_asynchronous = is_cheap(node.op), is_asynchronous(node.op)
    if node.op in ENTER:
        item.frame_name = node.attrs["frame_name"].decode("utf-8", "surrogateescape")
        item.is_constant = bool(node.attr("is_constant"))
        item.parallel_iterations = node.attr("parallel_iterations")
    return item


@dataclasses.dataclass(eq=False, slots=True)
class _Iteration:
    """An iteration of a frame, and the number of its outstanding ops.

    `arrived` holds an entry for each Merge and each node that still waits: the number of pending inputs, the number of dead
    inputs, and the inputs.
    """

    number: int
    arrived: dict[Actor, list[Any]] = dataclasses.field(default_factory=dict)
    frames: dict[str, _FrameState] = dataclasses.field(default_factory=dict)
    outstanding: int = 0


@dataclasses.dataclass(eq=False, slots=True)
class _FrameState:
    """A frame at run time: an instance of the frame for an iteration of the parent frame."""

    name: str
    parent: _FrameState | None
    parent_iteration: _Iteration | None
    pending_enters: int
    iterations: dict[int, _Iteration]
    parallel_iterations: int
    latest: int = 0
    deferred: list[tuple[Actor, Any]] = dataclasses.field(default_factory=list)
    constants: list[tuple[Actor, Any]] = dataclasses.field(default_factory=list)
    dead_exits: list[Actor] = dataclasses.field(default_factory=list)


_Ready = tuple[Actor, _FrameState, _Iteration, bool, Sequence[Any]]
"""A node to fire: item, frame, iteration, deadness and inputs."""


def _runs_at_once(entry: _Ready) -> bool:
    return entry[3] or entry[0].is_cheap


class _DataflowRun:
    """The state of a run."""

    def __init__(self, program: DataflowProgram, feeds: Sequence[Any], hook: Any, draws: LoopDraws) -> None:
        self.program = program
        self.draws = draws
        self.feeds = feeds
        self.hook = hook
        self.fetched: dict[int, Any] = {}
        self.queue: ReadyQueue[_Ready] = ReadyQueue(_runs_at_once)
        self.ready: list[_Ready] = []
        self.fired = 0

    def run(self) -> list[Any]:
        first = _Iteration(0)
        root = _FrameState("", None, None, 0, {0: first}, 1)
        program = self.program
        items = (*program.items.values(), *program.fed_items)
        # The order in which nodes start decides the order of racing effects, so it is TensorFlow's order.
        for item in starting_order([item for item in items if not item.inputs and not item.controls]):
            self.make_ready(item, root, first, False, ())
        self.queue.add(self.ready)
        self.ready.clear()
        self.process_all()
        return [self.result(i, item) for i, item in enumerate(program.fetch_items)]

    def result(self, index: int, item: Actor | None) -> Any:
        if item is None or (index not in self.fetched and current().takes_dead):
            return None
        if index not in self.fetched:
            target = self.program.plan.targets[index]
            raise InvalidArgumentError(
                f"'{target}' has no value: its inputs were dead or never ran", hint="a Merge before it may never fire"
            )
        value = self.fetched[index]
        return value.read() if isinstance(value, Readable) else value

    def process_all(self) -> None:
        """Fire ready nodes until none is left; where all of them would block, wait for other threads."""
        blocked, _ = self.attempt()
        if blocked:
            self.queue.pile += reversed(blocked)
            with Wait() as wait:
                self.keep_trying(wait)

    def keep_trying(self, wait: Wait) -> None:
        deadline = current().deadline
        while self.queue:
            fired = self.fired
            blocked, reason = self.attempt()
            if blocked and self.fired == fired:
                node = blocked[0][0].node
                assert node is not None
                wait.for_change(deadline, reason, node)
            self.queue.pile += reversed(blocked)

    def attempt(self) -> tuple[list[_Ready], str]:
        """Fire all nodes that are ready or become ready; return the nodes that would block, and the reason of the first."""
        blocked: list[_Ready] = []
        reason = ""
        for entry in self.queue.taken():
            try:
                self.process(*entry)
                self.fired += 1
            except WouldBlock as signal:
                blocked.append(entry)
                reason = reason or signal.reason
        return blocked, reason

    def process(self, item: Actor, frame: _FrameState, iteration: _Iteration, is_dead: bool, inputs: Sequence[Any]) -> None:
        """Fire a node, send its outputs on, and queue the nodes that have become ready."""
        outputs = [DEAD] * max(item.outputs, 1) if is_dead else self.fire(item, inputs)
        if self.draws and not is_dead and item.node is not None and item.node in self.draws:
            self.draws[item.node].append(LoopDraw(iteration.number, inputs))
        if item.crosses_frames:
            self.propagate(item, frame, iteration, is_dead, outputs)
        else:
            self.activate(item, frame, iteration, is_dead, outputs)
        # The node is counted as done only after its outputs are on their way: an iteration without outstanding nodes would be
        # dropped before the consumers were counted.
        iteration.outstanding -= 1
        if not iteration.outstanding:
            self.clean_up(frame, iteration.number)
        if self.ready:
            self.queue.add(self.ready, item.is_asynchronous and not is_dead)
            self.ready.clear()

    def fire(self, item: Actor, inputs: Sequence[Any]) -> Sequence[Any]:
        if item.call is None:
            return self.pass_by(item, inputs)
        try:
            result = item.call(*inputs) if self.hook is None else self.hook(item.node, item.call, inputs)
        except WouldBlock:
            raise
        except Exception as error:
            assert item.node is not None
            raise_from_kernel(error, item.node, inputs)
        outputs = (result,) if item.outputs == 1 and not isinstance(result, tuple) else result or ()
        # TensorFlow measures the cost of a kernel, and runs a cheap one before others from some run on. Here small values
        # stand for a low cost.
        if not item.is_cheap:
            item.runs += 1
            if item.runs >= RUNS_UNTIL_CHEAP and is_small((*inputs, *outputs)):
                item.is_cheap = True
        return outputs

    def pass_by(self, item: Actor, inputs: Sequence[Any]) -> Sequence[Any]:
        """Return a fed value, or take a fetched value."""
        if item.fed >= 0:
            return (self.feeds[item.fed],)
        # A plain fetch of a node inside a loop has no single value.
        if item.fetched in self.fetched:
            raise InvalidArgumentError(f"{item.name}: a tensor in a loop has a value for each iteration")
        self.fetched[item.fetched] = inputs[0]
        return ()

    def propagate(self, item: Actor, frame: _FrameState, iteration: _Iteration, is_dead: bool, outputs: Sequence[Any]) -> None:
        """Send a node's outputs into the frame or the iteration that the node leads to."""
        if item.op in ENTER:
            self.enter(item, frame, iteration, is_dead, outputs)
        elif item.op in EXIT:
            if not is_dead:
                assert frame.parent is not None and frame.parent_iteration is not None
                self.activate(item, frame.parent, frame.parent_iteration, is_dead, outputs)
            # A dead Exit of an iteration that has a next one says nothing: the loop goes on.
            elif frame.latest == iteration.number:
                frame.dead_exits.append(item)
        elif not is_dead:
            if iteration.number == frame.latest:
                # As many iterations as `parallel_iterations` are open at a time; values for the next wait for one to end.
                if len(frame.iterations) == frame.parallel_iterations:
                    frame.deferred.append((item, outputs[0]))
                    return
                self.start_iteration(frame)
            self.activate(item, frame, frame.iterations[iteration.number + 1], is_dead, outputs)

    def enter(self, item: Actor, frame: _FrameState, iteration: _Iteration, is_dead: bool, outputs: Sequence[Any]) -> None:
        child = iteration.frames.get(item.frame_name)
        # The first Enter of a name opens the frame; the others of the same name find it.
        if child is None:
            pending = self.program.enters[item.frame_name]
            child = _FrameState(item.frame_name, frame, iteration, pending, {0: _Iteration(0)}, item.parallel_iterations)
            iteration.frames[item.frame_name] = child
        child.pending_enters -= 1
        if item.is_constant:
            child.constants.append((item, outputs[0]))
            # The list is copied: an activation may begin or end an iteration.
            for running in list(child.iterations.values()):
                self.activate(item, child, running, is_dead, outputs)
        else:
            self.activate(item, child, child.iterations[0], is_dead, outputs)
        self.clean_up(child, 0)

    def start_iteration(self, frame: _FrameState) -> None:
        frame.latest += 1
        # Exits are dead in each iteration but the last, where they end the loop.
        frame.dead_exits.clear()
        started = frame.iterations[frame.latest] = _Iteration(frame.latest)
        deferred, frame.deferred = frame.deferred, []
        for item, value in deferred:
            self.activate(item, frame, started, False, (value,))
        for item, value in frame.constants:
            # Loop constants enter each iteration anew, because the edges inside the loop are counted for each iteration.
            self.activate(item, frame, started, value is DEAD, (value,))

    def activate(self, item: Actor, frame: _FrameState, iteration: _Iteration, is_dead: bool, outputs: Sequence[Any]) -> None:
        """Let a node's outputs and its control edges arrive in an iteration of a frame."""
        for index, consumer, position in item.consumers:
            value = outputs[index]
            if consumer.takes_one:
                iteration.outstanding += 1
                self.ready.append((consumer, frame, iteration, value is DEAD, (value,)))
            elif consumer.is_merge:
                self.arrive_at_merge(consumer, position, value, item.op in ENTER, frame, iteration)
            else:
                arrived = iteration.arrived.get(consumer) or iteration.arrived.setdefault(consumer, consumer.awaited.copy())
                arrived[position + _BEFORE_INPUTS] = value
                self.arrive(consumer, arrived, value is DEAD, frame, iteration)
        for consumer in item.control_consumers:
            arrived = iteration.arrived.get(consumer) or iteration.arrived.setdefault(consumer, consumer.awaited.copy())
            if consumer.is_merge:
                self.control_arrives_at_merge(consumer, arrived, frame, iteration)
            else:
                self.arrive(consumer, arrived, is_dead, frame, iteration)

    def arrive(self, item: Actor, arrived: list[Any], is_dead: bool, frame: _FrameState, iteration: _Iteration) -> None:
        arrived[0] -= 1
        if is_dead:
            arrived[1] += 1
        if not arrived[0]:
            del iteration.arrived[item]
            # A ControlTrigger runs even if its inputs are dead: gradients of loops use it to wait for stacks on either branch.
            is_dead = arrived[1] > 0 and item.op != "ControlTrigger"
            self.make_ready(item, frame, iteration, is_dead, arrived[_BEFORE_INPUTS:])

    def arrive_at_merge(
        self, item: Actor, position: int, value: Any, from_enter: bool, frame: _FrameState, iteration: _Iteration
    ) -> None:
        arrived = iteration.arrived.get(item) or iteration.arrived.setdefault(item, item.awaited.copy())
        pending = arrived[0]
        if value is not DEAD:
            # The lowest bit waits for a live input, the bits above count the control inputs still to come.
            arrived[0] = pending & ~1
            if pending & 1:
                arrived[position + _BEFORE_INPUTS] = value
            if pending == 1:
                self.make_ready(item, frame, iteration, False, arrived[_BEFORE_INPUTS:])
            return
        arrived[1] += 1
        # After a dead Enter no NextIteration comes, so a Merge of a loop does not wait for its second input.
        if pending == 1 and (from_enter or arrived[1] == item.inputs):
            self.make_ready(item, frame, iteration, True, ())

    def control_arrives_at_merge(self, item: Actor, arrived: list[Any], frame: _FrameState, iteration: _Iteration) -> None:
        arrived[0] -= 2
        is_dead = arrived[1] == item.inputs
        if arrived[0] == 0 or (arrived[0] == 1 and is_dead):
            self.make_ready(item, frame, iteration, is_dead, arrived[_BEFORE_INPUTS:])

    def make_ready(self, item: Actor, frame: _FrameState, iteration: _Iteration, is_dead: bool, inputs: Sequence[Any]) -> None:
        iteration.outstanding += 1
        self.ready.append((item, frame, iteration, is_dead, inputs))

    def clean_up(self, frame: _FrameState, number: int) -> None:
        """Drop finished iterations, and the frame with the last of them; the frame's dead Exits then count."""
        while number in frame.iterations and self.is_done(frame, frame.iterations[number]):
            del frame.iterations[number]
            number += 1
            if frame.deferred:
                self.start_iteration(frame)
        parent, around = frame.parent, frame.parent_iteration
        if frame.iterations or frame.pending_enters or parent is None or around is None:
            return
        del around.frames[frame.name]
        for item in frame.dead_exits:
            self.activate(item, parent, around, True, (DEAD,))
        # The frame may have been the last thing that the iteration around it waited for.
        self.clean_up(parent, around.number)

    # Iteration 0 may still get values from an Enter; a later one may still get values from the one before.
    def is_done(self, frame: _FrameState, iteration: _Iteration) -> bool:
        if iteration.outstanding or iteration.frames:
            return False
        return frame.pending_enters == 0 if iteration.number == 0 else iteration.number - 1 not in frame.iterations


# Planned runs of V1 loops whose random ops draw in the order that a run in dataflow has told.
# TensorFlow begins iterations ahead of time, so the draws of a node wait for a turn, and take their turns in another order
# than the iterations, often the reverse one. The order follows from the graph, from the numbers of iterations, and from the
# kernels that count as cheap, but from no value. So after a run in dataflow the loops of later runs, with feeds of the same
# shapes, are planned: the first draw of a node draws for all iterations, in the order of the streams.
# A loop with another number of iterations, or a draw of another shape, shows before the run has had an effect: the streams
# are put back, and the run begins again in dataflow. So do runs in which a kernel begins to count as cheap, runs with a hook,
# and runs beside another run.

_MOST_MISJUDGED: Final = 3
"""The planned runs in a row that end before their end, after which a program no longer tries: its loops depend on values."""
_MOST_RECORDS: Final = 64
"""The largest number of combinations of shapes whose order is kept."""


class _Misjudged(BaseException):
    """A planned run that is not as the record was. No error of a kernel, which would be told with the kernel's node."""


@dataclasses.dataclass(frozen=True, slots=True)
class _LoopRecord:
    """What a run in dataflow tells: the draws of each node, in the order of its stream, and the runs of kernels."""

    draws: Mapping[Node, Sequence[LoopDraw]]
    runs: Mapping[Actor, int]

    def is_near_change(self) -> bool:
        """True if a kernel may begin to count as cheap in the next run, which changes the order."""
        return any(item.runs < RUNS_UNTIL_CHEAP <= item.runs + count for item, count in self.runs.items())


class _DrawsAhead:
    """The draws of a node in a planned run: all at once at the first."""

    def __init__(self, call: Call, draws: Sequence[LoopDraw]) -> None:
        self.call = call
        self.draws = draws
        self.inputs = {draw.iteration: draw.inputs for draw in draws}
        self.results: dict[int, Any] = {}
        self.taken = 0

    def next(self, inputs: Sequence[Any]) -> Any:
        """Return the draw of the next iteration."""
        # This run has more iterations than the run that told the order.
        if self.taken == len(self.draws):
            raise _Misjudged
        place = self.taken
        self.taken += 1
        if not all(map(np.array_equal, self.inputs[place], inputs)):
            raise _Misjudged
        # The first call makes all draws, in the order of the stream; later calls take what was drawn for their iteration.
        if place == 0:
            self.results = {draw.iteration: self.call(*draw.inputs) for draw in self.draws}
        return self.results.pop(place)


# Without this class an RNN with dropout runs node by node, and takes 2 to 4 times as long.
class RecordedLoops:
    """The runs of a plan whose loops draw random numbers.

    `nodes` are the random ops of the loops, by the condition of their loop, and `calls` their kernels. `streams` returns the
    states of all random ops. `program` is that of the plan in order, with the calls of `draw` and `checked`.
    """

    def __init__(
        self,
        dataflow: DataflowProgram,
        nodes: Mapping[Node, Sequence[Node]],
        calls: Mapping[Node, Call],
        streams: Callable[[], Sequence[Any]],
    ) -> None:
        self._dataflow = dataflow
        self._nodes = nodes
        self._calls = calls
        self._streams = streams
        self._records: dict[Any, _LoopRecord] = {}
        self._draws: dict[Node, _DrawsAhead] = {}
        self._is_taken = threading.Lock()
        self._misjudged = 0
        self.tier = Tier.DATAFLOW
        self.program: Runnable | None = None

    def draw(self, node: Node) -> Call:
        """Return a node's call in planned runs."""
        return lambda *inputs: self._draws[node].next(inputs)

    def checked(self, condition: Node, call: Call) -> Call:
        """Return the call of a loop, which then compares the numbers of draws and iterations."""
        nodes = self._nodes.get(condition, ())

        def run(*inputs: Any) -> Any:
            results = call(*inputs)
            if any(self._draws[node].taken != len(self._draws[node].draws) for node in nodes):
                raise _Misjudged
            return results

        return run if nodes else call

    def run(self, feeds: Sequence[Any]) -> list[Any]:
        """Return the values of the fetches, by the plan where the order of the draws is known."""
        # `_draws` belongs to one planned run at a time. A concurrent run need not wait: dataflow gives the same values.
        if not self._is_taken.acquire(blocking=False):
            return self._dataflow.run(feeds)
        try:
            key = tuple([np.shape(value) for value in feeds])
            record = self._records.get(key)
            streams = self._streams()
            # Other streams cannot be put back where a run turns out otherwise.
            are_known = all(isinstance(state, Philox) for state in streams) and self._misjudged < _MOST_MISJUDGED
            if record is None or record.is_near_change() or not are_known:
                return self._recorded(feeds, key)
            return self._performed(record, feeds, key, streams)
        finally:
            self._draws = {}
            self._is_taken.release()

    def _recorded(self, feeds: Sequence[Any], key: Any) -> list[Any]:
        """Run in dataflow; a run in which no kernel began to count as cheap tells the order of the next."""
        items = [item for item in self._dataflow.items.values() if not item.is_cheap]
        before = {item: item.runs for item in items}
        draws: dict[Node, list[LoopDraw]] = {node: [] for nodes in self._nodes.values() for node in nodes}
        results = self._dataflow.run(feeds, draws=draws)
        self.tier = Tier.DATAFLOW
        # A node that became cheap within the run had another place in the ready queue before than it has from now on, so no
        # order recorded so far holds.
        if any(item.is_cheap for item in items) or len(self._records) >= _MOST_RECORDS:
            self._records.clear()
        else:
            self._records[key] = _LoopRecord(draws, {item: item.runs - before[item] for item in items})
        return results

    def _performed(self, record: _LoopRecord, feeds: Sequence[Any], key: Any, streams: Sequence[Philox]) -> list[Any]:
        assert self.program is not None
        self._draws = {node: _DrawsAhead(self._calls[node], draws) for node, draws in record.draws.items()}
        counters = [(state, state.counter) for state in streams]
        try:
            results = self.program.run(feeds)
        except _Misjudged:
            self._misjudged += 1
            for state, counter in counters:
                state.counter = counter
            # The planned run has pushed onto stacks of the run, which the loops of the second attempt must find empty.
            current().forget_resources()
            return self._recorded(feeds, key)
        self._misjudged = 0
        self.tier = self.program.tier
        # A planned run calls the kernels as often as the recorded run: they must become cheap in the same run as in
        # TensorFlow.
        for item, count in record.runs.items():
            item.runs += count
        return results
