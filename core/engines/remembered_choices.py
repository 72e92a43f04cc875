"""Choices of `auto` in the user's cache folder: a later process goes to the fastest way at once. And what the folder holds.

An entry belongs to a program: the nodes that run, the shapes of the feeds, the machine, and the versions of tfg and of the
engines.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from ..graph.graph import Node
from ..support import cache_folder, dataclasses
from ..support.arguments import checked
from ..support.atomic import file_errors
from ..support.cache_folder import CHOICES, PROGRAMS, CachedFile
from ..support.display import Report
from ..support.log import tell
from ..support.trials import cores, gpus
from ..support.words import counted
from ..types.tensors import Tensor, attribute_key
from .reasons import Reason, recalled

_FORM: Final = 1
"""The form of an entry; entries of other forms are of other versions of tfg."""
_MOST_GROUPS: Final = 500
"""The largest number of groups of an entry; a later process compares the others with NumPy again."""
_ELEMENT_BYTES: Final = 1 << 12
"""The bytes of a constant that tell programs apart: the weights of a model differ in each constant."""
_FEATURES: Final = ("model name", "flags", "CPU implementer", "CPU part", "Features")
"""The lines of /proc/cpuinfo that tell processors apart."""
_SETTINGS: Final = ("JAX_PLATFORMS", "CUDA_VISIBLE_DEVICES", "XLA_FLAGS")
"""Environment variables that change the devices of an engine."""


taken: set[str] = set()
"""The names of the entries that a session of this process took over."""


@dataclasses.dataclass(frozen=True, slots=True)
class GroupChoice:
    """The outcome for a group of steps: the times of a run in NumPy and in the engine, and why NumPy runs the group, if it
    does.
    """

    seconds: tuple[float | None, float | None]
    reason: Reason | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class RememberedChoice:
    """The fastest way to run a program so far, the least time of each way, and the engines that are still to be tried.

    `groups` has the outcomes for the groups of steps in the engine `best`, by their identities.
    """

    fetches: str
    shapes: str
    best: str
    seconds: Mapping[str, float]
    pending: tuple[str, ...] = ()
    groups: Mapping[str, GroupChoice] = dataclasses.field(default_factory=dict)


class ChoiceMemory:
    """The remembered choices for a program, by the shapes of the feeds."""

    def __init__(self, nodes: Iterable[Node], setting: str) -> None:
        """`setting` says what else the times depend on, such as versions of engines."""
        self._program = digest([setting, machine(), node_identity(nodes)])

    def recall(self, shapes: Hashable) -> RememberedChoice | None:
        """Return the choice for feeds of certain shapes, None where none is remembered.

        The first session of a process takes a choice over. Each session compiles for itself, and sessions that come and go,
        such as a session for each input, would compile more than they run.
        """
        folder = cache_folder.own_folder(cache_folder.CHOICES)
        name = self._name(shapes)
        # The name is marked even if nothing was found: later sessions of this process do not take over what it then decides.
        content = None if folder is None or name in taken else cache_folder.read_entry(folder, name)
        taken.add(name)
        return None if content is None else read_choice(content, name)

    def remember(self, shapes: Hashable, choice: RememberedChoice) -> None:
        """Keep a choice for feeds of certain shapes for later processes."""
        folder = cache_folder.own_folder(cache_folder.CHOICES)
        if folder is not None:
            name = self._name(shapes)
            cache_folder.write_entry(folder, name, written_choice(choice, name))

    def _name(self, shapes: Hashable) -> str:
        return f"{digest([self._program, repr(shapes)])}.json"


def written_choice(choice: RememberedChoice, name: str) -> bytes:
    """Return an entry of the cache folder; `name` is its name there."""
    # The groups are left out here: `asdict` would copy them, and rows replace them below.
    document = dataclasses.asdict(dataclasses.replace(choice, groups={}))
    groups = list(choice.groups.items())[:_MOST_GROUPS]
    rows = {key: [*group.seconds, *((group.reason, group.reason.step) if group.reason else ())] for key, group in groups}
    return json.dumps({"form": _FORM, "name": name, **document, "groups": rows}).encode()


def read_choice(content: bytes, name: str) -> RememberedChoice | None:
    """Return the choice of an entry; None for an entry that is damaged, of another form, or of another program."""
    try:
        document = json.loads(content)
        # The name stands in the entry, too: a file that was copied to another name says nothing about the other program.
        if (document["form"], document["name"]) != (_FORM, name):
            raise ValueError("another form or name")
        groups = {str(key): _read_group(*row) for key, row in document["groups"].items()}
        seconds = {str(way): float(time) for way, time in document["seconds"].items()}
        fetches, shapes, best = (_text(document[field]) for field in ("fetches", "shapes", "best"))
        return RememberedChoice(fetches, shapes, best, seconds, tuple(map(_text, document["pending"])), groups)
    # Whatever is in the file, a run goes on: it decides as if nothing were remembered.
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        tell("the remembered choice %s is left: %s: %s", name, type(error).__name__, error)
        return None


def _read_group(in_numpy: Any, in_engine: Any, why: Any = None, step: Any = None) -> GroupChoice:
    reason = None if why is None else recalled(_text(why), _text(step))
    return GroupChoice((_seconds(in_numpy), _seconds(in_engine)), reason)


def _seconds(value: Any) -> float | None:
    return None if value is None else float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


def node_identity(nodes: Iterable[Node]) -> str:
    """Return a text that is equal for nodes of the same names, ops, attributes and inputs, in every process."""
    return digest(part for node in nodes for part in _parts(node))


def _parts(node: Node) -> Iterator[str]:
    """Yield the parts of a node that its result depends on."""
    inputs = [*(value.name for value in node.inputs), *(f"^{control.name}" for control in node.control_inputs)]
    yield repr((node.name, node.op, inputs))
    # The attributes are sorted, because their order depends on the format of the file.
    for name, value in sorted(node.attrs.items()):
        yield repr((name, _beginning(value) if isinstance(value, Tensor) else attribute_key(value)))


def _beginning(tensor: Tensor) -> Hashable:
    """Return the dtype and shape of a constant, and the bytes of its first elements."""
    if tensor.lack is not None:
        return repr(tensor)
    # A constant that repeats an element may stand for more memory than exists; its distinct elements tell as much.
    array = tensor.distinct().ravel()
    # Hashing all weights would read the whole file, which a run without this engine may never do.
    head = array[: max(_ELEMENT_BYTES // max(array.itemsize, 1), 1)]
    return (tensor.dtype.name, tensor.shape, head.tolist() if tensor.dtype.is_object else head.tobytes())


@functools.cache
def machine() -> str:
    """Return a text with the processor, the cores and devices of this process, and the versions of Python and NumPy."""
    settings = [os.environ.get(name) for name in _SETTINGS]
    return repr((platform.machine(), _processor(), cores(), gpus(), settings, sys.version_info[:2], np.__version__))


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            return repr(sorted({line for line in file if line.startswith(_FEATURES)}))
    except OSError:  # not on Linux
        return platform.processor()


def digest(parts: Iterable[str]) -> str:
    """Return a hash of texts, in hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part.encode("utf-8", "surrogatepass"))
        # With the zero byte ("ab", "c") and ("a", "bc") differ.
        digest.update(b"\0")
    return digest.hexdigest()


