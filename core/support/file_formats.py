"""The file formats that tfg writes: extensions, and the calls that write each format.

Every option and every function of the Python API that takes the name of an output file consults this table before any work.
"""

from __future__ import annotations

import os
import re
from typing import Final, NamedTuple

from . import places
from .errors import InvalidArgumentError
from .hints import Hint, step
from .words import listed

_GZIP: Final = ".gz"
_STEP_NUMBER: Final = re.compile(r"(?<=\.ckpt)-\d+$")
_NUMBER: Final = re.compile(r"\.\d+")
"""The end of a name that is a version or a date rather than an extension."""
_SEPARATORS: Final = tuple(filter(None, (os.sep, os.altsep)))


class FileFormat(NamedTuple):
    """A format: its name, its extensions in lower case, and the call in Python that writes the format, if there is one.

    `word` is the name for `--format`. A folder has no extension. With `takes_gzip` the name may end in .gz after the
    extension.
    """

    name: str
    extensions: tuple[str, ...]
    call: str = ""
    word: str = ""
    is_folder: bool = False
    takes_gzip: bool = False


BINARY_GRAPH: Final = FileFormat("binary GraphDef", (".pb",), "tfg.save(graph, FILE)", takes_gzip=True)
TEXT_GRAPH: Final = FileFormat(
    "GraphDef as text", (".pbtxt", ".prototxt", ".textproto", ".txt"), "tfg.save(graph, FILE)", takes_gzip=True
)
META_GRAPH: Final = FileFormat("MetaGraphDef", (".meta",), "tfg.save(graph, FILE)", takes_gzip=True)
SAVED_MODEL: Final = FileFormat("SavedModel", (), "tfg.save_model(graph, FOLDER)", is_folder=True)
ONNX: Final = FileFormat("ONNX model", (".onnx",), "tfg.convert(graph, FILE)")
STABLEHLO: Final = FileFormat("StableHLO program", (".stablehlo",), "tfg.convert(graph, FILE)")
TFJS: Final = FileFormat("TensorFlow.js model", (".json",), "tfg.convert(graph, FILE)")
CHECKPOINT: Final = FileFormat("checkpoint", (".ckpt",), "tfg.write_checkpoint(PREFIX, values)")
NPZ: Final = FileFormat("NumPy archive", (".npz",), "tfg.write_checkpoint(FILE, values)", "npz")
SAFETENSORS: Final = FileFormat("safetensors file", (".safetensors",), "tfg.write_checkpoint(FILE, values)")
NPY: Final = FileFormat("NumPy array", (".npy",), "tfg.write_checkpoint(FILE, values)", "npy")
TFRECORD: Final = FileFormat("TFRecord file", (".tfrecord",), "tfg.run_batch(graph, FILES, output=FILE)", "tfrecord")
JSON_LINES: Final = FileFormat("JSON lines", (".jsonl",), "tfg.run_batch(graph, FILES, output=FILE)", "jsonl")
PARQUET: Final = FileFormat("Parquet", (".parquet",), "tfg.run_batch(graph, FILES, output=FILE)", "parquet")
ARROW: Final = FileFormat("Arrow file", (".arrow",), "tfg.run_batch(graph, FILES, output=FILE)", "arrow")
JSON: Final = FileFormat("JSON", (".json",), "tfg.run_batch(graph, FILES, out_dir=FOLDER, format='json')", "json")
CSV: Final = FileFormat("CSV", (".csv",), "tfg.run_batch(graph, FILES, output=FILE)", "csv")
TSV: Final = FileFormat("values between tabs", (".tsv",), "tfg.write_checkpoint(FILE, values)")
TABLE: Final = FileFormat("table as text", (".txt",), "", "table")
DOT: Final = FileFormat("Graphviz source", (".dot", ".gv"), "tfg.draw(graph, 'dot').save(FILE)", "dot")
SVG: Final = FileFormat("SVG", (".svg",), "tfg.draw(graph, 'svg').save(FILE)", "svg")
PNG: Final = FileFormat("PNG", (".png",), "tfg.draw(graph, 'png').save(FILE)", "png")
PDF: Final = FileFormat("PDF", (".pdf",), "tfg.draw(graph, 'pdf').save(FILE)", "pdf")
DRAWING: Final = FileFormat("drawing as text", (".txt",), "tfg.draw(graph, 'text').save(FILE)", "text")
PAGE: Final = FileFormat("HTML page", (".html", ".htm"), "tfg.view(graph).save(FILE)")
PYTHON: Final = FileFormat("Python source", (".py",), "tfg.write_wrappers(OPS)")
TRACE: Final = FileFormat("Chrome trace", (".json",), "")
LOG: Final = FileFormat("log", (".log", ".txt"))
FOLDER: Final = FileFormat("folder of files", (), is_folder=True)


class Writable(NamedTuple):
    """The formats of an output option, and the default format of a name without extension."""

    formats: tuple[FileFormat, ...]
    default: FileFormat | None

    def __str__(self) -> str:
        """Return the formats in words: `.npz (NumPy archive), .ckpt or no extension (checkpoint)`."""
        return ", ".join(f"{listed(self._names(file_format))} ({file_format.name})" for file_format in self.formats)

    def _names(self, file_format: FileFormat) -> list[str]:
        bare = ["no extension"] if file_format is self.default else []
        return [*file_format.extensions, *bare, *(["a slash at the end"] if file_format.is_folder else [])]


