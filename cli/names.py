"""What the words of a command line name in a graph: tensors, operations, and the values to feed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..core.dtypes import DType
from ..core.errors import NotFoundError, TfgError
from ..core.graph import Graph, Output
from ..core.runtime.runner import signature
from ..core.tensor_names import parse_tensor_name
from ..formats.values import parse_value


class Names:
    """The graph's own names, and before them those of a signature where one was chosen."""

    def __init__(self, graph: Graph, signature_name: str | None = None) -> None:
        self.graph = graph
        self.inputs: Mapping[str, str] = {}
        self.outputs: Mapping[str, str] = {}
        self._signature = signature_name
        if signature_name is not None:
            found = signature(graph, signature_name)
            self.inputs = {key: info.tensor for key, info in found.inputs.items()}
            self.outputs = {key: info.tensor for key, info in found.outputs.items()}

    def input(self, word: str) -> Output:
        """The tensor to feed or to differentiate by; NotFoundError says what the signature has."""
        if self._signature is not None and word not in self.inputs and parse_tensor_name(word)[0] not in self.graph:
            has = f"it has {', '.join(self.inputs)}"
            raise NotFoundError(f"signature '{self._signature}' has no input '{word}'", hint=has)
        return self.graph.output(self.inputs.get(word, word))

    def output(self, word: str) -> Output:
        """The tensor that `word` names: `y` as well as `y:0`."""
        return self.graph.output(self.outputs.get(word, word))

    def fetch(self, word: str) -> str:
        """The name to fetch: `y` is the tensor `y:0`, but an operation where it has no output."""
        return self.graph.result(self.outputs.get(word, word)).name

    def fetches(self, words: Iterable[str]) -> dict[str, str]:
        """What to show and the name to fetch for each word; all outputs of the signature where there are no words."""
        return {word: self.fetch(word) for word in words or self.outputs}

    def operation(self, word: str) -> str:
        """The name of an operation to run."""
        return self.graph.node(word.removeprefix("^")).name

    def feeds(self, pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
        """Tensor names and the values to feed; an error names the option and what it was given for."""
        return dict(self._feed(word, text) for word, text in pairs)

    def _feed(self, word: str, text: str) -> tuple[str, Any]:
        fed = self.input(word)
        return fed.name, value_of(text, fed.dtype, f"--feed {word}")


def value_of(text: str, dtype: DType | None, option: str) -> Any:
    """The value that `text` stands for, of a dtype where one is known; an error begins with the option that gave it."""
    try:
        return parse_value(text, dtype.base if dtype else None)
    except TfgError as error:
        raise type(error)(f"{option}: {error.message}", hint=error.hint) from None
