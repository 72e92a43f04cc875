"""The options of `tfg convert` that define, copy, rename and drop the signatures of a SavedModel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ..core.graph.graph import Graph
from ..core.graph.metagraph import USUAL_SIGNATURE
from .options import Pair
from .requests import option, request

if TYPE_CHECKING:
    from ..core.graph.graph import Output
    from ..formats.api.names import Names
    from ..formats.saved_model_writing import SignatureEdits

_MODEL: Final = "--kind=saved_model OUT=*/"
"""The options of `tfg convert` that write a SavedModel, which has signatures."""
_ARGUMENT: Final = Pair("[NAME:]ARG", "TENSOR")
_ARGUMENTS: Final = {"--input": "--input", "--output": "--signature-output"}


@request
class SignatureOptions:
    """Changes of signatures, by the words of the command line; an argument is NAME:ARG, or ARG alone."""

    new_inputs: tuple[tuple[str, str], ...] = option(
        "--input", type=_ARGUMENT, needs=_MODEL, help="After --signature NAME: an input of the new signature; repeatable."
    )
    new_outputs: tuple[tuple[str, str], ...] = option(
        "--signature-output",
        type=_ARGUMENT,
        needs=_MODEL,
        help="After --signature NAME, also as --output ARG=TENSOR: an output of the new signature; repeatable.",
    )
    copied: tuple[tuple[str, str], ...] = option(
        "--copy-signature", type=Pair("OLD", "NEW"), needs=_MODEL, help="Copy a signature; repeatable."
    )
    renamed: tuple[tuple[str, str], ...] = option(
        "--rename-signature", type=Pair("OLD", "NEW"), needs=_MODEL, help="Rename a signature; repeatable."
    )
    dropped: tuple[str, ...] = option("--drop-signature", metavar="NAME", needs=_MODEL, help="Drop a signature; repeatable.")

    @property
    def words(self) -> tuple[str, ...]:
        """The tensors that are outputs of new signatures."""
        return tuple(word for _, word in self.new_outputs)

    def edits(self, graph: Graph, names: Names) -> SignatureEdits:
        """Return the changes for a graph; a signature without inputs has the placeholders that its outputs need."""
        from ..formats.api.model_saving import needed_placeholders
        from ..formats.saved_model_writing import SignatureEdits

        defined = {}
        for name in dict.fromkeys(_signature(argument) for argument, _ in (*self.new_inputs, *self.new_outputs)):
            inputs = _of(name, self.new_inputs, lambda word: graph.output(names.input(word).name))
            outputs = _of(name, self.new_outputs, lambda word: graph.output(names.output(word).name))
            defined[name] = inputs or needed_placeholders(graph, names.inputs, outputs.values()), outputs
        return SignatureEdits(self.copied, self.renamed, self.dropped, defined)


def _of(signature: str, pairs: Sequence[tuple[str, str]], tensor: Callable[[str], Output]) -> dict[str, Output]:
    """Return the tensors of a signature's arguments by name."""
    return {_argument(key): tensor(word) for key, word in pairs if _signature(key) == signature}


def _signature(key: str) -> str:
    return key.rpartition(":")[0] or USUAL_SIGNATURE


def _argument(key: str) -> str:
    return key.rpartition(":")[2]


def with_named_signatures(args: Sequence[str]) -> Iterator[str]:
    """Yield the words of a command line with `--signature NAME` before `--input ARG=TENSOR` or `--output ARG=TENSOR` merged
    into the argument: NAME:ARG. An argument that names its signature stays.
    """
    words = [part for word in args for part in (word.split("=", 1) if word.startswith(_SPLIT) else (word,))]
    name, position = "", 0
    while position < len(words):
        word, value = words[position], words[position + 1] if position + 1 < len(words) else ""
        if word == "--signature" and _is_argument(words, position + 2):
            name = f"{value}:"
        elif _is_argument(words, position):
            yield from (_ARGUMENTS[word], value if ":" in value.partition("=")[0] else f"{name}{value}")
        else:
            yield word
            position += 1
            continue
        position += 2


_SPLIT: Final = ("--signature=", "--input=", "--output=")


def _is_argument(words: Sequence[str], position: int) -> bool:
    """Return True if an option and ARG=TENSOR stand; `--output FILE` names the file to write."""
    return position + 1 < len(words) and words[position] in _ARGUMENTS and "=" in words[position + 1]