# The contents of the user's cache folder: choices, and programs that XLA compiled.


@dataclasses.dataclass(frozen=True, slots=True)
class CachedChoice:
    """A choice of `auto` for a graph and shapes of feeds."""

    fetches: str
    """The fetches of the run."""
    shapes: str
    """The shapes of the feeds."""
    kept: str
    """The fastest way to run."""
    seconds: Mapping[str, float]
    """The least time of each way that was tried."""
    untried: tuple[str, ...]
    """The engines that are still to be tried."""


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class CacheReport(Report, main_table="choices"):
    """The contents of the cache folder, or what was removed from the folder."""

    folder: str | None
    """The cache folder; None where nothing is cached."""
    choices: tuple[CachedChoice, ...]
    """The choices of `auto`, the newest first."""
    damaged: int
    """How many files of choices no process takes over."""
    programs: int
    """How many files XLA keeps."""
    program_bytes: int
    """The size of these files."""
    is_cleared: bool
    """Whether all this was removed."""

    def headline(self) -> str:
        removed = "removed " if self.is_cleared else ""
        return f"{removed}{counted(len(self.choices), 'choice')}, {counted(self.programs, 'file')} of XLA"


@checked
def describe_cache(*, clear: bool = False) -> CacheReport:
    """Return the contents of the user's cache folder, which `TFG_CACHE` names; with `clear`, remove them.

    The folder has the choices of `engine="auto"` and the programs that XLA compiled. PermissionDeniedError where a file
    cannot be removed.
    """
    folder = cache_folder.base_folder()
    if folder is None:
        return CacheReport(None, (), 0, 0, 0, clear)
    choices, programs = (cache_folder.cached_files(os.path.join(folder, name)) for name in (CHOICES, PROGRAMS))
    read = tuple(_choices(sorted(choices, key=lambda file: -file.seconds)))
    if clear:
        with file_errors(folder):
            cache_folder.remove(choices + programs)
    size = sum(file.size for file in programs)
    return CacheReport(folder, read, len(choices) - len(read), len(programs), size, clear)


def _choices(files: list[CachedFile]) -> Iterator[CachedChoice]:
    """Yield the choices in files that a process would take over."""
    for file in files:
        folder, name = os.path.split(file.path)
        content = cache_folder.read_entry(folder, name)
        choice = None if content is None else read_choice(content, name)
        if choice is not None:
            yield CachedChoice(choice.fetches, choice.shapes, choice.best, choice.seconds, choice.pending)
