"""`tfg check` of many graphs, and findings for machines: workflow commands of GitHub, SARIF, a hook, an action."""

from __future__ import annotations

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import urllib.parse

import pytest
import yaml

import tfg
from tests.cli.running import SAMPLES, process
from tests.cli.running import tfg as run
from tfg.cli.findings import Finding, github_lines, sarif

ROOT = pathlib.Path(tfg.__file__).parent
SOUND = 'node { name: "x" op: "NoOp" }\n'
BROKEN = SOUND + '\n\nnode {\n  name: "x/y"\n  op: "Silly" }\nnode { name: "y" op: "Nonsense" }\n'
WARNED = 'node { name: "x" op: "NoOp" attr { key: "more" value { i: 1 } } }\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in (("sound.pbtxt", SOUND), ("broken.pbtxt", BROKEN), ("warned.pbtxt", WARNED)):
        (tmp_path / name).write_text(text)
    (tmp_path / "noise.pb").write_bytes(b"\xff\xfe noise")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("names", "code"),
    [
        ("sound", 0),
        ("sound sound", 0),
        ("sound warned", 0),
        ("sound warned --strict", 3),
        ("broken sound", 3),
        ("sound broken", 3),
        ("broken noise sound", 1),
        ("noise broken", 1),
    ],
)
def test_the_exit_code_is_that_of_the_worst(folder, names, code):
    files = {"noise": "noise.pb", "--strict": "--strict"}
    words = [files.get(name, f"{name}.pbtxt") for name in names.split()]
    for format_ in ("table", "json", "csv", "github", "sarif"):
        assert run("check", *words, "--format", format_).code == code


def test_all_graphs_are_checked(folder):
    done = run("check", "broken.pbtxt", "noise.pb", "sound.pbtxt", "missing.pb", "--format", "json").json
    graphs = {graph["graph"]: graph for graph in done["graphs"]}
    assert {problem["node"] for problem in graphs["broken.pbtxt"]["problems"]} == {"x/y", "y"}
    assert (graphs["sound.pbtxt"]["problems"], graphs["sound.pbtxt"]["unreadable"]) == ([], None)
    assert graphs["noise.pb"]["unreadable"] and "missing.pb" in graphs["missing.pb"]["unreadable"]
    assert (done["errors"], done["warnings"]) == (2, 0)


def test_the_summary_counts_graphs(folder):
    lines = run("check", "broken.pbtxt", "sound.pbtxt", "noise.pb").out.splitlines()
    assert lines[-4:] == [
        "broken.pbtxt: 2 errors", "sound.pbtxt: no problems", "noise.pb: cannot be read",
        "1 of 3 graphs without problems",
    ]  # fmt: skip


def test_csv_has_the_graph_in_each_row(folder):
    lines = run("check", "broken.pbtxt", "noise.pb", "--format", "csv").out.splitlines()
    assert lines[0].startswith("graph,severity,problem,")
    assert [line.partition(",")[0] for line in lines[1:]] == ["broken.pbtxt", "broken.pbtxt", "noise.pb"]


def test_workflow_commands_name_file_and_line(folder):
    lines = run("check", "broken.pbtxt", "noise.pb", "--format", "github").out.splitlines()
    assert all(line.startswith("::error file=") for line in lines)
    assert [re.search("file=([^,]*)(?:,line=([0-9]+))?,title=", line).groups() for line in lines] == [
        ("broken.pbtxt", "5"), ("broken.pbtxt", "7"), ("noise.pb", None)
    ]  # fmt: skip
    assert run("check", "warned.pbtxt", "--format", "github").out.startswith("::warning file=warned.pbtxt,line=1,")
    assert run("check", "sound.pbtxt", "--format", "github").out == ""


def test_a_name_cannot_write_a_workflow_command(folder):
    hostile = Finding("error", "a,b:c", "100%\r\n::set-output name=x::y", "d,e:f.pb", "n\n::stop-commands::t")
    (line,) = github_lines([hostile])
    assert "\n" not in line and "\r" not in line
    properties = line.removeprefix("::error ").partition("::")[0]
    assert properties == "file=d%2Ce%3Af.pb,title=tfg%3A a%2Cb%3Ac"
    assert "100%25" in line


