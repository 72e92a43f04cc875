"""Cases of the identity family."""

import ml_dtypes
import numpy as np

from tests.opcases import case, graph_case, integers, normal, strings

F64 = np.float64
ODD = np.array([1.5, -2.5, 300.7, -1.5, 3e9, 1e20, np.nan, np.inf, -np.inf, 0.0])


def identities():
    plain = ("Identity", "Snapshot", "StopGradient", "GuaranteeConst", "DeepCopy")
    return [
        *(case(op, normal(2, 3, dtype="double"), differentiable=op == "Identity") for op in plain),
        case("Identity", strings(b"a", b"")),
        case("Identity", integers(0, 3)),
        *(case(op, normal(2, 3)) for op in ("Copy", "CopyHost")),
        case("PreventGradient", normal(2, 3), message="no way"),
        case("DebugGradientIdentity", normal(2, dtype="double")),
        case("DebugIdentity", normal(2, 3), tensor_name="a:0"),
        case("DebugIdentityV2", normal(2, dtype="double")),
        case("DebugIdentityV3", normal(2, 3), tensor_name="a:0"),
        case("DebugNanCount", np.array([1, np.nan, np.nan], np.float32), tensor_name="a:0"),
        case("DebugNanCount", integers(3), tensor_name="a:0"),
        case("DebugNumericSummary", np.array([1, np.nan, -3, np.inf, 0, -np.inf], np.float32), tensor_name="a:0"),
        case("DebugNumericSummary", np.array([[1, 9, -3.0]]), tensor_name="a:0", lower_bound=-2.0, upper_bound=5.0),
        case("DebugNumericSummary", integers(2, 2, dtype="int16"), tensor_name="a:0"),
        case("DebugNumericSummary", normal(0), tensor_name="a:0"),
        case("IdentityN", [normal(2, dtype="double"), integers(3), strings(b"x")]),
        case("IdentityN", [normal(2)]),
        case("PlaceholderWithDefault", normal(2, 3, dtype="double"), shape=[None, 3]),
        case("EnsureShape", normal(2, 3, dtype="double"), shape=[None, 3]),
        case("EnsureShape", normal(2, 3), shape=[None, 4]),
        graph_case("GuaranteeConst of a handle", "GuaranteeConst", guarantee_of_a_handle),
        graph_case("NoOp", "NoOp", lambda g: [[g.NoOp(name="nothing").name]]),
        graph_case("HostConst", "HostConst", lambda g: [[g.HostConst(value=np.arange(3), dtype="int64").name]]),
    ]


def guarantee_of_a_handle(g):
    handle = g.VarHandleOp(dtype="float", shape=[], shared_name="v")
    return [[g.GuaranteeConst(handle).node.name]]


def checks():
    bad = np.array([1, np.nan, np.inf, -np.inf], np.float32)
    cases = [
        case(op, value, message="here")
        for op in ("CheckNumerics", "CheckNumericsV2")
        for value in (normal(3), bad, bad[:2], bad[2:], bad.astype(np.float16), bad[:1].astype(ml_dtypes.bfloat16))
    ]
    return [
        *cases,
        case("CheckNumerics", normal(3, dtype="double"), message="", differentiable=False),
        case("Assert", np.bool_(True), [normal(2)]),
        case("Assert", np.bool_(False), [strings(b"why"), integers(2, 3)]),
        case("Assert", np.array([True]), [normal(2)]),
        case("Print", normal(2, 2, dtype="double"), [integers(5), strings(b"a", b"b")], message="values: "),
        case("PrintV2", "text"),
        case("PrintV2", strings(b"a", b"b")),
        case("PrintV2", "text", output_stream="nowhere"),
        case("PrintV2", "text", output_stream="file:///nowhere/at/all"),
        *(case("ToBool", value) for value in (np.float32(0), np.int64(3), "", "x", normal(0), normal(2))),
    ]


def casts():
    integers_ = ("int8", "uint8", "int16", "uint16", "int32", "int64")
    floats = ("half", "bfloat16", "float", "double")
    targets = (*integers_, *floats, "bool", "complex64")
    cases = [case("Cast", ODD.astype(t), DstT=d, differentiable=False) for t in (np.float32, F64) for d in targets]
    for t in (np.float32, F64):
        cases += [case("Cast", ODD[:5].astype(t), DstT=d, differentiable=False) for d in ("uint32", "uint64")]
    small = np.array([0, 1, 2, 100, 127])
    cases += [case("Cast", small.astype(s), DstT=d) for s in ("int8", "uint64", "bool") for d in ("double", "half", "int16")]
    cases += [case("Cast", ODD[:4].astype(ml_dtypes.bfloat16), DstT=d) for d in ("float", "int32", "half", "uint8")]
    cases += [case("Cast", normal(3, dtype="complex64"), DstT=d) for d in ("complex128", "float", "int32", "bool")]
    cases += [case("Cast", ODD[:6].astype(np.float32), DstT=d, Truncate=True) for d in ("bfloat16", "half")]
    cases += [case("Cast", ODD, DstT=d, Truncate=True, differentiable=False) for d in ("float", "bfloat16", "half", "int32")]
    return [
        *cases,
        case("Cast", np.array([1.0, -2, 3.25], np.float32), DstT="float8_e5m2"),
        case("Cast", np.array([1.0, -2, 3.25], np.float32), DstT="float8_e4m3fn"),
        case("Cast", strings(b"1"), DstT="string"),
        case("Cast", strings(b"1"), DstT="int32"),
        case("Cast", normal(0, 2), DstT="int64"),
        case("Cast", normal(2, 2, dtype="double"), DstT="double"),
    ]


def bitcasts():
    return [
        case("Bitcast", normal(2, 3), type="int32"),
        case("Bitcast", normal(2, 3), type="uint8"),
        case("Bitcast", normal(2, dtype="complex64"), type="float"),
        case("Bitcast", integers(2, 4, dtype="int8"), type="int32"),
        case("Bitcast", integers(2, 3, dtype="int8"), type="int32"),
        case("Bitcast", normal(2, dtype="double"), type="complex128"),
        case("Bitcast", np.float32(1), type="half"),
        case("Bitcast", np.int16(1), type="bfloat16"),
        case("Bitcast", normal(0, 3), type="int8"),
        case("Bitcast", np.int8(1), type="int32"),
    ]


def refused():
    """Names that are none, and scalars without a truth value."""
    return [
        *(case(op, normal(2), tensor_name=name) for op in ("DebugIdentity", "DebugNanCount") for name in ("", "a:0:1")),
        *(case("ToBool", normal(dtype=t)) for t in ("half", "bfloat16", "complex64")),
        *(case("ToBool", np.array(1, t)) for t in (np.int16, np.uint16, np.uint32)),
        case("ToBool", normal(1, dtype="complex64")),
    ]


CASES = [*identities(), *checks(), *casts(), *bitcasts(), *refused()]
