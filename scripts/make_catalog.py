"""Write core/registry/catalog.txt from the op registry of an installed TensorFlow: names, types, defaults and flags.

/path/to/tensorflow-venv/bin/python scripts/make_catalog.py
"""

import json
import pathlib

from tensorflow.core.framework import op_def_pb2, types_pb2
from tensorflow.python.client import pywrap_tf_session

TARGET = pathlib.Path(__file__).parents[1] / "core" / "registry" / "catalog.txt"


def registered_ops():
    ops = op_def_pb2.OpList()
    ops.ParseFromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    return sorted(ops.op, key=lambda op: op.name)


def dtype_name(number):
    return types_pb2.DataType.Name(number).removeprefix("DT_").lower()


def arg_text(arg):
    element = arg.type_list_attr or arg.type_attr or dtype_name(arg.type)
    if arg.number_attr:
        element = f"{arg.number_attr} * {element}"
    return f"{arg.name}: Ref({element})" if arg.is_ref else f"{arg.name}: {element}"


def shape_text(shape):
    if shape.unknown_rank:
        return "?"
    return f"[{','.join('?' if d.size < 0 else str(d.size) for d in shape.dim)}]"


def quoted(value):
    return json.dumps(value.decode("latin-1"))


def tensor_text(tensor):
    """`uint8 [255, 0, 0, 255]`: a vector, or a scalar without brackets."""
    values = ", ".join(map(str, tensor.int_val))
    return f"{dtype_name(tensor.dtype)} {f'[{values}]' if tensor.tensor_shape.dim else values}"


def scalar_text(value):
    kind = value.WhichOneof("value")
    return {
        "i": lambda: str(value.i),
        "f": lambda: repr(value.f),
        "b": lambda: "true" if value.b else "false",
        "s": lambda: quoted(value.s),
        "type": lambda: dtype_name(value.type),
        "shape": lambda: shape_text(value.shape),
        "func": lambda: json.dumps(value.func.name),
        "tensor": lambda: tensor_text(value.tensor),
    }[kind]()


def value_text(value):
    if value.WhichOneof("value") != "list":
        return scalar_text(value)
    listed = value.list
    items = (
        [str(i) for i in listed.i]
        + [repr(f) for f in listed.f]
        + ["true" if b else "false" for b in listed.b]
        + [quoted(s) for s in listed.s]
        + [dtype_name(t) for t in listed.type]
        + [shape_text(s) for s in listed.shape]
    )
    return f"[{', '.join(items)}]"


def attr_text(attr):
    kind = attr.type
    if attr.HasField("allowed_values"):
        listed = attr.allowed_values.list
        items = [dtype_name(t) for t in listed.type] + [quoted(s) for s in listed.s]
        allowed = "{" + ", ".join(items) + "}"
        kind = f"list({allowed})" if kind.startswith("list(") else allowed
    if attr.has_minimum:
        kind += f" >= {attr.minimum}"
    if attr.HasField("default_value"):
        kind += f" = {value_text(attr.default_value)}"
    return f"{attr.name}: {kind}"


def op_line(op):
    line = f"{op.name}({', '.join(map(arg_text, op.input_arg))}) -> ({', '.join(map(arg_text, op.output_arg))})"
    if op.attr:
        line += f" {{{', '.join(map(attr_text, op.attr))}}}"
    flags = {
        "stateful": op.is_stateful,
        "commutative": op.is_commutative,
        "aggregate": op.is_aggregate,
        "uninitialized_input": op.allows_uninitialized_input,
    }
    return " ".join([line, *(name for name, is_set in flags.items() if is_set)])


if __name__ == "__main__":
    TARGET.write_text("\n".join(map(op_line, registered_ops())) + "\n")
