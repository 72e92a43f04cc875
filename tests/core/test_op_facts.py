"""Facts of ops: the table that is read is what the families state."""

import importlib.util
import pathlib

import tfg
from tfg.core import op_facts

ROOT = pathlib.Path(tfg.__file__).parent


def test_the_table_is_what_the_families_state():
    spec = importlib.util.spec_from_file_location("index_ops", ROOT / "scripts" / "index_ops.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert (ROOT / "core" / "ops" / "facts.txt").read_text() == script.facts(), "run scripts/regenerate.py index"


def test_an_op_has_the_facts_of_its_family_without_it_being_imported():
    assert op_facts.has_fact("Merge", "merge") and not op_facts.has_fact("Merge", "switch")
    assert op_facts.ops_with("variable") == ("VarHandleOp", "Variable", "VariableV2")