def required(log):
    """Check the required properties and the allowed values of SARIF 2.1.0, for the properties that tfg writes."""
    assert set(log) == {"$schema", "version", "runs"} and log["version"] == "2.1.0"
    for each in log["runs"]:
        assert set(each) == {"tool", "results"}
        driver = each["tool"]["driver"]
        assert driver["name"] == "tfg" and set(driver) <= {"name", "version", "rules"}
        assert len({rule["id"] for rule in driver["rules"]}) == len(driver["rules"])
        assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
        for result in each["results"]:
            assert result["level"] in ("none", "note", "warning", "error")
            assert result["message"]["text"]
            assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
            for location in result["locations"]:
                assert set(location) <= {"physicalLocation", "logicalLocations"}
                if "physicalLocation" in location:
                    uri = location["physicalLocation"]["artifactLocation"]["uri"]
                    assert uri and not re.search(r"[ \\]", uri) and urllib.parse.urlsplit(uri).scheme in ("", "file")
                    assert location["physicalLocation"]["region"]["startLine"] >= 1


def test_sarif(folder):
    log = run("check", "broken.pbtxt", "noise.pb", "sound.pbtxt", "--format", "sarif").json
    required(log)
    results = log["runs"][0]["results"]
    locations = [result["locations"][0]["physicalLocation"] for result in results]
    assert [(place["artifactLocation"]["uri"], place["region"]["startLine"]) for place in locations] == [
        ("broken.pbtxt", 5), ("broken.pbtxt", 7), ("noise.pb", 1)
    ]  # fmt: skip
    assert results[0]["locations"][0]["logicalLocations"] == [{"fullyQualifiedName": "x/y", "kind": "element"}]
    sound = run("check", "sound.pbtxt", "--format", "sarif").json
    required(sound)
    assert sound["runs"][0]["results"] == []


def test_sarif_names_files_by_references(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = sarif(
        [Finding("error", "r", "m", "a b/ä.pb"), Finding("error", "r", "m", "/x/y.pb"), Finding("error", "r", "m", "-")]
    )
    required(results)
    first, second, third = (result["locations"][0] for result in results["runs"][0]["results"])
    assert first["physicalLocation"]["artifactLocation"]["uri"] == "a%20b/%C3%A4.pb"
    assert second["physicalLocation"]["artifactLocation"]["uri"] == pathlib.Path("/x/y.pb").absolute().as_uri()
    assert third == {}


@pytest.mark.parametrize(
    "words",
    [
        ("diff", SAMPLES / "square.pbtxt", SAMPLES / "square_loss.pbtxt"),
        ("compare", SAMPLES / "square.pbtxt", SAMPLES / "square_loss.pbtxt", "--init", "--fetch", "loss"),
    ],
    ids=lambda words: words[0],
)
def test_comparisons_have_findings(words):
    plain, github, log = (run(*words, "--format", format_) for format_ in ("json", "github", "sarif"))
    assert plain.code == github.code == log.code, github.err
    required(log.json)
    results = log.json["runs"][0]["results"]
    assert len(results) == len(github.out.splitlines()) and bool(results) == (plain.code == 3)


def test_equal_graphs_have_no_findings():
    for command in (("diff",), ("compare", "--init", "--fetch", "loss")):
        done = run(command[0], SAMPLES / "square.pbtxt", SAMPLES / "square.pbtxt", *command[1:], "--format", "github")
        assert (done.code, done.out) == (0, "")


def test_a_value_that_differs_is_a_finding(tmp_path):
    for name, value in (("one", 1), ("two", 2)):
        text = "attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'value' value { tensor { dtype: DT_FLOAT"
        (tmp_path / f"{name}.pbtxt").write_text(
            f"node {{ name: 'x' op: 'Const' {text} tensor_shape {{}} float_val: {value} }} }} }} }}"
        )
    done = run("compare", tmp_path / "one.pbtxt", tmp_path / "two.pbtxt", "--fetch", "x", "--format", "github")
    assert done.code == 3
    assert done.out.startswith("::error file=") and "'x:0' differs by 1" in done.out


@pytest.mark.slow
def test_the_hook_is_a_command_that_takes_files(folder):
    hook = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())[0]
    words = [*shlex.split(hook["entry"])[1:], *hook["args"]]
    assert process(*words, "sound.pbtxt", "broken.pbtxt").code == 3
    (folder / "--log-file=x.pb").write_text(SOUND)
    assert process(*words, "--log-file=x.pb").code == 0 and not (folder / "x.pb").exists()
    names = ["a/saved_model.pb", "g.pbtxt", "m.ckpt.meta", "a/fingerprint.pb", "keras_metadata.pb", "readme.md", "a.pb.txt",
             "--log-file=x.pb"]  # fmt: skip
    taken = [name for name in names if re.search(hook["files"], name) and not re.search(hook["exclude"], name)]
    assert taken == ["a/saved_model.pb", "g.pbtxt", "m.ckpt.meta"]


