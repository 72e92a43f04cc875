"""Compile formats/protos/*.proto to the modules and stubs beside the files.

    python scripts/make_protos.py            (needs grpcio-tools)

The files are registered as `tfg/NAME.proto`, so that TensorFlow's descriptors can live in the same process. The modules
leave out protoc's check that the installed protobuf is no older than protoc, and at most a major version newer: the modules
use only descriptors and two `builder` calls, both unchanged since protobuf 5.
"""

import pathlib
import re
import shutil
import sys
import tempfile

from grpc_tools import protoc

PROTOS = pathlib.Path(__file__).parents[1] / "formats" / "protos"
HEADER = "# Made by scripts/make_protos.py; do not edit.\n"
GOOGLE_INCLUDES = str(pathlib.Path(protoc.__file__).parent / "_proto")


def main():
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        sources = work / "tfg"
        sources.mkdir()
        for path in PROTOS.glob("*.proto"):
            shutil.copy(path, sources)
        arguments = ["protoc", f"-I{work}", f"-I{GOOGLE_INCLUDES}", f"--python_out={work}", f"--pyi_out={work}"]
        status = protoc.main(arguments + sorted(map(str, sources.glob("*.proto"))))
        if status:
            sys.exit(status)
        for path in sorted(sources.glob("*_pb2.py")):
            (PROTOS / path.name).write_text(HEADER + module_text(path.read_text()))
        for path in sorted(sources.glob("*_pb2.pyi")):
            (PROTOS / path.name).write_text(HEADER + relative_imports(path.read_text()))


def relative_imports(text):
    return re.sub(r"^from tfg import", "from . import", text, flags=re.MULTILINE)


def module_text(text):
    """Return the module without comments, version check and `CopyToProto` tables, its classes named after their module."""
    text = re.sub(r"^from google\.protobuf import runtime_version.*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^_runtime_version\.Validate.*?^\)\n", "", text, flags=re.MULTILINE | re.DOTALL)
    # Where each message begins and ends in the file's descriptor, and options once more: protobuf's Python implementation
    # reads the options from the descriptor, and only `CopyToProto` of a message, which nothing calls, uses the places.
    text = re.sub(r"^if not _descriptor\._USE_C_DESCRIPTORS:\n(  .*\n)*", "", text, flags=re.MULTILINE)
    text = re.sub(r"^from google\.protobuf import descriptor as _descriptor\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^(#|\"\"\").*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"'tfg\.\w+_pb2', _globals", "__name__, _globals", text)
    return relative_imports(text).lstrip()


if __name__ == "__main__":
    main()
