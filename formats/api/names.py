"""Names of a graph and of a signature, as users write them: tensors, operations, and values to feed."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...core.graph.callers import called_functions
from ...core.graph.graph import Graph, Output
from ...core.graph.metagraph import Signature, argument_tensor, asked_signature, called_signature
from ...core.graph.variable_nodes import find_variables
from ...core.planning.reachability import needed_nodes
from ...core.runtime.session.fetches import misfit
from ...core.runtime.session.named_components import Composite, composite_of, whole_texts
from ...core.runtime.session.readable_texts import contents_of, serialized_examples
from ...core.support.errors import InvalidArgumentError, NotFoundError
from ...core.support.hints import Hint, HintStep, feed, option, value_place
from ...core.support.tensor_names import joined_names_hint, parse_tensor_name
from ...core.support.words import counted
from ...core.types.dtypes import DType, from_name, string
from ...core.types.example_values import feeding
from ...core.types.shapes import fits
from ..codecs.json_inputs import WHOLE, example_rows, named_values, nested_value
from ..value_literals import fed_shape, read_document, value_of

if TYPE_CHECKING:
    from ...core.explaining.model_view import ModelView


_NUMBER: Final = re.compile(r"[._]\d+$")
"""The number of a component in the name of a signature's input."""


class Given(NamedTuple):
    """A value itself, if a text would stand for a value."""

    value: Any


class ExampleRows(Given):
    """The features of Examples, as JSON."""


def value_for(given: str | Given, dtype: DType | None, place: HintStep) -> Any:
    """Return a value itself, or the value of a text; an error begins with `place`."""
    return given.value if isinstance(given, Given) else value_of(given, dtype, place)


