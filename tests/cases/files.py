"""Cases of the files family."""

from tests.opcases import case, graph_case
from tests.opcases import string_array as strings

FOLDER = b"/tmp/tfg_cases/files/"


def build(g):
    """Write, read, list."""
    for name in (b"a.txt", b"b.txt", b"sub/c.txt"):
        g.WriteFile(g.constant(FOLDER + name), g.constant(b"contents of " + name), name="write_" + name[-5:-4].decode())
    g.ReadFile(g.constant(FOLDER + b"b.txt"), name="read")
    g.ReadFile(g.constant(FOLDER + b"none.txt"), name="none")
    g.ReadFile(g.constant(FOLDER + b"sub"), name="folder")
    g.MatchingFiles(g.constant(strings([FOLDER + b"*.txt", FOLDER + b"sub/?.txt"])), name="found")
    g.MatchingFiles(g.constant(FOLDER + b"*.png"), name="nothing")
    writes = [["write_a"], ["write_b"], ["write_c"]]
    return [*writes, ["read:0"], ["none:0"], ["found:0"], ["nothing:0"]]


def listing(name, pattern):
    """The matches of a pattern among a file and a folder with a file."""

    def build(g):
        for path in (b"x", b"y/z"):
            g.WriteFile(g.constant(FOLDER + b"list/" + path), g.constant(b""), name="write_" + path[-1:].decode())
        g.MatchingFiles(g.constant(pattern), name="found")
        return [["write_x"], ["write_z"], ["found:0"]]

    return graph_case(name, "MatchingFiles", build)


def write(name, path):
    """A file written beside another file, and read."""

    def build(g):
        g.WriteFile(g.constant(FOLDER + b"first"), g.constant(b"first"), name="before")
        g.WriteFile(g.constant(path), g.constant(b"second"), name="write")
        g.ReadFile(g.constant(path), name="read")
        return [["before"], ["write"], ["read:0"]]

    return graph_case(name, "WriteFile", build)


def append(g):
    """Printed text is appended to a file."""
    path = FOLDER + b"printed"
    g.WriteFile(g.constant(path), g.constant(b"first"), name="write")
    g.PrintV2(g.constant(b"text"), output_stream=b"file://" + path, name="print")
    g.ReadFile(g.constant(path), name="read")
    return [["write"], ["print"], ["print"], ["read:0"]]


CASES = [
    graph_case("read", "ReadFile", build),
    graph_case("write", "WriteFile", lambda g: build(g)[:3]),
    graph_case("match", "MatchingFiles", build),
    listing("found twice", strings([FOLDER + b"list/x", FOLDER + b"list/*", FOLDER + b"list/x"])),
    listing("list by URI", b"file://" + FOLDER + b"list/*"),
    case("MatchingFiles", strings([[FOLDER + b"list/*"]])),
    listing("no pattern", strings([])),
    write("write by URI", b"file://" + FOLDER + b"uri/a"),
    write("below a file", FOLDER + b"first/a"),
    graph_case("print", "PrintV2", append),
]
