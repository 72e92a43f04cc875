"""Facts of ops without imports of families; test_derived checks the table of facts."""

from tfg.core.registry import op_facts


def test_an_op_has_the_facts_of_its_family_without_it_being_imported():
    assert op_facts.has_fact("Merge", "merge") and not op_facts.has_fact("Merge", "switch")
    assert op_facts.ops_with("variable") == ("VarHandleOp", "Variable", "VariableV2")