class Names:
    """The names of a graph and of a signature: the requested signature, or the usual signature.

    `asked` is the requested signature, or None. `words` are further words, each with its tensor.
    """

    def __init__(self, graph: Graph, signature_name: str | None = None, words: Mapping[str, str] | None = None) -> None:
        self.graph = graph
        self._words = words or {}
        self.asked = asked_signature(graph.meta, signature_name)
        # The usual signature gives its names too, but only a requested one decides what is fetched without words.
        self.signature = called_signature(graph.meta, signature_name)
        self.inputs: Mapping[str, str] = self.signature.fed if self.signature else {}
        self.outputs: Mapping[str, str] = self.signature.fetched if self.signature else {}
        self._defaults: dict[tuple[int, tuple[str, ...], tuple[str, ...]], dict[str, Any]] = {}

    def exposing(self, words: Iterable[str], note: Callable[[str], None] = lambda _: None) -> Names:
        """Return the names of a graph that has the tensors of all words, also of layers and of nodes in functions: the graph
        itself, or a copy without calls. `note` takes the choice of a layer's output.

        An unknown word stays, for the error of the method that takes it.
        """
        # The view dissolves calls, which takes time in a large model, so it is made only for a word that the file does not
        # know.
        unknown = [word for word in words if not self._is_there(word, {**self.outputs, **self.inputs})]
        if not unknown:
            return self
        from .outputs import exposed  # lazy: most words are names of the file

        layers = {word: value for word in unknown if (value := self.layer(word, note)) is not None}
        graph, tensors = exposed(self.view, layers)
        return Names(graph, None if self.asked is None else self.asked.name, tensors)

    @functools.cached_property
    def view(self) -> ModelView:
        """The view of the model, by whose names its author knows nodes."""
        from ...core.explaining.model_view import model_view  # lazy: most words are names of the file

        return model_view(self.graph, None if self.asked is None else self.asked.name)

    def layer(self, word: str, note: Callable[[str], None] = lambda _: None) -> Output | None:
        """Return the tensor of the view that a word names, as that of a layer; None if there is none."""
        from ...core.explaining.model_view import is_inside  # lazy: most words are names of the file

        value = self.view.find(word)
        if value is not None and is_inside(value, word):
            note(f"'{word}' is a scope: its output is {value.node.name}")
        return value

    def input(self, word: str) -> Output:
        """Return the tensor to feed or to differentiate by; NotFoundError lists the inputs of the signature."""
        return self._tensor(word, self.inputs, "input")

    def output(self, word: str) -> Output:
        """Return the tensor that a word names: `y` as well as `y:0`."""
        return self._tensor(word, self.outputs, "output")

    def fetch(self, word: str) -> str:
        """Return the name to fetch: `y` is the tensor `y:0`, or an operation without outputs."""
        self._require(word, self.outputs, "output")
        return self.graph.result(self._named(word, self.outputs)).name

    def fetches(self, words: Iterable[str]) -> dict[str, str]:
        """Return the name to fetch for each word; without words all outputs of the requested signature."""
        return {word: self.fetch(word) for word in words or (self.outputs if self.asked else ())}

    def knows(self, word: str) -> bool:
        """Return True for a name of the signature or of the file."""
        return self._is_there(word, self.outputs) or self._function(word) is not None

    def inside(self, word: str) -> Output | None:
        """Return the tensor in a function that `FUNCTION/NODE` names; None for a name of the graph itself."""
        if self._is_argument(word, self.outputs) or parse_tensor_name(word)[0] in self.graph:
            return None
        function = self._function(word)
        if function is None:
            return None
        try:
            return self.graph.functions[function].body.output(word.removeprefix(f"{function}/"))
        except NotFoundError as error:
            raise NotFoundError(f"in function '{function}': {error.message}", hint=error.hint) from None

    def _function(self, word: str) -> str | None:
        return next((name for name in self.graph.functions if word.startswith(f"{name}/")), None)

    def caller(self, word: str) -> str:
        """Return the node that calls the function of `FUNCTION/NODE`; among several nodes, the node that the signature
        needs.

        InvalidArgumentError lists the callers if the choice is ambiguous.
        """
        name = self._function(word)
        callers = [node for node in self.graph if name in called_functions(self.graph, [node])]
        # A function that several signatures call is fetched through the call that this one runs.
        if len(callers) > 1:
            needed = needed_nodes([self.graph.fetch(output) for output in self.outputs.values()])
            callers = [node for node in callers if node in needed] or callers
        if len(callers) != 1:
            calls = f"callers are {', '.join(node.name for node in callers)}" if callers else "no node calls it"
            hint = Hint("choose the caller with ", option("signature"))
            raise InvalidArgumentError(f"'{word}': the call of function '{name}' is ambiguous: {calls}", hint=hint)
        return callers[0].name

    def only_output(self, word: str | None, name: str) -> Output:
        """Return the output that a word names, or the only one of the signature; an error begins with the option `name`."""
        if word is None and len(self.outputs) != 1:
            has = f"the outputs are {', '.join(self.outputs)}" if self.outputs else "the graph has no usual signature"
            problem = Hint(option(name), ": the output is ambiguous")
            raise InvalidArgumentError(problem, hint=f"{has}; name the output, as in mse(OUTPUT, LABELS)")
        return self.output(word or next(iter(self.outputs)))

    def to_fetch(self) -> list[str]:
        """Return the names of the outputs, or of a few tensors without readers."""
        from ...core.explaining.graph_facts import graph_ends, output_candidates

        return list(self.outputs or graph_ends(self.graph).outputs or output_candidates(self.graph))

    def to_differentiate(self) -> list[str]:
        """Return the names of tensors to differentiate: losses, then outputs, those of floating-point numbers alone if any."""
        from ...core.explaining.graph_facts import graph_ends

        names = list(dict.fromkeys([*graph_ends(self.graph).losses, *self.to_fetch()]))
        dtypes = {name: self.output(name).dtype for name in names}
        return [name for name, dtype in dtypes.items() if dtype is not None and dtype.is_floating] or names

    def to_differentiate_by(self) -> list[str]:
        """Return the names of tensors to differentiate by: trainable variables, then floating-point inputs."""
        from ...core.explaining.graph_facts import explain_graph

        facts = explain_graph(self.graph)
        variables = [variable.name for variable in facts.variables if variable.purpose == "trainable"]
        inputs = self.inputs or [tensor.name for tensor in facts.inputs if from_name(tensor.dtype).is_floating]
        return [*variables, *inputs]

    def unknown_feed(self, pairs: Sequence[tuple[str, Any]], word: str | None) -> tuple[str, Any]:
        """Return the only feed without a tensor in the graph: the labels of a new loss."""
        unknown = [pair for pair in pairs if not self._is_input(pair[0])]
        feeds = [pair for pair in unknown if word in (None, pair[0])]
        if len(feeds) != 1:
            names = ", ".join(name for name, _ in unknown) or "none"
            labels = feed({word or "labels": "[1, 0]"})
            hint = Hint("feed the labels under a new name: ", labels, f" (given: {names})")
            raise InvalidArgumentError("the loss needs labels, fed in addition to the inputs", hint=hint)
        return feeds[0]

    def _tensor(self, word: str, names: Mapping[str, str], kind: str) -> Output:
        self._require(word, names, kind)
        return self.graph.output(self._named(word, names))

    def known(self, word: str, arguments: Mapping[str, str]) -> str | None:
        """Return the graph's name of an argument among `arguments`, a tensor or a layer; None for an unknown word."""
        return self._named(word, arguments) if self._is_there(word, arguments) else None

    def _named(self, word: str, arguments: Mapping[str, str]) -> str:
        return argument_tensor(word, {**self._words, **arguments}, self.graph)

    def _is_argument(self, word: str, names: Mapping[str, str]) -> bool:
        return word in names or word in self._words or self._named(word, names) != word

    def _is_there(self, word: str, names: Mapping[str, str]) -> bool:
        """Return True for an argument among `names`, and for a name of the graph, with the nodes that were left out."""
        node = parse_tensor_name(word)[0]
        return self._is_argument(word, names) or node in self.graph or node in self.graph.left_out

    def _require(self, word: str, names: Mapping[str, str], kind: str) -> None:
        """NotFoundError for a word that neither the signature nor the graph knows."""
        if self._is_there(word, names):
            return
        if joined := joined_names_hint(word):
            raise NotFoundError(f"the graph has no node '{word}'", hint=joined)
        if self.signature is not None:
            has = f"its {kind}s: {', '.join(map(repr, names))}" if names else f"it has no {kind}s"
            raise NotFoundError(
                f"signature '{self.signature.name}' has no {kind} '{word}', and the graph has no such node", hint=has
            )
        if self.graph.meta is not None and self.graph.meta.signatures:
            known = ", ".join(self.graph.meta.signatures)
            hint = Hint("to use the names of a signature, add ", option("signature"), f": {known}")
            raise NotFoundError(f"the graph has no node '{word}'", hint=hint)

    def node(self, word: str) -> str:
        """Return the name of a node from the name of the node, of a tensor, of a signature's argument, or of a variable."""
        name = self._named(word, {**self.outputs, **self.inputs})
        if ":" in name:
            return self.graph.output(name).node.name
        # Tables show a variable by its `shared_name`, which may be another than that of its node.
        variable = None if name in self.graph else find_variables(self.graph).get(name)
        return name if variable is None else variable.node.name

    def node_or_tensor(self, word: str) -> str:
        """Return the graph's name of an output of the signature, or the word itself."""
        return self._named(word, self.outputs)

    def operation(self, word: str) -> str:
        """Return the name of an operation to run."""
        return self.graph.node(word.removeprefix("^")).name

    def feeds(self, pairs: Iterable[tuple[str, str | Given]]) -> dict[str, Any]:
        """Return the values to feed by tensor name; errors name the option and the word."""
        feeds: dict[str, Any] = {}
        given_words = list(self.by_name(pairs))
        tensors = [self._named(word, self.inputs) for word, _ in given_words]
        for word, given in given_words:
            composite = composite_of(self.graph, self.signature, word)
            # Standard input can be read only once: a look at the whole value would leave nothing for the tensor.
            if isinstance(given, ExampleRows) or given == "-" or (composite and composite.is_fed_in_parts(tensors)):
                composite = None
            parts = None if composite is None else self._components(word, given, composite)
            fed = dict([self._feed(word, given)]) if parts is None else parts
            for name, value in fed.items():
                if name in feeds:
                    raise InvalidArgumentError(Hint(value_place("feed", word), f": '{name}' is already fed"))
                feeds[name] = value
        return feeds

    def _components(self, word: str, given: str | Given, composite: Composite) -> dict[str, Any] | None:
        """Return the feeds of the components of a sparse or ragged input; None for a value of its first component alone."""
        place, values = value_place("feed", word), composite.parts[composite.is_sparse]
        # A literal of unequal rows is no array, so a text is first read as nested lists.
        whole = given.value if isinstance(given, Given) else nested_value(given)
        if whole is None:
            whole = value_of(str(given), values.dtype, place, readable=functools.partial(contents_of, self.graph, values))
        if not composite.takes(whole):
            return None
        try:
            return composite.arrays(whole)
        except InvalidArgumentError as error:
            hint = error.hint or feeding(word, "[[1, 0, 2]]" if composite.is_sparse else "[[1, 2], [3]]")
            raise InvalidArgumentError(Hint(place, ": ", error.message), hint=hint) from None

    def _examples(self, word: str, fed: Output, rows: Any, are_for_any: bool = False) -> Any:
        name = "input-examples" if are_for_any else "feed"
        try:
            if rows is None:
                example = option(name, f'{word}=[{{"NAME": [1.0]}}]')
                raise InvalidArgumentError("it is not a list of objects", hint=Hint("write ", example))
            return serialized_examples(self.graph, fed, rows, are_for_any)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(Hint(value_place(name, word), ": ", error.message), hint=error.hint) from None

    def by_name(self, pairs: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
        """Yield the feeds by the names of inputs; a feed with the name `WHOLE` is a document with values by name."""
        for word, given in pairs:
            if word != WHOLE or isinstance(given, Given):
                yield word, given
                continue
            for name, value in named_values(read_document(given, "feed"), self.signature, self._is_input).items():
                # Each value becomes a text again, so that it gets the checks and errors of a value that is given by itself.
                yield name if name != WHOLE else self._only_input(), json.dumps(value)

    def _is_input(self, word: str) -> bool:
        return self._is_argument(word, self.inputs) or parse_tensor_name(word)[0] in self.graph

    def _only_input(self) -> str:
        """Return the only input, for a document without names; InvalidArgumentError if there is none, or several."""
        names = list(self.inputs) or [node.name for node in self.graph if node.must_be_fed]
        if len(names) != 1:
            document = option("feed", '{"inputs": {"NAME": ..}}')
            hint = Hint("write ", document, f" with the names {', '.join(names) or 'of tensors'}")
            raise InvalidArgumentError(
                Hint(option("feed"), f": the value has no name, and the graph has {counted(len(names), 'input')}"), hint=hint
            )
        return names[0]

    def complete(self, feeds: Mapping[str, Any], fetches: Iterable[str]) -> dict[str, Any]:
        """Return the feeds with the signature's defaults for other inputs.

        InvalidArgumentError names the first needed input without a value, by its name in the signature.
        """
        if self.signature is None:
            return dict(feeds)
        # A loop of runs asks for the same completion each time. The key has the number of nodes, as a graph may gain nodes
        # while it is used, but loses none.
        key = len(self.graph), tuple(feeds), tuple(fetches)
        if key not in self._defaults:
            self._defaults[key] = dict(self._missing(self.signature, *key[1:]))
        return {**feeds, **self._defaults[key]}

    def _missing(self, signature: Signature, feeds: Iterable[str], fetches: Iterable[str]) -> Iterator[tuple[str, Any]]:
        """Yield the tensors that are needed and not fed, with the signature's defaults."""
        outputs = [self.graph.output(name) for name in feeds]
        needed = needed_nodes([self.graph.fetch(name) for name in fetches], outputs)
        for word, name in self.inputs.items():
            fed = self.graph.output(name)
            if fed in outputs or fed.node not in needed or not fed.node.is_placeholder:
                continue
            if word in signature.defaults:
                yield fed.name, signature.defaults[word].numpy()
            elif fed.node.op != "PlaceholderWithDefault":
                raise self._unfed(word, fed)

    def _unfed(self, word: str, fed: Output) -> InvalidArgumentError:
        from ...core.explaining.graph_facts import tensor_facts

        assert self.signature is not None
        facts = tensor_facts(fed.node)
        message = f"input '{word}' of signature '{self.signature.name}' is not fed: it takes {facts.dtype} {facts.shape}"
        return InvalidArgumentError(message, hint=self._example(word, fed))

    def _example(self, word: str, fed: Output) -> str:
        """Return a hint with a value that fits a placeholder, by the user's word; of a sparse or ragged input the whole."""
        from ...core.explaining.graph_facts import tensor_facts
        from ...core.runtime.session.drawn_feeds import Input, example_feeds

        # An error names the component that lacks a value, `x_1`; people feed the whole, `x`.
        composite = composite_of(self.graph, self.signature, _NUMBER.sub("", word))
        parts = composite.parts if composite is not None and fed in composite.parts else (fed,)
        facts = {part.node: tensor_facts(part.node) for part in parts}
        texts = example_feeds(self.graph, [Input(node, one.dtype, one.shape) for node, one in facts.items()])
        words = {tensor: key for key, tensor in self.inputs.items()} | {fed.name: word}
        nodes = {words.get(part.name, part.node.name): part.node for part in parts}
        whole = whole_texts(self.graph, self.signature, {key: texts[node] for key, node in nodes.items()}, nodes)
        return feeding(*next(iter(whole.items())))

    def _feed(self, word: str, given: str | Given) -> tuple[str, Any]:
        fed = self.input(word)
        if isinstance(given, ExampleRows):
            return fed.name, self._examples(word, fed, example_rows(given.value), are_for_any=True)
        if isinstance(given, Given):
            return fed.name, given.value
        # Objects are no value of a tensor of strings, so they can only be features of Examples.
        if fed.base_dtype is string and (rows := example_rows(given)) is not None:
            return fed.name, self._examples(word, fed, rows)
        readable, shape = functools.partial(contents_of, self.graph, fed), fed_shape(fed)
        array = value_of(given, fed.dtype, value_place("feed", word), shape, readable)
        # The session would find it too, but knows neither the user's word nor the option.
        if fed.node.must_be_fed and not fits(array.shape, shape):
            raise misfit(array.shape, fed, shape, self._example(word, fed))
        return fed.name, array