GRAPHS: Final = Writable((BINARY_GRAPH, TEXT_GRAPH, META_GRAPH), BINARY_GRAPH)
CONVERTED: Final = Writable((*GRAPHS.formats, ONNX, STABLEHLO, TFJS, SAVED_MODEL), BINARY_GRAPH)
JOINED: Final = Writable((*GRAPHS.formats, SAVED_MODEL), BINARY_GRAPH)
REDUCED: Final = Writable(GRAPHS.formats, TEXT_GRAPH)
ONNX_MODELS: Final = Writable((ONNX,), None)
STATES: Final = Writable((CHECKPOINT, NPZ, SAFETENSORS), CHECKPOINT)
TENSORS: Final = Writable((*STATES.formats, NPY, CSV, TSV), CHECKPOINT)
RESULTS: Final = Writable((NPY, NPZ, JSON, CSV, TABLE), None)
SHARDS: Final = Writable((NPZ, TFRECORD, JSON_LINES, CSV, PARQUET, ARROW), None)
RUN_RESULTS: Final = Writable((*RESULTS.formats, TFRECORD, JSON_LINES, PARQUET, ARROW), None)
PICTURES: Final = Writable((DOT, SVG, PNG, PDF, DRAWING), DOT)
PAGES: Final = Writable((PAGE,), PAGE)
WRAPPERS: Final = Writable((PYTHON,), PYTHON)
TRACES: Final = Writable((TRACE,), TRACE)
LOGS: Final = Writable((LOG,), LOG)
MODELS: Final = Writable((SAVED_MODEL,), SAVED_MODEL)
EVENT_VALUES: Final = Writable((CSV, FOLDER), FOLDER)
FOLDERS: Final = Writable((FOLDER,), FOLDER)
_PLACES: Final = (CONVERTED, TENSORS, RESULTS, SHARDS, PICTURES, PAGES, WRAPPERS, TRACES)


def extension_of(path: str | os.PathLike[str]) -> str:
    """Return the extension of a file's name in lower case, with a .gz at the end; "" for a name without extension.

    A number is no extension (`run-1.5`), nor is the number of a step after .ckpt.
    """
    # `model.ckpt-1000` is a prefix of a checkpoint, and no file of the kind `.ckpt-1000`.
    name = _STEP_NUMBER.sub("", os.path.basename(places.plain(path)).lower())
    unpacked = name.removesuffix(_GZIP)
    extension = os.path.splitext(unpacked)[1]
    return ("" if _NUMBER.fullmatch(extension) else extension) + name[len(unpacked) :]


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Return True for a name with a slash at its end, and for the name of an existing folder."""
    return os.fspath(path).endswith(_SEPARATORS) or places.is_folder(path)


def is_bare(path: str | os.PathLike[str]) -> bool:
    """Return True for a name without an extension that is not a folder's."""
    return not (extension_of(path) or is_folder(path))


def format_of(path: str | os.PathLike[str], writable: Writable) -> FileFormat:
    """Return the format of a file's name; InvalidArgumentError with a list of formats if the format cannot be written."""
    extension = extension_of(path)
    if is_folder(path):
        file_format = next((candidate for candidate in writable.formats if candidate.is_folder), None)
    elif not extension or (extension == _GZIP and writable.default is not None and writable.default.takes_gzip):
        file_format = writable.default
    else:
        file_format = next((candidate for candidate in writable.formats if _is_asked(candidate, extension)), None)
    # A folder named `logs.v2` is meant as one, but `values.png` is a mistake that is better refused.
    plain = extension.removesuffix(".gz")
    is_known = any(_is_asked(known, plain) for place in _PLACES for known in place.formats)
    if file_format is None and writable.default is not None and writable.default.is_folder and not is_known:
        file_format = writable.default  # a folder's name may have a dot
    if file_format is None:
        raise _refusal(os.fspath(path), extension, writable)
    return file_format


def named_format(path: str | None, word: str | None, writable: Writable) -> FileFormat | None:
    """Return the format of a file, or of standard output for None and `-`; `word` is the value of `--format`.

    None if neither names a format. InvalidArgumentError if the name and the word conflict.
    """
    by_word = next((file_format for file_format in writable.formats if file_format.word == word), None)
    if path is None or path == "-":
        return by_word
    if is_bare(path):
        return by_word or format_of(path, writable)
    by_name = format_of(path, writable)
    if by_word is not None and by_word is not by_name:
        raise conflict(path, by_name, by_word.name)
    return by_name


def conflict(path: str | os.PathLike[str], by_name: FileFormat, asked: str) -> InvalidArgumentError:
    """Return the error for a file whose name and option, or argument, name different formats."""
    message = f"'{os.fspath(path)}' has the extension of a {by_name.name}, but the options ask for {asked}"
    return InvalidArgumentError(message, hint="give the file the extension of its format")


def _is_asked(file_format: FileFormat, extension: str) -> bool:
    extensions = file_format.extensions
    return extension in extensions or (file_format.takes_gzip and extension.removesuffix(_GZIP) in extensions)


def _refusal(path: str, extension: str, writable: Writable) -> InvalidArgumentError:
    """Return the error for a format that cannot be written here, with the possible formats and the format's other writers."""
    formats = dict.fromkeys(file_format for place in _PLACES for file_format in place.formats)
    if is_folder(path):
        output, elsewhere = "a folder", [other for other in formats if other.is_folder]
    else:
        output, elsewhere = f"a {extension} file", [other for other in formats if _is_asked(other, extension)]
    hint = Hint(f"write {output} with ", step("write", formats=elsewhere)) if elsewhere else None
    return InvalidArgumentError(f"cannot write '{path}' here: the formats are {writable}", hint=hint)