def action_steps():
    return [step for step in yaml.safe_load((ROOT / "action.yaml").read_text())["runs"]["steps"] if "run" in step]


def run_step(step, folder, **inputs):
    """Run a step of the action as a runner does, in a checkout of a stranger."""
    programs = folder.parent / "programs"
    programs.mkdir(exist_ok=True)
    for name, words in (("python", '"$@"'), ("tfg", '-P -m tfg "$@"')):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}\n')
        (programs / name).chmod(0o755)
    values = {f"${{{{ inputs.{name} }}}}": value for name, value in inputs.items()} | {"${{ github.action_path }}": str(ROOT)}
    environment = {name: values.get(value, value) for name, value in step["env"].items()}
    script = folder.parent / "step.sh"
    script.write_text(step["run"])
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", **environment}, stdin=subprocess.PIPE,
    )  # fmt: skip


@pytest.mark.slow
def test_the_action_runs_nothing_and_takes_no_option_of_the_checkout(tmp_path):
    if shutil.which("bash") is None:
        pytest.skip("the program 'bash' is not installed")
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    for module in ("tfg.py", "pip.py", "click.py", "sitecustomize.py"):
        (checkout / module).write_text("open('ran', 'w')\n")
    for name in ("--log-file=taken.pbtxt", "broken.pbtxt", "sound one.pbtxt"):
        (checkout / name).write_text(BROKEN if name == "broken.pbtxt" else SOUND)
    install, check = action_steps()
    assert "pip install" in install["run"]
    asked = install | {"run": install["run"].replace("pip install", "pip help install #")}
    assert "--no-deps" in run_step(asked, checkout).stdout
    done = run_step(check, checkout, graphs="*.pbtxt", options="--strict")
    assert done.returncode == 3 and done.stdout.startswith("::error file=broken.pbtxt"), done.stderr
    done = run_step(check, checkout, graphs="broken.pbtxt", options="--log*")
    assert done.returncode == 2 and "--log*" in done.stderr
    assert not (checkout / "ran").exists() and not (checkout / "taken.pbtxt").exists()


def test_the_guide_shows_what_is_offered():
    """The commands in workflows are tfg's, with existing options; the hook and the action have the names of the guide."""
    guide = (ROOT / "docs" / "guides" / "ci.md").read_text()
    blocks = re.findall(r"^```yaml\n(.*?)^```", guide, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in re.findall(r"run: tfg (.*)$", block, re.MULTILINE)]
    assert len(lines) == 2
    for line in lines:
        words = [word for word in shlex.split(line.partition(" > ")[0]) if not word.endswith(".pb")]
        square = SAMPLES / "square.pbtxt"
        more = [square] if words[0] == "check" else [square, square, "--init"]
        assert run(words[0], *more, *words[1:]).code == 0, line
    hook = re.search(r"- id: (\S+)\n", (ROOT / ".pre-commit-hooks.yaml").read_text())[1]
    assert f"- id: {hook}\n" in guide
    used = re.search(r"uses: OWNER/tfg@\S+\n        with:\n((?:          .*\n)+)", guide)[1]
    names = re.findall(r"^ +([\w-]+):", used, re.MULTILINE)
    inputs = (ROOT / "action.yaml").read_text().partition("inputs:")[2].partition("runs:")[0]
    assert names and all(f"\n  {name}:" in inputs for name in names)
