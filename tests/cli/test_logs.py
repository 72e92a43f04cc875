"""-v and --log-file: the messages, their destination, and no cost without the options."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys

import pytest

from tests.cli.running import SAMPLES, STAGES, process, tfg
from tfg import GraphBuilder
from tfg.cli.main import commands
from tfg.core.types.dtypes import float32
from tfg.formats import load, save

XOR = SAMPLES / "xor.pbtxt"
RUN = ("run", SAMPLES / "square.pbtxt", "--init", "--target", "sgd", "--fetch", "loss", "--steps", "3")


def test_stages_are_told_on_standard_error():
    done = tfg(*RUN, "-v")
    assert done.out == tfg(*RUN).out
    told = [re.sub(r"[\d.]+ s$", "T s", line.partition("ms  ")[2]) for line in done.err.splitlines()]
    assert f"read {SAMPLES / 'square.pbtxt'}: {(SAMPLES / 'square.pbtxt').stat().st_size} bytes" in told
    assert f"decoded '{SAMPLES / 'square.pbtxt'}': 66 nodes, 0 functions in T s" in told
    assert any(line.startswith("planned loss:0, sgd: ") for line in told)
    assert not any("step" in line.split(" ")[0] for line in told)


def test_more_is_told_where_more_is_asked_for():
    done = tfg(*RUN, "-vv")
    assert [int(number) for number in re.findall(r"ms  step (\d)", done.err)] == [1, 2, 3]


def test_passes_are_told_that_did_something():
    done = tfg("optimize", XOR, "--fetch", "probability", "-v")
    assert re.search(r"pass prune, round 1: 195 nodes, then 15, in", done.err)
    assert "pass batchnorm" not in done.err
    assert "pass batchnorm" in tfg("optimize", XOR, "--fetch", "probability", "-vv").err


def test_a_log_file_has_all_of_it_and_grows(tmp_path):
    log = tmp_path / "run.log"
    for number in (1, 2):
        done = tfg(*RUN, "--log-file", log, "--quiet", "--save-state", tmp_path / "s.npz")
        assert (done.code, done.err) == (0, "")
        assert log.read_text().count("step 3 in") == number
    form = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} (INFO|DEBUG) tfg: \S.*"
    assert all(re.fullmatch(form, line) for line in log.read_text().splitlines())
    assert f"wrote {tmp_path / 's.npz'}" in log.read_text()


def test_a_log_file_that_cannot_be_written_is_refused(tmp_path):
    done = tfg(*RUN, "--log-file", tmp_path / "no" / "run.log")
    assert (done.code, done.out) == (1, "") and f"folder '{tmp_path / 'no'}' does not exist" in done.err


def test_nothing_is_left_listening(tmp_path):
    logger = logging.getLogger("tfg")
    before = (list(logger.handlers), logger.level)
    tfg(*RUN, "-vv", "--log-file", tmp_path / "run.log")
    tfg("run", "no such file", "-v")
    assert (logger.handlers, logger.level) == before


@pytest.mark.parametrize("name", commands())
def test_every_command_has_both(name):
    help_ = tfg(name, "--help-all").out
    assert help_.count("--verbose") == help_.count("--log-file FILE") == 1


def test_names_of_graphs_are_text(tmp_path):
    path = tmp_path / "a\x1b[2Jb.pb"
    g = GraphBuilder()
    g.Neg(g.Placeholder(dtype=float32, shape=[], name="x"), name="y")
    save(g.graph, path)
    done = tfg("run", path, "--fetch", "y", "--feed", "x=1", "-vv")
    assert done.code == 0 and "\x1b" not in done.err and "\\x1b[2Jb.pb" in done.err


def test_programs_listen_as_to_any_other(caplog):
    with caplog.at_level(logging.INFO, "tfg"):
        load(str(XOR))
    assert [record.getMessage() for record in caplog.records if "195 nodes" in record.getMessage()]


@pytest.mark.slow
def test_who_does_not_listen_does_not_import_logging():
    code = "import sys; from tfg.cli.main import run; run(['dump', sys.argv[1]]); sys.exit('logging' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, str(XOR)], capture_output=True)
    assert done.returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")
def test_a_full_disk_is_an_error_of_the_log():
    done = process("dump", STAGES[0], "--log-file", "/dev/full")
    assert done.code == 1 and done.err == "error: '/dev/full': No space left on device\n"
